"""A run's answers brought together: the batches' files merged into Parquet parts and the one flat file.

    RUN/batches/batch-000000012.parquet  answers of micro-batch 12 (`ANSWER_SCHEMA`); none, no file
    RUN/batches/batch-000000012.json     facts of micro-batch 12, written after its answers
    RUN/answers/part-00000.parquet       the same rows, with `Readable`
    RUN/answers.csv                      a line for each, as the specification has it:

    0,VID,Time,Emit,Spd,Toll          1,Time,Emit,VID,Seg           2,Time,Emit,QID,ResultTime,Bal
    3,Time,Emit,QID,Bal               4,Time,Emit,QID,TravelTime,Toll

Both hold the batches in order and, inside a batch, the rows as the batch has them. `Emit` has three decimals
in the flat file: milliseconds are rounded to the nearest, halves to the even one. `Readable` is the simulated
second at which the batch's file was committed; the flat file has no room for it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.linear_road.model.answers import ANSWER_NAMES, ANSWER_SCHEMA
from causeway.linear_road.runner.run_folder import RunFolder
from causeway.runtime.compiled import kernel
from causeway.runtime.errors import UserError
from causeway.runtime.progress import progress_bar

__all__ = ["BatchFiles", "collect_answers", "list_batches"]

_COLLECTED_SCHEMA: Final = ANSWER_SCHEMA.append(pa.field("Readable", pa.float64(), nullable=False))

_ROWS_AT_A_TIME: Final = 1 << 18
"""Rows of a row group, and what is held in memory: about 100 bytes each, their text included."""
_ROWS_PER_PART: Final = 1 << 23

_TYPES: Final = len(ANSWER_NAMES)
_MISSING: Final = -(2**31)
"""Stands for null in the columns that the kernel sees: the least number, which no field ever is."""
_LONGEST_LINE: Final = 80
"""Six fields: a figure, four integers of at most 11 characters, an `Emit` of at most 17, five commas."""
_LARGEST_EMIT: Final = 1e12

_ZERO, _COMMA, _MINUS, _POINT, _NEWLINE = (ord(character) for character in "0,-.\n")

I32 = npt.NDArray[np.int32]


@dataclass(frozen=True)
class BatchFiles:
    """What a micro-batch left behind."""

    number: int
    answers: Path | None
    """`None` for a batch without answers."""
    facts_path: Path

    def facts(self) -> dict[str, Any]:
        """Read the batch's JSON; one that is not there or not whole is a `UserError`."""
        try:
            facts = json.loads(self.facts_path.read_text())
        except FileNotFoundError:
            raise UserError(
                f"{self.facts_path} is missing: batch {self.number} was broken off. "
                "Resume the run, or start it anew."
            ) from None
        except (OSError, ValueError) as unreadable:
            raise UserError(f"{self.facts_path} cannot be read: {unreadable}") from unreadable
        if not isinstance(facts, dict):
            raise UserError(f"{self.facts_path} is not what a batch leaves: it has no facts by name")
        return facts


def list_batches(run: Path) -> list[BatchFiles]:
    """The run's micro-batches in order, whether they have answers or not."""
    batches = RunFolder(run).batches
    numbers = sorted([*batches.numbers(), *batches.unfinished()])
    outputs = {number: batches.output(number) for number in numbers}
    return [
        BatchFiles(number, output if output.exists() else None, batches.note_file(number))
        for number, output in outputs.items()
    ]


def collect_answers(run: Path) -> dict[int, int]:
    """Merge the batches' answers into `answers/` and `answers.csv`; returns how many there are of each type.

    Memory is bounded whatever the number of answers. Both outputs replace those of an earlier call, and
    appear when all is written, `answers.csv` last: where it stands, the merge was not broken off.
    """
    if not (run / "batches").is_dir():
        raise UserError(f"{run} is not a run, or one that did not come to its first batch: no batches/ in it")
    unfinished = run / ".collecting"
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        (unfinished / "answers").mkdir(parents=True)
        counts = _merge(list_batches(run), unfinished)
        (run / "answers.csv").unlink(missing_ok=True)
        if (run / "answers").exists():
            # Moved first, since removing many parts takes a while in which they would be some of them.
            (run / "answers").rename(unfinished / "replaced")
        (unfinished / "answers").rename(run / "answers")
        (unfinished / "answers.csv").rename(run / "answers.csv")
    except OSError as refused:
        raise UserError(f"the answers cannot be written to {run}: {refused.strerror or refused}") from refused
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return counts


