"""Intervals of time that belong to a pair, as rows; those that follow each other are made one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["INTERVALS", "joined"]

INTERVALS: Final = "reference int, candidate int, begin double, end double"
"""Columns of what most scans give; `begin` and `end` are ms."""

_GAP_MS: Final = 0.5
"""Intervals that are not farther apart than this are one: windows and trips meet there."""


def joined(found: DataFrame, keys: tuple[str, ...] = ("reference", "candidate")) -> DataFrame:
    """Intervals of the same keys that touch each other, or overlap, as one row."""
    from pyspark.sql import Window, functions

    in_order = Window.partitionBy(*keys).orderBy("begin", "end")
    earlier = in_order.rowsBetween(Window.unboundedPreceding, -1)
    starts = functions.col("begin") > functions.col("before") + _GAP_MS
    pieces = found.withColumn("before", functions.max("end").over(earlier)).withColumn(
        "piece", functions.sum(functions.when(starts, 1).otherwise(0)).over(in_order)
    )
    one = pieces.groupBy(*keys, "piece").agg(
        functions.min("begin").alias("begin"), functions.max("end").alias("end")
    )
    return one.drop("piece")
