"""Hot items: the auctions with the most bids of the last ten seconds, every two seconds.

State: bids per auction and hop, for the hops of windows that the watermark has not passed.
"""

from typing import ClassVar

from causeway.nexmark.operators.kernels.hot_items import HotItems


class HotAuctions(HotItems):
    """All that tie are hot."""

    item, when = "auction", "dateTime"
    reads: ClassVar = {"bid": ["auction", "dateTime"]}


KERNEL = HotAuctions
RULES = {
    "ours": {"size": 10_000, "hop": 2_000},
    "beam": {"size": 10_000, "hop": 5_000},
    "flink": {"size": 10_000, "hop": 2_000},
}
FINAL = {
    "ours": "SELECT starttime, endtime, item AS auction, num FROM answer",
    "beam": "SELECT item AS auction, num FROM answer",
    "flink": "SELECT item AS auction, num FROM answer",
}
