"""Query 5, Hot Items: the items with the most bids of the past hour, every minute.

State: bids per item and minute, of the last hour.
"""

from typing import ClassVar

from causeway.nexmark.operators.kernels.hot_items import HotItems


class HotItemsOfTheHour(HotItems):
    """All that tie are hot."""

    item, when = "itemid", "bidTime"
    reads: ClassVar = {"bid": ["itemid", "bidTime"]}


KERNEL = HotItemsOfTheHour
RULES = {"ours": {"size": 3_600_000, "hop": 60_000}}
FINAL = {"ours": "SELECT endtime AS time, item AS itemid FROM answer"}
