"""Reads original Linear Road files (`.dat`, fifteen comma-separated integers a line) into a workload.

Each file becomes one part of the stream. A line that is no tuple of section 3.1.2 is set aside in
`rejects.csv` with its file, line and reason, or ends the import when `strict`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.linear_road.model.expressway import WEST
from causeway.linear_road.model.tuples import INPUT_SCHEMA, TupleType
from causeway.linear_road.workload.input_text import parse_block, read_blocks
from causeway.linear_road.workload.stream_files import StreamWriter, part_path
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import (
    UNFINISHED,
    begin_folder,
    finish_folder,
    prepare_folder,
    remove_unfinished,
)
from causeway.runtime.progress import progress_bar

__all__ = ["REJECTS_FILE", "import_files"]

REJECTS_FILE: Final = "rejects.csv"

_MAXINT: Final = 2**31 - 1
_SHOWN_CHARACTERS: Final = 200
_CONTROL_CHARACTERS: Final = dict.fromkeys([*range(9), *range(10, 32), *range(127, 160)], "\ufffd")


def import_files(files: Sequence[Path], out: Path, *, slack: int = 0, strict: bool = False) -> Workload:
    """Import `files`, one part each in the order given, to the new workload folder `out`.

    A line's time may be up to `slack` seconds below the largest time before it in its file (of lines that
    are otherwise right); it is then put in its place, after lines of the same second. One further back is
    rejected. Fields that do not apply to a line's type become -1 whatever they hold, since the original
    tools left other values there. With `strict` the first reject is a `UserError`. Whatever goes wrong,
    nothing is left in `out`.
    """
    if not files:
        raise UserError("no file to import")
    if slack < 0:
        raise UserError(f"the slack is {slack} s; it must be 0 or more")
    sizes = [_size(file) for file in files]
    existed = out.is_dir()
    prepare_folder(out, replaces=_remains(out))
    begin_folder(out / "stream")
    try:
        workload = _import(files, sizes, out, slack, strict)
        workload.save()
        finish_folder(out / "stream")
    except BaseException as failure:
        (out / REJECTS_FILE).unlink(missing_ok=True)
        remove_unfinished(out / "stream")
        if not existed:
            with suppress(OSError):
                out.rmdir()
        if isinstance(failure, OSError):
            raise UserError(f"{out} cannot be written: {failure}") from failure
        raise
    return workload


def _remains(out: Path) -> tuple[str, ...]:
    """What an import that was killed left in `out`; nothing of a finished one may be replaced."""
    unfinished = not (out / "workload.json").exists() and (out / "stream" / UNFINISHED).exists()
    return ("stream", REJECTS_FILE) if unfinished else ()


def _import(files: Sequence[Path], sizes: Sequence[int], out: Path, slack: int, strict: bool) -> Workload:
    tally = _Tally()
    with (
        _RejectsFile(out / REJECTS_FILE, strict) as rejects,
        progress_bar("Importing", sum(sizes), "bytes") as bar,
    ):
        done = 0
        for number, (file, size) in enumerate(zip(files, sizes, strict=True)):
            order = _TimeOrder(slack)
            line = 1
            with StreamWriter(part_path(out / "stream", number, "parquet"), "parquet") as part:
                for block, offset in read_blocks(file):
                    rows, rejected = _timely(block, order)
                    rejects.add(file, line, block, rejected)
                    tally.add(rows)
                    part.append(order.put(rows))
                    line += block.count(b"\n")
                    bar.update(done + offset)
                part.append(order.rest())
            done += size
    if tally.rows == 0:
        why = f"every line is rejected, first {rejects.first}" if rejects.first else "nothing to read"
        raise UserError(f"there is no tuple in {', '.join(map(str, files))}: {why}")
    return Workload(
        folder=out,
        source="imported",
        format="parquet",
        expressways=tally.expressways,
        minutes=tally.minutes,
        seed=None,
        counts=tally.counts | {"rejected": rejects.count},
    )


def _size(file: Path) -> int:
    try:
        if file.is_dir():
            raise UserError(f"{file} is a folder; give files")
        return file.stat().st_size
    except OSError as refused:
        raise UserError(f"{file} cannot be read: {refused.strerror}") from refused


def _timely(block: bytes, order: _TimeOrder) -> tuple[pa.Table, dict[int, str]]:
    """The block's tuples as they stand in it, and why its other lines are none, or come too late."""
    tuples, lines, rejected = parse_block(block)
    time = tuples.column("Time").to_numpy()
    largest = order.largest_so_far(time)
    late = time < largest - order.slack
    if late.any():
        for row in np.flatnonzero(late):
            rejected[int(lines[row])] = (
                f"Time is {time[row]}, more than {order.slack} s below {largest[row]} before it"
            )
        tuples = tuples.filter(pa.array(~late))
    return tuples, rejected


