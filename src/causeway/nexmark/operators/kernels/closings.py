"""Closings in the paper's model, where an auction is over when its `closed_auction` comes.

State: besides open auctions and their best bids, the items up for auction and the closings that are not due.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pyarrow as pa

from causeway.nexmark.operators.kernels import Flags, Longs, State, Watermark, longs, place_of, put, together
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

    def late_from(self, stream: str, events: pa.Table) -> Longs | None:
        """An item comes no later than its auction, and closings are taken in their order."""
        if stream in ("item", "closed_auction"):
            return longs(events, "time") + 1
        return super().late_from(stream, events)

    def step(self, events: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Keep new items and closings, then as for any auction."""
        for stream, name, columns in (
            ("item", "items", ["id", "categoryId"]),
            ("closed_auction", "closings", ["itemid", "time"]),
        ):
            if stream in events:
                put(state, name, together(state.get(name), events[stream].select(columns)))
        return super().step(events, watermark, state)

    def closed(self, auctions: pa.Table, watermark: Watermark, state: State) -> Flags:
        """Those whose closing has come, when no bid before it is still to come."""
        closings = state.get("closings")
        if closings is None:
            return np.zeros(auctions.num_rows, bool)
        due = longs(closings, "time") <= watermark.now
        over: Flags = np.isin(longs(auctions, "id"), longs(closings, "itemid")[due])
        put(state, "closings", closings.filter(pa.array(~due)))
        return over

    @staticmethod
    def category(items: Longs, state: State) -> tuple[Longs, Flags]:
        """The category of each item, which is then forgotten; and whether the item is known at all.

        An item that is not known by now was late or never came: nothing says its category.
        """
        kept = state.get("items")
        if kept is None:
            return np.zeros(len(items), np.int64), np.zeros(len(items), bool)
        at, known = place_of(longs(kept, "id"), items)
        put(state, "items", kept.filter(pa.array(~np.isin(longs(kept, "id"), items))))
        return longs(kept, "categoryId")[at], known
