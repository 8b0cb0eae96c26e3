"""A Linear Road workload as a feed: its parts, each in time order, merged by time.

A workload has a part for each expressway. Read one after the other, all but the first would be late. The
offset is the next second; every batch and every task has whole seconds of all parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from causeway.runtime.errors import UserError
from causeway.streaming.linear_road_fields import INPUT_COLUMNS
from causeway.streaming_tables.sources.feeds.feed import Limits, Offset
from causeway.streaming_tables.sources.parsing.csv_rows import parse_csv
from causeway.streaming_tables.sources.parsing.parquet_rows import convert_batch, match_parquet, names_to_read
from causeway.streaming_tables.sources.parsing.rows import Reject, rejected_rows, with_source
from causeway.streaming_tables.sources.parsing.target import Reading, match_columns
from causeway.streaming_tables.sources.parsing.text_lines import count_lines, line_start_after, read_blocks

__all__ = ["MergedFeed"]

_TIME: Final = "Time"
_TIME_FIELD: Final = INPUT_COLUMNS.index(_TIME)
_ROWS_AT_ONCE: Final = 1 << 17
_ROWS_PER_TASK: Final = 20_000
_BYTES_PER_LINE: Final = 48


class Part(Protocol):
    """A file of tuples in time order."""

    def end(self) -> int:
        """The second after the last tuple's."""

    def rows_before(self, second: int) -> float:
        """About how many tuples come before a second."""

    def read(self, start: int, end: int, reading: Reading) -> Iterator[tuple[pa.RecordBatch, list[Reject]]]:
        """The rows of the seconds `start` to `end`, not including it."""


