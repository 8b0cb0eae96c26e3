"""Bidding statistics: a day's bids, bidders and auctions, by rank of the price.

State: the counts of the day, and the identifiers that were counted.
"""

from causeway.nexmark.operators.kernels.bid_statistics import BidStatistics

KERNEL = BidStatistics
KEYS = ("day",)
