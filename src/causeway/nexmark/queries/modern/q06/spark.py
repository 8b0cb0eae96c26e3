"""Average selling price by seller: the mean of the seller's last ten closings.

State: the open auctions with their best bid, and ten prices for each seller. It is in RocksDB:
`transformWithState` knows no other store.
"""

from pyspark.sql import DataFrame

from causeway.nexmark.queries.plain.averages import means
from causeway.nexmark.queries.plain.winning_bids import winning_bids

READS = {
    "auction": ("id", "dateTime", "expires", "reserve", "seller"),
    "bid": ("auction", "bidder", "price", "dateTime", "arrival"),
}
KEYS = ("seller",)
OUTPUT_MODE = "append"
STATE_STORE = "rocksdb"


def answers(auction: DataFrame, bid: DataFrame) -> DataFrame:
    """A mean for each closing."""
    won = winning_bids(auction, bid)
    sales = won.selectExpr(
        "auction_expires AS closed", "auction_id AS id", "auction_seller AS seller", "bid_price AS price"
    )
    return means(sales, "seller", last=10)
