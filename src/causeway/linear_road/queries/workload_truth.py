"""What the workload's own files say: how much traffic there is when, and what a query must find.

Nothing here reads the run or its streaming table: answers are checked against the input.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.dataset as ds
from numpy.typing import NDArray

from causeway.linear_road.model.tuples import INPUT_COLUMNS, INPUT_SCHEMA, TupleType
from causeway.linear_road.workload.workload import Workload

__all__ = ["TrafficSample", "WorkloadTruth"]

_SAMPLED_MINUTES: Final = 10
"""One minute of so many is looked at."""
_VEHICLES_KEPT: Final = 20_000
_FIELDS: Final = ("VID", "Spd", "XWay", "Lane", "Dir", "Seg", "Pos", "Time")


@dataclass(frozen=True)
class TrafficSample:
    """The reports of one minute: how many, and the vehicles of some of them, rising."""

    minute: int
    reports: int
    vehicles: NDArray[np.int32]


class WorkloadTruth:
    """Position reports, read from the files of a workload."""

    def __init__(self, workload: Workload) -> None:
        self.minutes = workload.minutes
        file_format: ds.FileFormat = ds.ParquetFileFormat()
        if workload.format == "csv":
            file_format = ds.CsvFileFormat(
                read_options=pyarrow.csv.ReadOptions(column_names=list(INPUT_COLUMNS))
            )
        self._reports = ds.dataset(
            [str(part) for part in workload.parts], schema=INPUT_SCHEMA, format=file_format
        )

    def samples(self) -> list[TrafficSample]:
        """Minutes that stand for those around them, in the order of time."""
        found = []
        for minute in range(0, self.minutes, _SAMPLED_MINUTES):
            vehicles = self._between(60 * minute, 60 * minute + 59, ["VID"]).column("VID").to_numpy()
            kept = np.sort(vehicles)[:: max(1, len(vehicles) // _VEHICLES_KEPT)]
            found.append(TrafficSample(minute, len(vehicles), kept.astype(np.int32)))
        return found

    def reports_in(self, minute: int) -> NDArray[np.int64]:
        """How many reports each of the sixty seconds of a minute has."""
        times = self._between(60 * minute, 60 * minute + 59, ["Time"]).column("Time").to_numpy()
        counts: NDArray[np.int64] = np.bincount(times - 60 * minute, minlength=60)
        return counts

    def rows(self, seconds: tuple[int, int], vehicles: tuple[int, int]) -> pa.Table:
        """The reports of vehicles of a range in a time range, both ends included, with the names of columns
        as in the streaming table.
        """
        only = (pc.field("VID") >= vehicles[0]) & (pc.field("VID") <= vehicles[1])
        rows = self._between(*seconds, list(_FIELDS), only)
        return rows.rename_columns([*(name.upper() for name in _FIELDS[:-1]), "T"])

    def _between(
        self, first: int, last: int, columns: list[str], only: pc.Expression | None = None
    ) -> pa.Table:
        wanted = (pc.field("Time") >= first) & (pc.field("Time") <= last)
        wanted = wanted & (pc.field("Type") == TupleType.POSITION_REPORT.value)
        wanted = wanted if only is None else wanted & only
        return self._reports.to_table(columns=columns, filter=wanted, use_threads=False)