def _merge(batches: list[BatchFiles], folder: Path) -> dict[int, int]:
    total = np.zeros(_TYPES, np.int64)
    text = np.empty(_ROWS_AT_A_TIME * _LONGEST_LINE, np.uint8)
    with (
        progress_bar("collecting answers", len(batches), "batches") as bar,
        (folder / "answers.csv").open("wb") as flat_file,
        _Parts(folder / "answers") as parts,
    ):
        for done, batch in enumerate(batches, 1):
            facts = batch.facts()
            counts = np.zeros(_TYPES, np.int64)
            for rows in _read(batch):
                written, wrong = _write_lines(text, *_columns(rows, batch))
                if wrong >= 0:
                    raise UserError(f"{batch.answers}: {_complaint(rows.slice(wrong, 1).to_pylist()[0])}")
                flat_file.write(text[:written].data)
                counts += np.bincount(rows.column("Type").to_numpy(), minlength=_TYPES)
                readable = np.full(rows.num_rows, _number(facts, "readable_simulated", batch))
                parts.append(
                    pa.RecordBatch.from_arrays([*rows.columns, pa.array(readable)], schema=_COLLECTED_SCHEMA)
                )
            _compare_counts(counts, facts, batch)
            total += counts
            bar.update(done)
    return {number: int(count) for number, count in enumerate(total)}


def _read(batch: BatchFiles) -> Iterator[pa.RecordBatch]:
    """The batch's answers, a bounded number at a time."""
    if batch.answers is None:
        return
    try:
        with pq.ParquetFile(batch.answers) as file:
            for rows in file.iter_batches(_ROWS_AT_A_TIME, columns=ANSWER_SCHEMA.names):
                yield rows.select(ANSWER_SCHEMA.names).cast(ANSWER_SCHEMA)
    except (OSError, KeyError, ValueError, pa.ArrowException) as unreadable:
        raise UserError(f"{batch.answers} cannot be read as answers: {unreadable}") from unreadable


def _columns(rows: pa.RecordBatch, batch: BatchFiles) -> list[npt.NDArray[Any]]:
    """The columns as the kernel takes them: milliseconds for `Emit`, `_MISSING` for null."""
    emit = rows.column("Emit").to_numpy()
    if not (np.abs(emit) < _LARGEST_EMIT).all():
        raise UserError(f"{batch.answers}: an Emit is no second of a simulation")
    columns = []
    for name in ANSWER_SCHEMA.names:
        if name == "Emit":
            columns.append(np.rint(emit * 1000).astype(np.int64))
        else:
            column = rows.column(name)
            columns.append((column.fill_null(_MISSING) if column.null_count else column).to_numpy())
    return columns


def _complaint(row: dict[str, Any]) -> str:
    if not 0 <= row["Type"] < _TYPES:
        return f"there is no answer of type {row['Type']}"
    return f"an answer of type {row['Type']} lacks one of its fields: {row}"


def _number(facts: dict[str, Any], name: str, batch: BatchFiles) -> float:
    value = facts.get(name)
    if not isinstance(value, (int, float)):
        raise UserError(f"{batch.facts_path}: {name} is missing or no number")
    return float(value)


def _compare_counts(counts: npt.NDArray[np.int64], facts: dict[str, Any], batch: BatchFiles) -> None:
    noted = facts.get("answers")
    if not isinstance(noted, dict):
        raise UserError(f"{batch.facts_path}: the counts of answers by type are missing")
    for number, count in enumerate(counts.tolist()):
        if noted.get(str(number), 0) != count:
            raise UserError(
                f"batch {batch.number} has {count:,} answers of type {number}, and {batch.facts_path} "
                f"has {noted.get(str(number), 0):,}: files of the run were lost or changed"
            )


