"""The last rows of a table or of each of its partitions, for windows of a number of rows.

Files and chunks of the log are gone through from the newest to the oldest. A partition that has its rows is
complete. With a value index on the partition's column, the rows of complete partitions are not looked at any
more, and a file that has no others is not read. Without one, the partition's columns of all files are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from causeway.runtime.compiled import kernel
from causeway.streaming_tables.storage.definition import SEQ
from causeway.streaming_tables.storage.log.tail import Chunk, times_of
from causeway.streaming_tables.storage.past.column_reader import DataFileReader
from causeway.streaming_tables.storage.past.data_files import DataFile
from causeway.streaming_tables.storage.past.value_index import ValueIndex, ordered_keys
from causeway.streaming_tables.storage.reads.scan import Selection

__all__ = ["Block", "chunk_block", "file_block", "last_rows"]

_INDEX_SHARE: Final = 0.5
"""Rows are found by the index if it leaves at most this share of a file's."""


@dataclass(frozen=True)
class Block:
    """Rows of a data file, in the order of time and arrival, or of a chunk of the log, in that of arrival."""

    rows: Chunk | DataFileReader
    t_min: int
    t_max: int
    seq_min: int
    seq_max: int
    indexes: Mapping[str, ValueIndex] = field(default_factory=dict)

    def is_before(self, other: Block) -> bool:
        """Whether all its rows are older than all of the other."""
        return self.t_max < other.t_min or (self.t_max == other.t_min and self.seq_max < other.seq_min)

    @property
    def size(self) -> int:
        """The number of its rows."""
        return self.rows.table.num_rows if isinstance(self.rows, Chunk) else int(self.rows.offsets[-1])

    def take(self, names: Sequence[str], schema: pa.Schema, places: NDArray[np.int64] | slice) -> pa.Table:
        """Some columns of the rows at rising places."""
        if not isinstance(self.rows, Chunk):
            selection = Selection(names, schema)
            selection.add_from_file(self.rows, places)
            return selection.table()
        table = self.rows.table.select(list(names))
        if isinstance(places, slice):
            return table.slice(places.start, places.stop - places.start)
        return table.take(pa.array(places))


def file_block(file: DataFile, reader: DataFileReader, indexes: Mapping[str, ValueIndex]) -> Block:
    """A data file."""
    return Block(reader, file.t_min, file.t_max, file.seq_min, file.seq_max, indexes)


def chunk_block(chunk: Chunk) -> Block:
    """A chunk of the log."""
    return Block(chunk, chunk.t_min, chunk.t_max, chunk.first_seq, chunk.first_seq + chunk.table.num_rows - 1)


def _runs(blocks: Sequence[Block]) -> list[list[Block]]:
    """Blocks from the newest to the oldest, those whose rows are mixed in time together."""
    runs: list[list[Block]] = []
    for block in sorted(blocks, key=lambda one: (one.t_max, one.seq_max), reverse=True):
        if runs and not all(block.is_before(other) for other in runs[-1]):
            runs[-1].append(block)
        else:
            runs.append([block])
    return runs


def last_rows(
    blocks: Sequence[Block],
    columns: Sequence[str],
    schema: pa.Schema,
    time: str,
    count: int,
    partition_by: Sequence[str],
    low: int | None,
    high: int | None,
) -> pa.Table:
    """The last `count` rows of times from `low` to `high`; of each partition, if there are columns for it."""
    known = _Partitions(schema, partition_by, count)
    found: list[pa.Table] = []
    for run in _runs(blocks) if count > 0 else []:
        if len(run) == 1 and isinstance(run[0].rows, DataFileReader):
            block, places = run[0], _candidates(run[0], run[0].rows, known, low, high)
            if places is None:
                continue
            rows = block.take(partition_by, schema, places) if partition_by else None
            length = places.stop - places.start if isinstance(places, slice) else len(places)
            kept = known.add(rows, np.arange(length), np.ones(length, np.bool_))
            kept = kept + places.start if isinstance(places, slice) else places[kept]
            if len(kept):
                found.append(block.take(columns, schema, kept))
        else:
            found += _mixed(run, columns, schema, time, known, low, high)
        if not partition_by and known.rows >= count:
            break
    empty = schema.empty_table().select(list(columns))
    return pa.concat_tables([empty, *found])


