"""The last rows of a table or of each of its partitions, for windows of a number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from causeway.runtime.compiled import kernel
from causeway.streaming_tables.storage.column_reader import DataFileReader
from causeway.streaming_tables.storage.data_files import DataFile
from causeway.streaming_tables.storage.definition import SEQ
from causeway.streaming_tables.storage.tail import Chunk, times_of
from causeway.streaming_tables.storage.value_index import ordered_keys

__all__ = ["Block", "chunk_block", "file_block", "last_rows"]


@dataclass(frozen=True)
class Block:
    """Rows of a data file or of a chunk of the log, in the order of the file or of their arrival."""

    rows: Chunk | DataFileReader
    t_min: int
    t_max: int
    seq_min: int
    seq_max: int

    def is_before(self, other: Block) -> bool:
        """Whether all its rows are older than all of the other."""
        return self.t_max < other.t_min or (self.t_max == other.t_min and self.seq_max < other.seq_min)

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Some columns of all rows."""
        if isinstance(self.rows, Chunk):
            return self.rows.table.select(list(names))
        parts = [self.rows.columns(group, names) for group in range(self.groups)]
        return pa.table({name: pa.chunked_array([part[name] for part in parts]) for name in names})

    @property
    def groups(self) -> int:
        """The number of its row groups; a chunk is one."""
        return 1 if isinstance(self.rows, Chunk) else len(self.rows.offsets) - 1

    def take(self, names: Sequence[str], places: NDArray[np.int64]) -> pa.Table:
        """Some columns of the rows at rising places."""
        if isinstance(self.rows, Chunk):
            return self.rows.table.select(list(names)).take(pa.array(places))
        tables = []
        for group in range(self.groups):
            begin, end = self.rows.offsets[group], self.rows.offsets[group + 1]
            own = places[slice(*np.searchsorted(places, (begin, end)))] - begin
            if len(own):
                tables.append(pa.table(self.rows.columns(group, names)).take(pa.array(own)))
        return pa.concat_tables(tables)


def file_block(file: DataFile, reader: DataFileReader) -> Block:
    """A data file."""
    return Block(reader, file.t_min, file.t_max, file.seq_min, file.seq_max)


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
    """The last `count` rows of times from `low` to `high`, of each partition if there are partition columns.

    Only partitions, times and arrival numbers of all rows are looked at, from the newest to the oldest; other
    columns are taken for the rows that are found.
    """
    keys = list(dict.fromkeys([*partition_by, time, SEQ]))
    found: list[pa.Table] = []
    known = schema.empty_table().select(keys)
    for run in _runs(blocks) if count > 0 else []:
        tables = [block.columns(keys) for block in run]
        sizes = np.cumsum([0, *(table.num_rows for table in tables)])
        rows = pa.concat_tables(tables).combine_chunks()
        times, seqs = times_of(rows.column(time)), times_of(rows.column(SEQ))
        order = np.arange(len(times)) if _is_sorted(times, seqs) else np.lexsort((seqs, times))
        inside = np.ones(len(times), np.bool_)
        if low is not None:
            inside &= times >= low
        if high is not None:
            inside &= times <= high
        codes = _codes(pa.concat_tables([known, rows]), partition_by)
        kept = _latest(codes[: known.num_rows], codes[known.num_rows :], order, inside, count)
        known = pa.concat_tables([known, rows.take(pa.array(kept))])
        for number, block in enumerate(run):
            own = kept[slice(*np.searchsorted(kept, (sizes[number], sizes[number + 1])))] - sizes[number]
            if len(own):
                found.append(block.take(columns, own))
        if not partition_by and known.num_rows >= count:
            break
    empty = schema.empty_table().select(list(columns))
    return pa.concat_tables([empty, *found])


def _is_sorted(times: NDArray[np.int64], seqs: NDArray[np.int64]) -> bool:
    later = (times[1:] > times[:-1]) | ((times[1:] == times[:-1]) & (seqs[1:] > seqs[:-1]))
    return bool(later.all())


@kernel
def _latest(
    known: NDArray[np.int64],
    codes: NDArray[np.int64],
    order: NDArray[np.int64],
    inside: NDArray[np.bool_],
    count: int,
) -> NDArray[np.int64]:
    """Places of the last `count` rows of each code, less those that are known already; rising."""
    most = -1
    for code in known:
        most = max(most, code)
    for code in codes:
        most = max(most, code)
    taken = np.zeros(most + 1, np.int64)
    for code in known:
        taken[code] += 1
    chosen = np.zeros(len(codes), np.bool_)
    for number in range(len(order) - 1, -1, -1):
        place = order[number]
        if inside[place] and taken[codes[place]] < count:
            taken[codes[place]] += 1
            chosen[place] = True
    return np.flatnonzero(chosen).astype(np.int64)


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
