"""Joins of two streams by an identifier: what came of each side is kept for the other.

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
    put,
    sweep_chunks,
    together,
)

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

    def step(self, given: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Pair what came with what is kept, and keep what may be paired later."""
        self._ends: dict[str, int] = {}
        sides = {stream: given.get(stream) for stream in (self.one, self.many)}
        touched = np.unique(
            np.concatenate(
                [
                    longs(rows, self.by[stream]) // self.chunk
                    for stream, rows in sides.items()
                    if rows is not None
                ]
                or [np.zeros(0, np.int64)]
            )
        )
        found = [
            self._step_of_chunk(
                int(chunk), _of_chunk(sides, self.by, int(chunk), self.chunk), watermark, state
            )
            for chunk in touched
        ]
        if self._ends:
            sweep_chunks(state, self._ends, watermark)
        return pa.concat_tables(found) if found else self.answer.empty_table()

    def _step_of_chunk(
        self, chunk: int, came: Mapping[str, pa.Table | None], watermark: Watermark, state: State
    ) -> pa.Table:
        """All pairs of a chunk with at least one row that is new."""
        names = {side: f"{side} {chunk}" for side in ("one", "many")}
        kept_one = state.get(names["one"])
        new_one = came[self.one]
        waiting = state.get(names["many"]) if new_one is not None else None
        one = together(kept_one, new_one)
        new_many = came[self.many]
        many = together(waiting, new_many)
        answers = self.answer.empty_table()
        if one is not None and many is not None:
            keys = longs(one, self.by[self.one])
            order = np.argsort(keys, kind="stable")
            sought = longs(many, self.by[self.many])
            at = np.minimum(np.searchsorted(keys[order], sought), len(keys) - 1)
            matched = keys[order][at] == sought
            answers = self.pairs(one.take(order[at[matched]]), many.take(np.flatnonzero(matched))).cast(
                self.answer
            )
            many = many.take(np.flatnonzero(~matched))
        if new_one is not None:
            self._keep(state, names["one"], one, self.one_until(one), watermark)
        if new_one is None and many is not None:
            # Those who waited before were not looked at.
            many = together(state.get(names["many"]), many)
        if many is not None:
            self._keep(state, names["many"], many, self.many_until(many), watermark)
        return answers

    def _keep(self, state: State, name: str, rows: pa.Table, until: Longs, watermark: Watermark) -> None:
        kept = until > watermark.now
        put(state, name, rows.filter(pa.array(kept)))
        self._ends[name] = int(until[kept].max(initial=0))


def _of_chunk(
    sides: Mapping[str, pa.Table | None], key: Mapping[str, str], chunk: int, size: int
) -> dict[str, pa.Table | None]:
    found = {}
    for stream, rows in sides.items():
        mine = None if rows is None else rows.take(np.flatnonzero(longs(rows, key[stream]) // size == chunk))
        found[stream] = mine if mine is not None and mine.num_rows else None
    return found
