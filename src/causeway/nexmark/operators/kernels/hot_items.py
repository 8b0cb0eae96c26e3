"""Hot items: in every sliding window the items with the most bids.

State: bids per item and hop, for the hops of windows that have not ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pyarrow as pa

from causeway.nexmark.operators.kernels import Kernel, Longs, State, Watermark, longs, put, time, together
from causeway.runtime.compiled import kernel

__all__ = ["HotItems"]

_COUNTS = ("hop", "item", "num")


class HotItems(Kernel):
    """Gives the items with the most bids, for every window that has ended and had a bid."""

    key: ClassVar[Mapping[str, str] | None] = None
    item: ClassVar[str]
    when: ClassVar[str]
    answer = pa.schema([("starttime", time), ("endtime", time), ("item", pa.int64()), ("num", pa.int64())])

    def __init__(self, size: int, hop: int) -> None:
        """A window is `size` milliseconds long, and one begins with every hop."""
        self._hop = hop
        self._hops = size // hop

    def late_from(self, stream: str, events: pa.Table) -> Longs | None:
        """A bid counts until its last window ends."""
        return self._last_end(longs(events, self.when) // self._hop)

    def combine(self, stream: str, events: pa.Table) -> pa.Table:
        """How many bids each item had in each hop."""
        hop = longs(events, self.when) // self._hop
        return _counts(hop, longs(events, self.item), np.ones(events.num_rows, np.int64))

    def step(self, events: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Count, and answer for windows that have ended."""
        counts = together(state.get("counts"), events.get("bid"))
        if counts is None:
            return self.answer.empty_table()
        hop, item, num = (longs(counts, name) for name in _COUNTS)
        kept = self._last_end(hop) > watermark.now
        put(state, "counts", _counts(hop[kept], item[kept], num[kept]))
        # The windows by their last hop: those that ended before were answered.
        first = max(int(hop.min()), watermark.before // self._hop)
        last = min(int(hop.max()) + self._hops, watermark.now // self._hop) - 1
        items, index = np.unique(item, return_inverse=True)
        order = np.argsort(hop, kind="stable")
        window, hot, bids = _slide(hop[order], index[order], num[order], len(items), self._hops, first, last)
        end = (window + 1) * self._hop
        start = end - self._hops * self._hop
        return pa.table([start, end, items[hot], bids], names=self.answer.names).cast(self.answer)

    def _last_end(self, hop: Longs) -> Longs:
        """When the last window that has the hop ends."""
        end: Longs = (hop + self._hops) * self._hop
        return end


def _counts(hop: Longs, item: Longs, num: Longs) -> pa.Table:
    """The sums per hop and item, in their order."""
    order = np.lexsort((item, hop))
    hop, item, num = hop[order], item[order], num[order]
    if len(hop):
        starts = np.flatnonzero(np.r_[True, (hop[1:] != hop[:-1]) | (item[1:] != item[:-1])])
        hop, item, num = hop[starts], item[starts], np.add.reduceat(num, starts)
    return pa.table([hop, item, num], names=list(_COUNTS))


@kernel
def _slide(
    hop: Longs, item: Longs, num: Longs, items: int, hops: int, first: int, last: int
) -> tuple[Longs, Longs, Longs]:
    """The hottest items of each window from that which ends with hop `first` to that which ends with `last`.

    Input is in the order of hops. Counts follow the window as it slides: those of a hop are added when the
    window reaches it and subtracted when the window has left it.
    """
    found_window = np.empty(1024, np.int64)
    found_item = np.empty(1024, np.int64)
    found_num = np.empty(1024, np.int64)
    found = 0
    count = np.zeros(items, np.int64)
    active = np.empty(items, np.int64)
    place = np.full(items, -1, np.int64)
    alive = 0
    entering = 0
    leaving = 0
    for window in range(first, last + 1):
        while entering < len(hop) and hop[entering] <= window:
            which = item[entering]
            if place[which] < 0:
                place[which] = alive
                active[alive] = which
                alive += 1
            count[which] += num[entering]
            entering += 1
        while leaving < entering and hop[leaving] <= window - hops:
            which = item[leaving]
            count[which] -= num[leaving]
            if count[which] == 0:
                alive -= 1
                moved = active[alive]
                active[place[which]] = moved
                place[moved] = place[which]
                place[which] = -1
            leaving += 1
        highest = 0
        for at in range(alive):
            highest = max(highest, count[active[at]])
        for at in range(alive):
            which = active[at]
            if count[which] == highest:
                if found == len(found_window):
                    found_window = np.concatenate((found_window, np.empty(found, np.int64)))
                    found_item = np.concatenate((found_item, np.empty(found, np.int64)))
                    found_num = np.concatenate((found_num, np.empty(found, np.int64)))
                found_window[found] = window
                found_item[found] = which
                found_num[found] = highest
                found += 1
    return found_window[:found], found_item[:found], found_num[:found]
