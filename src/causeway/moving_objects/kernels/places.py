"""When a movement is at a place: within a tolerance of a point, or in a region or on its border."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from causeway.moving_objects.kernels.spans import append, grown
from causeway.moving_objects.kernels.values import Doubles, Flags, Longs, MovingPoints, Points, Shapes, Spans
from causeway.runtime.compiled import kernel

__all__ = ["at_point", "at_region", "inside", "passes_point", "passes_region"]


@kernel
def _room(begin: Doubles, end: Doubles, closed: Flags, needed: int) -> Any:
    """The three arrays of intervals, with room for `needed`."""
    if needed <= len(begin):
        return begin, end, closed
    size = max(needed, 2 * len(begin))
    flags = np.empty((size, 2), np.bool_)
    flags[: len(closed)] = closed
    return grown(begin, size), grown(end, size), flags


@kernel
def _near(
    row: Longs,
    piece: Longs,
    t: Doubles,
    x: Doubles,
    y: Doubles,
    bc: Flags,
    ec: Flags,
    px: Doubles,
    py: Doubles,
    tolerance: Doubles,
    once: bool,
) -> Any:
    """When each movement is within its tolerance of its point; `once`: the first interval is enough."""
    rows = len(row) - 1
    out_row = np.zeros(rows + 1, np.int64)
    begin = np.empty(rows + 16)
    end = np.empty(rows + 16)
    closed = np.empty((rows + 16, 2), np.bool_)
    count = 0
    for r in range(rows):
        first = count
        qx = px[r]
        qy = py[r]
        limit = tolerance[r]
        square = limit * limit
        for p in range(row[r], row[r + 1]):
            i0 = piece[p]
            i1 = piece[p + 1] - 1
            # The test at an instant is made once for both its units, so that no rounding parts them.
            near = (x[i0] - qx) ** 2 + (y[i0] - qy) ** 2 <= square
            if i0 == i1 and near:
                begin, end, closed = _room(begin, end, closed, count + 1)
                count = append(begin, end, closed, count, first, t[i0], t[i0], True, True)
            for i in range(i0, i1):
                was_near = near
                fx = x[i] - qx
                fy = y[i] - qy
                gx = x[i + 1] - qx
                gy = y[i + 1] - qy
                near = gx * gx + gy * gy <= square
                if not (was_near or near) and (
                    min(fx, gx) > limit or max(fx, gx) < -limit or min(fy, gy) > limit or max(fy, gy) < -limit
                ):
                    continue
                begins = 0.0
                ends = 1.0
                if not (was_near and near):
                    dx = gx - fx
                    dy = gy - fy
                    length = dx * dx + dy * dy
                    if length == 0.0:
                        continue
                    # It is nearest to the point at part `nearest` of the unit.
                    nearest = -(fx * dx + fy * dy) / length
                    across = fx * dy - fy * dx
                    left = square - across * across / length
                    if not (was_near or near) and (left < 0.0 or nearest < 0.0 or nearest > 1.0):
                        continue
                    half = math.sqrt(max(left, 0.0) / length)
                    if not was_near:
                        begins = min(max(nearest - half, 0.0), 1.0)
                    if not near:
                        ends = min(max(nearest + half, 0.0), 1.0)
                lasts = t[i + 1] - t[i]
                b = t[i] + begins * lasts if begins < 1.0 else t[i + 1]
                e = t[i] + ends * lasts if ends < 1.0 else t[i + 1]
                b_closed = bc[p] if i == i0 and b == t[i] else True
                e_closed = ec[p] if i == i1 - 1 and e == t[i + 1] else True
                begin, end, closed = _room(begin, end, closed, count + 1)
                count = append(begin, end, closed, count, first, b, e, b_closed, e_closed)
                if once and count > first:
                    break
            if once and count > first:
                break
        out_row[r + 1] = count
    return out_row, begin[:count], end[:count], closed[:count, 0].copy(), closed[:count, 1].copy()


def at_point(points: MovingPoints, places: Points, tolerance: Doubles) -> Spans:
    """When each movement is within `tolerance` metres of its point."""
    return Spans(*_near(*points.pieces, places.x, places.y, tolerance, False))


def passes_point(points: MovingPoints, places: Points, tolerance: Doubles) -> Flags:
    """Whether each movement is ever within `tolerance` metres of its point."""
    found: Flags = np.diff(_near(*points.pieces, places.x, places.y, tolerance, True)[0]) > 0
    return found


@kernel
def _in_region(part: Longs, rx: Doubles, ry: Doubles, first: int, last: int, px: float, py: float) -> Any:
    """Whether a point is in the region of the rings `first` to `last - 1`, or on its border."""
    odd = False
    for ring in range(first, last):
        j = part[ring + 1] - 1
        for i in range(part[ring], part[ring + 1]):
            x0 = rx[j]
            y0 = ry[j]
            x1 = rx[i]
            y1 = ry[i]
            j = i
            if min(y0, y1) > py or max(y0, y1) < py:
                continue
            if min(x0, x1) <= px <= max(x0, x1) and (x1 - x0) * (py - y0) - (y1 - y0) * (px - x0) == 0.0:
                return True
            if (y0 > py) != (y1 > py) and px < (x1 - x0) * (py - y0) / (y1 - y0) + x0:
                odd = not odd
    return odd


@kernel
def _cuts(
    part: Longs,
    rx: Doubles,
    ry: Doubles,
    first: int,
    last: int,
    x0: float,
    y0: float,
    dx: float,
    dy: float,
    cuts: Doubles,
) -> Any:
    """The parts of a unit at which it meets the border, from 0 to 1, sorted, with 0 and 1 among them."""
    cuts[0] = 0.0
    cuts[1] = 1.0
    count = 2
    for ring in range(first, last):
        j = part[ring + 1] - 1
        for i in range(part[ring], part[ring + 1]):
            fx = rx[j] - x0
            fy = ry[j] - y0
            ex = rx[i] - rx[j]
            ey = ry[i] - ry[j]
            j = i
            turn = dx * ey - dy * ex
            if turn != 0.0:
                along = (fx * ey - fy * ex) / turn
                on_edge = (fx * dy - fy * dx) / turn
                if 0.0 <= along <= 1.0 and 0.0 <= on_edge <= 1.0:
                    cuts[count] = along
                    count += 1
            elif fx * dy - fy * dx == 0.0:
                length = dx * dx + dy * dy
                one = (fx * dx + fy * dy) / length
                other = ((fx + ex) * dx + (fy + ey) * dy) / length
                if max(one, other) >= 0.0 and min(one, other) <= 1.0:
                    cuts[count] = min(max(one, 0.0), 1.0)
                    cuts[count + 1] = min(max(other, 0.0), 1.0)
                    count += 2
    cuts[:count].sort()
    return count


@kernel
def _within(
    row: Longs,
    piece: Longs,
    t: Doubles,
    x: Doubles,
    y: Doubles,
    bc: Flags,
    ec: Flags,
    region_row: Longs,
    part: Longs,
    rx: Doubles,
    ry: Doubles,
    once: bool,
) -> Any:
    """When each movement is in its region; `once`: the first interval is enough."""
    rows = len(row) - 1
    out_row = np.zeros(rows + 1, np.int64)
    begin = np.empty(rows + 16)
    end = np.empty(rows + 16)
    closed = np.empty((rows + 16, 2), np.bool_)
    cuts = np.empty(16)
    count = 0
    for r in range(rows):
        first = count
        ring = region_row[r]
        rings = region_row[r + 1]
        c0 = part[ring]
        c1 = part[rings]
        if c0 == c1:
            out_row[r + 1] = count
            continue
        cuts = grown(cuts, 2 * (c1 - c0) + 2)
        x_min = rx[c0:c1].min()
        x_max = rx[c0:c1].max()
        y_min = ry[c0:c1].min()
        y_max = ry[c0:c1].max()
        for p in range(row[r], row[r + 1]):
            i0 = piece[p]
            i1 = piece[p + 1] - 1
            for i in range(i0, max(i1, i0 + 1)):
                k = min(i + 1, i1)
                if (
                    max(x[i], x[k]) < x_min
                    or min(x[i], x[k]) > x_max
                    or max(y[i], y[k]) < y_min
                    or min(y[i], y[k]) > y_max
                ):
                    continue
                dx = x[k] - x[i]
                dy = y[k] - y[i]
                begins_closed = bc[p] if i == i0 else True
                ends_closed = ec[p] if k == i1 else True
                if dx == 0.0 and dy == 0.0:
                    if _in_region(part, rx, ry, ring, rings, x[i], y[i]):
                        begin, end, closed = _room(begin, end, closed, count + 1)
                        count = append(
                            begin, end, closed, count, first, t[i], t[k], begins_closed, ends_closed
                        )
                    if once and count > first:
                        break
                    continue
                n = _cuts(part, rx, ry, ring, rings, x[i], y[i], dx, dy, cuts)
                begin, end, closed = _room(begin, end, closed, count + 2 * n)
                lasts = t[k] - t[i]
                before = t[i]
                for c in range(n):
                    now = t[i] + cuts[c] * lasts if cuts[c] < 1.0 else t[k]
                    if c > 0 and cuts[c] > cuts[c - 1]:
                        half = 0.5 * (cuts[c - 1] + cuts[c])
                        if _in_region(part, rx, ry, ring, rings, x[i] + half * dx, y[i] + half * dy):
                            b_closed = begins_closed if before == t[i] else True
                            e_closed = ends_closed if now == t[k] else True
                            count = append(begin, end, closed, count, first, before, now, b_closed, e_closed)
                    # A cut is on the border; the unit's own ends are only if they are found there.
                    on_border = (0 < c < n - 1) or _in_region(
                        part, rx, ry, ring, rings, x[i] if c == 0 else x[k], y[i] if c == 0 else y[k]
                    )
                    if on_border:
                        is_closed = (begins_closed or now != t[i]) and (ends_closed or now != t[k])
                        count = append(begin, end, closed, count, first, now, now, is_closed, is_closed)
                    before = now
                if once and count > first:
                    break
            if once and count > first:
                break
        out_row[r + 1] = count
    return out_row, begin[:count], end[:count], closed[:count, 0].copy(), closed[:count, 1].copy()


def at_region(points: MovingPoints, regions: Shapes) -> Spans:
    """When each movement is in its region or on its border."""
    return Spans(*_within(*points.pieces, *regions.parts, False))


def passes_region(points: MovingPoints, regions: Shapes) -> Flags:
    """Whether each movement is ever in its region or on its border."""
    found: Flags = np.diff(_within(*points.pieces, *regions.parts, True)[0]) > 0
    return found


@kernel
def _inside(px: Doubles, py: Doubles, row: Longs, part: Longs, rx: Doubles, ry: Doubles) -> Any:
    found = np.empty(len(px), np.bool_)
    for r in range(len(px)):
        found[r] = _in_region(part, rx, ry, row[r], row[r + 1], px[r], py[r])
    return found


def inside(places: Points, regions: Shapes) -> Flags:
    """Whether each point is in its region or on its border."""
    found: Flags = _inside(places.x, places.y, *regions.parts)
    return found
