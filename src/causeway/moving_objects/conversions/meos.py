"""MEOS well-known binary of moving points (`tgeompoint`), as MEOS 1.3 and MobilityDB 1.3 write it.

Layout, little-endian: byte 1; type 46 (uint16); flags (1 instant, 2 sequence, 3 sequence set; 12 for
linear interpolation; 64 with SRID); SRID if there is one (int32); for a set the number of sequences
(int32); for each sequence the number of instants (int32) and a byte of bounds (1 begin closed, 2 end
closed); for each instant the point as WKB and the time in microseconds since 2000-01-01 (int64).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa

from causeway.moving_objects.conversions.binary import binary_array, copy_runs, flat_bytes
from causeway.moving_objects.kernels.check import checked_points
from causeway.moving_objects.kernels.values import Flags, Longs, MovingPoints
from causeway.runtime.compiled import kernel
from causeway.runtime.errors import UserError

__all__ = ["decode_meos", "encode_meos"]

_EPOCH_MS: Final = 946_684_800_000
"""2000-01-01 in ms since 1970."""
_TGEOMPOINT: Final = 46
_INSTANT, _SEQUENCE, _SET, _LINEAR, _SRID = 1, 2, 3, 12, 64

_POINT: Final = np.dtype(
    [("order", "u1"), ("kind", "<u4"), ("x", "<f8"), ("y", "<f8"), ("t", "<i8")],
)
_POINT_SRID: Final = np.dtype(
    [("order", "u1"), ("kind", "<u4"), ("srid", "<i4"), ("x", "<f8"), ("y", "<f8"), ("t", "<i8")],
)
_WKB_SRID: Final = 0x20000000


def encode_meos(points: MovingPoints, srid: int = 0) -> pa.Array:
    """One binary value a row, NULL for an empty movement. Times are rounded to microseconds."""
    layout = _POINT_SRID if srid else _POINT
    instants = np.zeros(len(points.t), layout)
    instants["order"], instants["kind"] = 1, 1 | (_WKB_SRID if srid else 0)
    instants["x"], instants["y"] = points.x, points.y
    instants["t"] = np.rint((points.t - _EPOCH_MS) * 1000.0).astype(np.int64)
    if srid:
        instants["srid"] = srid
    size = layout.itemsize
    per_row = np.diff(points.row)
    per_piece = np.diff(points.piece)
    single = np.zeros(len(points), bool)
    single[per_row == 1] = per_piece[points.row[:-1][per_row == 1]] == 1
    is_set = per_row > 1
    row_header = np.where(per_row == 0, 0, 4 + (4 if srid else 0) + np.where(is_set, 4, 0))
    piece_header = np.where(np.repeat(single, per_row), 0, 5)
    piece_bytes = np.concatenate([[0], np.cumsum(piece_header + per_piece * size)])
    row_end = np.cumsum(row_header) + piece_bytes[points.row[1:]]
    offsets: Longs = np.concatenate([[0], row_end]).astype(np.int64)
    data = np.zeros(offsets[-1], np.uint8)
    filled = per_row > 0
    starts = offsets[:-1][filled]
    kinds = np.where(single, _INSTANT, np.where(is_set, _SET | _LINEAR, _SEQUENCE | _LINEAR))[filled]
    data[starts] = 1
    data[starts + 1] = _TGEOMPOINT
    data[starts + 3] = kinds | (_SRID if srid else 0)
    if srid:
        _put_int(data, starts + 4, np.full(len(starts), srid))
    many = is_set & filled
    _put_int(data, offsets[:-1][many] + (8 if srid else 4), per_row[many])
    piece_start = piece_bytes[:-1] + np.repeat(np.cumsum(row_header), per_row)
    headed = piece_header > 0
    _put_int(data, piece_start[headed], per_piece[headed])
    bounds = points.begin_closed.astype(np.uint8) + 2 * points.end_closed.astype(np.uint8)
    data[piece_start[headed] + 4] = bounds[headed]
    copy_runs(
        instants.view(np.uint8), points.piece[:-1] * size, per_piece * size, data, piece_start + piece_header
    )
    column = binary_array(offsets, data)
    if filled.all():
        return column
    return column.take(pa.array(np.arange(len(points)), mask=~filled))


def _put_int(data: np.ndarray, places: Longs, numbers: np.ndarray) -> None:
    """Write 32-bit integers at places that need not be aligned."""
    as_bytes = numbers.astype("<i4").view(np.uint8).reshape(-1, 4)
    for k in range(4):
        data[places + k] = as_bytes[:, k]


@kernel
def _int(data: Any, place: int) -> Any:
    value = np.int64(0)
    for k in range(4):
        value += np.int64(data[place + k]) << (8 * k)
    return value


@kernel
def _survey(
    offsets: Longs,
    data: Any,
    row: Longs,
    counts: Longs,
    bounds: Longs,
    begins: Longs,
    sizes: Longs,
    write: bool,
) -> Any:
    """Walk through the headers: number of pieces, and if `write`, each piece's instants, bounds and place.

    The second number is the row that is not what we read, or -1, and the third says why.
    """
    pieces = 0
    for r in range(len(offsets) - 1):
        place = offsets[r]
        last = offsets[r + 1]
        if last - place < 4 or data[place] != 1:
            return pieces, r, 1
        if data[place + 1] != 46 or data[place + 2] != 0:
            return pieces, r, 2
        flags = data[place + 3]
        kind = flags & 3
        if kind == 0 or flags & 0x30 or (kind != 1 and flags & 12 != 12):
            return pieces, r, 3
        size = 29
        place += 4
        if flags & 64:
            size = 33
            place += 4
        number = 1
        if kind == 3:
            if place + 4 > last:
                return pieces, r, 1
            number = _int(data, place)
            place += 4
        for _ in range(number):
            count = 1
            bound = 3
            if kind != 1:
                if place + 5 > last:
                    return pieces, r, 1
                count = _int(data, place)
                bound = data[place + 4]
                place += 5
            if place + count * size > last:
                return pieces, r, 1
            for at in range(place, place + count * size, size):
                if data[at] != 1 or _int(data, at + 1) != (1 if size == 29 else 1 | _WKB_SRID):
                    return pieces, r, 4
            if write:
                counts[pieces] = count
                bounds[pieces] = bound
                begins[pieces] = place
                sizes[pieces] = size
            pieces += 1
            place += count * size
        if place != last:
            return pieces, r, 5
        if write:
            row[r + 1] = pieces
    return pieces, -1, 0


_REASONS: Final = {
    1: "it is cut short, or not little-endian (asHexWKB(…, 'NDR') writes that)",
    2: "it is not a tgeompoint",
    3: "it has a third dimension, is geodetic, or its interpolation is not linear",
    4: "one of its positions is not a point",
    5: "bytes follow after its end",
}


def decode_meos(column: pa.Array) -> MovingPoints:
    """Moving points of a binary column without NULLs; the SRID is dropped."""
    offsets, data = flat_bytes(column)
    none = np.empty(0, np.int64)
    pieces, bad, why = _survey(offsets, data, none, none, none, none, none, False)
    if bad >= 0:
        raise UserError(
            f"from_meos: value {bad} is not a linear 2D moving point in MEOS binary: {_REASONS[why]}"
        )
    row = np.zeros(len(offsets), np.int64)
    counts, bounds, begins, sizes = (np.zeros(pieces, np.int64) for _ in range(4))
    _survey(offsets, data, row, counts, bounds, begins, sizes, True)
    piece: Longs = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    x, y, t = (np.empty(piece[-1]) for _ in range(3))
    for layout in (_POINT, _POINT_SRID):
        chosen = np.flatnonzero(sizes == layout.itemsize)
        instants = np.empty(int(counts[chosen].sum()), layout)
        run = counts[chosen] * layout.itemsize
        copy_runs(data, begins[chosen], run, instants.view(np.uint8), np.cumsum(run) - run)
        at = np.repeat(piece[chosen] - (np.cumsum(counts[chosen]) - counts[chosen]), counts[chosen])
        at += np.arange(len(at))
        x[at], y[at], t[at] = instants["x"], instants["y"], instants["t"] / 1000.0 + _EPOCH_MS
    begin_closed: Flags = bounds & 1 > 0
    end_closed: Flags = bounds & 2 > 0
    return checked_points(MovingPoints(row, piece, t, x, y, begin_closed, end_closed))
