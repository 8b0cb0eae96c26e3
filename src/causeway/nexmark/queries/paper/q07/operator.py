"""Query 7, Highest Bid: the highest bid of every ten minutes, and all that equal it.

State: the highest bids so far of windows that the watermark has not passed.
"""

from typing import ClassVar

import pyarrow as pa

from causeway.nexmark.operators.kernels import time
from causeway.nexmark.operators.kernels.highest_bids import HighestBids


class HighestOfTenMinutes(HighestBids):
    """Windows are half-open."""

    when = "bidTime"
    reads: ClassVar = {"bid": ["itemid", "price", "bidTime"]}
    answer = pa.schema([("endtime", time), ("price", pa.int64()), ("itemid", pa.int64())])


KERNEL = HighestOfTenMinutes
RULES = {"ours": {"size": 600_000}}
FINAL = {"ours": "SELECT endtime AS time, price, itemid FROM answer"}
