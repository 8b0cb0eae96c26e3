"""Joins of two streams by an identifier: the rows of each side are kept for the other.

State: both sides' rows that may still find a partner, in chunks of neighbouring identifiers, so that a batch
reads and writes only those that it is about.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pyarrow as pa

from causeway.nexmark.operators.kernels import (
    END_OF_TIME,
    Kernel,
    Longs,
    State,
    Watermark,
    longs,
    place_of,
    rows_where,
    together,
)
from causeway.nexmark.operators.kernels.chunks import Chunks, chunks_of

__all__ = ["Join"]


class Join(Kernel):
    """Gives each pair of a row of the stream `one` and one of `many` with the same key, when both are there.

    There is one row of a key on the side of `one`, and any number on the other.
    """

    one: ClassVar[str]
    many: ClassVar[str]
    by: ClassVar[Mapping[str, str]]
    """The column of each side that must be equal."""
    chunk: ClassVar[int] = 4096
    """Identifiers that are kept together."""

    @abstractmethod
    def pairs(self, one: pa.Table, many: pa.Table) -> pa.Table:
        """The answers, of rows that stand side by side."""

    def one_until(self, rows: pa.Table) -> Longs:
        """Until when (of the watermark) a row of `one` is kept for partners that may come."""
        return np.full(rows.num_rows, END_OF_TIME)

    def many_until(self, rows: pa.Table) -> Longs:
        """Until when a row of `many` that has found no partner is kept."""
        return np.full(rows.num_rows, END_OF_TIME)

    def step(self, events: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Pair new rows with each other and with kept ones, and keep what may be paired later."""
        chunks = Chunks(state)
        new = {
            stream: chunks_of(rows, longs(rows, self.by[stream]), self.chunk)
            for stream, rows in events.items()
        }
        ones, manies = new.get(self.one, {}), new.get(self.many, {})
        found = [
            self._step_of_chunk(number, ones.get(number), manies.get(number), watermark, chunks)
            for number in sorted({*ones, *manies})
        ]
        chunks.finish(watermark)
        return pa.concat_tables(found) if found else self.answer.empty_table()

    def _step_of_chunk(
        self,
        number: int,
        new_one: pa.Table | None,
        new_many: pa.Table | None,
        watermark: Watermark,
        chunks: Chunks,
    ) -> pa.Table:
        """All pairs of a chunk with at least one row that is new."""
        one_name, many_name = f"one {number}", f"many {number}"
        one = together(chunks.get(one_name), new_one)
        waiting = chunks.get(many_name)
        # Rows that wait have found no partner among the kept ones; only a new one can be theirs.
        many = new_many if new_one is None else together(waiting, new_many)
        answers = self.answer.empty_table()
        if one is not None and many is not None:
            at, matched = place_of(longs(one, self.by[self.one]), longs(many, self.by[self.many]))
            answers = self.pairs(one.take(at[matched]), many.take(np.flatnonzero(matched))).cast(self.answer)
            many = many.take(np.flatnonzero(~matched))
        if new_one is not None and one is not None:
            _keep(chunks, one_name, one, self.one_until(one), watermark)
        elif many is not None:
            many = together(waiting, many)
        if many is not None:
            _keep(chunks, many_name, many, self.many_until(many), watermark)
        elif new_one is not None:
            chunks.put(many_name, None, 0)
        return answers


def _keep(chunks: Chunks, name: str, rows: pa.Table, until: Longs, watermark: Watermark) -> None:
    kept = until > watermark.now
    chunks.put(name, rows_where(rows, kept), int(until[kept].max(initial=0)))