class _Partitions:
    """The partitions that were met so far, and how many of their rows."""

    def __init__(self, schema: pa.Schema, partition_by: Sequence[str], count: int) -> None:
        self.partition_by = partition_by
        self.count = count
        self._values = schema.empty_table().select(list(partition_by))
        self._taken = np.zeros(0, np.int64)

    @property
    def rows(self) -> int:
        """All rows that were taken."""
        return int(self._taken.sum())

    def add(
        self, rows: pa.Table | None, order: NDArray[np.int64], inside: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Take the last of rows that are older than all before; `order` is by time, `inside` which count.

        `rows` has the partition columns; None if there are none. The result are their places, rising.
        """
        if rows is None:
            codes = np.zeros(len(self._taken) + len(inside), np.int64)
        else:
            values = pa.concat_tables([self._values, rows])
            codes = _codes(values, self.partition_by)
        begin = len(self._taken)
        chosen, taken, where = _latest(codes[:begin], self._taken, codes[begin:], order, inside, self.count)
        met = where >= 0
        self._taken = taken[met]
        if rows is not None:
            self._values = values.take(pa.array(where[met])).combine_chunks()
        return np.flatnonzero(chosen).astype(np.int64)

    def open_slots(self, index: ValueIndex) -> NDArray[np.int64] | None:
        """The index's slots of values whose partitions are not complete; None if it can't tell."""
        column = self._values.column(0).combine_chunks()
        complete = column.filter(pa.array(self._taken >= self.count)).drop_null()
        keys = ordered_keys(complete) if len(complete) else None
        if keys is None or isinstance(keys, pa.Array):
            return None
        is_open = np.ones(index.distinct, np.bool_)
        is_open[index.slots_of(np.unique(keys))] = False
        return np.flatnonzero(is_open)

    def has_nulls_of(self, rows: int, index: ValueIndex) -> bool:
        """Whether the NULLs of a file, which no index has, may still count."""
        if index.entries == rows:
            return False
        nulls = self._values.column(0).combine_chunks().is_null().to_numpy(zero_copy_only=False)
        return not bool((self._taken[nulls] >= self.count).any())


def _candidates(
    block: Block, reader: DataFileReader, known: _Partitions, low: int | None, high: int | None
) -> NDArray[np.int64] | slice | None:
    """The places of a file's rows that may be among the last; None if there are none."""
    begin = None if low is None or block.t_min >= low else low
    end = None if high is None or block.t_max <= high else high
    first, last = reader.rows_between(begin, end)
    if first == last:
        return None
    if not known.partition_by:
        return slice(max(first, last - (known.count - known.rows)), last)
    index = block.indexes.get(known.partition_by[0]) if len(known.partition_by) == 1 else None
    if index is None or not known.rows or known.has_nulls_of(block.size, index):
        return slice(first, last)
    slots = known.open_slots(index)
    if slots is None or index.count(slots) > _INDEX_SHARE * block.size:
        return slice(first, last)
    places = index.rows(slots, first, last)
    return places if len(places) else None


def _mixed(
    run: Sequence[Block],
    columns: Sequence[str],
    schema: pa.Schema,
    time: str,
    known: _Partitions,
    low: int | None,
    high: int | None,
) -> list[pa.Table]:
    """The last rows of blocks whose rows are mixed in time."""
    keys = list(dict.fromkeys([*known.partition_by, time, SEQ]))
    tables = [block.take(keys, schema, slice(0, block.size)) for block in run]
    sizes = np.cumsum([0, *(table.num_rows for table in tables)])
    rows = pa.concat_tables(tables).combine_chunks()
    times, seqs = times_of(rows.column(time)), times_of(rows.column(SEQ))
    order = np.arange(len(times)) if _is_sorted(times, seqs) else np.lexsort((seqs, times))
    inside = np.ones(len(times), np.bool_)
    if low is not None:
        inside &= times >= low
    if high is not None:
        inside &= times <= high
    kept = known.add(rows.select(list(known.partition_by)) if known.partition_by else None, order, inside)
    found = []
    for number, block in enumerate(run):
        own = kept[slice(*np.searchsorted(kept, (sizes[number], sizes[number + 1])))] - sizes[number]
        if len(own):
            found.append(block.take(columns, schema, own))
    return found


def _is_sorted(times: NDArray[np.int64], seqs: NDArray[np.int64]) -> bool:
    later = (times[1:] > times[:-1]) | ((times[1:] == times[:-1]) & (seqs[1:] > seqs[:-1]))
    return bool(later.all())


@kernel
def _latest(
    known: NDArray[np.int64],
    known_counts: NDArray[np.int64],
    codes: NDArray[np.int64],
    order: NDArray[np.int64],
    inside: NDArray[np.bool_],
    count: int,
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Which rows are the last `count` of their codes, of which some are known already.

    Also how many rows each code has now, and where it is first, counted from the first known one; -1 where
    it has none.
    """
    largest = -1
    for code in known:
        largest = max(largest, code)
    for code in codes:
        largest = max(largest, code)
    taken = np.zeros(largest + 1, np.int64)
    where = np.full(largest + 1, -1, np.int64)
    for number in range(len(known)):
        taken[known[number]] = known_counts[number]
        where[known[number]] = number
    chosen = np.zeros(len(codes), np.bool_)
    for number in range(len(order) - 1, -1, -1):
        place = order[number]
        code = codes[place]
        if inside[place] and taken[code] < count:
            taken[code] += 1
            chosen[place] = True
            if where[code] < 0:
                where[code] = len(known) + place
    return chosen, taken, where


def _codes(rows: pa.Table, partition_by: Sequence[str]) -> NDArray[np.int64]:
    """A number for each row, the same for rows of one partition; NULL is a value like others here."""
    codes = np.zeros(rows.num_rows, np.int64)
    for place, name in enumerate(partition_by):
        column = rows.column(name).combine_chunks()
        own = np.zeros(len(codes), np.int64)
        if column.null_count:
            valid = column.is_valid()
            own[valid.to_numpy(zero_copy_only=False)] = _numbered(column.filter(valid)) + 1
        else:
            own = _numbered(column)
        codes = own if place == 0 else pd.factorize(codes * (int(own.max(initial=0)) + 1) + own)[0]
    return np.asarray(codes, np.int64)


def _numbered(column: pa.Array) -> NDArray[np.int64]:
    keys = ordered_keys(column)
    if isinstance(keys, pa.Array):
        return np.asarray(keys.dictionary_encode().indices.to_numpy(zero_copy_only=False), np.int64)
    return np.asarray(pd.factorize(keys)[0], np.int64)
