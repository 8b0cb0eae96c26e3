"""Query 4, Average Price for a Category: the mean closing price, emitted again when a closing arrives.

State: the open auctions with their item and highest price, and a sum and a count for each category. It is in
RocksDB: `transformWithState` knows no other store.
"""

from pyspark.sql import DataFrame

from causeway.nexmark.queries.plain.averages import means
from causeway.nexmark.queries.plain.closings import closings

READS = {
    "open_auction": ("itemid", "sellerId", "reserve", "time", "end"),
    "closed_auction": ("itemid", "time"),
    "bid": ("itemid", "price", "bidTime"),
    "item": ("id", "categoryId", "time"),
}
KEYS = ("id",)
OUTPUT_MODE = "append"
STATE_STORE = "rocksdb"


def answers(open_auction: DataFrame, closed_auction: DataFrame, bid: DataFrame, item: DataFrame) -> DataFrame:
    """The means of categories in which an auction has closed. The category file comes last."""
    sales = closings(open_auction, closed_auction, bid, item)
    averages = means(sales.where("category IS NOT NULL"), "category")
    category = bid.sparkSession.table("category")
    return averages.join(category, averages["category"] == category["id"]).select("id", "price")
