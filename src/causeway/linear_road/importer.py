"""Reads original Linear Road files (`.dat`, fifteen comma-separated integers a line) into a workload.

Each file becomes one part of the stream. A line that is no tuple of section 3.1.2 is set aside in
`rejects.csv` with its file, line and reason, or ends the import when `strict`. Whole blocks of text go
through pyarrow; lines are looked at one by one only near a malformed one.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import shutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from causeway.errors import UserError
from causeway.linear_road.expressway import (
    EAST,
    ENTRY_LANE,
    EXIT_LANE,
    FEET_PER_EXPRESSWAY,
    FEET_PER_SEGMENT,
    MAX_SPEED,
    SEGMENTS,
    WEST,
)
from causeway.linear_road.stream_files import StreamWriter, part_path
from causeway.linear_road.tuples import ABSENT, INPUT_COLUMNS, INPUT_SCHEMA, TupleType
from causeway.linear_road.workload import Workload, prepare_folder
from causeway.progress import progress_bar

__all__ = ["REJECTS_FILE", "import_files"]

REJECTS_FILE: Final = "rejects.csv"

_MAXINT: Final = 2**31 - 1
_ANY: Final = (0, _MAXINT)

_RANGES: Final[dict[TupleType, dict[str, tuple[int, int]]]] = {
    TupleType.POSITION_REPORT: {
        "Time": _ANY,
        "VID": _ANY,
        "Spd": (0, MAX_SPEED),
        "XWay": _ANY,
        "Lane": (ENTRY_LANE, EXIT_LANE),
        "Dir": (EAST, WEST),
        "Seg": (0, SEGMENTS - 1),
        "Pos": (0, FEET_PER_EXPRESSWAY - 1),
    },
    TupleType.ACCOUNT_BALANCE: {"Time": _ANY, "VID": _ANY, "QID": _ANY},
    # The paper has days 1..69 and "69 is 10 weeks ago"; ten weeks of history have 70.
    TupleType.DAILY_EXPENDITURE: {"Time": _ANY, "VID": _ANY, "XWay": _ANY, "QID": _ANY, "Day": (1, 70)},
    TupleType.TRAVEL_TIME: {
        "Time": _ANY,
        "VID": _ANY,
        "XWay": _ANY,
        "QID": _ANY,
        "Sinit": (0, SEGMENTS - 1),
        "Send": (0, SEGMENTS - 1),
        "DOW": (1, 7),
        "TOD": (1, 1440),
    },
}
"""The fields that matter to each type and their least and largest values (section 3.1.2)."""

_BLOCK_BYTES = 16 << 20
_PIECE_BYTES = 64 << 10
"""What is looked at line by line around a malformed line."""
_LONGEST_LINE = 1 << 20
_SHOWN_CHARACTERS: Final = 200

_BOM: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t\r\n"
_INTEGER: Final = re.compile(rb"[ \t]*(-?)([0-9]+)[ \t]*")
_CONTROL_CHARACTERS: Final = dict.fromkeys([*range(9), *range(10, 32), *range(127, 160)], "\ufffd")

_READ: Final = pa_csv.ReadOptions(column_names=list(INPUT_COLUMNS))
_PARSE: Final = pa_csv.ParseOptions(quote_char=False, double_quote=False, ignore_empty_lines=False)
_CONVERT: Final = pa_csv.ConvertOptions(
    column_types=dict.fromkeys(INPUT_COLUMNS, pa.int32()), null_values=[], check_utf8=False
)

_Columns = dict[str, NDArray[np.int32]]
_Rejects = dict[int, str]
"""Reasons by line, counted from 0 in the block."""


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
    prepare_folder(out)
    try:
        workload = _import(files, sizes, out, slack, strict)
        workload.save()
    except BaseException as failure:
        shutil.rmtree(out / "stream" if existed else out, ignore_errors=True)
        for written in (out / REJECTS_FILE, *out.glob("*workload.json*")):
            written.unlink(missing_ok=True)
        if isinstance(failure, OSError):
            raise UserError(f"{out} cannot be written: {failure}") from failure
        raise
    return workload


def _import(files: Sequence[Path], sizes: Sequence[int], out: Path, slack: int, strict: bool) -> Workload:
    (out / "stream").mkdir()
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
                for block, offset in _blocks(file):
                    rows, rejected = _tuples(block, order)
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


def _blocks(file: Path) -> Iterator[tuple[bytes, int]]:
    """Whole lines, each ending in a newline, in blocks; with how far the file has been read.

    Blank lines at the end of the file are left out. Of a line that is too long only the beginning is
    kept, with a mark that makes it malformed for certain.
    """
    with ExitStack() as opened:
        try:
            raw = opened.enter_context(file.open("rb"))
            unpacked = gzip.GzipFile(fileobj=raw) if file.suffix == ".gz" else raw
            stream = cast(BinaryIO, opened.enter_context(unpacked))
        except OSError as refused:
            raise UserError(f"{file} cannot be read: {refused.strerror}") from refused

        def read() -> bytes:
            try:
                return stream.read(_BLOCK_BYTES)
            except (OSError, EOFError, zlib.error) as unreadable:
                raise UserError(f"{file} cannot be read: {unreadable}") from unreadable

        def position() -> int:
            return raw.tell() if raw.seekable() else 0

        carry, mark = b"", _BOM
        while chunk := read():
            text = carry + chunk
            end = _end_of_last_line(text)
            if end == 0 and len(text) > _LONGEST_LINE:
                # One line, or nothing but blank ones.
                text = text if b"\n" in text else _cut_line(text, read)
                end = text.rfind(b"\n") + 1
            if end > 0:
                yield text[:end].removeprefix(mark), position()
                mark = b""
            carry = text[end:]
        if carry.strip(_BLANK):
            yield carry.removeprefix(mark) + b"\n", position()


def _end_of_last_line(text: bytes) -> int:
    """Where the last whole line ends that is not blank; 0 where there is none.

    Blank lines after it are rejected if something follows them, which only the next block tells.
    """
    filled = len(text.rstrip(_BLANK))
    end = text.find(b"\n", filled) + 1
    return end if filled and end else text.rfind(b"\n", 0, filled) + 1


def _cut_line(text: bytes, read: Callable[[], bytes]) -> bytes:
    """The beginning of a line without end, and what `read` finds after it."""
    head = text[:_LONGEST_LINE] + b" (cut)"
    while chunk := read():
        newline = chunk.find(b"\n")
        if newline >= 0:
            return head + chunk[newline:]
    return head + b"\n"


def _tuples(block: bytes, order: _TimeOrder) -> tuple[pa.Table, _Rejects]:
    """The block's tuples as they stand in it, and why its other lines are none."""
    table, lines, rejected = _parse(block)
    columns: _Columns = {name: table.column(name).to_numpy() for name in INPUT_COLUMNS}

    wrong = _out_of_range(columns)
    if wrong.any():
        for row in np.flatnonzero(wrong):
            rejected[int(lines[row])] = _range_reason({name: int(columns[name][row]) for name in columns})
        columns, lines = _where(~wrong, columns), lines[~wrong]

    time = columns["Time"]
    largest = order.largest_so_far(time)
    late = time < largest - order.slack
    if late.any():
        for row in np.flatnonzero(late):
            rejected[int(lines[row])] = (
                f"Time is {time[row]}, more than {order.slack} s below {largest[row]} before it"
            )
        columns = _where(~late, columns)
    return pa.table(list(_normalised(columns).values()), schema=INPUT_SCHEMA), rejected


