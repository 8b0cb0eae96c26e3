"""Scans: the rows of data files and of the log that a time range and a predicate select."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.streaming_tables.storage.log.tail import Chunk
from causeway.streaming_tables.storage.past.column_reader import DataFileReader, FileColumn, fixed_width_view
from causeway.streaming_tables.storage.past.value_index import ValueIndex
from causeway.streaming_tables.storage.predicate import CompiledComparison, CompiledPredicate

__all__ = ["FileReport", "Selection", "index_reads", "scan_chunk", "scan_file", "slots_for"]

_INDEX_SHARE: Final = 0.2
"""A value index is used if it leaves at most this share of the rows that the time range leaves."""

_FEW: Final = 1 / 16
"""Rows are looked at one by one when at most this share of them is left."""

_Rows = NDArray[np.int64] | slice


@dataclass
class FileReport:
    """What a scan of a data file read and passed over."""

    groups_read: int = 0
    bytes_read: int = 0
    rows_in_time: int = 0
    index: str | None = None
    index_rows: int = 0


@dataclass
class Selection:
    """The rows found so far, column by column, and how many."""

    columns: Sequence[str]
    schema: pa.Schema
    limit: int | None = None
    rows: int = 0
    pieces: dict[str, list[pa.Array]] = field(default_factory=dict)

    @property
    def full(self) -> bool:
        """Whether the limit is reached."""
        return self.limit is not None and self.rows >= self.limit

    def add(self, values: Mapping[str, pa.Array], rows: _Rows, count: int) -> None:
        """Take the given rows of a block."""
        if self.limit is not None and self.rows + count > self.limit:
            count = self.limit - self.rows
            rows = slice(rows.start, rows.start + count) if isinstance(rows, slice) else rows[:count]
        if not count:
            return
        self.rows += count
        for name in self.columns:
            self.pieces.setdefault(name, []).append(_taken(values[name], rows))

    def add_from_file(self, reader: DataFileReader, rows: _Rows) -> None:
        """Take rows of a data file."""
        count = _length(rows)
        if self.limit is not None and self.rows + count > self.limit:
            count = self.limit - self.rows
            rows = slice(rows.start, rows.start + count) if isinstance(rows, slice) else rows[:count]
        if not count:
            return
        self.rows += count
        groups = _groups_of(reader, rows)
        for name, column in reader.load(groups, self.columns).items():
            pieces = self.pieces.setdefault(name, [])
            values = column.flat(self.schema.field(name).type, len(groups))
            if values is not None:
                pieces.append(_taken(values, rows))
            else:
                pieces.extend(_taken(column.groups[group], _within(reader, rows, group)) for group in groups)

    def table(self) -> pa.Table:
        """All of them."""
        schema = pa.schema([self.schema.field(name) for name in self.columns])
        if not schema.names:
            return pa.Table.from_struct_array(pa.array([{}] * self.rows, pa.struct([])))
        arrays = [
            pa.chunked_array(self.pieces.get(name, []), schema.field(name).type) for name in schema.names
        ]
        return pa.Table.from_arrays(arrays, schema=schema)


def _taken(values: pa.Array, rows: _Rows) -> pa.Array:
    if isinstance(rows, slice):
        return values.slice(rows.start, rows.stop - rows.start)
    numbers = fixed_width_view(values)
    if numbers is None:
        return values.take(pa.array(rows))
    taken = numbers.take(rows)
    return pa.Array.from_buffers(values.type, len(taken), [None, pa.py_buffer(taken)])


def _narrowed(group: Sequence[CompiledComparison], values: Mapping[str, pa.Array], rows: _Rows) -> _Rows:
    """The rows for which all comparisons hold.

    Of a whole range of rows all comparisons are evaluated, until few rows are left: then only for those.
    """
    mask: NDArray[np.bool_] | None = None
    for comparison in group:
        more = comparison.mask(_taken(values[comparison.column], rows))
        if not isinstance(rows, slice):
            rows = rows[more]
            continue
        mask = more if mask is None else mask & more
        if np.count_nonzero(mask) < _FEW * len(mask):
            rows, mask = np.flatnonzero(mask) + rows.start, None
    if mask is None or not isinstance(rows, slice) or mask.all():
        return rows
    left: NDArray[np.int64] = np.flatnonzero(mask) + rows.start
    return left


def _numbered(rows: _Rows) -> NDArray[np.int64]:
    return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows


def _length(rows: _Rows) -> int:
    return rows.stop - rows.start if isinstance(rows, slice) else len(rows)


def _matching(
    groups: Sequence[Sequence[CompiledComparison]], values: Mapping[str, pa.Array], rows: _Rows
) -> _Rows:
    """The rows for which one of the conjunctions holds."""
    if len(groups) == 1:
        return _narrowed(groups[0], values, rows)
    found: NDArray[np.int64] = np.empty(0, np.int64)
    for group in groups:
        more = _narrowed(group, values, rows)
        if isinstance(more, slice):
            if more == rows:
                return rows
            more = np.arange(more.start, more.stop)
        found = np.union1d(found, more)
    return found


def scan_chunk(
    chunk: Chunk, low: int | None, high: int | None, predicate: CompiledPredicate | None, selection: Selection
) -> None:
    """Add the rows of a chunk of the log."""
    if (low is not None and chunk.t_max < low) or (high is not None and chunk.t_min > high):
        return
    rows: _Rows = slice(0, chunk.table.num_rows)
    inside = (low is None or chunk.t_min >= low) and (high is None or chunk.t_max <= high)
    if not inside and chunk.in_order:
        first = 0 if low is None else int(np.searchsorted(chunk.times, low))
        last = len(chunk.times) if high is None else int(np.searchsorted(chunk.times, high, "right"))
        rows = slice(first, max(first, last))
    elif not inside:
        mask = np.ones(len(chunk.times), np.bool_)
        if low is not None:
            mask &= chunk.times >= low
        if high is not None:
            mask &= chunk.times <= high
        rows = np.flatnonzero(mask)
    names = dict.fromkeys([*selection.columns, *(predicate.columns if predicate else ())])
    values = {name: chunk.table.column(name).chunk(0) for name in names}
    if predicate is not None and _length(rows):
        rows = _matching(predicate.groups, values, rows)
    selection.add(values, rows, _length(rows))


def slots_for(index: ValueIndex, comparison: CompiledComparison) -> NDArray[np.int64] | range | None:
    """The index's slots with the values that a comparison accepts; None if it can't tell."""
    if comparison.op in ("=", "in"):
        return index.slots_of(comparison.keys)
    bounds = comparison.bounds()
    return None if bounds is None else range(*index.slots_between(*bounds))


def _from_indexes(
    predicate: CompiledPredicate, indexes: Mapping[str, ValueIndex], first: int, last: int, report: FileReport
) -> list[tuple[Sequence[CompiledComparison], NDArray[np.int64]]] | None:
    """For each conjunction the rows that its best index leaves, and what is left to compare.

    None if one of the conjunctions has no index that leaves few rows: then all rows are to be looked at.
    """
    found: list[tuple[Sequence[CompiledComparison], NDArray[np.int64]]] = []
    for group in predicate.groups:
        best: tuple[int, NDArray[np.int64] | range, str, list[CompiledComparison]] | None = None
        for column, slots, answered in index_reads(group, indexes):
            index = indexes[column]
            count = index.count(slots)
            if count <= _INDEX_SHARE * index.entries and (best is None or count < best[0]):
                best = count, slots, column, answered
        if best is None:
            return None
        _, chosen, column, answered = best
        rows = indexes[column].rows(chosen, first, last)
        report.index_rows += len(rows)
        report.index = column if report.index is None else f"{report.index}, {column}"
        found.append(([one for one in group if one not in answered], rows))
    return found


def index_reads(
    group: Sequence[CompiledComparison], indexes: Mapping[str, ValueIndex]
) -> Iterator[tuple[str, NDArray[np.int64] | range, list[CompiledComparison]]]:
    """What can be looked up for a conjunction: a column, its slots, and the comparisons that they answer.

    All ranges of a column are one lookup.
    """
    ranges: dict[str, tuple[range, list[CompiledComparison]]] = {}
    for comparison in group:
        index = indexes.get(comparison.column)
        slots = None if index is None else slots_for(index, comparison)
        if isinstance(slots, range):
            known, answered = ranges.get(comparison.column, (slots, []))
            both = range(max(known.start, slots.start), min(known.stop, slots.stop))
            ranges[comparison.column] = both, [*answered, comparison]
        elif slots is not None:
            yield comparison.column, slots, [comparison]
    for column, (slots, answered) in ranges.items():
        yield column, slots, answered


def scan_file(
    reader: DataFileReader,
    low: int | None,
    high: int | None,
    predicate: CompiledPredicate | None,
    indexes: Mapping[str, ValueIndex],
    selection: Selection,
    *,
    only_report: bool = False,
) -> FileReport:
    """Add the rows of a data file, or only say what would be read."""
    report = FileReport()
    first, last = reader.rows_between(low, high)
    report.rows_in_time = last - first
    if first == last:
        return report
    by_index = _from_indexes(predicate, indexes, first, last, report) if predicate and indexes else None
    names = list(dict.fromkeys([*selection.columns, *(predicate.columns if predicate else ())]))
    rows: _Rows = slice(first, last)
    if by_index is not None:
        rows = (
            by_index[0][1] if len(by_index) == 1 else np.unique(np.concatenate([one for _, one in by_index]))
        )
    groups = _groups_of(reader, rows)
    report.groups_read = len(groups)
    if only_report:
        report.bytes_read = sum(reader.group_bytes(group, names) for group in groups)
    elif groups:
        if predicate is not None:
            columns = reader.load(groups, predicate.columns)
            rows = _selected(reader, columns, selection.schema, predicate, by_index, rows, len(groups))
        selection.add_from_file(reader, rows)
    return report


def _groups_of(reader: DataFileReader, rows: _Rows) -> list[int]:
    """The row groups that hold the rows."""
    if isinstance(rows, slice):
        begin = int(np.searchsorted(reader.offsets, rows.start, "right")) - 1
        return list(range(begin, int(np.searchsorted(reader.offsets, rows.stop, "left"))))
    places = np.searchsorted(rows, reader.offsets)
    return np.flatnonzero(places[1:] > places[:-1]).tolist()


def _within(reader: DataFileReader, rows: _Rows, group: int) -> _Rows:
    """Those of the rows that are in a row group, numbered from its beginning."""
    begin, end = int(reader.offsets[group]), int(reader.offsets[group + 1])
    if isinstance(rows, slice):
        return slice(max(rows.start, begin) - begin, min(rows.stop, end) - begin)
    inside: NDArray[np.int64] = rows[slice(*np.searchsorted(rows, (begin, end)))] - begin
    return inside


def _selected(
    reader: DataFileReader,
    columns: Mapping[str, FileColumn],
    schema: pa.Schema,
    predicate: CompiledPredicate,
    by_index: list[tuple[Sequence[CompiledComparison], NDArray[np.int64]]] | None,
    rows: _Rows,
    row_groups: int,
) -> _Rows:
    """The rows of a file that match, of those that time and indexes leave; they lie in so many row groups."""
    parts: list[tuple[Sequence[Sequence[CompiledComparison]], _Rows]]
    parts = [(predicate.groups, rows)] if by_index is None else [([rest], found) for rest, found in by_index]
    flat = {name: column.flat(schema.field(name).type, row_groups) for name, column in columns.items()}
    found: list[_Rows] = []
    for groups, left in parts:
        if not any(values is None for values in flat.values()):
            found.append(_matching(groups, flat, left) if _length(left) else left)
            continue
        for group in _groups_of(reader, left):
            values = {name: column.groups[group] for name, column in columns.items()}
            matching = _numbered(_matching(groups, values, _within(reader, left, group)))
            found.append(matching + reader.offsets[group])
    if len(found) == 1:
        return found[0]
    numbers = np.concatenate([np.empty(0, np.int64), *(_numbered(one) for one in found)])
    return numbers if len(parts) == 1 else np.unique(numbers)
