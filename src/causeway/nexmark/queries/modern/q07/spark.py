"""Highest bid: the highest bid of every ten seconds, and all that equal it.

State: the highest bids so far of windows that the watermark has not passed. It is in RocksDB:
`transformWithState` knows no other store.
"""

from pyspark.sql import DataFrame

from causeway.nexmark.queries.plain.highest_bids import highest_bids

READS = {"bid": ("auction", "price", "bidder", "dateTime", "extra")}
STATE_STORE = "rocksdb"


def answers(bid: DataFrame) -> DataFrame:
    """Windows are half-open."""
    return highest_bids(bid, "dateTime", 10_000).selectExpr(
        "auction", "price", "bidder", "timestamp_millis(dateTime) AS dateTime", "extra"
    )
