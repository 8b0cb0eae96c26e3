"""Query 3, Local Item Suggestion: new auctions of category 10 by sellers in Oregon.

State: Oregon's persons, items of the category whose auction has not come, and auctions whose seller has not,
until they end.
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from causeway.nexmark.operators.kernels import (
    Flags,
    Kernel,
    Longs,
    State,
    Watermark,
    longs,
    place_of,
    put,
    text,
    together,
)

CATEGORY, STATE = 10, "OR"


class LocalItems(Kernel):
    """So few of all come into question that one shard sees them."""

    reads: ClassVar = {
        "person": ["id", "name", "city", "state", "time"],
        "item": ["id", "categoryId"],
        "open_auction": ["id", "itemid", "sellerId", "time", "end"],
    }
    key = None
    answer = pa.schema([("name", text), ("city", text), ("state", text), ("id", pa.int64())])

    def combine(self, stream: str, events: pa.Table) -> pa.Table:
        if stream == "person":
            return events.filter(pc.equal(events.column("state"), STATE))
        if stream == "item":
            return events.filter(pc.equal(events.column("categoryId"), CATEGORY))
        return events

    def late_from(self, stream: str, events: pa.Table) -> Longs | None:
        """An auction counts until it ends. It does not wait for an item or seller behind the watermark."""
        return longs(events, "end") if stream == "open_auction" else longs(events, "time") + 1

    def step(self, events: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Find each new auction's item, then its seller."""
        items = together(state.get("items"), events.get("item"))
        persons = together(state.get("persons"), events.get("person"))
        new = together(state.get("auctions without item"), events.get("open_auction"))
        auctions = state.get("auctions without seller")
        if new is not None:
            known = np.zeros(0, np.int64) if items is None else longs(items, "id")
            sought = longs(new, "itemid")
            suits = np.isin(sought, known)
            # An item comes no later than its auction: what the watermark has passed is of another category.
            waits = ~suits & (longs(new, "time") >= watermark.now)
            put(state, "auctions without item", new.filter(pa.array(waits)))
            auctions = together(auctions, new.filter(pa.array(suits)))
            if items is not None:
                items = items.filter(pa.array(~np.isin(known, sought)))
        put(state, "items", items)
        put(state, "persons", persons)
        if auctions is None:
            return self.answer.empty_table()
        found, answers = self._sellers(auctions, persons)
        open_ones = longs(auctions, "end") > watermark.now
        put(state, "auctions without seller", auctions.filter(pa.array(~found & open_ones)))
        return answers

    def _sellers(self, auctions: pa.Table, persons: pa.Table | None) -> tuple[Flags, pa.Table]:
        if persons is None:
            return np.zeros(auctions.num_rows, bool), self.answer.empty_table()
        at, found = place_of(longs(persons, "id"), longs(auctions, "sellerId"))
        # None for an auction that was closed when its seller registered.
        open_then = found & (longs(persons, "time")[at] < longs(auctions, "end"))
        seller = persons.take(at[open_then])
        columns = [seller.column(name) for name in ("name", "city", "state")]
        answers = pa.table(
            [*columns, auctions.column("id").filter(pa.array(open_then))], names=self.answer.names
        )
        return found, answers.cast(self.answer)


KERNEL = LocalItems
