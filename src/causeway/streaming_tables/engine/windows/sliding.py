"""Sliding windows on arrays: which rows are in a window as of each of many ticks (Definition 2).

Rows are in the order of their time and, among equals, of their arrival. Arrays in, arrays out; no Spark.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["WindowRows", "interval_window", "partition_numbers", "rows_window", "valid_until"]

I64 = NDArray[np.int64]


@dataclass(frozen=True)
class WindowRows:
    """The content of a window at many ticks: pairs of a row and a tick, by their positions.

    They are sorted by tick, partition, time and arrival, rising. `previous` is the position of the next older
    row of the same window and partition, -1 where there is none.
    """

    row: I64
    tick: I64
    previous: I64


def interval_window(time: I64, ticks: I64, length: int) -> WindowRows:
    """`[WINDOW INTERVAL length]`: tick - length <= time <= tick."""
    first = np.searchsorted(ticks, time, "left")
    last = np.searchsorted(ticks, time + length, "right")
    row, tick = _expand(first, last)
    return _in_order(row, tick, np.zeros(len(time), np.int64))


def rows_window(partition: I64, time: I64, ticks: I64, count: int, period: int | None = None) -> WindowRows:
    """`[WINDOW a, b ROWS count]`: the newest rows of each partition; one partition for `[WINDOW ROWS count]`.

    With `period`, the table's historical period, rows that are older than it are gone.
    """
    first = np.searchsorted(ticks, time, "left")
    until, expires = valid_until(partition, time, count)
    last = np.where(expires, np.searchsorted(ticks, until, "left"), len(ticks))
    if period is not None:
        last = np.minimum(last, np.searchsorted(ticks, time + period, "right"))
    row, tick = _expand(first, last)
    return _in_order(row, tick, partition)


def valid_until(partition: I64, time: I64, count: int) -> tuple[I64, NDArray[np.bool_]]:
    """When each row leaves a window of `count` rows: the time of the row that pushes it out, if any."""
    order = np.argsort(partition, kind="stable")
    until = np.zeros(len(time), np.int64)
    expires = np.zeros(len(time), np.bool_)
    if len(time) > count:
        pushed, pushing = order[:-count], order[count:]
        same = partition[pushed] == partition[pushing]
        until[pushed[same]] = time[pushing[same]]
        expires[pushed[same]] = True
    return until, expires


def partition_numbers(columns: list[pa.ChunkedArray]) -> I64:
    """A number for each row, equal where all `columns` are equal; NULL equals NULL, as NaN equals NaN."""
    numbers: I64 | None = None
    for column in columns:
        values = column.combine_chunks()
        if pa.types.is_floating(values.type):
            # 0.0 and -0.0 are one value to Spark.
            values = pc.add(values, pa.scalar(0, values.type))
        codes = pc.dictionary_encode(values, null_encoding="encode").indices.to_numpy().astype(np.int64)
        if numbers is None:
            numbers = codes
        else:
            _, numbers = np.unique(numbers * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    assert numbers is not None
    return numbers


def _expand(first: I64, last: I64) -> tuple[I64, I64]:
    """Each row with all ticks from `first` to `last`, not including it."""
    counts = np.maximum(last - first, 0)
    row = np.repeat(np.arange(len(first)), counts)
    starts = np.cumsum(counts) - counts
    tick = np.arange(len(row)) - np.repeat(starts - first, counts)
    return row, tick


def _is_rising(tick: I64, partition: I64, row: I64) -> bool:
    """Whether pairs are sorted already, as those of one tick often are; looking is cheaper than sorting."""
    later = tick[1:] > tick[:-1]
    same = tick[1:] == tick[:-1]
    further = partition[1:] > partition[:-1]
    beside = (partition[1:] == partition[:-1]) & (row[1:] > row[:-1])
    return bool((later | (same & (further | beside))).all())


def _in_order(row: I64, tick: I64, partition: I64) -> WindowRows:
    number = partition[row]
    if not _is_rising(tick, number, row):
        order = np.lexsort((row, number, tick))
        row, tick = row[order], tick[order]
    previous = np.full(len(row), -1, np.int64)
    if len(row) > 1:
        together = (tick[1:] == tick[:-1]) & (partition[row[1:]] == partition[row[:-1]])
        previous[1:][together] = row[:-1][together]
    return WindowRows(row, tick, previous)
