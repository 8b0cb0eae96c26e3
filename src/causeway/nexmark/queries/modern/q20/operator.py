"""Expand bid with auction: bids on auctions of category 10, with the auction.

State: auctions until a day after they expire, and bids whose auction has not come within an hour.
"""

from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from causeway.nexmark.model import MODERN
from causeway.nexmark.operators.kernels import Longs, longs, place_of
from causeway.nexmark.operators.kernels.joins import Join

CATEGORY = 10
_HOUR = 3_600_000
_BID, _AUCTION = MODERN.streams["bid"], MODERN.streams["auction"]
_RENAMED: dict[str, dict[str, str | None]] = {
    "auction": {"id": None, "dateTime": "auction_dateTime", "extra": "auction_extra"},
    "bid": {"dateTime": "bid_dateTime", "extra": "bid_extra"},
}


def _columns(stream: str) -> dict[str, str]:
    names = MODERN.streams[stream].names
    answers = {name: _RENAMED[stream].get(name, name) for name in names}
    return {name: answer for name, answer in answers.items() if answer is not None}


class ExpandedBids(Join):
    """All auctions are known, so that no bid waits in vain; of those of other categories only that."""

    one, many = "auction", "bid"
    by: ClassVar = {"auction": "id", "bid": "auction"}
    key = by
    reads: ClassVar = {"auction": _AUCTION.names, "bid": _BID.names}
    answer = pa.schema(
        [
            *((answer, _BID.field(name).type) for name, answer in _columns("bid").items()),
            *((answer, _AUCTION.field(name).type) for name, answer in _columns("auction").items()),
        ]
    )

    def late_from(self, stream: str, events: pa.Table) -> Longs | None:
        """Bids wait an hour for their auction."""
        late_from: Longs = longs(events, "dateTime") + _HOUR
        return late_from

    def combine_all(self, events: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        """Most bids are on auctions that have just opened: those of other categories go no further."""
        combined = super().combine_all(events)
        auctions, bids = events.get("auction"), events.get("bid")
        if auctions is not None and bids is not None:
            at, known = place_of(longs(auctions, "id"), longs(bids, "auction"))
            if known.any():
                unwanted = known & (longs(auctions, "category")[at] != CATEGORY)
                combined["bid"] = bids.filter(pa.array(~unwanted))
        return combined

    def combine(self, stream: str, events: pa.Table) -> pa.Table:
        """Auctions of other categories need no text."""
        if stream == "bid":
            return events
        wanted = pc.equal(events.column("category"), CATEGORY)
        columns = [
            pc.if_else(wanted, column, None) if pa.types.is_string(column.type) else column
            for column in events.columns
        ]
        return pa.table(columns, names=events.column_names)

    def one_until(self, rows: pa.Table) -> Longs:
        until: Longs = longs(rows, "expires") + 24 * _HOUR
        return until

    def many_until(self, rows: pa.Table) -> Longs:
        until: Longs = longs(rows, "dateTime") + _HOUR
        return until

    def pairs(self, one: pa.Table, many: pa.Table) -> pa.Table:
        columns = [many.column(name) for name in _columns("bid")]
        columns += [one.column(name) for name in _columns("auction")]
        return pa.table(columns, names=self.answer.names).filter(pc.equal(one.column("category"), CATEGORY))


KERNEL = ExpandedBids
