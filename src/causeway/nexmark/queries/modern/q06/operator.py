"""Average selling price by seller: the mean of the seller's last ten closings.

Ten rows: the one that closes and the nine before it. State: the open auctions with their best bid, and ten
prices for each seller.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa

from causeway.nexmark.operators.kernels import State, longs
from causeway.nexmark.operators.kernels.averages import last_bids, last_closings, mean_of
from causeway.nexmark.operators.kernels.winning_bids import WinningBids

CLOSINGS = 10


class SellerAverages(WinningBids):
    """One shard sees all closings, in the order in which auctions close."""

    reads: ClassVar = {
        "auction": ["id", "dateTime", "expires", "reserve", "seller"],
        "bid": ["auction", "bidder", "price", "dateTime"],
    }
    key: ClassVar[Mapping[str, str] | None] = None
    auction_columns: ClassVar = {
        "id": "id",
        "opened": "dateTime",
        "closes": "expires",
        "reserve": "reserve",
        "seller": "seller",
    }
    bid_columns: ClassVar = {"auction": "auction", "bidder": "bidder", "price": "price", "time": "dateTime"}

    def __init__(self, mean: str = "exact", by_bid: str = "", **rule: Any) -> None:
        """Which closings are the last: by when they closed; or by when they were bid for, as Beam has it for
        all but the last closing ("others") and Flink's statement for eleven ("all").
        """
        super().__init__(**rule)
        self._by_bid = by_bid
        self._mean = mean
        price = pa.float64() if mean == "exact" else pa.int64()
        self.answer = pa.schema([("seller", pa.int64()), ("price", price)])

    def answers(self, won: pa.Table, state: State) -> pa.Table:
        """An answer for each closing; one for each seller where the order of bids is what counts."""
        if self._by_bid:
            limit = CLOSINGS + 1 if self._by_bid == "all" else CLOSINGS
            seller, total, count = last_bids(won, limit, self._by_bid == "others", state)
            return pa.table([seller, mean_of(total, count, self._mean)], names=["seller", "price"])
        seller, total, count = last_closings(longs(won, "seller"), longs(won, "bid_price"), CLOSINGS, state)
        return pa.table([seller, mean_of(total, count, self._mean)], names=["seller", "price"])


KERNEL = SellerAverages
KEYS = ("seller",)
RULES = {
    "ours": {},
    "beam": {"in_turn": True, "mean": "rounded", "by_bid": "others"},
    "flink": {"reserve": False, "until": "at", "mean": "cut", "by_bid": "all"},
}
