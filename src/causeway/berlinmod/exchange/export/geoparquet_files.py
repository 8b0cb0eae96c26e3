"""GeoParquet of points, regions, streets and trips, and plain Parquet of the other relations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely

from causeway.berlinmod.city.geoparquet import GEOMETRY, write_geoparquet
from causeway.berlinmod.dataset import TRIPS
from causeway.berlinmod.exchange.export.source import Rows, Source, read_relation, street_lines
from causeway.moving_objects.conversions.wkb import encode_lines
from causeway.moving_objects.kernels.values import Shapes
from causeway.runtime.progress import watched
from causeway.spark.tasks import run_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["write_geoparquet_files"]

_MOMENT: Final = pa.timestamp("ms")
_TRIPS_SCHEMA: Final = pa.schema(
    {
        "Moid": pa.int32(),
        "Tripid": pa.int64(),
        "Licence": pa.string(),
        "Tstart": _MOMENT,
        "Tend": _MOMENT,
        "t": pa.list_(_MOMENT),
        GEOMETRY: pa.binary(),
    }
)


def write_geoparquet_files(spark: SparkSession, source: Source, folder: Path) -> int:
    """Write all files; returns the number of units in trips/."""
    crs = source.projection.crs
    points = read_relation(source, "QueryPoints")
    write_geoparquet(
        folder / "querypoints.parquet",
        {"Id": points["Id"]},
        shapely.points(points["Pos.x"], points["Pos.y"]),
        crs,
    )
    regions = read_relation(source, "QueryRegions")
    write_geoparquet(folder / "queryregions.parquet", {"Id": regions["Id"]}, _polygons(regions), crs)
    streets = street_lines(source.dataset.road_map(), source.projection)
    write_geoparquet(
        folder / "streets.parquet",
        {"Name": pa.array(streets.names, pa.string()), "Vmax": streets.vmax},
        streets.geometry,
        crs,
    )
    for name, table in _plain_tables(source).items():
        pq.write_table(table, folder / name, compression="zstd")
    trips = folder / "trips"
    trips.mkdir()

    def task(file: int) -> int:
        return _write_trips(source, file, trips / f"part-{file:05d}.parquet")

    files = source.dataset.cut.files
    with watched("writing trips", files, "files", lambda: len(list(trips.iterdir()))):
        return sum(run_tasks(spark, files, task))


def _polygons(regions: dict[str, Any]) -> Any:
    ring = np.repeat(np.arange(len(regions["Id"])), np.diff(regions["Region.offsets"]))
    return shapely.polygons(shapely.linearrings(regions["Region.x"], regions["Region.y"], indices=ring))


def _plain_tables(source: Source) -> dict[str, pa.Table]:
    cars = read_relation(source, "dataMcar")
    instants = read_relation(source, "QueryInstants")
    periods = read_relation(source, "QueryPeriods")
    licences = read_relation(source, "QueryLicences")
    return {
        "datamcar.parquet": pa.table(
            {"Moid": cars["vehicle"] + 1, **{name: cars[name] for name in ("Licence", "Type", "Model")}}
        ),
        "queryinstants.parquet": pa.table(
            {"Id": instants["Id"], "Instant": pa.array(instants["Instant"], _MOMENT)}
        ),
        "queryperiods.parquet": pa.table(
            {
                "Id": periods["Id"],
                "Begin": pa.array(periods["Period.begin"], _MOMENT),
                "End": pa.array(periods["Period.end"], _MOMENT),
            }
        ),
        "querylicences.parquet": pa.table({"Id": licences["Id"], "Licence": licences["Licence"]}),
    }


def _write_trips(source: Source, file: int, path: Path) -> int:
    written = 0
    column = {"encoding": "WKB", "geometry_types": ["LineString"], "crs": source.projection.crs}
    geo = {"version": "1.1.0", "primary_column": GEOMETRY, "columns": {GEOMETRY: column}}
    schema = _TRIPS_SCHEMA.with_metadata({"geo": json.dumps(geo)})
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for rows in source.groups(TRIPS, file, ("vehicle", "Licence", "t_min", "t_max")):
            writer.write_table(_table(rows).cast(schema))
            written += rows.movements.t.size - len(rows.number)
    return written


def _table(rows: Rows) -> pa.Table:
    offsets, t, x, y = rows.movements
    lines = Shapes(np.arange(offsets.size, dtype=np.int64), offsets, x, y)
    times = pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(t, _MOMENT))
    columns = {
        "Moid": pa.array(rows.columns["vehicle"] + 1, pa.int32()),
        "Tripid": pa.array(rows.number),
        "Licence": pa.array(rows.columns["Licence"], pa.string()),
        "Tstart": pa.array(rows.columns["t_min"], _MOMENT),
        "Tend": pa.array(rows.columns["t_max"], _MOMENT),
        "t": times,
        GEOMETRY: encode_lines(lines),
    }
    return pa.table(columns, schema=_TRIPS_SCHEMA)
