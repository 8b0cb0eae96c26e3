"""Winning bids: every auction with the bid that won it, when it closes.

State: the open auctions with their best bid. It is in RocksDB: `transformWithState` knows no other store.
"""

from pyspark.sql import DataFrame

from causeway.nexmark.model import MODERN
from causeway.nexmark.queries.plain.winning_bids import winning_bids

READS = {
    "auction": tuple(MODERN.streams["auction"].names),
    "bid": ("auction", "bidder", "price", "dateTime", "extra", "arrival"),
}
STATE_STORE = "rocksdb"


def answers(auction: DataFrame, bid: DataFrame) -> DataFrame:
    """All columns of both."""
    times = ("dateTime", "expires")
    columns = [
        f"timestamp_millis(auction_{name}) AS {name}" if name in times else f"auction_{name} AS {name}"
        for name in READS["auction"]
    ]
    return winning_bids(auction, bid).selectExpr(
        *columns,
        "bid_auction AS auction",
        "bid_bidder AS bidder",
        "bid_price AS price",
        "timestamp_millis(bid_dateTime) AS bid_dateTime",
        "bid_extra",
    )
