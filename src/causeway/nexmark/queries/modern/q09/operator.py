"""Winning bids: every auction with the bid that won it, when it closes.

State: the open auctions with their best bid.
"""

from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from causeway.nexmark.model import MODERN
from causeway.nexmark.operators.kernels.winning_bids import WinningBids

_AUCTION = MODERN.streams["auction"]


class AuctionsWithWinner(WinningBids):
    """All columns of both."""

    reads: ClassVar = {
        "auction": _AUCTION.names,
        "bid": ["auction", "bidder", "price", "dateTime", "extra"],
    }
    key: ClassVar[Mapping[str, str] | None] = {"auction": "id", "bid": "auction"}
    auction_columns: ClassVar = {
        "opened" if name == "dateTime" else "closes" if name == "expires" else name: name
        for name in _AUCTION.names
    }
    bid_columns: ClassVar = {
        "auction": "auction",
        "bidder": "bidder",
        "price": "price",
        "time": "dateTime",
        "extra": "extra",
    }
    answer = pa.schema(
        [
            *((name, _AUCTION.field(column).type) for name, column in auction_columns.items()),
            ("bid_auction", pa.int64()),
            ("bid_bidder", pa.int64()),
            ("bid_price", pa.int64()),
            ("bid_time", _AUCTION.field("dateTime").type),
            ("bid_extra", pa.string()),
        ]
    )


KERNEL = AuctionsWithWinner
RULES = {
    "ours": {},
    "beam": {"in_turn": True, "equals": "arrival"},
    "flink": {"reserve": False, "until": "at", "equals": "arrival"},
}
FINAL = dict.fromkeys(
    RULES,
    """SELECT id, itemName, description, initialBid, reserve, opened AS dateTime, closes AS expires, seller,
              category, extra, bid_auction AS auction, bid_bidder AS bidder, bid_price AS price,
              bid_time AS bid_dateTime, bid_extra
       FROM answer""",
)
