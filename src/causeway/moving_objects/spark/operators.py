"""The operators of the paper's Table 5 on columns of Arrow: what Spark calls, a batch of rows at a time.

A row with a NULL argument gives NULL, except in `isempty`. Errors are the user's: see `kernels.check`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from causeway.moving_objects.conversions import arrow_values as arrow
from causeway.moving_objects.kernels import boxes as box_kernels
from causeway.moving_objects.kernels import distances, joining, lines, places, positions
from causeway.moving_objects.kernels import spans as span_kernels
from causeway.moving_objects.kernels.check import checked_points
from causeway.moving_objects.kernels.values import Doubles, Longs, MovingPoints, Shapes
from causeway.runtime.errors import UserError

__all__ = [
    "at",
    "at_bool",
    "atinstant",
    "atperiods",
    "boxes",
    "circle",
    "comparison",
    "concat",
    "deftime",
    "distance",
    "initial",
    "inside",
    "intersection",
    "isempty",
    "length",
    "line_distance",
    "moving_point",
    "nulls_stay",
    "passes",
    "present",
    "sometimes",
    "trajectory",
]

NEAR_METRES: Final = 0.01
"""How near is "at a point", if a query says nothing else."""

ArrowFunction = Callable[..., pa.Array]


def nulls_stay(function: ArrowFunction) -> ArrowFunction:
    """Call `function` with the rows that have no NULL argument; the others give NULL."""

    @wraps(function)
    def wrapper(*columns: pa.Array) -> pa.Array:
        if not any(column.null_count for column in columns):
            return function(*columns)
        valid = np.logical_and.reduce(
            [column.is_valid().to_numpy(zero_copy_only=False) for column in columns]
        )
        mask = pa.array(valid)
        result = function(*(column.filter(mask) for column in columns))
        places_of = pa.array(np.cumsum(valid) - 1, mask=~valid)
        return result.take(places_of)

    return wrapper


def _tolerance(columns: tuple[pa.Array, ...], rows: int) -> Doubles:
    """The optional last argument of functions that ask whether two places are the same."""
    if not columns:
        return np.full(rows, NEAR_METRES)
    metres = arrow.read_doubles(columns[0], "tolerance")
    if not (metres >= 0).all():
        raise UserError("tolerance: expected metres, 0 or more")
    return metres


@nulls_stay
def atinstant(trip: pa.Array, instant: pa.Array) -> pa.Array:
    """Time and position at an instant; NULL if the movement is not defined then."""
    now = arrow.read_doubles(instant, "instant")
    found, x, y = positions.at_instant(arrow.read_moving_points(trip), now)
    return arrow.struct_array({"t": now, "x": x, "y": y}, missing=~found)


@nulls_stay
def initial(trip: pa.Array) -> pa.Array:
    """Time and position of the start; NULL for an empty movement."""
    found, t, x, y = positions.initial(arrow.read_moving_points(trip))
    return arrow.struct_array({"t": t, "x": x, "y": y}, missing=~found)


@nulls_stay
def present(trip: pa.Array, when: pa.Array) -> pa.Array:
    """Whether the movement is defined at an instant, or at any time of a period or of periods."""
    points = arrow.read_moving_points(trip)
    if "begin" in arrow.field_names(when):
        return pa.array(positions.present_during(points, arrow.read_periods(when)))
    return pa.array(positions.present_at(points, arrow.read_doubles(when, "instant")))


@nulls_stay
def atperiods(trip: pa.Array, periods: pa.Array) -> pa.Array:
    """The movement during a period or periods."""
    restricted = span_kernels.restrict(arrow.read_moving_points(trip), arrow.read_periods(periods))
    return arrow.write_moving_points(restricted)


@nulls_stay
def at(trip: pa.Array, place: pa.Array, *tolerance: pa.Array) -> pa.Array:
    """The movement while it is at a point (within a tolerance), or in a region."""
    points = arrow.read_moving_points(trip)
    if arrow.is_point(place):
        when = places.at_point(points, arrow.read_points(place), _tolerance(tolerance, len(points)))
    else:
        when = places.at_region(points, arrow.read_regions(place))
    return arrow.write_moving_points(span_kernels.restrict(points, when))


@nulls_stay
def at_bool(value: pa.Array, wanted: pa.Array) -> pa.Array:
    """The part of a moving bool that is true, or false."""
    bools = span_kernels.at_value(arrow.read_moving_bools(value), arrow.read_bools(wanted, "at_bool"))
    return arrow.write_moving_bools(bools)


@nulls_stay
def passes(trip: pa.Array, place: pa.Array, *tolerance: pa.Array) -> pa.Array:
    """Whether the movement is ever at a point (within a tolerance), or in a region."""
    points = arrow.read_moving_points(trip)
    if arrow.is_point(place):
        limit = _tolerance(tolerance, len(points))
        return pa.array(places.passes_point(points, arrow.read_points(place), limit))
    return pa.array(places.passes_region(points, arrow.read_regions(place)))


@nulls_stay
def deftime(value: pa.Array) -> pa.Array:
    """When a moving point, real or bool is defined."""
    names = arrow.field_names(value)
    if "t" in names:
        return arrow.write_spans(span_kernels.deftime(arrow.read_moving_points(value)))
    return arrow.write_spans(span_kernels.united(arrow.read_spans(value, "deftime")))


@nulls_stay
def trajectory(trip: pa.Array) -> pa.Array:
    """The line that a movement leaves in the plane."""
    return arrow.write_shapes(lines.trajectory(arrow.read_moving_points(trip)))


@nulls_stay
def length(value: pa.Array) -> pa.Array:
    """Metres driven in a movement, or metres of a line."""
    if "t" in arrow.field_names(value):
        return pa.array(lines.length(arrow.read_moving_points(value)))
    return pa.array(lines.line_length(arrow.read_lines(value)))


@nulls_stay
def distance(trip: pa.Array, other: pa.Array) -> pa.Array:
    """The distance of two movements, or of a movement and a point, in time."""
    points = arrow.read_moving_points(trip)
    if arrow.is_point(other):
        return arrow.write_moving_reals(distances.distance_to_point(points, arrow.read_points(other)))
    return arrow.write_moving_reals(distances.distance(points, arrow.read_moving_points(other)))


@nulls_stay
def line_distance(one: pa.Array, other: pa.Array) -> pa.Array:
    """The smallest distance of two lines, or of a line and a point; NULL if one is empty."""
    metres = lines.line_distance(arrow.read_lines(one), arrow.read_lines(other))
    return pa.array(metres, mask=np.isnan(metres))


@nulls_stay
def intersection(trip: pa.Array, other: pa.Array, *tolerance: pa.Array) -> pa.Array:
    """The first movement while both are at the same place (within a tolerance)."""
    points = arrow.read_moving_points(trip)
    apart = distances.distance(points, arrow.read_moving_points(other))
    together = distances.compare(apart, "le", _tolerance(tolerance, len(points)))
    true_times = span_kernels.at_value(together, np.ones(len(points), np.bool_)).spans
    return arrow.write_moving_points(span_kernels.restrict(points, true_times))


@nulls_stay
def inside(point: pa.Array, region: pa.Array) -> pa.Array:
    """Whether a point is in a region or on its border."""
    return pa.array(places.inside(arrow.read_points(point), arrow.read_regions(region)))


@nulls_stay
def sometimes(value: pa.Array) -> pa.Array:
    """Whether a moving bool is ever true."""
    return pa.array(span_kernels.sometimes(arrow.read_moving_bools(value)))


def isempty(value: pa.Array) -> pa.Array:
    """Whether a moving value, periods, a line or a region is NULL or has nothing in it."""
    for name in ("t", "begin", "x"):
        if name in arrow.field_names(value):
            entries = value.field(name)
            if pa.types.is_nested(entries.type):
                none = pc.equal(pc.list_value_length(entries), 0)
                return pc.or_(value.is_null(), pc.fill_null(none, True))
            return value.is_null()
    raise UserError(
        f"isempty: expected a moving value, periods, a line or a region, but the value is {value.type}"
    )


@nulls_stay
def concat(one: pa.Array, *other: pa.Array) -> pa.Array:
    """Two movements, or all movements of a list, as one; they must not overlap in time."""
    if not other:
        return arrow.write_moving_points(joining.concat(_of_lists(one)))
    both = joining.stacked(arrow.read_moving_points(one), arrow.read_moving_points(other[0]))
    return arrow.write_moving_points(joining.concat(both))


def _of_lists(column: pa.Array) -> MovingPoints:
    """All pieces of each list of moving points; NULLs in the list are left out."""
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        raise UserError(
            f"concat: expected two moving points or a list of them, but the value is {column.type}"
        )
    offsets, elements = _entries(column)
    points = arrow.read_moving_points(elements)
    return MovingPoints(points.row[offsets], *points.pieces[1:])


def _entries(column: pa.Array) -> tuple[Longs, pa.Array]:
    """The elements of lists that are not NULL, and where each list begins among them."""
    offsets = column.offsets.to_numpy().astype(np.int64)
    elements = column.values.slice(offsets[0], offsets[-1] - offsets[0])
    kept = np.concatenate([[0], np.cumsum(elements.is_valid().to_numpy(zero_copy_only=False))])
    begins: Longs = kept[offsets - offsets[0]].astype(np.int64)
    return begins, elements.drop_null()


@nulls_stay
def circle(centre: pa.Array, radius: pa.Array, corners: pa.Array) -> pa.Array:
    """A regular polygon around a point. `radius` is to its corners: the authors' program takes it so."""
    places_of = arrow.read_points(centre)
    metres = arrow.read_doubles(radius, "circle: radius")
    count = arrow.read_doubles(corners, "circle: corners").astype(np.int64)
    if not (count >= 3).all() or not (metres > 0).all():
        raise UserError("circle: expected a radius above 0 and at least three corners")
    offsets = np.concatenate([[0], np.cumsum(count)])
    number = np.arange(offsets[-1]) - np.repeat(offsets[:-1], count)
    angle = 2.0 * np.pi * number / np.repeat(count, count)
    x = np.repeat(places_of.x, count) + np.repeat(metres, count) * np.cos(angle)
    y = np.repeat(places_of.y, count) + np.repeat(metres, count) * np.sin(angle)
    return arrow.write_shapes(Shapes(np.arange(len(count) + 1, dtype=np.int64), offsets, x, y))


