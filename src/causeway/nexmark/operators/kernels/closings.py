"""Closings in the paper's model, where an auction is over when its `closed_auction` comes.

State: besides open auctions and their best bids, the items up for auction and the closings that came.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pyarrow as pa

from causeway.nexmark.operators.kernels import Flags, Longs, State, Watermark, longs, put, together
from causeway.nexmark.operators.kernels.winning_bids import WinningBids

__all__ = ["Closings"]


class Closings(WinningBids):
    """Auctions are known by their item, as bids name it. One shard sees all, in order of closing."""

    auctions = "open_auction"
    reads: ClassVar = {
        "open_auction": ["itemid", "sellerId", "reserve", "time", "end"],
        "closed_auction": ["itemid", "time"],
        "bid": ["itemid", "bidderId", "price", "bidTime"],
    }
    key: ClassVar[Mapping[str, str] | None] = None
    auction_columns: ClassVar = {
        "id": "itemid",
        "opened": "time",
        "closes": "end",
        "reserve": "reserve",
        "seller": "sellerId",
    }
    bid_columns: ClassVar = {"auction": "itemid", "bidder": "bidderId", "price": "price", "time": "bidTime"}

    def step(self, given: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Note the items that came, then as for any auction."""
        if "item" in given:
            put(state, "items", together(state.get("items"), given["item"].select(["id", "categoryId"])))
        return super().step(given, watermark, state)

    def closed(
        self, auctions: pa.Table, given: Mapping[str, pa.Table], watermark: Watermark, state: State
    ) -> Flags:
        """Those whose closing came, when no bid before it is still to come."""
        came = given.get("closed_auction")
        came = None if came is None else came.select(["itemid", "time"])
        closings = together(state.get("closings"), came)
        if closings is None:
            return np.zeros(auctions.num_rows, bool)
        due = longs(closings, "time") <= watermark.now
        ids = longs(auctions, "id")
        over: Flags = np.isin(ids, longs(closings, "itemid")[due])
        done = due & np.isin(longs(closings, "itemid"), ids)
        put(state, "closings", closings.take(np.flatnonzero(~done)))
        return over

    @staticmethod
    def category(items: Longs, state: State) -> Longs:
        """The category of each item, which are then forgotten."""
        kept = state.get("items")
        assert kept is not None, "an item comes before its auction"
        order = np.argsort(longs(kept, "id"), kind="stable")
        known = longs(kept, "id")[order]
        at = order[np.searchsorted(known, items)]
        put(state, "items", kept.take(np.flatnonzero(~np.isin(longs(kept, "id"), items))))
        found: Longs = longs(kept, "categoryId")[at]
        return found
