"""Query 6, Average Selling Price by Seller: the mean of the seller's last ten closings.

State: the open auctions with their highest price, and ten prices for each seller. It is in RocksDB:
`transformWithState` knows no other store.
"""

from pyspark.sql import DataFrame

from causeway.nexmark.queries.plain.averages import means
from causeway.nexmark.queries.plain.closings import closings

READS = {
    "open_auction": ("itemid", "sellerId", "reserve", "time", "end"),
    "closed_auction": ("itemid", "time"),
    "bid": ("itemid", "price", "bidTime"),
}
KEYS = ("sellerId",)
OUTPUT_MODE = "append"
STATE_STORE = "rocksdb"


def answers(open_auction: DataFrame, closed_auction: DataFrame, bid: DataFrame) -> DataFrame:
    """A mean for each closing."""
    sales = closings(open_auction, closed_auction, bid)
    return means(sales, "seller", last=10).withColumnRenamed("seller", "sellerId")
