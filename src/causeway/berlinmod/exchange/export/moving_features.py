"""Trips as OGC Moving Features JSON (19-045r3): one collection, a feature a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from causeway.berlinmod.dataset import TRIPS, Movements
from causeway.berlinmod.exchange.coordinates import DEGREES_CRS
from causeway.berlinmod.exchange.export.parts import write_movements
from causeway.berlinmod.exchange.export.source import Rows, Source
from causeway.berlinmod.exchange.export.texts import integers, joined, to_bytes
from causeway.moving_objects.conversions.mfjson import encode_mfjson
from causeway.moving_objects.kernels.values import MovingPoints

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["moving_points", "write_moving_features"]

_BETWEEN: Final = b",\n"
"""Between two features."""


def moving_points(movements: Movements) -> MovingPoints:
    """Movements as the moving points of one piece that they are: closed at the start, open at the end."""
    rows = np.arange(movements.offsets.size, dtype=np.int64)
    always = np.ones(rows.size - 1, np.bool_)
    return MovingPoints(
        rows,
        movements.offsets,
        movements.t.astype(np.float64),
        movements.x,
        movements.y,
        always,
        np.diff(movements.offsets) == 1,
    )


def write_moving_features(spark: SparkSession, source: Source, folder: Path) -> int:
    """Write trips.json; returns the number of units."""
    head = '{"type":"FeatureCollection",' + _system(source) + '"features":[\n'
    return write_movements(
        spark,
        source,
        folder / "trips.json",
        TRIPS,
        ("vehicle", "Licence"),
        _feature_lines,
        head=head.encode(),
        tail=b"\n]}\n",
        between=_BETWEEN,
    )


def _system(source: Source) -> str:
    """The members `crs` and `trs`. Without `crs` a reader would take the coordinates for degrees."""
    if source.projection.coordinates == "degrees":
        system: Any = {"type": "Name", "properties": {"name": DEGREES_CRS}}
    elif source.projection.crs is None:
        system = None
    else:
        name = source.projection.crs.get("name", "local plane")
        system = {"type": "Name", "properties": {"name": name}}
    time = {"type": "Name", "properties": {"name": "urn:ogc:data:time:iso8601"}}
    return f'"crs":{json.dumps(system)},"trs":{json.dumps(time)},'


def _feature_lines(rows: Rows) -> memoryview:
    lines = to_bytes(joined(_features(rows), _BETWEEN.decode()))
    return memoryview(lines)[: -len(_BETWEEN)]


def _features(rows: Rows) -> pa.Array:
    licences = pa.array([json.dumps(licence) for licence in rows.columns["Licence"]], pa.string())
    number = integers(rows.number)
    return joined(
        '{"type":"Feature","id":',
        number,
        ',"properties":{"Moid":',
        integers(rows.columns["vehicle"] + 1),
        ',"Tripid":',
        number,
        ',"Licence":',
        licences,
        '},"temporalGeometry":',
        encode_mfjson(moving_points(rows.movements)),
        "}",
    )
