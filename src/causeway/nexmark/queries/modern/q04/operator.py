"""Average price for a category: the mean of its winning bids, told anew when an auction closes.

State: the open auctions with their best bid, and a sum and a count for each category.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa

from causeway.nexmark.operators.kernels import State, longs
from causeway.nexmark.operators.kernels.averages import category_averages, mean_of, window_averages
from causeway.nexmark.operators.kernels.winning_bids import WinningBids


class CategoryAverages(WinningBids):
    """One shard sees all closings, so that a category has one mean."""

    reads: ClassVar = {
        "auction": ["id", "dateTime", "expires", "reserve", "category"],
        "bid": ["auction", "bidder", "price", "dateTime"],
    }
    key: ClassVar[Mapping[str, str] | None] = None
    auction_columns: ClassVar = {
        "id": "id",
        "opened": "dateTime",
        "closes": "expires",
        "reserve": "reserve",
        "category": "category",
    }
    bid_columns: ClassVar = {"auction": "auction", "bidder": "bidder", "price": "price", "time": "dateTime"}

    def __init__(self, mean: str = "exact", window: int | None = None, **rule: Any) -> None:
        """With a `window`, only closings since the last multiple of it (milliseconds) count."""
        super().__init__(**rule)
        self._window = window
        self._mean = mean
        price = pa.float64() if mean == "exact" else pa.int64()
        self.answer = pa.schema([("category", pa.int64()), ("price", price)])

    def answers(self, won: pa.Table, state: State) -> pa.Table:
        """The means of categories in which an auction has closed."""
        if self._window:
            category, total, count = window_averages(won, self._window, state)
            return pa.table([category, mean_of(total, count, self._mean)], names=["category", "price"])
        category, total, count = category_averages(longs(won, "category"), longs(won, "bid_price"), state)
        return pa.table([category, mean_of(total, count, self._mean)], names=["category", "price"])


KERNEL = CategoryAverages
KEYS = ("category",)
RULES = {
    "ours": {},
    "beam": {"in_turn": True, "mean": "rounded", "window": 5_000},
    "flink": {"reserve": False, "until": "at", "mean": "cut"},
}
