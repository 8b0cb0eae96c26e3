"""What is exported: a data set's relations as columns, its movements a row group at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely

from causeway.berlinmod.city import RoadMap
from causeway.berlinmod.dataset import TRIPS, Dataset, Movements, read_movements
from causeway.berlinmod.exchange.coordinates import Projection
from causeway.berlinmod.model.arrays import F64, I64

__all__ = [
    "Rows",
    "Segments",
    "Source",
    "StreetLines",
    "read_relation",
    "segments_of",
    "street_lines",
    "units",
]


@dataclass(frozen=True)
class Source:
    """A data set, the coordinates to write, and how its trips are numbered."""

    dataset: Dataset
    projection: Projection
    first_trips: tuple[int, ...]
    """How many trips the files before each file have: trips of all vehicles are numbered together."""

    @classmethod
    def of(cls, dataset: Dataset, projection: Projection) -> Source:
        """Counts the trips of the files, by what their footers say."""
        counts = [pq.read_metadata(path).num_rows for path in dataset.parts(TRIPS)]
        return cls(dataset, projection, tuple(int(n) for n in np.cumsum([0, *counts])[:-1]))

    def groups(self, relation: str, file: int, columns: tuple[str, ...]) -> Iterator[Rows]:
        """The rows of a file of dataScar or dataMtrip, a row group at a time, in the coordinates to write."""
        path = self.dataset.part(relation, file)
        number = self.first_trips[file]
        for group in range(pq.read_metadata(path).num_row_groups):
            movements, others = read_movements(path, group, columns)
            count = movements.offsets.size - 1
            x, y = self.projection(movements.x, movements.y)
            yield Rows(
                np.arange(number + 1, number + 1 + count, dtype=np.int64),
                movements._replace(x=x, y=y),
                others,
            )
            number += count


class Rows(NamedTuple):
    """Rows of dataScar or dataMtrip."""

    number: I64
    """Of a trip among all trips, from 1 on."""
    movements: Movements
    columns: dict[str, Any]


def units(movements: Movements) -> tuple[I64, I64]:
    """For each unit its row, and the place of its first instant; the next instant is its last."""
    inside = np.ones(movements.t.size, np.bool_)
    inside[movements.offsets[1:] - 1] = False
    first = np.flatnonzero(inside).astype(np.int64)
    row = np.repeat(np.arange(movements.offsets.size - 1, dtype=np.int64), np.diff(movements.offsets) - 1)
    return row, first


class Segments(NamedTuple):
    """Straight pieces of streets."""

    street: I64
    """By place in the map, from 0 on."""
    x1: F64
    y1: F64
    x2: F64
    y2: F64


class StreetLines(NamedTuple):
    """The streets of a map, in the coordinates to write."""

    names: tuple[str, ...]
    vmax: F64
    geometry: Any
    """Shapely lines."""


def street_lines(road_map: RoadMap, projection: Projection) -> StreetLines:
    """All streets, closed ones too."""
    geometry = road_map.streets.geometry
    if projection.coordinates != "metres":
        geometry = shapely.transform(geometry, lambda xy: np.column_stack(projection(xy[:, 0], xy[:, 1])))
    return StreetLines(road_map.streets.names, road_map.streets.vmax, geometry)


def segments_of(lines: StreetLines) -> Segments:
    """Every segment of every street."""
    parts, street = shapely.get_parts(lines.geometry, return_index=True)
    xy, part = shapely.get_coordinates(parts, return_index=True)
    joined = np.flatnonzero(part[1:] == part[:-1])
    start, end = xy[joined], xy[joined + 1]
    return Segments(street[part[joined]].astype(np.int64), start[:, 0], start[:, 1], end[:, 0], end[:, 1])


def read_relation(source: Source, name: str) -> dict[str, Any]:
    """A relation's columns as NumPy arrays; of structs each field is one (`Pos.x`), coordinates to write.

    The corners of regions are flat, with `Region.offsets`.
    """
    table = pq.read_table(source.dataset.relation(name)).combine_chunks()
    columns: dict[str, Any] = {}
    for field in table.schema:
        column = table.column(field.name)
        value = column.chunk(0) if column.num_chunks else pa.array([], field.type)
        if not pa.types.is_struct(field.type):
            columns[field.name] = value.to_numpy(zero_copy_only=False)
            continue
        for i in range(field.type.num_fields):
            inner = value.field(i)
            if pa.types.is_list(inner.type):
                columns[f"{field.name}.offsets"] = inner.offsets.to_numpy().astype(np.int64)
                inner = inner.values
            columns[f"{field.name}.{field.type.field(i).name}"] = inner.to_numpy(zero_copy_only=False)
        if f"{field.name}.x" in columns:
            places = source.projection(columns[f"{field.name}.x"], columns[f"{field.name}.y"])
            columns[f"{field.name}.x"], columns[f"{field.name}.y"] = places
    return columns
