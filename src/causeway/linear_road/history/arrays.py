"""One expressway's history as compact arrays, made from its Parquet files: what lookups need and no more.

A file is read a piece at a time, so that memory is that of the arrays. Rows for days, minutes, directions
or segments that the benchmark does not have are passed over, since nobody can ask for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.linear_road.history.weekday_sums import CNT, DAYS_SUMMED, LAV, WEEKDAY_SUMS_SHAPE, WeekdaySums
from causeway.linear_road.model.array_types import I32, I64
from causeway.linear_road.model.calendar import HISTORY_DAYS, MINUTES_PER_DAY, WEEKDAYS
from causeway.linear_road.model.expressway import SEGMENTS
from causeway.runtime.compiled import kernel
from causeway.runtime.errors import UserError

__all__ = ["DailyTolls", "daily_tolls", "weekday_sums"]

_ROWS_AT_A_TIME = 1 << 20


class DailyTolls(NamedTuple):
    """One expressway's TollHistory."""

    vehicles: I32
    """Their VIDs, ascending."""
    tolls: npt.NDArray[np.integer]
    """[vehicle, day - 1], 0 where there was no row."""


def daily_tolls(files: Sequence[Path]) -> DailyTolls:
    """Read TollHistory; what several rows say of a vehicle and day is added up."""
    vehicles = np.empty(0, np.int32)
    for (vid,) in _read(files, "VID"):
        changes = np.flatnonzero(np.diff(vid, prepend=vid[:1] - 1))
        vehicles = np.union1d(vehicles, vid[changes])
    tolls = np.zeros((len(vehicles), HISTORY_DAYS), np.int64)
    for columns in _read(files, "VID", "Day", "Tolls"):
        _add_tolls(vehicles, tolls, *columns)
    return DailyTolls(vehicles, _narrowest(tolls, np.uint16, np.int32))


def weekday_sums(files: Sequence[Path]) -> WeekdaySums:
    """Read SegmentHistory and sum it up by weekday; day n falls on DOW = 1 + (70 - n) mod 7."""
    sums = np.zeros(WEEKDAY_SUMS_SHAPE, np.int64)
    for columns in _read(files, "Day", "Min", "Dir", "Seg", "Lav", "Cnt"):
        _add_segments(sums, *columns)
    rows = int(sums[..., DAYS_SUMMED].max())
    if rows > HISTORY_DAYS // WEEKDAYS:
        raise UserError(
            f"SegmentHistory says something twice: it has {rows} rows for a weekday, minute, direction and "
            f"segment, and a weekday has {HISTORY_DAYS // WEEKDAYS} days"
        )
    return _narrowest(sums, np.int16, np.int32)


def _read(files: Sequence[Path], *columns: str) -> Iterator[list[I32]]:
    for path in files:
        try:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(_ROWS_AT_A_TIME, columns=list(columns)):
                    yield [_whole_numbers(batch, name) for name in columns]
        except (OSError, KeyError, pa.ArrowException) as wrong:
            raise UserError(f"{path} cannot be read as history: {wrong}") from wrong


def _whole_numbers(batch: pa.RecordBatch, name: str) -> I32:
    column = batch.column(name)
    if column.null_count:
        raise pa.ArrowInvalid(f"{name} is empty in {column.null_count} row(s)")
    numbers: I32 = column.cast(pa.int32()).to_numpy(zero_copy_only=False)
    return numbers


def _narrowest(values: I64, *types: type[np.integer]) -> npt.NDArray[np.integer]:
    """The values in the first of `types` that holds them all, which matters where there are many."""
    least, largest = (int(values.min()), int(values.max())) if values.size else (0, 0)
    for narrow in types:
        if np.iinfo(narrow).min <= least and largest <= np.iinfo(narrow).max:
            return values.astype(narrow)
    return values


@kernel
def _add_tolls(vehicles: I32, tolls: I64, vid: I32, day: I32, toll: I32) -> None:
    row = -1
    for i in range(len(vid)):
        if row < 0 or vehicles[row] != vid[i]:
            row = np.searchsorted(vehicles, vid[i])
        if 1 <= day[i] <= HISTORY_DAYS:
            tolls[row, day[i] - 1] += toll[i]


@kernel
def _add_segments(sums: I64, day: I32, minute: I32, direction: I32, segment: I32, lav: I32, cnt: I32) -> None:
    for i in range(len(day)):
        if (
            1 <= day[i] <= HISTORY_DAYS
            and 1 <= minute[i] <= MINUTES_PER_DAY
            and 0 <= direction[i] <= 1
            and 0 <= segment[i] < SEGMENTS
        ):
            cell = sums[direction[i], (HISTORY_DAYS - day[i]) % WEEKDAYS, minute[i] - 1, segment[i]]
            cell[LAV] += lav[i]
            cell[CNT] += cnt[i]
            cell[DAYS_SUMMED] += 1
