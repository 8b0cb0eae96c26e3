"""Query 4, Average Price for a Category: the mean closing price, told anew when a closing arrives.

State: the open auctions with their item and best bid, and a sum and a count for each category.
"""

from typing import ClassVar

import pyarrow as pa

from causeway.nexmark.operators.kernels import State, longs
from causeway.nexmark.operators.kernels.averages import category_averages
from causeway.nexmark.operators.kernels.closings import Closings


class CategoryAverages(Closings):
    """Joins the closings with their items; the category file comes last."""

    reads: ClassVar = {**Closings.reads, "item": ["id", "categoryId"]}
    answer = pa.schema([("category", pa.int64()), ("price", pa.float64())])

    def answers(self, won: pa.Table, state: State) -> pa.Table:
        """The means of categories in which an auction has closed."""
        category, known = self.category(longs(won, "id"), state)
        changed, total, count = category_averages(category[known], longs(won, "bid_price")[known], state)
        return pa.table([changed, total / count], names=self.answer.names)


KERNEL = CategoryAverages
KEYS = ("id",)
FINAL = {"ours": "SELECT C.id, A.price FROM answer A JOIN category C ON C.id = A.category"}
