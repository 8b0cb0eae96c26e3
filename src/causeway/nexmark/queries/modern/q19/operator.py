"""Auction top ten: the ten highest bids of every auction, with their rank.

State: ten bids for each auction that had one in the last hour of event time.
"""

from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from causeway.nexmark.model import MODERN
from causeway.nexmark.operators.kernels.per_key import BestPerKey


class TopTen(BestPerKey):
    """The bids of an auction are in one shard."""

    reads: ClassVar = {"bid": MODERN.streams["bid"].names}
    key: ClassVar[Mapping[str, str] | None] = {"bid": "auction"}
    keys = ("auction",)
    idle = 3_600_000
    answer = pa.schema([*MODERN.streams["bid"], ("rank_number", pa.int64())])


KERNEL = TopTen
KEYS = ("auction", "rank_number")
RULES = {
    "ours": {"order": [["price", -1], ["dateTime", 1], ["bidder", 1], ["arrival", 1]], "limit": 10},
    "flink": {"order": [["price", -1], ["arrival", 1]], "limit": 10},
}
