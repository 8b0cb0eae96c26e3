"""Closings of the paper's model in plain Spark: one group of state for each item up for auction.

Bids, openings and closings name the item, so that all that belongs to an auction is in one group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.stateful_processor import TimerValues

__all__ = ["closings"]

_VALUES: Final = ("category", "seller", "reserve", "ends", "closes", "price")
_SALE: Final = "closed LONG, id LONG, category LONG, seller LONG, price LONG"
_KNOWN: Final = "category LONG, opened LONG, ends LONG, seller LONG, reserve LONG, price LONG"


def closings(
    open_auction: DataFrame, closed_auction: DataFrame, bid: DataFrame, item: DataFrame | None = None
) -> DataFrame:
    """Auctions that fetched a price, when their closing has come: closed (milliseconds), id (of the item),
    category, seller, price. Without `item`, the category is null.
    """
    opening = {"seller": "sellerId", "reserve": "coalesce(reserve, 0)", "ends": "unix_millis(`end`)"}
    events = [
        _events(open_auction, "itemid", "time", opening),
        _events(closed_auction, "itemid", "time", {"closes": "unix_millis(time)"}),
        _events(bid, "itemid", "bidTime", {"price": "price"}),
    ]
    if item is not None:
        events.append(_events(item, "id", "time", {"category": "categoryId"}))
    together: DataFrame = reduce(lambda one, other: one.unionByName(other), events)
    return together.groupBy("id").transformWithState(
        statefulProcessor=Closing(), outputStructType=_SALE, outputMode="append", timeMode="eventTime"
    )


def _events(rows: DataFrame, key: str, time: str, values: Mapping[str, str]) -> DataFrame:
    """A stream in the form that all have: id, time, and its values; null is what others say."""
    columns = [f"{values.get(name, 'CAST(NULL AS BIGINT)')} AS {name}" for name in _VALUES]
    return rows.selectExpr(f"{key} AS id", f"`{time}` AS time", f"unix_millis(`{time}`) AS at", *columns)


class Closing(StatefulProcessor):
    """State of an item: what is known of its auction with the highest price, and bids before the opening."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._known = handle.getValueState("known", _KNOWN)
        self._waiting = handle.getListState("waiting", "at LONG, price LONG")

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[Row]:
        """Put together what has come."""
        before = self._known.get() or (None,) * 6
        category, opened, ends, seller, reserve, price = before
        bids = []
        for row in rows:
            if row.price is not None:
                bids.append((row.at, row.price))
            elif row.closes is not None:
                # The watermark is behind: bids before the closing may still come.
                self._handle.registerTimer(row.closes)
            elif row.seller is not None:
                opened, ends, seller, reserve = row.at, row.ends, row.seller, row.reserve
                bids += self._waiting.get()
                self._waiting.clear()
            else:
                category = row.category
        if opened is None:
            if bids:
                self._waiting.appendList(bids)
        else:
            good = [offered for at, offered in bids if opened <= at < ends and offered >= reserve]
            price = max([*good, price] if price is not None else good, default=None)
        if (now := (category, opened, ends, seller, reserve, price)) != before:
            self._known.update(now)
        return iter(())

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Row]:
        """The closing has come, and no bid before it is missing."""
        category, _, _, seller, _, price = self._known.get() or (None,) * 6
        self._known.clear()
        self._waiting.clear()
        if price is not None:
            closed = expiredTimerInfo.getExpiryTimeInMs()
            yield Row(closed=closed, id=key[0], category=category, seller=seller, price=price)

    def close(self) -> None:
        """Nothing to close."""
