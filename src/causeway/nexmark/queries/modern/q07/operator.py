"""Highest bid: the highest bid of every ten seconds, and all that equal it.

State: the highest bids so far of windows that the watermark has not passed.
"""

from typing import ClassVar

import pyarrow as pa

from causeway.nexmark.operators.kernels import text, time
from causeway.nexmark.operators.kernels.highest_bids import HighestBids


class HighestOfTenSeconds(HighestBids):
    """Windows are half-open."""

    when = "dateTime"
    reads: ClassVar = {"bid": ["auction", "price", "bidder", "dateTime", "extra"]}
    answer = pa.schema(
        [
            ("auction", pa.int64()),
            ("price", pa.int64()),
            ("bidder", pa.int64()),
            ("dateTime", time),
            ("extra", text),
        ]
    )


KERNEL = HighestOfTenSeconds
RULES = {
    "ours": {"size": 10_000},
    "beam": {"size": 10_000, "one": True},
    "flink": {"size": 10_000, "end_counts": True},
}
