"""Winning bids in plain Spark: one group of state for each auction, closed by a timer of event time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.stateful_processor import TimerValues

__all__ = ["winning_bids"]


def winning_bids(auction: DataFrame, bid: DataFrame) -> DataFrame:
    """Closed auctions with their winning bids: columns `auction_…` and `bid_…`, times in milliseconds.

    An auction has `id`, `dateTime`, `expires` and `reserve`; a bid has `auction`, `bidder`, `price`,
    `dateTime` and `arrival`. Both may have more.
    """
    auctions = _with_numbers(auction, "auction", "id")
    bids = _with_numbers(bid, "bid", "auction")
    # A row of both streams together has values of one.
    events = auctions.unionByName(bids, allowMissingColumns=True)
    types = [(name, kind) for name, kind in events.dtypes if name.startswith(("auction_", "bid_"))]
    processor = WinningBid(
        {name: kind for name, kind in types if name.startswith("auction_")},
        {name: kind for name, kind in types if name.startswith("bid_")},
    )
    return events.groupBy("key").transformWithState(
        statefulProcessor=processor,
        outputStructType=", ".join(f"{name} {kind}" for name, kind in types),
        outputMode="append",
        timeMode="eventTime",
    )


def _with_numbers(rows: DataFrame, prefix: str, key: str) -> DataFrame:
    """The columns under a prefix; times as numbers, which are the same in every time zone."""
    columns = [
        f"{f'unix_millis({name})' if kind == 'timestamp' else name} AS {prefix}_{name}"
        for name, kind in rows.dtypes
    ]
    return rows.selectExpr(f"{key} AS key", "dateTime", *columns)


class WinningBid(StatefulProcessor):
    """State of an auction: its row, its best bid so far, and bids that came before the auction did."""

    def __init__(self, auction: Mapping[str, str], bid: Mapping[str, str]) -> None:
        """The columns of both, with their types."""
        self._auction_columns = dict(auction)
        self._bid_columns = dict(bid)

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._auction = handle.getValueState("auction", _ddl(self._auction_columns))
        self._best = handle.getValueState("best", _ddl(self._bid_columns))
        self._waiting = handle.getListState("waiting", _ddl(self._bid_columns))

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[Row]:
        """Keep the auction and its best bid."""
        auction, bids = None, []
        for row in rows:
            if row.auction_id is not None:
                auction = {name: row[name] for name in self._auction_columns}
            else:
                bids.append({name: row[name] for name in self._bid_columns})
        if auction is not None:
            self._auction.update(tuple(auction.values()))
            self._handle.registerTimer(auction["auction_expires"])
            bids += [self._bid(values) for values in self._waiting.get()]
            self._waiting.clear()
        elif (known := self._auction.get()) is not None:
            auction = dict(zip(self._auction_columns, known, strict=True))
        else:
            # If their auction has not come when the watermark passes them, it never will, or has closed.
            self._waiting.appendList([tuple(bid.values()) for bid in bids])
            self._handle.registerTimer(max(bid["bid_dateTime"] for bid in bids))
            return iter(())
        good = [bid for bid in bids if _qualifies(bid, auction)]
        if good:
            before = self._best.get()
            best = min(good if before is None else [*good, self._bid(before)], key=_best_first)
            self._best.update(tuple(best.values()))
        return iter(())

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Row]:
        """Close the auction, or give up bids that wait for one."""
        known = self._auction.get()
        if known is None:
            self._waiting.clear()
            return
        auction = dict(zip(self._auction_columns, known, strict=True))
        if auction["auction_expires"] <= expiredTimerInfo.getExpiryTimeInMs():
            best = self._best.get()
            self._auction.clear()
            self._best.clear()
            if best is not None:
                yield Row(**auction, **self._bid(best))

    def _bid(self, values: Sequence[Any]) -> dict[str, Any]:
        return dict(zip(self._bid_columns, values, strict=True))

    def close(self) -> None:
        """Nothing to close."""


def _qualifies(bid: Mapping[str, Any], auction: Mapping[str, Any]) -> bool:
    in_time: bool = auction["auction_dateTime"] <= bid["bid_dateTime"] < auction["auction_expires"]
    return in_time and bid["bid_price"] >= auction["auction_reserve"]


def _best_first(bid: Mapping[str, Any]) -> tuple[int, ...]:
    return (-bid["bid_price"], bid["bid_dateTime"], bid["bid_bidder"], bid["bid_arrival"])


def _ddl(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())
