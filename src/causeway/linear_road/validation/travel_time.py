"""Travel times and their tolls (section 3.2.3), from SegmentHistory: all journeys walked at once.

The history of an expressway is first summed over the days of a weekday, 18 MB whatever its size on disk; then
every journey that asks about that expressway goes one segment at a time, as NumPy arrays. Seconds are floats
on the way. Where they come so close to a whole minute (or, at the end, second) that rounding could tip them,
the journey is walked again in fractions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Journeys", "WeekdaySums", "travel_times", "walk"]

I64 = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

_MINUTES, _SEGMENTS = 1440, 100
_SHAPE = (7, _MINUTES, 2, _SEGMENTS)
_TOO_CLOSE = 1e-6


@dataclass(frozen=True)
class WeekdaySums:
    """One expressway's history, summed over the days of each weekday.

    Each array is indexed by DOW - 1, minute - 1, direction and segment; `days` is how many were summed.
    """

    days: I64
    lav: I64
    cnt: I64

    @classmethod
    def read(cls, files: Sequence[str]) -> WeekdaySums:
        """Sum the rows of Parquet files, one file after another."""
        sums = [np.zeros(np.prod(_SHAPE), np.int64) for _ in range(3)]
        for file in files:
            table = pq.read_table(file, columns=["Day", "Min", "Dir", "Seg", "Lav", "Cnt"], partitioning=None)
            day, minute, direction, segment, lav, cnt = (column.to_numpy() for column in table.columns)
            # Day 1 is yesterday, and DOW = 1 + (70 - Day) mod 7.
            cell = (((70 - day) % 7 * _MINUTES + minute - 1) * 2 + direction) * _SEGMENTS + segment
            for i, weights in enumerate((None, lav, cnt)):
                # Sums of a file are far below 2^53, so that floats hold them exactly.
                sums[i] += np.bincount(cell, weights, sums[i].size).astype(np.int64)
        return cls(*(total.reshape(_SHAPE) for total in sums))


@dataclass(frozen=True)
class Journeys:
    """Requests for one expressway, as arrays of the same length."""

    initial: I64
    end: I64
    weekday: I64
    minute: I64

    @property
    def directions(self) -> I64:
        """East (0) when Send ≥ Sinit."""
        return np.where(self.end >= self.initial, 0, 1)


def walk(history: WeekdaySums, journeys: Journeys) -> tuple[I64, I64, Booleans]:
    """Seconds (rounded down) and toll of each journey, and whether the history knows all of its segments."""
    direction = journeys.directions
    step = 1 - 2 * direction
    segment = journeys.initial.copy()
    seconds = np.zeros(len(segment))
    tolls = np.zeros(len(segment), np.int64)
    known = np.ones(len(segment), np.bool_)
    unsure = np.zeros(len(segment), np.bool_)
    on_the_way = np.flatnonzero(segment != journeys.end)
    while len(on_the_way):
        now = seconds[on_the_way]
        minute = np.minimum(journeys.minute[on_the_way] + (now // 60).astype(np.int64), _MINUTES)
        unsure[on_the_way] |= (now > 0) & (np.abs(now - 60 * np.round(now / 60)) < _TOO_CLOSE)
        cell = (journeys.weekday[on_the_way] - 1, minute - 1, direction[on_the_way], segment[on_the_way])
        days, lav, cnt = history.days[cell], history.lav[cell], history.cnt[cell]
        known[on_the_way] &= lav > 0
        seconds[on_the_way] += 3600 * days / np.maximum(lav, 1)
        tolls[on_the_way] += _toll(lav // np.maximum(days, 1), cnt // np.maximum(days, 1))
        segment[on_the_way] += step[on_the_way]
        on_the_way = on_the_way[segment[on_the_way] != journeys.end[on_the_way]]
    unsure |= np.abs(seconds - np.round(seconds)) < _TOO_CLOSE
    whole_seconds = np.floor(seconds).astype(np.int64)
    for i in np.flatnonzero(unsure & known & (seconds > 0)):
        whole_seconds[i], tolls[i], known[i] = _walk_in_fractions(history, journeys, int(i))
    return whole_seconds, tolls, known


def _toll(lav: I64, cars: I64) -> I64:
    """Table 2 without accidents."""
    return np.where((lav >= 0) & (lav < 40) & (cars > 50), 2 * (cars - 50) ** 2, 0)


def _walk_in_fractions(history: WeekdaySums, journeys: Journeys, i: int) -> tuple[int, int, bool]:
    direction = int(journeys.directions[i])
    weekday, start = int(journeys.weekday[i]) - 1, int(journeys.minute[i])
    seconds, toll = Fraction(0), 0
    for segment in range(int(journeys.initial[i]), int(journeys.end[i]), 1 - 2 * direction):
        cell = (weekday, min(start + int(seconds // 60), _MINUTES) - 1, direction, segment)
        days, lav, cnt = int(history.days[cell]), int(history.lav[cell]), int(history.cnt[cell])
        if lav <= 0:
            return 0, 0, False
        seconds += Fraction(3600 * days, lav)
        toll += int(_toll(np.int64(lav // days), np.int64(cnt // days)))  # type: ignore[arg-type]
    return int(seconds), toll, True


def travel_times(requests: DataFrame, files: Mapping[int, Sequence[str]]) -> DataFrame:
    """Give requests, whatever columns they have, `travel_time` and `toll`, each expressway in one task.

    Both are null where the history does not know the way, or there is none. `files` are the Parquet files of
    each expressway's SegmentHistory, under paths that every worker sees.
    """

    def expressway(requests: pa.Table) -> pa.Table:
        initial, end, weekday, minute = (
            requests.column(name).to_numpy().astype(np.int64) for name in ("Sinit", "Send", "DOW", "TOD")
        )
        possible = (
            (np.minimum(initial, end) >= 0)
            & (np.maximum(initial, end) < _SEGMENTS)
            & ((weekday >= 1) & (weekday <= 7))
            & ((minute >= 1) & (minute <= _MINUTES))
        )
        history = WeekdaySums.read(files.get(requests.column("XWay")[0].as_py(), []))
        seconds, tolls = np.zeros(len(initial), np.int64), np.zeros(len(initial), np.int64)
        known = possible.copy()
        journeys = Journeys(*(column[possible] for column in (initial, end, weekday, minute)))
        seconds[possible], tolls[possible], known[possible] = walk(history, journeys)
        for name, values in (("travel_time", seconds), ("toll", tolls)):
            requests = requests.append_column(name, pa.array(values, mask=~known))
        return requests

    from pyspark.sql.types import LongType, StructType

    answered = StructType([*requests.schema.fields]).add("travel_time", LongType()).add("toll", LongType())
    return requests.groupBy("XWay").applyInArrow(expressway, answered)