def _parse(block: bytes) -> tuple[pa.Table, NDArray[np.int64], _Rejects]:
    """The lines that are fifteen integers, their numbers in the block from 0, and why the rest are not."""
    table = _parse_whole(block)
    if table is not None:
        return table, np.arange(table.num_rows), {}
    tables: list[pa.Table] = []
    lines: list[NDArray[np.int64]] = []
    rejected: _Rejects = {}
    line = start = 0
    while start < len(block):
        end = block.find(b"\n", min(start + _PIECE_BYTES, len(block)) - 1) + 1
        piece = block[start:end]
        table = _parse_whole(piece)
        count = piece.count(b"\n")
        good: Sequence[int] = range(count)
        if table is None:
            table, good, malformed = _parse_lines(piece)
            rejected |= {line + number: reason for number, reason in malformed.items()}
        tables.append(table)
        lines.append(np.asarray(good, dtype=np.int64) + line)
        line += count
        start = end
    return pa.concat_tables(tables).combine_chunks(), np.concatenate(lines), rejected


def _parse_whole(text: bytes) -> pa.Table | None:
    """All lines at once; None unless every one is fifteen integers, spaces and tabs around them allowed."""
    # What pyarrow would let pass: a lone carriage return as a line's end, hexadecimals, a mark at the start.
    if b"x" in text or b"X" in text or text.startswith(_BOM):
        return None
    if b"\r" in text and text.count(b"\r") != text.count(b"\r\n"):
        return None
    try:
        return pa_csv.read_csv(
            pa.BufferReader(text), read_options=_READ, parse_options=_PARSE, convert_options=_CONVERT
        )
    except pa.ArrowInvalid:
        return None