class _TimeOrder:
    """Puts one file's tuples in time order, with those in hand that a later line may yet precede."""

    def __init__(self, slack: int) -> None:
        self.slack = slack
        self._largest = 0
        self._held: list[pa.Table] = [INPUT_SCHEMA.empty_table()]
        self._earliest_held = _MAXINT

    def largest_so_far(self, time: NDArray[np.int32]) -> NDArray[np.int64]:
        """For each line the largest time in the file up to it; these lines count from now on."""
        largest = np.maximum(np.maximum.accumulate(time.astype(np.int64)), self._largest)
        if len(largest):
            self._largest = int(largest[-1])
        return largest

    def put(self, rows: pa.Table) -> pa.Table:
        """Take rows none of which is late; give back those that no later line can precede."""
        if rows.num_rows:
            self._held.append(rows)
            self._earliest_held = min(self._earliest_held, int(rows.column("Time").to_numpy().min()))
        return self._release(self._largest - self.slack)

    def rest(self) -> pa.Table:
        """Give back what is held; the file has ended."""
        return self._release(_MAXINT)

    def _release(self, safe: int) -> pa.Table:
        if self._earliest_held > safe:
            return INPUT_SCHEMA.empty_table()
        rows = pa.concat_tables(self._held)
        time = rows.column("Time").to_numpy()
        if (time[1:] < time[:-1]).any():
            in_order = np.argsort(time, kind="stable")
            rows, time = rows.combine_chunks().take(pa.array(in_order)), time[in_order]
        released = int(np.searchsorted(time, safe, side="right"))
        self._held = [rows.slice(released)]
        self._earliest_held = int(time[released]) if released < len(time) else _MAXINT
        return rows.slice(0, released)


class _RejectsFile:
    """`rejects.csv`: one line per rejected line; the file is there only if there is one."""

    def __init__(self, path: Path, strict: bool) -> None:
        self.count = 0
        self.first = ""
        """The first reject, as `file:line: reason`."""
        self._path = path
        self._strict = strict
        self._file: io.TextIOWrapper | None = None

    def __enter__(self) -> _RejectsFile:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, file: Path, first_line: int, block: bytes, rejected: dict[int, str]) -> None:
        """Note the rejects of a block whose first line is the file's line `first_line`."""
        if not rejected:
            return
        numbers = sorted(rejected)
        if not self.first:
            self.first = f"{file}:{first_line + numbers[0]}: {rejected[numbers[0]]}"
        if self._strict:
            raise UserError(self.first)
        if self._file is None:
            self._file = self._path.open("w", encoding="utf-8", errors="backslashreplace", newline="")
            self._file.write("file,line,reason,text\n")
        ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
        starts = np.concatenate(([0], ends[:-1] + 1))
        csv.writer(self._file, lineterminator="\n").writerows(
            (file, first_line + number, rejected[number], _shown(block[starts[number] : ends[number]]))
            for number in numbers
        )
        self.count += len(numbers)


def _shown(line: bytes) -> str:
    # Four bytes are the longest character.
    text = line.removesuffix(b"\r")[: 4 * _SHOWN_CHARACTERS + 4].decode("utf-8", "replace")
    text = text.translate(_CONTROL_CHARACTERS)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"


class _Tally:
    """Counts of what was imported, over all files."""

    def __init__(self) -> None:
        self.rows = 0
        self._of_type = np.zeros(max(TupleType) + 1, dtype=np.int64)
        self._largest_time = 0
        self._directions: set[tuple[int, int]] = set()
        self._vehicles: list[NDArray[np.int32]] = [np.empty(0, dtype=np.int32)]

    def add(self, rows: pa.Table) -> None:
        if rows.num_rows == 0:
            return
        kind = rows.column("Type").to_numpy()
        self.rows += rows.num_rows
        self._of_type += np.bincount(kind, minlength=len(self._of_type))
        self._largest_time = max(self._largest_time, int(rows.column("Time").to_numpy().max()))
        reports = rows.filter(pa.array(kind == TupleType.POSITION_REPORT)).select(["XWay", "Dir"])
        directions = reports.group_by(["XWay", "Dir"]).aggregate([])
        self._directions.update(zip(*(directions.column(i).to_pylist() for i in (0, 1)), strict=True))
        self._vehicles.append(rows.column("VID").unique().to_numpy())
        # Merged whenever the new ones outnumber the old: memory stays near the number of vehicles.
        if sum(map(len, self._vehicles[1:])) > max(len(self._vehicles[0]), 1 << 20):
            self._merge_vehicles()

    @property
    def expressways(self) -> float:
        """L, as far as position reports show it: the last expressway may be half a one, which goes east."""
        numbers = {expressway for expressway, _ in self._directions}
        half = bool(numbers) and (max(numbers), WEST) not in self._directions
        return len(numbers) - 0.5 if half else float(len(numbers))

    @property
    def minutes(self) -> int:
        return self._largest_time // 60 + 1

    @property
    def counts(self) -> dict[str, int]:
        self._merge_vehicles()
        return {
            "reports": int(self._of_type[TupleType.POSITION_REPORT]),
            "vehicles": len(self._vehicles[0]),
            "type_2": int(self._of_type[TupleType.ACCOUNT_BALANCE]),
            "type_3": int(self._of_type[TupleType.DAILY_EXPENDITURE]),
            "type_4": int(self._of_type[TupleType.TRAVEL_TIME]),
        }

    def _merge_vehicles(self) -> None:
        self._vehicles = [np.unique(np.concatenate(self._vehicles))]
