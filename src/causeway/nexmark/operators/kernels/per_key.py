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
from causeway.nexmark.operators.kernels.groups import groups_of, numbered
from causeway.runtime.compiled import inlined, kernel

__all__ = ["BestPerKey"]

_RANK = "rank_number"
_RANKS = 16


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
        """The places of the best rows of each key, key after key, and their ranks from 1."""
        group, groups = _groups([longs(rows, name) for name in self.keys])
        order = np.stack([sign * longs(rows, name) for name, sign in self._order])
        return _select(group, groups, order, self._limit)

    def _last_of_key(self, ranked: pa.Table) -> Longs:
        """For each row the time of its key's last bid among those kept."""
        begins = np.flatnonzero(_starts([longs(ranked, name) for name in self.keys]))
        last = np.maximum.reduceat(longs(ranked, "dateTime"), begins)
        spread: Longs = np.repeat(last, np.diff(np.r_[begins, ranked.num_rows]))
        return spread


def _starts(columns: Sequence[Longs]) -> Flags:
    """Where another key begins, in rows that are in the order of keys."""
    first = np.zeros(len(columns[0]), bool)
    first[:1] = True
    for column in columns:
        first[1:] |= column[1:] != column[:-1]
    return first


def _groups(columns: Sequence[Longs]) -> tuple[Longs, int]:
    """For each row the number of its key, and how many keys there are."""
    values, group = groups_of(columns[0])
    count = len(values)
    for column in columns[1:]:
        values, place = groups_of(column)
        group, count = numbered(group * len(values) + place)
    return group, count


@kernel
def _select(group: Longs, groups: int, order: Longs, limit: int) -> tuple[Longs, Longs]:
    """The best rows of each group, best first by the columns of `order`, and their ranks.

    The earlier one of equal rows is the better one.
    """
    best = np.empty((groups, limit), np.int64)
    count = np.zeros(groups, np.int64)
    for row in range(len(group)):
        of_group = best[group[row]]
        place = count[group[row]]
        if place < limit:
            count[group[row]] += 1
        elif _is_before(order, row, of_group[limit - 1]):
            place = limit - 1
        else:
            continue
        while place > 0 and _is_before(order, row, of_group[place - 1]):
            of_group[place] = of_group[place - 1]
            place -= 1
        of_group[place] = row
    places = np.empty(count.sum(), np.int64)
    ranks = np.empty(len(places), np.int64)
    at = 0
    for number in range(groups):
        for place in range(count[number]):
            places[at] = best[number, place]
            ranks[at] = place + 1
            at += 1
    return places, ranks


@inlined
def _is_before(order: Longs, row: int, other: int) -> bool:
    column = 0
    while column < len(order) - 1 and order[column, row] == order[column, other]:
        column += 1
    return bool(order[column, row] < order[column, other])


def _changed(ranked: pa.Table, kept: pa.Table | None) -> pa.Table:
    """Rows that are new, or have another rank than before."""
    if kept is None:
        return ranked
    before, now = (longs(rows, ARRIVAL) * _RANKS + longs(rows, _RANK) for rows in (kept, ranked))
    return ranked.filter(pa.array(~np.isin(now, before)))
