"""GeoParquet 1.1: Parquet files with a column of geometries as WKB, as QGIS, GDAL and DuckDB read them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely

from causeway.berlinmod.city.road_map import Geometries
from causeway.runtime.errors import UserError

__all__ = ["GEOMETRY", "geometry_column", "read_geoparquet", "write_geoparquet"]

GEOMETRY: Final = "geometry"
_VERSION: Final = "1.1.0"


def write_geoparquet(
    path: Path, columns: Mapping[str, Any], geometry: Geometries, crs: Mapping[str, Any] | None
) -> None:
    """Write `columns` and, as the last one, the geometries; `crs` is PROJJSON, or None for a local plane.

    The same values give the same bytes.
    """
    table = pa.table({**columns, GEOMETRY: pa.array(shapely.to_wkb(geometry), pa.binary())})
    types = sorted({str(one) for one in _type_names(geometry)})
    column: dict[str, Any] = {"encoding": "WKB", "geometry_types": types, "crs": crs}
    if len(geometry):
        column["bbox"] = [float(bound) for bound in shapely.total_bounds(geometry)]
    geo = {"version": _VERSION, "primary_column": GEOMETRY, "columns": {GEOMETRY: column}}
    table = table.replace_schema_metadata({"geo": json.dumps(geo)})
    pq.write_table(table, path, compression="zstd")


def _type_names(geometry: Geometries) -> set[str]:
    return {one.geom_type for one in geometry}


def read_geoparquet(path: Path, columns: Mapping[str, pa.DataType]) -> tuple[pa.Table, Geometries]:
    """The columns of these names and types, and the geometries; anything else is the user's mistake."""
    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise UserError(f"{path} is missing; a map folder has it") from None
    except (OSError, pa.ArrowException) as unreadable:
        raise UserError(f"{path} cannot be read as Parquet: {unreadable}") from unreadable
    for name, kind in {**columns, GEOMETRY: pa.binary()}.items():
        if name not in table.column_names:
            raise UserError(f"{path} has no column {name}; a map folder's file has it")
        column = table.column(name)
        if column.type != kind:
            raise UserError(f"{path}: column {name} is {column.type}, but {kind} is expected")
        if column.null_count:
            raise UserError(f"{path}: column {name} has no value in {column.null_count} rows")
    return table.select(list(columns)), geometry_column(path, table.column(GEOMETRY))


def geometry_column(path: Path, column: pa.ChunkedArray) -> Geometries:
    """The geometries of a column of WKB."""
    try:
        geometry: Geometries = shapely.from_wkb(column.to_numpy(zero_copy_only=False))
    except shapely.errors.GEOSException as wrong:
        raise UserError(f"{path}: column {GEOMETRY} has a value that is no WKB: {wrong}") from wrong
    return np.asarray(geometry, dtype=np.object_)
