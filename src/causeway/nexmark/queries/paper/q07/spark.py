"""Query 7, Highest Bid: the highest bid of every ten minutes, and all that equal it.

State: the highest bids so far of windows that the watermark has not passed. It is in RocksDB:
`transformWithState` knows no other store.
"""

from pyspark.sql import DataFrame

from causeway.nexmark.queries.plain.highest_bids import highest_bids

READS = {"bid": ("itemid", "price", "bidTime")}
STATE_STORE = "rocksdb"


def answers(bid: DataFrame) -> DataFrame:
    """Windows are half-open."""
    return highest_bids(bid, "bidTime", 600_000).selectExpr(
        "timestamp_millis(ends) AS time", "price", "itemid"
    )
