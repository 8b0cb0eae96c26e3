"""Running means in plain Spark: one group of state for each key, a new mean whenever it changes.

An aggregation could say the mean over all, but not behind `transformWithState` when its answers are updates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.stateful_processor import TimerValues

__all__ = ["means"]


def means(sales: DataFrame, key: str, last: int | None = None) -> DataFrame:
    """The mean `price` of each key's sales, of all or of the `last` ones in order of `closed` and `id`."""
    processor: StatefulProcessor = MeanOfAll(key) if last is None else MeanOfLast(key, last)
    return (
        sales.select(key, "closed", "id", "price")
        .groupBy(key)
        .transformWithState(
            statefulProcessor=processor,
            outputStructType=f"{key} LONG, price DOUBLE",
            outputMode="append",
            timeMode="none",
        )
    )


class _Means(StatefulProcessor):
    def __init__(self, key: str) -> None:
        self._key = key

    def close(self) -> None:
        """Nothing to close."""

    def _row(self, key: Any, price: float) -> Row:
        return Row(**{self._key: key[0], "price": price})


class MeanOfAll(_Means):
    """State: a sum and a count."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._sums = handle.getValueState("sums", "total LONG, number LONG")

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[Row]:
        """One mean a batch, over all sales so far."""
        total, number = self._sums.get() or (0, 0)
        for row in rows:
            total, number = total + row.price, number + 1
        self._sums.update((total, number))
        yield self._row(key, total / number)


class MeanOfLast(_Means):
    """State: the last prices, in order of closing."""

    def __init__(self, key: str, last: int) -> None:
        super().__init__(key)
        self._last = last

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._prices = handle.getValueState("prices", "prices ARRAY<LONG>")

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[Row]:
        """A mean for each closing. Those of later batches have closed later."""
        known = self._prices.get()
        prices = [] if known is None else list(known[0])
        for row in sorted(rows, key=lambda row: (row.closed, row.id)):
            prices = [*prices, row.price][-self._last :]
            yield self._row(key, sum(prices) / len(prices))
        self._prices.update((prices,))
