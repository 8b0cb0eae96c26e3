"""Comma-separated values as in section 7.7.4 and in the authors' downloads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from causeway.berlinmod.dataset import TRIPS
from causeway.berlinmod.exchange.export.parts import write_movements
from causeway.berlinmod.exchange.export.source import (
    Rows,
    Source,
    read_relation,
    segments_of,
    street_lines,
    units,
)
from causeway.berlinmod.exchange.export.texts import (
    csv_bytes,
    integers,
    joined,
    moments,
    plain_texts,
    reals,
    to_bytes,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["write_csv"]

_TRIPS_HEADER: Final = b"Moid,Tripid,Tstart,Tend,Xstart,Ystart,Xend,Yend\n"


def write_csv(spark: SparkSession, source: Source, folder: Path) -> int:
    """Write all files; returns the number of units in trips.csv."""
    for name, columns in _tables(source).items():
        (folder / name).write_bytes(csv_bytes(columns))
    path = folder / "trips.csv"
    return write_movements(spark, source, path, TRIPS, ("vehicle",), _unit_lines, head=_TRIPS_HEADER)


def _tables(source: Source) -> dict[str, dict[str, pa.Array]]:
    cars = read_relation(source, "dataMcar")
    instants = read_relation(source, "QueryInstants")
    periods = read_relation(source, "QueryPeriods")
    licences = read_relation(source, "QueryLicences")
    points = read_relation(source, "QueryPoints")
    regions = read_relation(source, "QueryRegions")
    streets = street_lines(source.dataset.road_map(), source.projection)
    segments = segments_of(streets)
    corners = np.diff(regions["Region.offsets"])
    return {
        "datamcar.csv": {
            "Moid": integers(cars["vehicle"] + 1),
            "Licence": plain_texts(cars["Licence"]),
            "Type": plain_texts(cars["Type"]),
            "Model": plain_texts(cars["Model"]),
        },
        "queryinstants.csv": {
            "Id": integers(instants["Id"]),
            "Instant": moments(instants["Instant"]),
        },
        "queryperiods.csv": {
            "Id": integers(periods["Id"]),
            "Begin": moments(periods["Period.begin"]),
            "End": moments(periods["Period.end"]),
        },
        "querylicences.csv": {
            "Licence": plain_texts(licences["Licence"]),
            "Id": integers(licences["Id"]),
        },
        "querypoints.csv": {
            "Id": integers(points["Id"]),
            "Pos_x": reals(points["Pos.x"]),
            "Pos_y": reals(points["Pos.y"]),
        },
        "queryregions.csv": {
            "Id": integers(np.repeat(regions["Id"], corners)),
            "X": reals(regions["Region.x"]),
            "Y": reals(regions["Region.y"]),
        },
        "streets.csv": {
            "Id": integers(segments.street + 1),
            "Vmax": reals(streets.vmax[segments.street]),
            "X1": reals(segments.x1),
            "Y1": reals(segments.y1),
            "X2": reals(segments.x2),
            "Y2": reals(segments.y2),
        },
    }


def _unit_lines(rows: Rows) -> pa.Buffer | bytes:
    t, x, y = rows.movements[1:]
    row, first = units(rows.movements)
    begin, end = pa.array(first), pa.array(first + 1)
    # Each instant is made text once, and is the end of a unit and the start of the next.
    when, where = moments(t), joined(reals(x), ",", reals(y))
    who = joined(integers(rows.columns["vehicle"] + 1), ",", integers(rows.number))
    lines = joined(
        who.take(pa.array(row)),
        ",",
        when.take(begin),
        ",",
        when.take(end),
        ",",
        where.take(begin),
        ",",
        where.take(end),
        "\n",
    )
    return to_bytes(lines)
