"""Columns of Arrow as the flat arrays of the kernels, and back; no copy where the layout allows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from causeway.moving_objects.kernels.check import checked_points, checked_regions, checked_spans
from causeway.moving_objects.kernels.spans import united
from causeway.moving_objects.kernels.values import (
    Doubles,
    Flags,
    Longs,
    MovingBools,
    MovingPoints,
    MovingReals,
    Points,
    Shapes,
    Spans,
)
from causeway.runtime.errors import UserError

__all__ = [
    "field_names",
    "is_point",
    "list_array",
    "read_bools",
    "read_doubles",
    "read_lines",
    "read_moving_bools",
    "read_moving_points",
    "read_moving_reals",
    "read_periods",
    "read_points",
    "read_regions",
    "read_spans",
    "struct_array",
    "write_moving_bools",
    "write_moving_points",
    "write_moving_reals",
    "write_shapes",
    "write_spans",
]


def field_names(column: pa.Array) -> set[str]:
    """Names of the fields of a column of structs; none for any other column."""
    return {field.name for field in column.type} if pa.types.is_struct(column.type) else set()


def _field(column: pa.Array, name: str, what: str) -> pa.Array:
    if name not in field_names(column):
        raise UserError(f"{what}: expected a struct with the field `{name}`, but the value is {column.type}")
    return column.field(name)


def read_doubles(column: pa.Array, what: str) -> Doubles:
    """Numbers of any type; times are milliseconds since 1970, and timestamps become that."""
    kind = column.type
    if column.null_count:
        raise UserError(f"{what}: a value is NULL")
    if pa.types.is_timestamp(kind):
        micros = pc.cast(pc.cast(column, pa.timestamp("us", kind.tz), safe=False), pa.int64())
        return np.asarray(micros.to_numpy(zero_copy_only=False), np.float64) / 1000.0
    if pa.types.is_integer(kind):
        return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        values: Doubles = pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
        return values
    raise UserError(f"{what}: expected numbers, but the value is {kind}")


def read_bools(column: pa.Array, what: str) -> Flags:
    """Truth values."""
    if not pa.types.is_boolean(column.type) or column.null_count:
        raise UserError(f"{what}: expected true or false, but the value is {column.type} or has a NULL")
    values: Flags = column.to_numpy(zero_copy_only=False)
    return values


def _lists(column: pa.Array, what: str) -> tuple[Longs, pa.Array]:
    """Offsets from 0, and the values that they are of."""
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        raise UserError(f"{what}: expected a list, but the value is {column.type}")
    if column.null_count:
        raise UserError(f"{what}: a list is NULL")
    offsets = column.offsets.to_numpy().astype(np.int64)
    return offsets - offsets[0], column.values.slice(offsets[0], offsets[-1] - offsets[0])


def _equal_lists(column: pa.Array, names: Sequence[str], what: str) -> tuple[Longs, list[pa.Array]]:
    """The values of several lists that must have equal lengths, and their common offsets."""
    found = [_lists(_field(column, name, what), f"{what}: `{name}`") for name in names]
    offsets = found[0][0]
    for name, (others, _) in zip(names[1:], found[1:], strict=True):
        if not np.array_equal(offsets, others):
            bad = int(np.flatnonzero(np.diff(offsets) != np.diff(others))[0])
            raise UserError(
                f"{what}: the lists `{names[0]}` and `{name}` must have equal lengths, but have "
                f"{offsets[bad + 1] - offsets[bad]} and {others[bad + 1] - others[bad]} entries"
            )
    return offsets, [values for _, values in found]


def _pieces(column: pa.Array, offsets: Longs, what: str) -> tuple[Longs, Longs]:
    """Offsets of pieces for rows, and of entries for pieces; without `first`, a row is one piece."""
    if "first" not in field_names(column):
        filled = np.diff(offsets) > 0
        row = np.concatenate([[0], np.cumsum(filled)]).astype(np.int64)
        return row, np.concatenate([offsets[:-1][filled], offsets[-1:]])
    row, firsts = _lists(column.field("first"), f"{what}: `first`")
    first = firsts.to_numpy(zero_copy_only=False).astype(np.int64)
    has_pieces = np.diff(row) > 0
    wrong = (has_pieces != (np.diff(offsets) > 0)).any() or (first[row[:-1][has_pieces]] != 0).any()
    starts = first + np.repeat(offsets[:-1], np.diff(row))
    piece = np.concatenate([starts, offsets[-1:]])
    if wrong or (np.diff(piece) <= 0).any():
        raise UserError(f"{what}: `first` must begin with 0, increase, and stay below the number of entries")
    return row, piece


def read_moving_points(column: pa.Array) -> MovingPoints:
    """Moving points with or without `first` and flags; an error names what is wrong with them."""
    what = "moving point"
    offsets, (t, x, y) = _equal_lists(column, ("t", "x", "y"), what)
    row, piece = _pieces(column, offsets, what)
    if "first" in field_names(column):
        flag_row, flags = _equal_lists(column, ("begin_closed", "end_closed"), what)
        if not np.array_equal(flag_row, row):
            raise UserError(f"{what}: `first`, `begin_closed` and `end_closed` must have equal lengths")
        begin_closed, end_closed = (read_bools(values, what) for values in flags)
    else:
        begin_closed = np.ones(len(piece) - 1, np.bool_)
        end_closed = np.diff(piece) == 1
    times = read_doubles(t, f"{what}: `t`")
    places = Points(read_doubles(x, f"{what}: `x`"), read_doubles(y, f"{what}: `y`"))
    return checked_points(MovingPoints(row, piece, times, places.x, places.y, begin_closed, end_closed))


def read_spans(column: pa.Array, what: str) -> Spans:
    """Intervals as they are written: lists, or one closed interval a row."""
    begin = _field(column, "begin", what)
    if not (pa.types.is_list(begin.type) or pa.types.is_large_list(begin.type)):
        row = np.arange(len(column) + 1, dtype=np.int64)
        always = np.ones(len(column), np.bool_)
        begins, ends = (
            read_doubles(_field(column, name, what), f"{what}: `{name}`") for name in ("begin", "end")
        )
        return checked_spans(Spans(row, begins, ends, always, always))
    offsets, (b, e, bc, ec) = _equal_lists(column, ("begin", "end", "begin_closed", "end_closed"), what)
    begins, ends = read_doubles(b, what), read_doubles(e, what)
    return checked_spans(Spans(offsets, begins, ends, read_bools(bc, what), read_bools(ec, what)))


def read_periods(column: pa.Array) -> Spans:
    """Periods; intervals that overlap or are out of order are put right."""
    spans = read_spans(column, "periods")
    return spans if len(spans.begin) == len(spans) else united(spans)


def read_moving_bools(column: pa.Array) -> MovingBools:
    """Moving bools."""
    what = "moving bool"
    _, (_, value) = _equal_lists(column, ("begin", "value"), what)
    return MovingBools(read_spans(column, what), read_bools(value, what))


def read_moving_reals(column: pa.Array) -> MovingReals:
    """Moving reals."""
    what = "moving real"
    _, (_, *lists) = _equal_lists(column, ("begin", "a", "b", "c"), what)
    a, b, c = (read_doubles(values, what) for values in lists)
    return MovingReals(read_spans(column, what), a, b, c, read_bools(_field(column, "root", what), what))


def is_point(column: pa.Array) -> bool:
    """Whether a column has points, as against regions, lines and moving points."""
    return "x" in field_names(column) and not pa.types.is_nested(column.field("x").type)


def read_points(column: pa.Array) -> Points:
    """Points; NaN is an error."""
    x, y = (read_doubles(_field(column, name, "point"), f"point: `{name}`") for name in ("x", "y"))
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise UserError("point: x and y must be numbers, neither NaN nor infinite")
    return Points(x, y)


def _shapes(column: pa.Array, what: str) -> Shapes:
    offsets, lists = _equal_lists(column, ("x", "y"), what)
    x, y = (read_doubles(values, what) for values in lists)
    return Shapes(*_pieces(column, offsets, what), x, y)


def read_lines(column: pa.Array) -> Shapes:
    """Lines; a point is a line of itself."""
    if is_point(column):
        places = read_points(column)
        row = np.arange(len(column) + 1, dtype=np.int64)
        return Shapes(row, row, places.x, places.y)
    lines = _shapes(column, "line")
    if not (np.isfinite(lines.x).all() and np.isfinite(lines.y).all()):
        raise UserError("line: a corner is NaN or infinite; corners must be numbers")
    return lines


def read_regions(column: pa.Array) -> Shapes:
    """Regions."""
    return checked_regions(_shapes(column, "region"))


def list_array(offsets: Longs, values: Any) -> pa.Array:
    """A column of lists."""
    entries = values if isinstance(values, pa.Array) else pa.array(values)
    kind = pa.list_(pa.field("element", entries.type))
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), entries, type=kind)


def struct_array(fields: dict[str, Any], missing: Flags | None = None) -> pa.Array:
    """A column of structs, NULL where it is `missing`."""
    arrays = [values if isinstance(values, pa.Array) else pa.array(values) for values in fields.values()]
    mask = None if missing is None or not missing.any() else pa.array(missing)
    return pa.StructArray.from_arrays(arrays, list(fields), mask=mask)


def write_moving_points(points: MovingPoints) -> pa.Array:
    """A column of moving points."""
    instants = points.instant_row
    first = points.piece[:-1] - np.repeat(instants[:-1], np.diff(points.row))
    return struct_array(
        {
            **{name: list_array(instants, getattr(points, name)) for name in ("t", "x", "y")},
            "first": list_array(points.row, first.astype(np.int32)),
            "begin_closed": list_array(points.row, points.begin_closed),
            "end_closed": list_array(points.row, points.end_closed),
        }
    )


def _span_fields(spans: Spans) -> dict[str, Any]:
    names = ("begin", "end", "begin_closed", "end_closed")
    return {name: list_array(spans.row, getattr(spans, name)) for name in names}


def write_spans(spans: Spans) -> pa.Array:
    """A column of periods."""
    return struct_array(_span_fields(spans))


def write_moving_bools(bools: MovingBools) -> pa.Array:
    """A column of moving bools."""
    return struct_array({**_span_fields(bools.spans), "value": list_array(bools.spans.row, bools.value)})


def write_moving_reals(reals: MovingReals) -> pa.Array:
    """A column of moving reals."""
    numbers = {name: list_array(reals.spans.row, getattr(reals, name)) for name in ("a", "b", "c")}
    return struct_array({**_span_fields(reals.spans), **numbers, "root": reals.root})


def write_shapes(shapes: Shapes) -> pa.Array:
    """A column of lines or regions."""
    corners = shapes.part[shapes.row]
    first = shapes.part[:-1] - np.repeat(corners[:-1], np.diff(shapes.row))
    return struct_array(
        {
            "x": list_array(corners, shapes.x),
            "y": list_array(corners, shapes.y),
            "first": list_array(shapes.row, first.astype(np.int32)),
        }
    )
