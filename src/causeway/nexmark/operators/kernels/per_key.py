"""The best rows of every key: the last bid of each bidder on each auction, the ten highest of each auction.

State: the rows of keys that may still change, in chunks of neighbouring auctions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import pyarrow as pa

from causeway.nexmark.model import ARRIVAL
from causeway.nexmark.operators.kernels import Flags, Kernel, Longs, State, Watermark, longs, rows_where
from causeway.nexmark.operators.kernels.chunks import Chunks, chunks_of

__all__ = ["BestPerKey"]

_RANK = "rank_number"
_RANKS = 16
_KEY_BITS = 63


class BestPerKey(Kernel):
    """Gives the best rows of each key whenever they change, with their rank: an update of the answer."""

    keys: ClassVar[Sequence[str]]
    """Columns of numbers; the first is the one that bids are dealt and kept by."""
    chunk: ClassVar[int] = 4096
    """Auctions that are kept together."""
    idle: ClassVar[int]
    """Milliseconds after its last bid when a key is given up, by the watermark."""

    def __init__(self, order: Sequence[Sequence[object]], limit: int) -> None:
        """Rows are best first by `order`: column names, each with 1 or -1 for up or down."""
        self._order = [(str(name), -1 if sign == -1 else 1) for name, sign in order]
        self._limit = limit

    def late_from(self, stream: str, events: pa.Table) -> Longs | None:
        """An older bid might be of a key that was given up, and would be taken for its best."""
        late_from: Longs = longs(events, "dateTime") + self.idle
        return late_from

    def combine(self, stream: str, events: pa.Table) -> pa.Table:
        """Only the best of each key can be an answer."""
        return events.take(self._best(events)[0]) if events.num_rows else events

    def step(self, events: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Rank new rows among the kept ones."""
        new = events.get("bid")
        found = []
        chunks = Chunks(state)
        if new is not None and new.num_rows:
            for number, rows in chunks_of(new, longs(new, self.keys[0]), self.chunk).items():
                name = f"chunk {number}"
                kept = chunks.get(name)
                if kept is not None:
                    rows = pa.concat_tables([kept.drop_columns([_RANK]), rows])  # noqa: PLW2901
                ranked = self._ranked(rows)
                found.append(_changed(ranked, kept))
                last_bid = self._last_of_key(ranked)
                alive = last_bid + self.idle > watermark.now
                chunks.put(name, rows_where(ranked, alive), int(last_bid.max()) + self.idle)
        chunks.finish(watermark)
        if not found:
            return self.answer.empty_table()
        return pa.concat_tables(found).select(self.answer.names).cast(self.answer)

    def _ranked(self, rows: pa.Table) -> pa.Table:
        """The best rows of each key, with `rank_number`, in the order of keys."""
        places, rank = self._best(rows)
        return rows.take(places).append_column(_RANK, pa.array(rank))

    def _best(self, rows: pa.Table) -> tuple[Longs, Longs]:
        """The places of the best rows of each key, in the order of keys, and their ranks from 1."""
        columns = [longs(rows, name) for name in self.keys]
        order = [sign * longs(rows, name) for name, sign in self._order]
        # Almost all rows fall by the first column of the order alone, which is one sort of packed numbers.
        candidates = self._candidates(columns, order[0])
        columns, order = ([values[candidates] for values in part] for part in (columns, order))
        at = np.lexsort((*reversed(order), *reversed(columns)))
        rank = _ranks(_starts([column[at] for column in columns]))
        best = rank <= self._limit
        return candidates[at[best]], rank[best]

    def _candidates(self, columns: Sequence[Longs], first: Longs) -> Longs:
        """Rows that are among the best of their key if only the first column of the order counts."""
        packed = _packed([*columns, first])
        if packed is None:
            return np.arange(len(first))
        at = np.argsort(packed)
        starts = _starts([column[at] for column in columns])
        rank, key = _ranks(starts), np.cumsum(starts) - 1
        # The value of the last row that is within the limit; what equals it may win by the other columns.
        last = np.zeros(key[-1] + 1, np.int64)
        within = rank <= self._limit
        last[key[within]] = first[at[within]]
        candidates: Longs = at[first[at] <= last[key]]
        return candidates

    def _last_of_key(self, ranked: pa.Table) -> Longs:
        """For each row the time of its key's last bid among those kept."""
        begins = np.flatnonzero(_starts([longs(ranked, name) for name in self.keys]))
        last = np.maximum.reduceat(longs(ranked, "dateTime"), begins)
        spread: Longs = np.repeat(last, np.diff(np.r_[begins, ranked.num_rows]))
        return spread


def _packed(columns: Sequence[Longs]) -> Longs | None:
    """One number a row that sorts as the columns do, the first one first; `None` if it has too many bits."""
    packed, bits = np.zeros(len(columns[0]), np.int64), 0
    for column in columns:
        low, high = int(column.min()), int(column.max())
        width = (high - low).bit_length()
        bits += width
        if bits > _KEY_BITS:
            return None
        packed = (packed << width) | (column - low)
    return packed


def _starts(columns: Sequence[Longs]) -> Flags:
    """Where another key begins, in rows that are in the order of keys."""
    first = np.zeros(len(columns[0]), bool)
    first[:1] = True
    for column in columns:
        first[1:] |= column[1:] != column[:-1]
    return first


def _ranks(starts: Flags) -> Longs:
    """The place of each row among those of its key, from 1."""
    begins = np.flatnonzero(starts)
    ranks: Longs = np.arange(len(starts)) - np.repeat(begins, np.diff(np.r_[begins, len(starts)])) + 1
    return ranks


def _changed(ranked: pa.Table, kept: pa.Table | None) -> pa.Table:
    """Rows that are new, or have another rank than before."""
    if kept is None:
        return ranked
    before, now = (longs(rows, ARRIVAL) * _RANKS + longs(rows, _RANK) for rows in (kept, ranked))
    return ranked.filter(pa.array(~np.isin(now, before)))