class MergedFeed:
    """The parts of a workload's stream."""

    def __init__(self, parts: Sequence[str], reading: Reading, spec: dict[str, Any]) -> None:
        self._paths = [Path(part) for part in parts]
        self._reading = reading
        self._spec = spec

    @cached_property
    def _parts(self) -> list[Part]:
        return [_ParquetPart(path) if path.suffix == ".parquet" else _CsvPart(path) for path in self._paths]

    @cached_property
    def _end(self) -> int:
        return max((part.end() for part in self._parts), default=0)

    def spec(self) -> dict[str, Any]:
        return self._spec

    def initial(self) -> dict[str, int]:
        return {"second": 0}

    def available(self) -> dict[str, int]:
        return {"second": self._end}

    def ended(self) -> bool:
        return True

    def next(self, start: Offset, limits: Limits | None) -> dict[str, int]:
        second = start["second"]
        if limits is None or second >= self._end:
            return {"second": max(self._end, second)}
        rows = self._rows_before(self._end)
        size = sum(path.stat().st_size for path in self._paths)
        row_limit = min(limits.rows, limits.bytes * rows / max(1, size))
        return {"second": self._second_after(second, self._end, row_limit)}

    def partitions(self, start: Offset, end: Offset, tasks: int) -> list[tuple[int, int]]:
        first, last = start["second"], end["second"]
        rows = self._rows_before(last) - self._rows_before(first)
        parts = max(1, min(tasks, int(rows // _ROWS_PER_TASK)))
        spans: list[tuple[int, int]] = []
        for left in range(parts, 0, -1):
            if first >= last:
                break
            share = (self._rows_before(last) - self._rows_before(first)) / left
            cut = last if left == 1 else self._second_after(first, last, share)
            spans.append((first, cut))
            first = cut
        return spans

    def read(self, part: Sequence[int]) -> Iterator[pa.RecordBatch]:
        start, end = part
        rows: list[pa.RecordBatch] = []
        for path, one in zip(self._paths, self._parts, strict=True):
            for good, rejects in one.read(start, end, self._reading):
                rows.append(good)
                yield from rejected_rows(path.name, rejects, self._reading)
        if rows:
            together = pa.Table.from_batches(rows).combine_chunks()
            time = self._reading.target.schema.names[-1]
            # The sort is stable: tuples of a second stay in the order of the parts.
            yield from together.take(pc.sort_indices(together.column(time))).to_batches(_ROWS_AT_ONCE)

    def closed(self, end: Offset) -> int | None:
        return end["second"] - 1

    def forget(self, end: Offset) -> None:
        """The files are the user's and stay."""

    def before(self, one: Offset, other: Offset) -> bool:
        return one["second"] < other["second"]

    def _rows_before(self, second: int) -> float:
        return sum(part.rows_before(second) for part in self._parts)

    def _second_after(self, start: int, end: int, rows: float) -> int:
        """The last second, but at least one after `start`, before which there are at most `rows` more."""
        limit = self._rows_before(start) + rows
        low, high = start + 1, end
        while low < high:
            middle = (low + high + 1) // 2
            if self._rows_before(middle) <= limit:
                low = middle
            else:
                high = middle - 1
        return low


class _ParquetPart:
    """Row groups whose statistics tell their seconds."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            footer = pq.read_metadata(path)
        except (OSError, pa.ArrowException) as unreadable:
            raise UserError(f"{path} cannot be read: {unreadable}") from unreadable
        time = footer.schema.names.index(_TIME)
        self._spans: list[tuple[int, int, int]] = []
        """Of each row group the first and last second, and the rows."""
        for number in range(footer.num_row_groups):
            group = footer.row_group(number)
            seconds = group.column(time).statistics
            if seconds is None or not seconds.has_min_max:
                raise UserError(
                    f"{path}: the seconds of its row groups are unknown; import the workload again"
                )
            self._spans.append((seconds.min, seconds.max, group.num_rows))

    def end(self) -> int:
        return max((last + 1 for _, last, _ in self._spans), default=0)

    def rows_before(self, second: int) -> float:
        rows = 0.0
        for first, last, count in self._spans:
            if last < second:
                rows += count
            elif first < second:
                rows += count * (second - first) / (last + 1 - first)
        return rows

    def read(self, start: int, end: int, reading: Reading) -> Iterator[tuple[pa.RecordBatch, list[Reject]]]:
        row = 0
        with pq.ParquetFile(self._path, memory_map=True) as file:
            schema = file.schema_arrow
            match = match_parquet(schema, reading, self._path.name)
            names = list(dict.fromkeys([_TIME, *names_to_read(schema.names, match)]))
            for number, (first, last, count) in enumerate(self._spans):
                if first < end and last >= start:
                    at = row
                    for batch in file.iter_batches(_ROWS_AT_ONCE, [number], names, use_threads=False):
                        time = batch.column(_TIME).to_numpy(zero_copy_only=False)
                        wanted = (time >= start) & (time < end)
                        numbers = np.arange(at, at + len(time))
                        at += len(time)
                        if not wanted.all():
                            batch, numbers = batch.filter(pa.array(wanted)), numbers[wanted]  # noqa: PLW2901
                        if batch.num_rows:
                            good, rejects = convert_batch(batch, numbers, schema.names, match, reading)
                            yield with_source(good, self._path.name, 0, reading), rejects
                row += count


class _CsvPart:
    """Lines in time order, found by bisection."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._size = path.stat().st_size
        self._known: dict[int, int] = {}

    def end(self) -> int:
        """The last line's second, found from the end of the file."""
        with self._path.open("rb") as file:
            reach = 1 << 12
            while True:
                file.seek(max(0, self._size - reach))
                times = [time for line in file.read().splitlines() if (time := _time_of(line)) is not None]
                # The first of several lines may be cut.
                if len(times) > 1 or (times and reach >= self._size):
                    return times[-1] + 1
                if reach >= self._size:
                    return 0
                reach *= 4

    def rows_before(self, second: int) -> float:
        return self._position(second) / _BYTES_PER_LINE

    def read(self, start: int, end: int, reading: Reading) -> Iterator[tuple[pa.RecordBatch, list[Reject]]]:
        match = match_columns(INPUT_COLUMNS, reading, self._path.name)
        first, last = self._position(start), self._position(end)
        line: int | None = None
        lines = 0
        for block in read_blocks(self._path, first, last):
            rows, rejects = parse_csv(block, INPUT_COLUMNS, match, reading)
            if line is None and (rejects or reading.target.traced):
                line = 1 + count_lines(self._path, first)
            before = (line or 0) + lines
            numbered = [(before + number, reason, text) for number, reason, text in rejects]
            yield with_source(rows, self._path.name, before, reading), numbered
            lines += block.count(b"\n")

    def _position(self, second: int) -> int:
        """Where the first line of `second` or later begins."""
        if second <= 0:
            return 0
        if second not in self._known:
            low, high = 0, self._size
            with self._path.open("rb") as file:
                while low < high:
                    middle = (low + high) // 2
                    start = line_start_after(self._path, middle, self._size)
                    time, after = None, start
                    file.seek(start)
                    while time is None and (text := file.readline()):
                        time, after = _time_of(text), after + len(text)
                    if time is None or time >= second:
                        high = middle
                    else:
                        low = after
            self._known[second] = line_start_after(self._path, low, self._size)
        return self._known[second]


def _time_of(line: bytes) -> int | None:
    fields = line.split(b",", _TIME_FIELD + 1)
    try:
        return int(fields[_TIME_FIELD])
    except (IndexError, ValueError):
        return None
