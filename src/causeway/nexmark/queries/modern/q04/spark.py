"""Average price for a category: the mean of its winning bids, emitted again when an auction closes.

State: the open auctions with their best bid, and a sum and a count for each category. It is in RocksDB:
`transformWithState` knows no other store.
"""

from pyspark.sql import DataFrame

from causeway.nexmark.queries.plain.averages import means
from causeway.nexmark.queries.plain.winning_bids import winning_bids

READS = {
    "auction": ("id", "dateTime", "expires", "reserve", "category"),
    "bid": ("auction", "bidder", "price", "dateTime", "arrival"),
}
KEYS = ("category",)
OUTPUT_MODE = "append"
STATE_STORE = "rocksdb"


def answers(auction: DataFrame, bid: DataFrame) -> DataFrame:
    """The means of categories in which an auction has closed."""
    won = winning_bids(auction, bid)
    sales = won.selectExpr(
        "auction_expires AS closed", "auction_id AS id", "auction_category AS category", "bid_price AS price"
    )
    return means(sales, "category")
