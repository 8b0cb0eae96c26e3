"""Well-known binary of points, lines and regions, many at once; little-endian, two dimensions."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa

from causeway.moving_objects.conversions.binary import binary_array, copy_runs, flat_bytes
from causeway.moving_objects.kernels.places import inside
from causeway.moving_objects.kernels.values import Longs, Points, Shapes
from causeway.runtime.compiled import kernel
from causeway.runtime.errors import UserError

__all__ = ["decode_points", "decode_shapes", "encode_lines", "encode_points", "encode_regions"]

_POINT, _LINE, _POLYGON, _LINES, _POLYGONS = 1, 2, 3, 5, 6
_POINT_LAYOUT: Final = np.dtype([("order", "u1"), ("kind", "<u4"), ("x", "<f8"), ("y", "<f8")])
_CORNER: Final = 16


def encode_points(places: Points) -> pa.Array:
    """A Point for each place."""
    data = np.empty(len(places), _POINT_LAYOUT)
    data["order"], data["kind"], data["x"], data["y"] = 1, _POINT, places.x, places.y
    offsets = np.arange(len(places) + 1, dtype=np.int64) * _POINT_LAYOUT.itemsize
    return binary_array(offsets, data.view(np.uint8))


def decode_points(column: pa.Array) -> Points:
    """Places of Points; no NULLs."""
    offsets, data = flat_bytes(column)
    if not (np.diff(offsets) == _POINT_LAYOUT.itemsize).all():
        raise UserError("point_from_wkb: expected a two-dimensional Point in well-known binary, without SRID")
    read = data.view(_POINT_LAYOUT) if len(data) else np.empty(0, _POINT_LAYOUT)
    if not ((read["order"] == 1) & (read["kind"] == _POINT)).all():
        raise UserError("point_from_wkb: expected a little-endian Point in well-known binary")
    return Points(np.ascontiguousarray(read["x"]), np.ascontiguousarray(read["y"]))


@kernel
def _put(out: Any, place: int, number: int, size: int) -> Any:
    """Write a little-endian integer; gives the place after it."""
    for k in range(size):
        out[place + k] = (number >> (8 * k)) & 255
    return place + size


@kernel
def _head(out: Any, place: int, kind: int, count: int) -> Any:
    """Write byte order, type and a number."""
    out[place] = 1
    place = _put(out, place + 1, kind, 4)
    return _put(out, place, count, 4)


@kernel
def _encode_lines(row: Longs, part: Longs, corners: Any, out: Any, offsets: Longs) -> Any:
    """A LineString, or a MultiLineString of several parts; a part of one point has it twice."""
    place = 0
    for r in range(len(row) - 1):
        count = row[r + 1] - row[r]
        if count != 1:
            place = _head(out, place, 5, count)
        for p in range(row[r], row[r + 1]):
            n = part[p + 1] - part[p]
            place = _head(out, place, 2, max(n, 2))
            for i in range(max(n, 2)):
                start = 16 * (part[p] + min(i, n - 1))
                for k in range(16):
                    out[place + k] = corners[start + k]
                place += 16
        offsets[r + 1] = place


def encode_lines(lines: Shapes) -> pa.Array:
    """A LineString for a line of one part, else a MultiLineString; a single point is written twice."""
    sizes = 9 + _CORNER * np.maximum(np.diff(lines.part), 2)
    out = np.empty(int(sizes.sum()) + 9 * len(lines), np.uint8)
    offsets = np.zeros(len(lines) + 1, np.int64)
    _encode_lines(lines.row, lines.part, _corner_bytes(lines), out, offsets)
    return binary_array(offsets, out[: offsets[-1]])


def _corner_bytes(shapes: Shapes) -> np.ndarray:
    return np.column_stack([shapes.x, shapes.y]).astype("<f8").reshape(-1).view(np.uint8)


def _owners(regions: Shapes) -> Longs:
    """For each ring the outer ring whose hole it is, or itself."""
    owner = np.arange(len(regions.part) - 1)
    for r in np.flatnonzero(np.diff(regions.row) > 1):
        rings = np.arange(regions.row[r], regions.row[r + 1])
        one, other = (grid.ravel() for grid in np.meshgrid(rings, rings, indexing="ij"))
        # The middle of a ring's first side is not on another ring, unless they share a side.
        i = regions.part[one]
        middle = Points((regions.x[i] + regions.x[i + 1]) / 2, (regions.y[i] + regions.y[i + 1]) / 2)
        sizes = np.diff(regions.part)[other]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        take = np.repeat(regions.part[other] - offsets[:-1], sizes) + np.arange(offsets[-1])
        alone = Shapes(np.arange(len(one) + 1), offsets, regions.x[take], regions.y[take])
        within = (inside(middle, alone) & (one != other)).reshape(len(rings), len(rings))
        depth = within.sum(axis=1)
        for k in np.flatnonzero(depth % 2 == 1):
            owner[rings[k]] = rings[np.flatnonzero(within[k] & (depth == depth[k] - 1))[0]]
    return owner


@kernel
def _encode_regions(row: Longs, part: Longs, owner: Longs, corners: Any, out: Any, offsets: Longs) -> Any:
    place = 0
    for r in range(len(row) - 1):
        polygons = 0
        for p in range(row[r], row[r + 1]):
            polygons += owner[p] == p
        if polygons != 1:
            place = _head(out, place, 6, polygons)
        for p in range(row[r], row[r + 1]):
            if owner[p] != p:
                continue
            rings = 0
            for q in range(row[r], row[r + 1]):
                rings += owner[q] == p
            place = _head(out, place, 3, rings)
            for turn in range(2):
                for q in range(row[r], row[r + 1]):
                    # The outer ring first, then its holes; each with its first corner again at the end.
                    if owner[q] == p and (q == p) == (turn == 0):
                        n = part[q + 1] - part[q]
                        place = _put(out, place, n + 1, 4)
                        for i in range(n + 1):
                            start = 16 * (part[q] + (i if i < n else 0))
                            for k in range(16):
                                out[place + k] = corners[start + k]
                            place += 16
        offsets[r + 1] = place


def encode_regions(regions: Shapes) -> pa.Array:
    """A Polygon with its holes, or a MultiPolygon."""
    rings = np.diff(regions.part)
    out = np.empty(int((rings + 1).sum()) * _CORNER + 13 * len(rings) + 9 * len(regions), np.uint8)
    offsets = np.zeros(len(regions) + 1, np.int64)
    owner = _owners(regions)
    _encode_regions(regions.row, regions.part, owner, _corner_bytes(regions), out, offsets)
    return binary_array(offsets, out[: offsets[-1]])


@kernel
def _number(data: Any, place: int) -> Any:
    value = np.int64(0)
    for k in range(4):
        value += np.int64(data[place + k]) << (8 * k)
    return value


@kernel
def _survey(
    offsets: Longs, data: Any, kind: int, row: Longs, counts: Longs, begins: Longs, write: bool
) -> Any:
    """Walk through headers: the number of parts, and the row that is something else, or -1."""
    parts = 0
    for r in range(len(offsets) - 1):
        place = offsets[r]
        last = offsets[r + 1]
        if last - place < 9 or data[place] != 1:
            return parts, r
        shapes = 1
        found = _number(data, place + 1)
        if found == kind + 3:
            shapes = _number(data, place + 5)
            place += 9
        elif found != kind:
            return parts, r
        for _ in range(shapes):
            if place + 9 > last or data[place] != 1 or _number(data, place + 1) != kind:
                return parts, r
            place += 5
            rings = 1
            if kind == 3:
                rings = _number(data, place)
                place += 4
            for _ in range(rings):
                if place + 4 > last:
                    return parts, r
                count = _number(data, place)
                place += 4
                if place + 16 * count > last:
                    return parts, r
                if write:
                    counts[parts] = count
                    begins[parts] = place
                parts += 1
                place += 16 * count
        if write:
            row[r + 1] = parts
    return parts, -1


def decode_shapes(column: pa.Array, *, regions: bool) -> Shapes:
    """Lines of LineString and MultiLineString, or regions of Polygon and MultiPolygon; no NULLs."""
    offsets, data = flat_bytes(column)
    kind = _POLYGON if regions else _LINE
    none = np.empty(0, np.int64)
    parts, bad = _survey(offsets, data, kind, none, none, none, False)
    if bad >= 0:
        names = "Polygon or MultiPolygon" if regions else "LineString or MultiLineString"
        raise UserError(f"value {bad} is not a {names} in little-endian, two-dimensional well-known binary")
    row = np.zeros(len(offsets), np.int64)
    counts, begins = np.zeros(parts, np.int64), np.zeros(parts, np.int64)
    _survey(offsets, data, kind, row, counts, begins, True)
    part = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    corners = np.empty(part[-1] * _CORNER, np.uint8)
    copy_runs(data, begins, counts * _CORNER, corners, part[:-1] * _CORNER)
    xy = corners.view("<f8").reshape(-1, 2)
    # A ring's last corner repeats its first, and a line of a single point has it twice.
    keep = np.ones(len(xy), bool)
    ends = part[1:][counts > 0] - 1
    starts = part[:-1][counts > 0]
    if regions:
        keep[ends] = False
    else:
        keep[ends] = (counts[counts > 0] != 2) | (xy[starts] != xy[ends]).any(axis=1)
    kept = np.concatenate([[0], np.cumsum(keep)])
    return Shapes(row, kept[part], np.ascontiguousarray(xy[keep, 0]), np.ascontiguousarray(xy[keep, 1]))
