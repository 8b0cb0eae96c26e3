"""Highest bids: in every tumbling window the bid with the highest price, and all that equal it.

State: the highest bids so far of each window that has not ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pyarrow as pa

from causeway.nexmark.model import ARRIVAL
from causeway.nexmark.operators.kernels import (
    Flags,
    Kernel,
    Longs,
    State,
    Watermark,
    best_of_each,
    longs,
    put,
    together,
)

__all__ = ["HighestBids"]

_WINDOW, _COUNTS = "window", "counts"


class HighestBids(Kernel):
    """Gives the highest bids of every window that has ended. Windows are dealt to the shards, not bids."""

    when: ClassVar[str]
    key: ClassVar[Mapping[str, str] | None] = {"bid": _WINDOW}

    def __init__(self, size: int, end_counts: bool = False, one: bool = False) -> None:
        """A window is `size` milliseconds long.

        With `end_counts`, a bid at the very end of a window that equals its highest is an answer for it too,
        although it does not count for what is the highest. With `one`, of equals only the last is an answer.
        """
        self._one = one
        self._size = size
        self._end_counts = end_counts

    def late_from(self, stream: str, events: pa.Table) -> Longs | None:
        """A bid counts until its window ends."""
        end: Longs = (longs(events, self.when) // self._size + 1) * self._size + self._end_counts
        return end

    def combine(self, stream: str, events: pa.Table) -> pa.Table:
        """The bids that may be the highest of their window, with its number."""
        when = longs(events, self.when)
        window = when // self._size
        highest = np.flatnonzero(_highest(window, longs(events, "price")))
        at, counts = highest, np.ones(len(highest), np.int64)
        window = window[highest]
        if self._end_counts:
            ends = np.flatnonzero(when % self._size == 0)
            at, counts = np.r_[at, ends], np.r_[counts, np.zeros(len(ends), np.int64)]
            window = np.r_[window, when[ends] // self._size - 1]
        return (
            events.take(at).append_column(_WINDOW, pa.array(window)).append_column(_COUNTS, pa.array(counts))
        )

    def step(self, events: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Find the highest, and answer for windows that have ended."""
        bids = together(state.get("bids"), events.get("bid"))
        if bids is None:
            return self.answer.empty_table()
        window, price = longs(bids, _WINDOW), longs(bids, "price")
        counting = longs(bids, _COUNTS) == 1
        bids = bids.filter(pa.array(_highest(window, price, counting) | ~counting))
        ended = self._ended(bids, watermark.now)
        put(state, "bids", bids.filter(pa.array(~ended)))
        bids = bids.filter(pa.array(ended))
        window, price = longs(bids, _WINDOW), longs(bids, "price")
        bids = bids.filter(pa.array(_highest(window, price, longs(bids, _COUNTS) == 1)))
        if self._one and bids.num_rows:
            bids = best_of_each(bids, (_WINDOW,), ((self.when, -1), (ARRIVAL, -1)))
        end = pa.array((longs(bids, _WINDOW) + 1) * self._size).cast(pa.timestamp("ms", tz="UTC"))
        return bids.append_column("endtime", end).select(self.answer.names).cast(self.answer)

    def _ended(self, bids: pa.Table, watermark: int) -> Flags:
        ended: Flags = (longs(bids, _WINDOW) + 1) * self._size + self._end_counts <= watermark
        return ended


def _highest(window: Longs, price: Longs, counting: Flags | None = None) -> Flags:
    """Which rows equal the highest price of their window, by those that are `counting`."""
    if not len(window):
        return np.zeros(0, bool)
    _, at = np.unique(window, return_inverse=True)
    top = np.full(at.max() + 1, -(1 << 62))
    which = slice(None) if counting is None else counting
    np.maximum.at(top, at[which], price[which])
    equal: Flags = price == top[at]
    return equal
