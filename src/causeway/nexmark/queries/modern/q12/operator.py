"""Processing time windows: how many bids of a bidder are processed in each ten seconds of the clock.

State: the bidders of the last window.
"""

import time as clock
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pyarrow as pa

from causeway.nexmark.operators.kernels import Kernel, State, Watermark, longs, put, time, together
from causeway.nexmark.operators.kernels.groups import groups_of, sums_of

WINDOW = 10_000


class BidsByClock(Kernel):
    """A batch's bids count in the window in which the batch is processed, as `current_timestamp` has it."""

    reads: ClassVar = {"bid": ["bidder"]}
    key: ClassVar[Mapping[str, str] | None] = {"bid": "bidder"}
    answer = pa.schema(
        [("bidder", pa.int64()), ("bid_count", pa.int64()), ("starttime", time), ("endtime", time)]
    )

    def combine(self, stream: str, events: pa.Table) -> pa.Table:
        """How many bids each bidder has."""
        bidders, place = groups_of(longs(events, "bidder"))
        return pa.table([bidders, np.bincount(place, minlength=len(bidders))], names=["bidder", "bid_count"])

    def step(self, events: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Count in the window that the clock is in. It never goes back to an earlier one."""
        new = events.get("bid")
        if new is None or not new.num_rows:
            return self.answer.empty_table()
        kept, last = state.get("bidders"), state.get("window")
        start = int(clock.time() * 1000) // WINDOW * WINDOW
        if last is not None:
            start = max(start, last.column("start")[0].as_py())
            if start > last.column("start")[0].as_py():
                kept = None
        some = together(kept, new)
        assert some is not None
        bidders, place = groups_of(longs(some, "bidder"))
        bids = sums_of(place, longs(some, "bid_count"), len(bidders))
        counted = pa.table([bidders, bids], names=["bidder", "bid_count"])
        put(state, "bidders", counted)
        state.put("window", pa.table({"start": [start]}))
        changed = counted.filter(pa.array(np.isin(bidders, longs(new, "bidder"))))
        times = [np.full(changed.num_rows, moment) for moment in (start, start + WINDOW)]
        return pa.table([*changed.columns, *times], names=self.answer.names).cast(self.answer)


KERNEL = BidsByClock
KEYS = ("bidder", "starttime")
