"""Files as MobilityDB's BerlinMOD has them: trips in MEOS binary, geometries in WKB, both in hex."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from causeway.berlinmod.dataset import TRIPS
from causeway.berlinmod.exchange.export.moving_features import moving_points
from causeway.berlinmod.exchange.export.parts import write_movements
from causeway.berlinmod.exchange.export.source import Rows, Source, read_relation
from causeway.berlinmod.exchange.export.texts import csv_bytes, integers, joined, moments, to_bytes
from causeway.berlinmod.model.arrays import I64
from causeway.berlinmod.model.calendar import DAY_MS
from causeway.moving_objects.conversions.binary import flat_bytes
from causeway.moving_objects.conversions.meos import encode_meos
from causeway.moving_objects.conversions.wkb import encode_points, encode_regions
from causeway.moving_objects.kernels.values import Points, Shapes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["write_mobilitydb"]

_TRIPS_HEADER: Final = b"tripid,vehicleid,startdate,seqno,trip\n"
_DIGITS: Final = np.frombuffer(b"".join(b"%02X" % byte for byte in range(256)), np.uint16)


def write_mobilitydb(spark: SparkSession, source: Source, folder: Path) -> int:
    """Write all files; returns the number of units in trips.csv."""
    for name, columns in _tables(source).items():
        (folder / name).write_bytes(csv_bytes(columns))
    path = folder / "trips.csv"
    return write_movements(spark, source, path, TRIPS, ("vehicle", "t_min"), _trip_lines, head=_TRIPS_HEADER)


def _trip_lines(rows: Rows) -> pa.Buffer | bytes:
    day = rows.columns["t_min"] // DAY_MS
    fields = (
        integers(rows.number),
        integers(rows.columns["vehicle"] + 1),
        pc.utf8_slice_codeunits(moments(day * DAY_MS), 0, 10),
        integers(_sequence_numbers(rows.columns["vehicle"], day)),
        _hex(encode_meos(moving_points(rows.movements))),
    )
    return to_bytes(joined(pc.binary_join_element_wise(*fields, ","), "\n"))


def _sequence_numbers(vehicle: Any, day: I64) -> I64:
    """The number of a trip among those that a vehicle begins on the same day, from 1 on."""
    fresh = np.ones(len(day), np.bool_)
    fresh[1:] = (np.diff(vehicle) != 0) | (np.diff(day) != 0)
    place = np.arange(len(day))
    return place - np.maximum.accumulate(np.where(fresh, place, 0)) + 1


def _hex(column: pa.Array) -> pa.Array:
    """Binary values in hexadecimal digits."""
    offsets, data = flat_bytes(column)
    digits = pa.py_buffer(_DIGITS[data])
    large = pa.Array.from_buffers(pa.large_string(), len(column), [None, pa.py_buffer(2 * offsets), digits])
    return large.cast(pa.string())


def _text(values: Any) -> pa.Array:
    return joined('"', pc.replace_substring(pa.array(list(values), pa.string()), '"', '""'), '"')


def _moment(t: I64) -> pa.Array:
    """The city's own time as UTC."""
    return joined(moments(t, " "), "+00")


def _tables(source: Source) -> dict[str, dict[str, pa.Array]]:
    cars = read_relation(source, "dataMcar")
    instants = read_relation(source, "QueryInstants")
    periods = read_relation(source, "QueryPeriods")
    licences = read_relation(source, "QueryLicences")
    points = read_relation(source, "QueryPoints")
    regions = read_relation(source, "QueryRegions")
    begin, end = _moment(periods["Period.begin"]), _moment(periods["Period.end"])
    rings = Shapes(
        np.arange(len(regions["Id"]) + 1, dtype=np.int64),
        regions["Region.offsets"],
        regions["Region.x"],
        regions["Region.y"],
    )
    return {
        "vehicles.csv": {
            "vehicleid": integers(cars["vehicle"] + 1),
            "licence": _text(cars["Licence"]),
            "vehicletype": _text(cars["Type"]),
            "model": _text(cars["Model"]),
        },
        "licences.csv": {
            "licenceid": integers(licences["Id"]),
            "licence": _text(licences["Licence"]),
            "vehicleid": integers(licences["vehicle"] + 1),
        },
        "instants.csv": {"instantid": integers(instants["Id"]), "instant": _moment(instants["Instant"])},
        "periods.csv": {
            "periodid": integers(periods["Id"]),
            "period": joined('"[', begin, ", ", end, ']"'),
        },
        "points.csv": {
            "pointid": integers(points["Id"]),
            "geom": _hex(encode_points(Points(points["Pos.x"], points["Pos.y"]))),
        },
        "regions.csv": {"regionid": integers(regions["Id"]), "geom": _hex(encode_regions(rings))},
    }