@nulls_stay
def moving_point(rows: pa.Array, *coordinates: pa.Array) -> pa.Array:
    """A list of positions, in any order, as a moving point that is closed at both ends; NULLs are left out.

    With one argument, positions are `struct<t, x, y>`. With three they are rows of a streaming table, as
    `TRJ(*)` has them: two names of columns, or numbers, for x and y; the time is the last column.
    """
    if not (pa.types.is_list(rows.type) or pa.types.is_large_list(rows.type)):
        raise UserError(f"moving_point: expected a list of structs, but the value is {rows.type}")
    row, entries = _entries(rows)
    if not coordinates:
        if not {"t", "x", "y"} <= arrow.field_names(entries):
            raise UserError(
                f"moving_point: expected a list of structs with t, x and y, but the value is {rows.type}"
            )
        t, x, y = (
            arrow.read_doubles(entries.field(name), f"moving_point: `{name}`") for name in ("t", "x", "y")
        )
    elif len(coordinates) == 2:
        t = _time_of_rows(entries)
        x, y = (_coordinate(entries, wanted, row) for wanted in coordinates)
    else:
        raise UserError("moving_point: expected a list of positions, or rows and two names, for x and y")
    return arrow.write_moving_points(checked_points(joining.from_rows(row, t, x, y)))


