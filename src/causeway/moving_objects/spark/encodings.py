"""Conversions on columns of Arrow: well-known binary, MEOS binary, MF-JSON."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa

from causeway.moving_objects.conversions import arrow_values as arrow
from causeway.moving_objects.conversions import meos, mfjson, wkb
from causeway.moving_objects.kernels.check import checked_regions
from causeway.moving_objects.kernels.values import Points, Shapes
from causeway.moving_objects.spark.operators import ArrowFunction, nulls_stay

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


def _conversion(read: Callable[[pa.Array], Any], write: Callable[[Any], pa.Array]) -> ArrowFunction:
    """The function that reads a column in one encoding and writes it in another."""

    @nulls_stay
    def convert(column: pa.Array) -> pa.Array:
        return write(read(column))

    return convert


def _write_points(places: Points) -> pa.Array:
    return arrow.struct_array({"x": places.x, "y": places.y})


def _checked_regions(column: pa.Array) -> Shapes:
    return checked_regions(wkb.decode_shapes(column, regions=True))


as_meos = _conversion(arrow.read_moving_points, meos.encode_meos)
from_meos = _conversion(meos.decode_meos, arrow.write_moving_points)
as_mfjson = _conversion(arrow.read_moving_points, mfjson.encode_mfjson)
from_mfjson = _conversion(mfjson.decode_mfjson, arrow.write_moving_points)
point_as_wkb = _conversion(arrow.read_points, wkb.encode_points)
point_from_wkb = _conversion(wkb.decode_points, _write_points)
line_as_wkb = _conversion(arrow.read_lines, wkb.encode_lines)
line_from_wkb = _conversion(partial(wkb.decode_shapes, regions=False), arrow.write_shapes)
region_as_wkb = _conversion(arrow.read_regions, wkb.encode_regions)
region_from_wkb = _conversion(_checked_regions, arrow.write_shapes)
