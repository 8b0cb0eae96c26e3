"""Channel statistics: a day's bids, bidders and auctions of every channel, by rank of the price.

State: the counts of the day for each channel, and the identifiers that were counted.
"""

from causeway.nexmark.operators.kernels.bid_statistics import ChannelStatistics

KERNEL = ChannelStatistics
KEYS = ("channel", "day")
