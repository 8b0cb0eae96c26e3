"""Auction statistics: bids and prices of every auction by day.

State: the auctions of days that the watermark has not passed.
"""

from causeway.nexmark.operators.kernels.auction_days import AuctionDays

KERNEL = AuctionDays
KEYS = ("auction", "day")
RULES = {"ours": {}, "flink": {"mean": "cut"}}
