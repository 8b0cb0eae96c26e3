"""Query 8, Monitor New Users: persons who open an auction within twelve hours of registering.

State: persons for twelve hours, and auctions whose seller may still come.
"""

from typing import ClassVar

import pyarrow as pa

from causeway.nexmark.operators.kernels import Longs, longs, text
from causeway.nexmark.operators.kernels.joins import Join

HOURS_12 = 12 * 3_600_000


class NewSellers(Join):
    """The person comes first: 0 ≤ opened - registered ≤ 12 h."""

    one, many = "person", "open_auction"
    by: ClassVar = {"person": "id", "open_auction": "sellerId"}
    key = by
    reads: ClassVar = {"person": ["id", "name", "time"], "open_auction": ["id", "sellerId", "time"]}
    answer = pa.schema([("id", pa.int64()), ("name", text), ("auction", pa.int64())])

    def late_from(self, stream: str, events: pa.Table) -> Longs | None:
        """An auction waits for its seller, and a seller's twelve hours end, by the watermark."""
        late_from: Longs = longs(events, "time") + 1
        return late_from

    def one_until(self, rows: pa.Table) -> Longs:
        until: Longs = longs(rows, "time") + HOURS_12 + 1
        return until

    def many_until(self, rows: pa.Table) -> Longs:
        until: Longs = longs(rows, "time") + 1
        return until

    def pairs(self, one: pa.Table, many: pa.Table) -> pa.Table:
        after = longs(many, "time") - longs(one, "time")
        answers = pa.table([one.column("id"), one.column("name"), many.column("id")], names=self.answer.names)
        return answers.filter(pa.array((after >= 0) & (after <= HOURS_12)))


KERNEL = NewSellers
