"""Shapefiles and dBase files as in section 7.7.3."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import shapefile
import shapely

from causeway.berlinmod.dataset import HISTORIES, TRIPS
from causeway.berlinmod.exchange.export import dbase
from causeway.berlinmod.exchange.export.dbase import Column
from causeway.berlinmod.exchange.export.parts import write_movements
from causeway.berlinmod.exchange.export.source import (
    Rows,
    Source,
    StreetLines,
    read_relation,
    street_lines,
    units,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["write_shapefiles"]

_DECIMALS: Final = {"metres": 6, "degrees": 11}
"""A micrometre, either way."""


def write_shapefiles(spark: SparkSession, source: Source, folder: Path) -> int:
    """Write all files; returns the number of units in trips.dbf."""
    _write_shapes(source, folder)
    cars = read_relation(source, "dataMcar")
    instants = read_relation(source, "QueryInstants")
    periods = read_relation(source, "QueryPeriods")
    licences = read_relation(source, "QueryLicences")
    descriptions = [dbase.text(name, cars[name]) for name in ("Licence", "Type", "Model")]
    tables = {
        "cars.dbf": [dbase.integer("Moid", cars["vehicle"] + 1), *descriptions],
        "queryinstants.dbf": [
            dbase.integer("Id", instants["Id"]),
            dbase.moment("Instant", instants["Instant"]),
        ],
        "queryperiods.dbf": [
            dbase.integer("Id", periods["Id"]),
            dbase.moment("Begin", periods["Period.begin"]),
            dbase.moment("End", periods["Period.end"]),
        ],
        "querylicences.dbf": [
            dbase.integer("Id", licences["Id"]),
            dbase.text("Licence", licences["Licence"]),
        ],
    }
    for name, columns in tables.items():
        _write_dbf(folder / name, columns)
    widths = {column.name: column.data.shape[1] for column in descriptions}

    def trip_columns(rows: Rows) -> list[Column]:
        row, first = units(rows.movements)
        return [
            dbase.integer("Moid", rows.columns["vehicle"][row] + 1),
            dbase.integer("Tripid", rows.number[row]),
            *_unit_columns(source, rows, first),
        ]

    def journey_columns(rows: Rows) -> list[Column]:
        row, first = units(rows.movements)
        return [
            dbase.integer("Moid", rows.columns["vehicle"][row] + 1),
            *(
                Column(name, "C", 0, dbase.text_bytes(rows.columns[name], width)[row])
                for name, width in widths.items()
            ),
            *_unit_columns(source, rows, first),
        ]

    _write_units(spark, source, folder / "journey.dbf", HISTORIES, ("vehicle", *widths), journey_columns)
    return _write_units(spark, source, folder / "trips.dbf", TRIPS, ("vehicle",), trip_columns)


def _unit_columns(source: Source, rows: Rows, first: Any) -> list[Column]:
    """Linear movements, as the paper has them: from where and when to where and when."""
    t, x, y = rows.movements[1:]
    decimals = _DECIMALS[source.projection.coordinates]
    when = dbase.moment("Tstart", t)
    columns = [when._replace(data=when.data[first]), when._replace(name="Tend", data=when.data[first + 1])]
    for place, end in (("start", 0), ("end", 1)):
        for axis, values in (("X", x), ("Y", y)):
            columns.append(dbase.real(f"{axis}{place}", values[first + end], decimals))
    return columns


def _write_units(
    spark: SparkSession,
    source: Source,
    path: Path,
    relation: str,
    names: tuple[str, ...],
    columns_of: Callable[[Rows], list[Column]],
) -> int:
    head_columns = columns_of(next(source.groups(relation, 0, names)))
    return write_movements(
        spark,
        source,
        path,
        relation,
        names,
        lambda rows: dbase.records(columns_of(rows)),
        head=lambda units: dbase.dbf_head(head_columns, units),
        tail=dbase.dbf_tail(),
    )


def _write_dbf(path: Path, columns: Sequence[Column]) -> None:
    rows = columns[0].data.shape[0]
    path.write_bytes(dbase.dbf_head(columns, rows) + dbase.records(columns) + dbase.dbf_tail())
    path.with_suffix(".cpg").write_text("UTF-8")


def _write_shapes(source: Source, folder: Path) -> None:
    points = read_relation(source, "QueryPoints")
    regions = read_relation(source, "QueryRegions")
    streets = street_lines(source.dataset.road_map(), source.projection)
    crs = source.projection.crs
    with _shapes(folder / "querypoints", shapefile.POINT, crs) as shapes:
        for x, y in zip(points["Pos.x"].tolist(), points["Pos.y"].tolist(), strict=True):
            shapes.point(x, y)
    _write_dbf(folder / "querypoints.dbf", [dbase.integer("Id", points["Id"])])
    offsets = regions["Region.offsets"]
    corners = np.column_stack((regions["Region.x"], regions["Region.y"]))
    with _shapes(folder / "queryregions", shapefile.POLYGON, crs) as shapes:
        for begin, end in pairwise(offsets.tolist()):
            # Outer rings of Shapefiles are clockwise and closed.
            ring = corners[begin:end][::-1].tolist()
            shapes.poly([[*ring, ring[0]]])
    _write_dbf(folder / "queryregions.dbf", [dbase.integer("Id", regions["Id"])])
    _write_streets(folder, streets, crs)


def _write_streets(folder: Path, streets: StreetLines, crs: dict[str, Any] | None) -> None:
    with _shapes(folder / "streets", shapefile.POLYLINE, crs) as shapes:
        for line in streets.geometry:
            shapes.line([shapely.get_coordinates(part).tolist() for part in shapely.get_parts(line)])
    columns = [dbase.real("Vmax", streets.vmax, 3), dbase.text("Name", streets.names)]
    _write_dbf(folder / "streets.dbf", columns)


def _shapes(path: Path, kind: int, crs: dict[str, Any] | None) -> Any:
    """A writer of .shp and .shx; the .dbf is ours, since pyshp's has the day of today in it."""
    if crs is not None:
        import pyproj

        system = pyproj.CRS.from_json(json.dumps(crs))
        path.with_suffix(".prj").write_text(system.to_wkt("WKT1_ESRI"))
    return _ShapeFiles(path, kind)


class _ShapeFiles:
    """pyshp's writer, for the length of a block."""

    def __init__(self, path: Path, kind: int) -> None:
        self._files = [path.with_suffix(suffix).open("w+b") for suffix in (".shp", ".shx")]
        self._writer = shapefile.Writer(shp=self._files[0], shx=self._files[1], shapeType=kind)

    def __enter__(self) -> Any:
        return self._writer

    def __exit__(self, *_: object) -> None:
        self._writer.close()
        for file in self._files:
            file.close()
