"""Rows of the log in memory, as Arrow tables with a view of their times."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.streaming_tables.storage.definition import SEQ
from causeway.streaming_tables.storage.log.frames import Frame

__all__ = ["Chunk", "SegmentTail", "times_of"]

_JOINED: Final = 16
_LARGE: Final = 1 << 18


def times_of(column: pa.ChunkedArray | pa.Array) -> NDArray[np.int64]:
    """A time column as ticks: seconds or microseconds."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if column.type != pa.int64():
        column = column.view(pa.int64())
    ticks: NDArray[np.int64] = column.to_numpy(zero_copy_only=False)
    return ticks


class Chunk:
    """Rows of neighbouring frames, in the order of their arrival, with their arrival numbers."""

    __slots__ = ("first_seq", "in_order", "level", "t_max", "t_min", "table", "times")

    def __init__(self, table: pa.Table, first_seq: int, time: str, level: int = 0) -> None:
        """`table` has the table's columns, without arrival numbers, and at least one row."""
        self.first_seq = first_seq
        if SEQ not in table.schema.names:
            seqs = pa.array(np.arange(first_seq, first_seq + table.num_rows, dtype=np.int64))
            table = table.append_column(SEQ, seqs)
        self.table = table.combine_chunks()
        self.times = times_of(self.table.column(time))
        self.in_order = bool(np.all(self.times[1:] >= self.times[:-1]))
        self.t_min = int(self.times[0] if self.in_order else self.times.min())
        self.t_max = int(self.times[-1] if self.in_order else self.times.max())
        self.level = level


class SegmentTail:
    """What a segment of the log holds. Small chunks are joined, so that their number stays small."""

    def __init__(self, time: str) -> None:
        """`time` is the name of the time column."""
        self._time = time
        self.chunks: list[Chunk] = []
        self.late: list[tuple[int, pa.Table]] = []
        self.rejected: list[tuple[int, pa.Table]] = []
        self.rows = 0
        self.bytes = 0
        self.frames = 0

    def add(self, frame: Frame) -> None:
        """Take a frame's rows; frames come in order."""
        number = frame.progress.frames - 1
        self.frames += 1
        self.bytes += frame.size
        if frame.late is not None:
            self.late.append((number, frame.late))
        if frame.rejected is not None:
            self.rejected.append((number, frame.rejected))
        if frame.rows is None:
            return
        self.rows += frame.rows.num_rows
        chunk = Chunk(frame.rows, frame.first_seq, self._time)
        chunks = [*self.chunks, chunk]
        while len(chunks) >= _JOINED and chunks[-_JOINED].level == chunks[-1].level:
            joined = chunks[-_JOINED:]
            rows = sum(one.table.num_rows for one in joined)
            if rows > _LARGE:
                break
            table = pa.concat_tables([one.table for one in joined])
            chunks[-_JOINED:] = [Chunk(table, joined[0].first_seq, self._time, joined[0].level + 1)]
        self.chunks = chunks