class _Parts:
    """Writes rows to Parquet parts, one after the other, in row groups that do not depend on the batches."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: list[pa.RecordBatch] = []
        self._held_rows = self._rows = self._number = 0
        self._open = ExitStack()
        self._writer = self._next_part()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._open:
            if kind is None:
                self._write()

    def append(self, rows: pa.RecordBatch) -> None:
        """Add rows; a few are held back until they fill a row group."""
        while self._held_rows + rows.num_rows >= _ROWS_AT_A_TIME:
            fitting = _ROWS_AT_A_TIME - self._held_rows
            self._held.append(rows.slice(0, fitting))
            rows = rows.slice(fitting)
            self._write()
        self._held.append(rows)
        self._held_rows += rows.num_rows

    def _write(self) -> None:
        if self._rows >= _ROWS_PER_PART:
            self._open.close()
            self._writer = self._next_part()
        rows = pa.Table.from_batches(self._held, _COLLECTED_SCHEMA)
        self._writer.write_table(rows, row_group_size=_ROWS_AT_A_TIME)
        self._rows += rows.num_rows
        self._held, self._held_rows = [], 0

    def _next_part(self) -> pq.ParquetWriter:
        path = self._folder / f"part-{self._number:05d}.parquet"
        self._number += 1
        self._rows = 0
        # Dictionaries only where they pay: the same few values over and over.
        few_values = ["Type", "Time", "Emit", "Readable", "Spd", "Toll", "Seg"]
        writer = pq.ParquetWriter(
            path, _COLLECTED_SCHEMA, compression="lz4", use_dictionary=few_values, store_schema=False
        )
        return self._open.enter_context(writer)


@kernel
def _write_lines(
    text: npt.NDArray[np.uint8],
    kind: npt.NDArray[np.int8],
    time: I32,
    emit: npt.NDArray[np.int64],
    vid: I32,
    spd: I32,
    toll: I32,
    seg: I32,
    qid: I32,
    result_time: I32,
    bal: I32,
    travel_time: I32,
) -> tuple[int, int]:
    """Write a line for each row; returns the length of the text, and the row that is no answer or -1."""
    at = 0
    for i in range(len(kind)):
        second = 0
        if kind[i] == 0:
            key, first, second = vid[i], spd[i], toll[i]
        elif kind[i] == 1:
            key, first = vid[i], seg[i]
        elif kind[i] == 2:
            key, first, second = qid[i], result_time[i], bal[i]
        elif kind[i] == 3:
            key, first = qid[i], bal[i]
        elif kind[i] == 4:
            key, first, second = qid[i], travel_time[i], toll[i]
        else:
            return at, i
        if min(key, first, second) == _MISSING:
            return at, i
        text[at] = _ZERO + kind[i]
        at += 1
        if kind[i] == 0:
            at = _write_integer(text, at, key)
        at = _write_integer(text, at, time[i])
        at = _write_seconds(text, at, emit[i])
        if kind[i] != 0:
            at = _write_integer(text, at, key)
        at = _write_integer(text, at, first)
        if kind[i] != 1 and kind[i] != 3:
            at = _write_integer(text, at, second)
        text[at] = _NEWLINE
        at += 1
    return at, -1


@kernel
def _write_integer(text: npt.NDArray[np.uint8], at: int, value: int) -> int:
    """Write a comma and a number; returns where it ends."""
    text[at] = _COMMA
    at += 1
    if value < 0:
        text[at] = _MINUS
        return _write_digits(text, at + 1, -value)
    return _write_digits(text, at, value)


@kernel
def _write_seconds(text: npt.NDArray[np.uint8], at: int, milliseconds: int) -> int:
    """Write a comma and a number with three decimals; returns where it ends."""
    text[at] = _COMMA
    at += 1
    if milliseconds < 0:
        text[at] = _MINUS
        at += 1
        milliseconds = -milliseconds
    at = _write_digits(text, at, milliseconds // 1000)
    decimals = milliseconds % 1000
    text[at] = _POINT
    text[at + 1] = _ZERO + decimals // 100
    text[at + 2] = _ZERO + decimals // 10 % 10
    text[at + 3] = _ZERO + decimals % 10
    return at + 4


@kernel
def _write_digits(text: npt.NDArray[np.uint8], at: int, value: int) -> int:
    """Write a number that is not negative; returns where it ends."""
    end = at + 1
    bound = 10
    while value >= bound:
        bound *= 10
        end += 1
    for place in range(end - 1, at - 1, -1):
        text[place] = _ZERO + value % 10
        value //= 10
    return end
