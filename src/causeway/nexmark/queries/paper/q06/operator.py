"""Query 6, Average Selling Price by Seller: the mean of the seller's last ten closings.

Ten rows: the one that closes and the nine before it (most public versions take eleven, or all). State: the
open auctions with their best bid, and ten prices for each seller.
"""

import pyarrow as pa

from causeway.nexmark.operators.kernels import State, longs
from causeway.nexmark.operators.kernels.averages import last_closings
from causeway.nexmark.operators.kernels.closings import Closings

CLOSINGS = 10


class SellerAverages(Closings):
    """In the order in which auctions close."""

    answer = pa.schema([("sellerId", pa.int64()), ("price", pa.float64())])

    def answers(self, won: pa.Table, state: State) -> pa.Table:
        """An answer for each closing."""
        seller, total, count = last_closings(longs(won, "seller"), longs(won, "bid_price"), CLOSINGS, state)
        return pa.table([seller, total / count], names=self.answer.names)


KERNEL = SellerAverages
KEYS = ("sellerId",)
