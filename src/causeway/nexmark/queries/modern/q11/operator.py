"""User sessions: how many bids a bidder makes without a pause of ten seconds.

State: the sessions that the watermark has not ended.
"""

from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from causeway.nexmark.operators.kernels import time
from causeway.nexmark.operators.kernels.sessions import USER, Sessions


class BidderSessions(Sessions):
    """All sessions of a bidder are in one shard."""

    reads: ClassVar = {"bid": ["bidder", "dateTime"]}
    key: ClassVar[Mapping[str, str] | None] = {"bid": USER}
    stream, user, when = "bid", "bidder", "dateTime"
    pause = 10_000
    answer = pa.schema(
        [("bidder", pa.int64()), ("bid_count", pa.int64()), ("starttime", time), ("endtime", time)]
    )


KERNEL = BidderSessions
