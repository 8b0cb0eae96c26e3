"""The best rows of every key: the last bid of each bidder on each auction, the ten highest of each auction.

State: the rows of keys that may still change, in chunks of neighbouring auctions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import pyarrow as pa

from causeway.nexmark.model import ARRIVAL
from causeway.nexmark.operators.kernels import Kernel, Longs, State, Watermark, longs, put, sweep_chunks

__all__ = ["BestPerKey"]

_RANKS = 16


class BestPerKey(Kernel):
    """Gives the best rows of each key whenever they change, with their rank: an update of the answer."""

    keys: ClassVar[Sequence[str]]
    """Columns of numbers; the first is the one that bids are dealt and kept by."""
    chunk: ClassVar[int] = 1024
    idle: ClassVar[int]
    """Milliseconds after its last bid when a key is given up, by the watermark."""

    def __init__(self, order: Sequence[Sequence[object]], most: int) -> None:
        """Rows are best first by `order`: names of columns, and 1 or -1 for up or down."""
        self._order = [(str(name), -1 if sign == -1 else 1) for name, sign in order]
        self._most = most

    def step(self, given: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Rank what came among what is kept."""
        came = given.get("bid")
        found = []
        ends: dict[str, int] = {}
        if came is not None and came.num_rows:
            came = self._ranked(came)
            chunk_of = longs(came, self.keys[0]) // self.chunk
            for chunk in np.unique(chunk_of).tolist():
                name = f"chunk {chunk}"
                new = came.take(np.flatnonzero(chunk_of == chunk))
                kept = state.get(name)
                ranked = self._ranked(new if kept is None else pa.concat_tables([kept, new]).combine_chunks())
                found.append(_changed(ranked, kept))
                alive = self._last_of_key(ranked) + self.idle > watermark.now
                put(state, name, ranked.filter(pa.array(alive)))
                ends[name] = int(longs(ranked, "dateTime").max()) + self.idle
        sweep_chunks(state, ends, watermark)
        if not found:
            return self.answer.empty_table()
        return pa.concat_tables(found).select(self.answer.names).cast(self.answer)

    def _ranked(self, rows: pa.Table) -> pa.Table:
        """The best rows of each key, with `rank_number`, in the order of keys."""
        columns = [longs(rows, name) for name in self.keys]
        ranks = [sign * longs(rows, name) for name, sign in self._order]
        at = np.lexsort((*reversed(ranks), *reversed(columns)))
        first = _starts([column[at] for column in columns])
        begins = np.flatnonzero(first)
        rank = np.arange(len(at)) - np.repeat(begins, np.diff(np.r_[begins, len(at)])) + 1
        best = rank <= self._most
        names = [name for name in rows.column_names if name != "rank_number"]
        return rows.select(names).take(at[best]).append_column("rank_number", pa.array(rank[best]))

    def _last_of_key(self, ranked: pa.Table) -> Longs:
        """For each row the time of its key's last bid among those kept."""
        begins = np.flatnonzero(_starts([longs(ranked, name) for name in self.keys]))
        last = np.maximum.reduceat(longs(ranked, "dateTime"), begins)
        spread: Longs = np.repeat(last, np.diff(np.r_[begins, ranked.num_rows]))
        return spread


def _starts(columns: Sequence[Longs]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Where another key begins, in rows that are in the order of keys."""
    first = np.zeros(len(columns[0]), bool)
    first[:1] = True
    for column in columns:
        first[1:] |= column[1:] != column[:-1]
    return first


def _changed(ranked: pa.Table, kept: pa.Table | None) -> pa.Table:
    """Rows that are new, or have another rank than before."""
    if kept is None:
        return ranked
    before, now = (longs(rows, ARRIVAL) * _RANKS + longs(rows, "rank_number") for rows in (kept, ranked))
    return ranked.filter(pa.array(~np.isin(now, before)))
