"""How near the trajectories of two vehicles come to each other, whenever they were driven."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from causeway.berlinmod.model.arrays import I32
from causeway.berlinmod.scans.gather import Gatherer
from causeway.berlinmod.scans.rows import Rows, choose_rows
from causeway.berlinmod.scans.source import Source
from causeway.moving_objects.kernels.lines import line_distance, trajectory
from causeway.moving_objects.kernels.values import MovingPoints, Shapes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["distance_rows", "scan"]

_SCHEMA: Final = "vehicle1 int, Licence1 string, vehicle2 int, Licence2 string, Dist double"
_SLICES: Final = 4
_COLUMNS: Final = ("vehicle", "Licence", "Trip")


def scan(source: Source, ones: str, others: str) -> DataFrame:
    """The distance of each vehicle of `ones` from each other vehicle of `others`."""
    first, second = source.vehicles(ones), source.vehicles(others)
    gatherer = Gatherer(source)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                mine = first[place::_SLICES]
                if len(mine):
                    rows = gatherer.rows(np.union1d(mine, second), _COLUMNS)
                    yield from distance_rows(rows, mine, second).to_batches()

    return source.spread(_SLICES, run, _SCHEMA)


def distance_rows(rows: Rows, ones: I32, others: I32) -> pa.Table:
    """Each vehicle of `ones` with each other one of `others`."""
    lines = {int(vehicle): _line(rows, int(vehicle)) for vehicle in np.union1d(ones, others)}
    licences = dict(zip(rows.vehicle.tolist(), rows.licence.to_pylist(), strict=True))
    found: list[dict[str, Any]] = []
    for one in ones.tolist():
        for other in others.tolist():
            if one != other:
                metres = float(line_distance(lines[one], lines[other])[0])
                found.append(
                    {
                        "vehicle1": one,
                        "Licence1": licences[one],
                        "vehicle2": other,
                        "Licence2": licences[other],
                        "Dist": metres,
                    }
                )
    kinds = [pa.int32(), pa.string(), pa.int32(), pa.string(), pa.float64()]
    names = ("vehicle1", "Licence1", "vehicle2", "Licence2", "Dist")
    return pa.Table.from_pylist(found, pa.schema(list(zip(names, kinds, strict=True))))


def _line(rows: Rows, vehicle: int) -> Shapes:
    """The trajectory of a vehicle: in TBA a part for each trip."""
    mine = choose_rows(rows, rows.vehicle == vehicle)
    closed = np.ones(len(mine), np.bool_)
    row = np.array([0, len(mine)], np.int64)
    points = MovingPoints(row, mine.offsets, mine.t.astype(np.float64), mine.x, mine.y, closed, closed)
    return trajectory(points)
