"""The last rows of a table or of each of its partitions, for windows of a number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from causeway.streaming_tables.storage.column_reader import DataFileReader
from causeway.streaming_tables.storage.definition import SEQ
from causeway.streaming_tables.storage.past import PastFile
from causeway.streaming_tables.storage.scan import Selection, scan_chunk, scan_file
from causeway.streaming_tables.storage.tail import Chunk, times_of
from causeway.streaming_tables.storage.value_index import ordered_keys

if TYPE_CHECKING:
    from causeway.streaming_tables.storage.snapshot import View

__all__ = ["last_rows"]

_Bounds = tuple[int | None, int | None]
_ENOUGH: Final = 1 << 20
"""Rows that are looked at in one step."""


def last_rows(
    view: View,
    readers: Sequence[tuple[PastFile, DataFileReader, _Bounds]],
    columns: Sequence[str],
    count: int,
    partition_by: Sequence[str],
    low: int | None,
    high: int | None,
) -> pa.Table:
    """The last rows; see `Snapshot.last_rows`. Blocks of rows are looked at from the newest to the oldest."""
    time = view.definition.time.name
    schema = view.definition.file_schema()
    needed = list(dict.fromkeys([*columns, *partition_by, time, SEQ]))
    blocks: list[tuple[int, Chunk | tuple[DataFileReader, _Bounds]]] = [
        (chunk.t_max, chunk)
        for chunk in view.chunks
        if (low is None or chunk.t_max >= low) and (high is None or chunk.t_min <= high)
    ]
    blocks += [(file.t_max, (reader, bounds)) for file, reader, bounds in readers]
    blocks.sort(key=lambda block: block[0], reverse=True)
    kept = schema.empty_table().select(needed)
    waiting: list[pa.Table] = []
    for place, (_, block) in enumerate(blocks):
        selection = Selection(needed, schema)
        if isinstance(block, tuple):
            reader, (first, last) = block
            scan_file(reader, first, last, None, {}, selection)
        else:
            scan_chunk(block, low, high, None, selection)
        waiting.append(selection.table())
        is_last = place == len(blocks) - 1
        if not is_last and sum(table.num_rows for table in waiting) < min(_ENOUGH, 4 * count + 65_536):
            continue
        kept = _latest(pa.concat_tables([kept, *waiting]), count, partition_by, time)
        waiting = []
        if not is_last and not partition_by and kept.num_rows >= count:
            oldest = int(times_of(kept.column(time))[-1])
            if blocks[place + 1][0] < oldest:
                break
    return kept.select(list(columns))


def _latest(rows: pa.Table, count: int, partition_by: Sequence[str], time: str) -> pa.Table:
    rows = rows.combine_chunks()
    times, seqs = times_of(rows.column(time)), times_of(rows.column(SEQ))
    if not partition_by:
        order = np.lexsort((seqs, times))[::-1][:count]
        return rows.take(pa.array(order))
    codes = _codes(rows, partition_by)
    order = np.lexsort((-seqs, -times, codes))
    ordered = codes[order]
    begins = (
        np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else np.empty(0, np.int64)
    )
    rank = np.arange(len(ordered)) - np.repeat(begins, np.diff(np.r_[begins, len(ordered)]))
    return rows.take(pa.array(order[rank < count]))


def _codes(rows: pa.Table, partition_by: Sequence[str]) -> NDArray[np.int64]:
    """A number for each row, the same for rows of one partition; NULL is a value like others here."""
    codes = np.zeros(rows.num_rows, np.int64)
    for name in partition_by:
        column = rows.column(name).combine_chunks()
        valid = column.is_valid().to_numpy(zero_copy_only=False)
        keys = ordered_keys(column.filter(pa.array(valid)))
        if isinstance(keys, pa.Array):
            numbers = keys.dictionary_encode().indices.to_numpy(zero_copy_only=False)
        else:
            numbers = pd.factorize(keys)[0]
        own = np.zeros(len(codes), np.int64)
        own[valid] = numbers.astype(np.int64) + 1
        codes = pd.factorize(codes * (int(own.max(initial=0)) + 1) + own)[0].astype(np.int64)
    return codes
