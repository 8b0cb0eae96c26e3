"""Find last bid: the last bid of every bidder on every auction.

State: pairs of bidder and auction whose last bid the watermark has not passed. A later one only replaces the
answer, so that nothing of the past is needed.
"""

from collections.abc import Mapping
from typing import ClassVar

from causeway.nexmark.model import MODERN
from causeway.nexmark.operators.kernels.per_key import BestPerKey


class LastBids(BestPerKey):
    """The bids of an auction are in one shard."""

    reads: ClassVar = {"bid": MODERN.streams["bid"].names}
    key: ClassVar[Mapping[str, str] | None] = {"bid": "auction"}
    keys = ("auction", "bidder")
    idle = 1
    answer = MODERN.streams["bid"]


KERNEL = LastBids
KEYS = ("bidder", "auction")
RULES = {
    "ours": {"order": [["dateTime", -1], ["price", -1], ["arrival", -1]], "limit": 1},
    "flink": {"order": [["dateTime", -1], ["arrival", -1]], "limit": 1},
}
