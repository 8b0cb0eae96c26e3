"""MF-JSON (OGC Moving Features JSON, 19-045r3) of moving points: text of whole columns, by Arrow.

One piece is a `MovingPoint`; several are a `MovingGeometryCollection` whose `prisms` they are. The
standard has no open and closed ends: they are the members `lower_inc` and `upper_inc`, as MobilityDB has
them.
"""

from __future__ import annotations

import io
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pa_json

from causeway.moving_objects.conversions.arrow_values import list_array
from causeway.moving_objects.kernels.check import checked_points
from causeway.moving_objects.kernels.values import Longs, MovingPoints
from causeway.runtime.errors import UserError

__all__ = ["decode_mfjson", "encode_mfjson"]

_PIECE: Final = {
    "datetimes": pa.list_(pa.string()),
    "coordinates": pa.list_(pa.list_(pa.float64())),
    "lower_inc": pa.bool_(),
    "upper_inc": pa.bool_(),
}
_SCHEMA: Final = pa.schema(
    {
        "type": pa.string(),
        "interpolation": pa.string(),
        **_PIECE,
        "prisms": pa.list_(pa.struct(_PIECE)),
        "sequences": pa.list_(pa.struct(_PIECE)),
    }
)


def encode_mfjson(points: MovingPoints) -> pa.Array:
    """One text a row, NULL for an empty movement. Times are in UTC, to ms if all are whole, else to µs."""
    micros = np.rint(points.t * 1000.0).astype(np.int64)
    whole = not (micros % 1000).any()
    times = pa.array(micros // 1000 if whole else micros, pa.timestamp("ms" if whole else "us", "UTC"))
    datetimes = pc.strftime(times, format='"%Y-%m-%dT%H:%M:%S+00:00"')
    x, y = (pc.cast(pa.array(values), pa.string()) for values in (points.x, points.y))
    coordinates = _joined("[", x, ",", y, "]")
    per_piece = [pc.binary_join(list_array(points.piece, values), ",") for values in (datetimes, coordinates)]
    flags = [pc.cast(pa.array(values), pa.string()) for values in (points.begin_closed, points.end_closed)]
    pieces = _joined(
        '{"type":"MovingPoint","datetimes":[',
        per_piece[0],
        '],"coordinates":[',
        per_piece[1],
        '],"lower_inc":',
        flags[0],
        ',"upper_inc":',
        flags[1],
        ',"interpolation":"Linear"}',
    )
    together = pc.binary_join(list_array(points.row, pieces), ",")
    counts = np.diff(points.row)
    collection = _joined('{"type":"MovingGeometryCollection","prisms":[', together, "]}")
    text = pc.if_else(pa.array(counts > 1), collection, together)
    return pc.if_else(pa.array(counts > 0), text, pa.scalar(None, pa.string()))


def _joined(*parts: pa.Array | str) -> pa.Array:
    """Texts put together, row by row; with `""` between them, as Arrow wants a separator."""
    return pc.binary_join_element_wise(*parts, "")


def decode_mfjson(column: pa.Array) -> MovingPoints:
    """Moving points of a text column without NULLs."""
    if len(column) == 0:
        column = pa.array(['{"prisms":[]}'])
        return _without_rows(_decoded(column))
    return _decoded(column)


def _without_rows(points: MovingPoints) -> MovingPoints:
    return MovingPoints(points.row[:1], *points.pieces[1:])


def _decoded(column: pa.Array) -> MovingPoints:
    rows = _parsed(column)
    bad = pc.invert(
        pc.is_in(pc.fill_null(rows["interpolation"], "Linear"), pa.array(["Linear", "None", "Discrete"]))
    )
    if pc.any(bad).as_py():
        raise UserError("from_mfjson: only linear interpolation is read")
    single = pc.is_valid(rows["datetimes"]).to_numpy(zero_copy_only=False)
    many = pc.coalesce(rows["prisms"], rows["sequences"])
    if (~single & ~many.is_valid().to_numpy(zero_copy_only=False)).any():
        raise UserError(
            "from_mfjson: expected a MovingPoint with `datetimes` and `coordinates`, or a collection of them "
            "with `prisms`"
        )
    counts = np.where(single, 1, pc.fill_null(pc.list_value_length(many), 0).to_numpy(zero_copy_only=False))
    row: Longs = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    ones = rows.select(list(_PIECE)).filter(pa.array(single)).to_struct_array()
    sets = pc.list_flatten(many.filter(pa.array(~single)))
    # Which piece of `ones`, then of `sets`, each piece of the column is.
    from_ones = np.repeat(single, counts)
    order = np.where(from_ones, np.cumsum(from_ones) - 1, len(ones) + np.cumsum(~from_ones) - 1)
    pieces = pa.concat_arrays([ones, sets.cast(ones.type)]).take(pa.array(order))
    return _points(row, pieces)


def _points(row: Longs, pieces: pa.Array) -> MovingPoints:
    datetimes, coordinates = pieces.field("datetimes"), pieces.field("coordinates")
    instants = pc.list_value_length(datetimes).to_numpy(zero_copy_only=False)
    if not np.array_equal(instants, pc.list_value_length(coordinates).to_numpy(zero_copy_only=False)):
        raise UserError("from_mfjson: `datetimes` and `coordinates` must have equal lengths")
    piece: Longs = np.concatenate([[0], np.cumsum(instants)]).astype(np.int64)
    try:
        times = pc.cast(pc.list_flatten(datetimes), pa.timestamp("us", "UTC"))
    except pa.ArrowInvalid as failure:
        message = f"from_mfjson: `datetimes` must be texts such as 2007-05-28T09:30:00Z: {failure}"
        raise UserError(message) from None
    pairs = pc.list_flatten(coordinates)
    if not (pc.list_value_length(pairs).to_numpy(zero_copy_only=False) == 2).all():
        raise UserError("from_mfjson: `coordinates` must have two numbers an instant, x and y")
    xy = pc.list_flatten(pairs).to_numpy(zero_copy_only=False).reshape(-1, 2)
    t = pc.cast(times, pa.int64()).to_numpy(zero_copy_only=False) / 1000.0
    flags = []
    for name in ("lower_inc", "upper_inc"):
        flags.append(pc.fill_null(pieces.field(name), True).to_numpy(zero_copy_only=False))
    x, y = (np.ascontiguousarray(xy[:, k]) for k in (0, 1))
    return checked_points(MovingPoints(row, piece, t, x, y, *flags))


def _parsed(column: pa.Array) -> pa.RecordBatch:
    """Each text as a row."""
    lines = pc.replace_substring_regex(column, r"\s+", " ")
    text = pc.binary_join(list_array(np.array([0, len(lines)]), lines), "\n")[0].as_buffer().to_pybytes()
    options = pa_json.ParseOptions(explicit_schema=_SCHEMA, unexpected_field_behavior="ignore")
    try:
        table = pa_json.read_json(
            io.BytesIO(text), pa_json.ReadOptions(block_size=len(text) + 1, use_threads=False), options
        )
    except pa.ArrowInvalid as failure:
        raise UserError(f"from_mfjson: a text is not MF-JSON of a moving point: {failure}") from None
    if table.num_rows != len(column):
        raise UserError("from_mfjson: a text is empty or has more than one object")
    return table.combine_chunks().to_batches()[0]
