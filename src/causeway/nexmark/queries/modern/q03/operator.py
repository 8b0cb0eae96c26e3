"""Local item suggestion: auctions of category 10 by sellers in Oregon, Idaho and California.

State: the persons of these states, and auctions whose seller is not known until they expire.
"""

from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from causeway.nexmark.operators.kernels import END_OF_TIME, Longs, longs, text
from causeway.nexmark.operators.kernels.joins import Join

CATEGORY = 10
STATES = pa.array(["OR", "ID", "CA"])


class LocalItems(Join):
    """A person may register before or after the auction opens."""

    one, many = "person", "auction"
    by: ClassVar = {"person": "id", "auction": "seller"}
    key = by
    reads: ClassVar = {
        "person": ["id", "name", "city", "state", "dateTime"],
        "auction": ["id", "seller", "category", "dateTime", "expires"],
    }
    answer = pa.schema([("name", text), ("city", text), ("state", text), ("id", pa.int64())])

    def __init__(self, while_open: bool = True) -> None:
        """With `while_open`, an auction is no suggestion once it has expired."""
        self._while_open = while_open

    def late_from(self, stream: str, events: pa.Table) -> Longs | None:
        """An auction counts until it expires. A seller's auctions may have expired before the watermark."""
        if not self._while_open:
            return None
        return longs(events, "expires") if stream == "auction" else longs(events, "dateTime") + 1

    def combine(self, stream: str, events: pa.Table) -> pa.Table:
        """Few of either come into question. All persons are known, so that no auction waits in vain."""
        if stream == "auction":
            return events.filter(pc.equal(events.column("category"), CATEGORY))
        local = pc.is_in(events.column("state"), STATES)
        blank = [
            pc.if_else(local, events.column(name), None) if name in ("name", "city") else events.column(name)
            for name in events.column_names
        ]
        return pa.table(blank, names=events.column_names)

    def many_until(self, rows: pa.Table) -> Longs:
        """An auction waits for its seller until it expires."""
        return longs(rows, "expires") if self._while_open else np.full(rows.num_rows, END_OF_TIME)

    def pairs(self, one: pa.Table, many: pa.Table) -> pa.Table:
        good = pc.is_in(one.column("state"), STATES)
        if self._while_open:
            good = pc.and_(good, pa.array(longs(one, "dateTime") < longs(many, "expires")))
        answer = [one.column("name"), one.column("city"), one.column("state"), many.column("id")]
        return pa.table(answer, names=self.answer.names).filter(good)


KERNEL = LocalItems
RULES = {"ours": {}, "beam": {"while_open": False}, "flink": {"while_open": False}}