def _parse_lines(text: bytes) -> tuple[pa.Table, list[int], _Rejects]:
    rows: list[list[int]] = []
    good: list[int] = []
    rejected: _Rejects = {}
    for number, line in enumerate(text.removesuffix(b"\n").split(b"\n")):
        row = _integers(line.removesuffix(b"\r"))
        if isinstance(row, str):
            rejected[number] = row
        else:
            rows.append(row)
            good.append(number)
    values = np.array(rows, dtype=np.int32).reshape(-1, len(INPUT_COLUMNS))
    table = pa.table([np.ascontiguousarray(column) for column in values.T], names=list(INPUT_COLUMNS))
    return table, good, rejected


def _integers(line: bytes) -> list[int] | str:
    """The line's fifteen integers, or why it has not got them."""
    if not line.strip(_BLANK):
        return "blank line"
    fields = line.split(b",")
    if len(fields) != len(INPUT_COLUMNS):
        return f"{len(fields)} fields, not {len(INPUT_COLUMNS)}"
    row: list[int] = []
    for name, field in zip(INPUT_COLUMNS, fields, strict=True):
        number = _INTEGER.fullmatch(field)
        if number is None:
            return f"{name} is empty" if not field.strip(_BLANK) else f"{name} is not an integer"
        sign, digits = number[1], number[2].lstrip(b"0")
        value = int(sign + digits) if 0 < len(digits) <= len(str(_MAXINT)) else 0
        if len(digits) > len(str(_MAXINT)) or not -_MAXINT - 1 <= value <= _MAXINT:
            return f"{name} does not fit in 32 bits"
        row.append(value)
    return row


def _out_of_range(columns: _Columns) -> NDArray[np.bool_]:
    wrong = np.ones(len(columns["Type"]), dtype=np.bool_)
    for tuple_type, ranges in _RANGES.items():
        rows = np.flatnonzero(columns["Type"] == tuple_type)
        outside = np.zeros(len(rows), dtype=np.bool_)
        for name, (least, largest) in ranges.items():
            values = columns[name][rows]
            outside |= (values < least) | (values > largest)
        if tuple_type == TupleType.POSITION_REPORT:
            outside |= columns["Seg"][rows] != columns["Pos"][rows] // FEET_PER_SEGMENT
        wrong[rows] = outside
    return wrong


def _range_reason(row: dict[str, int]) -> str:
    """In words, the first thing that `_out_of_range` found in the row."""
    ranges = next((ranges for kind, ranges in _RANGES.items() if kind == row["Type"]), None)
    if ranges is None:
        return f"Type is {row['Type']}, none of {', '.join(str(int(kind)) for kind in TupleType)}"
    for name, (least, largest) in ranges.items():
        if row[name] < least or row[name] > largest:
            allowed = f"below {least}" if largest == _MAXINT else f"not in {least}..{largest}"
            return f"{name} is {row[name]}, {allowed}"
    return f"Seg is {row['Seg']}, but Pos {row['Pos']} is in segment {row['Pos'] // FEET_PER_SEGMENT}"


def _where(chosen: NDArray[np.bool_], columns: _Columns) -> _Columns:
    return {name: values[chosen] for name, values in columns.items()}


def _normalised(columns: _Columns) -> _Columns:
    """The same tuples with `ABSENT` in each field that does not apply."""
    kind = columns["Type"]
    normalised = dict(columns)
    for name in INPUT_COLUMNS[1:]:
        silent = [tuple_type for tuple_type in TupleType if name not in _RANGES[tuple_type]]
        if silent:
            applies = ~np.isin(kind, silent)
            normalised[name] = np.where(applies, columns[name], np.int32(ABSENT))
    return normalised


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

    def add(self, file: Path, first_line: int, block: bytes, rejected: _Rejects) -> None:
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
        self._expressways: set[int] = set()
        self._directions: set[int] = set()
        self._vehicles: list[NDArray[np.int32]] = [np.empty(0, dtype=np.int32)]

    def add(self, rows: pa.Table) -> None:
        if rows.num_rows == 0:
            return
        kind = rows.column("Type").to_numpy()
        self.rows += rows.num_rows
        self._of_type += np.bincount(kind, minlength=len(self._of_type))
        self._largest_time = max(self._largest_time, int(rows.column("Time").to_numpy().max()))
        reports = rows.filter(pa.array(kind == TupleType.POSITION_REPORT)).select(["XWay", "Dir"])
        self._expressways.update(reports.column("XWay").unique().to_pylist())
        self._directions.update(reports.column("Dir").unique().to_pylist())
        self._vehicles.append(rows.column("VID").unique().to_numpy())
        # Merged whenever the new ones outnumber the old: memory stays near the number of vehicles.
        if sum(map(len, self._vehicles[1:])) > max(len(self._vehicles[0]), 1 << 20):
            self._merge_vehicles()

    @property
    def expressways(self) -> float:
        """L, as far as position reports show it."""
        if len(self._expressways) == 1 and self._directions == {EAST}:
            return 0.5
        return float(len(self._expressways))

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
