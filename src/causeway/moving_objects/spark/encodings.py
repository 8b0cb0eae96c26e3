"""Conversions on columns of Arrow: well-known binary, MEOS binary, MF-JSON."""

from __future__ import annotations

import pyarrow as pa

from causeway.moving_objects.conversions import arrow_values as arrow
from causeway.moving_objects.conversions import meos, mfjson, wkb
from causeway.moving_objects.kernels.check import checked_regions
from causeway.moving_objects.spark.operators import nulls_stay

__all__ = [
    "as_meos",
    "as_mfjson",
    "from_meos",
    "from_mfjson",
    "line_as_wkb",
    "line_from_wkb",
    "point_as_wkb",
    "point_from_wkb",
    "region_as_wkb",
    "region_from_wkb",
]


@nulls_stay
def as_meos(trip: pa.Array) -> pa.Array:
    """Moving points as MEOS binary."""
    return meos.encode_meos(arrow.read_moving_points(trip))


@nulls_stay
def from_meos(value: pa.Array) -> pa.Array:
    """Moving points of MEOS binary."""
    return arrow.write_moving_points(meos.decode_meos(value))


@nulls_stay
def as_mfjson(trip: pa.Array) -> pa.Array:
    """Moving points as MF-JSON."""
    return mfjson.encode_mfjson(arrow.read_moving_points(trip))


@nulls_stay
def from_mfjson(value: pa.Array) -> pa.Array:
    """Moving points of MF-JSON."""
    return arrow.write_moving_points(mfjson.decode_mfjson(value))


@nulls_stay
def point_as_wkb(value: pa.Array) -> pa.Array:
    """Points as well-known binary."""
    return wkb.encode_points(arrow.read_points(value))


@nulls_stay
def line_as_wkb(value: pa.Array) -> pa.Array:
    """Lines as well-known binary."""
    return wkb.encode_lines(arrow.read_lines(value))


@nulls_stay
def region_as_wkb(value: pa.Array) -> pa.Array:
    """Regions as well-known binary."""
    return wkb.encode_regions(arrow.read_regions(value))


@nulls_stay
def point_from_wkb(value: pa.Array) -> pa.Array:
    """Points of well-known binary."""
    places = wkb.decode_points(value)
    return arrow.struct_array({"x": places.x, "y": places.y})


@nulls_stay
def line_from_wkb(value: pa.Array) -> pa.Array:
    """Lines of well-known binary."""
    return arrow.write_shapes(wkb.decode_shapes(value, regions=False))


@nulls_stay
def region_from_wkb(value: pa.Array) -> pa.Array:
    """Regions of well-known binary."""
    return arrow.write_shapes(checked_regions(wkb.decode_shapes(value, regions=True)))