def _time_of_rows(entries: pa.Array) -> Doubles:
    """The last column of a streaming table's rows, in milliseconds."""
    if not pa.types.is_struct(entries.type) or not entries.type.num_fields:
        raise UserError(
            f"moving_point: expected rows, as of TRJ(*), but the value is a list of {entries.type}"
        )
    time = entries.type.field(entries.type.num_fields - 1)
    t = arrow.read_doubles(entries.field(time.name), f"moving_point: the time `{time.name}`")
    return t if pa.types.is_timestamp(time.type) else t * 1000.0


def _coordinate(entries: pa.Array, wanted: pa.Array, row: Longs) -> Doubles:
    """A column of the rows, in any case of letters; or a number, which all rows have."""
    if not (pa.types.is_string(wanted.type) or pa.types.is_large_string(wanted.type)):
        return np.repeat(arrow.read_doubles(wanted, "moving_point: a coordinate"), np.diff(row))
    names = pc.unique(wanted).to_pylist()
    if not names:
        return np.zeros(0)
    if len(names) > 1:
        raise UserError(f"moving_point: a coordinate is {names[0]} in one row and {names[1]} in another")
    columns = {field.name.lower(): field.name for field in entries.type}
    if names[0].lower() not in columns:
        known = ", ".join(columns.values())
        raise UserError(f"moving_point: there is no column {names[0]}; the rows have {known}")
    return arrow.read_doubles(entries.field(columns[names[0].lower()]), f"moving_point: `{names[0]}`")


def comparison(name: str) -> ArrowFunction:
    """The lifted comparison `lt`, `le`, `eq`, `ne`, `ge` or `gt` of a moving real with a number."""

    def compare(value: pa.Array, limit: pa.Array) -> pa.Array:
        reals = arrow.read_moving_reals(value)
        limits = arrow.read_doubles(limit, name)
        if np.isnan(limits).any():
            raise UserError(f"{name}: the number to compare with is NaN")
        bools = distances.compare(reals, name, limits)
        return arrow.write_moving_bools(bools)

    compare.__name__ = name
    return nulls_stay(compare)


@nulls_stay
def boxes(trip: pa.Array, units: pa.Array, longest: pa.Array) -> pa.Array:
    """Boxes of at most `units` units; a unit of more than `longest` ms has a box of its own."""
    counts, limits = arrow.read_doubles(units, "boxes: units"), arrow.read_doubles(longest, "boxes: longest")
    if len(counts) and not ((counts == counts[0]).all() and (limits == limits[0]).all()):
        raise UserError("boxes: `units` and `longest` must be the same in all rows")
    units_limit, limit = (int(counts[0]), float(limits[0])) if len(counts) else (64, 0.0)
    if units_limit < 1:
        raise UserError("boxes: `units` must be at least 1")
    found = box_kernels.boxes(arrow.read_moving_points(trip), units_limit, limit)
    names = ("t_min", "t_max", "x_min", "x_max", "y_min", "y_max")
    numbers = {name: getattr(found, name) for name in names}
    units_of = (found.last - found.first).astype(np.int32)
    flags = {name: getattr(found, name) for name in ("begin_closed", "end_closed")}
    entries = arrow.struct_array(
        {"first": found.first.astype(np.int32), "units": units_of, **flags, **numbers}
    )
    return arrow.list_array(found.row, entries)
