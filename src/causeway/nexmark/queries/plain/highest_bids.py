"""The highest bids of each window in plain Spark: one group of state for each window, closed by a timer.

A window has as many rows as bids were made in it: they come as pandas frames. SQL can say it as a join of the
bids with the highest price of their window, and keeps all bids of the window for that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.stateful_processor import TimerValues

__all__ = ["highest_bids"]


def highest_bids(bid: DataFrame, time: str, milliseconds: int) -> DataFrame:
    """The bids of the highest `price` of each window of so many milliseconds of `time`, and its end, `ends`.

    Times are milliseconds, `time` too.
    """
    at = f"unix_millis({time})"
    others = [name for name in bid.columns if name != time]
    placed = bid.selectExpr(
        f"({at} DIV {milliseconds} + 1) * {milliseconds} AS ends",
        f"{time} AS event_time",
        f"{at} AS {time}",
        *others,
    )
    columns = {name: kind for name, kind in placed.dtypes if name not in ("ends", "event_time")}
    ddl = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    return placed.groupBy("ends").transformWithStateInPandas(
        statefulProcessor=HighestBids(columns, ddl),
        outputStructType=f"ends LONG, {ddl}",
        outputMode="append",
        timeMode="eventTime",
    )


class HighestBids(StatefulProcessor):
    """State of a window: the bids of the highest price so far."""

    def __init__(self, columns: Mapping[str, str], ddl: str) -> None:
        self._columns = list(columns)
        self._ddl = ddl

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._highest = handle.getListState("highest", self._ddl)

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """Keep the highest, all that tie."""
        known = pd.DataFrame(list(self._highest.get()), columns=self._columns)
        if known.empty:
            self._handle.registerTimer(int(key[0]))
        bids = pd.concat([known, *(frame[self._columns] for frame in rows)])
        highest = bids[bids["price"] == bids["price"].max()]
        self._highest.put(list(highest.itertuples(index=False, name=None)))
        return iter(())

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """The window has ended."""
        highest = pd.DataFrame(list(self._highest.get()), columns=self._columns)
        self._highest.clear()
        highest.insert(0, "ends", int(key[0]))
        yield highest

    def close(self) -> None:
        """Nothing to close."""
