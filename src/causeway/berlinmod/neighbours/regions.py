"""The distance of a moving point from a region: 0 inside, else that of the nearest side or corner."""

from __future__ import annotations

from typing import Any

import numpy as np

from causeway.berlinmod.model.arrays import F64
from causeway.moving_objects.kernels.spans import grown
from causeway.runtime.compiled import kernel

__all__ = ["distance_to_ring", "region_cuts", "region_function"]


@kernel
def _nearest_side(rx: F64, ry: F64, px: float, py: float) -> Any:
    """The nearest side of a ring, where on it (0 to 1), the distance squared, and whether it is inside."""
    best = np.inf
    side = 0
    where = 0.0
    odd = False
    j = len(rx) - 1
    for i in range(len(rx)):
        dx = rx[i] - rx[j]
        dy = ry[i] - ry[j]
        fx = px - rx[j]
        fy = py - ry[j]
        along = min(max((fx * dx + fy * dy) / (dx * dx + dy * dy), 0.0), 1.0)
        gx = fx - along * dx
        gy = fy - along * dy
        square = gx * gx + gy * gy
        if square < best:
            best = square
            side = j
            where = along
        if (ry[j] > py) != (ry[i] > py) and px < dx * fy / dy + rx[j]:
            odd = not odd
        j = i
    return side, where, best, odd


@kernel
def distance_to_ring(rx: F64, ry: F64, px: float, py: float) -> Any:
    """Metres from a point to a region of one ring; 0 inside."""
    _, _, square, inside = _nearest_side(rx, ry, px, py)
    return 0.0 if inside else np.sqrt(square)


@kernel
def region_cuts(
    rx: F64, ry: F64, x: float, y: float, vx: float, vy: float, begin: float, lasts: float, cuts: F64, n: int
) -> Any:
    """Add the times at which the nearest side or corner may change, or the border is crossed.

    The point is at (x, y) at `begin` and moves evenly for `lasts` seconds. Only sides that can be nearest
    count. Gives the array, which may have grown, and the count.
    """
    if vx == 0.0 and vy == 0.0:
        return cuts, n
    half = 0.5 * lasts
    reach = 2.0 * half * np.sqrt(vx * vx + vy * vy)
    _, _, best, _ = _nearest_side(rx, ry, x + half * vx, y + half * vy)
    limit = (np.sqrt(best) + reach) ** 2
    sides = np.empty(len(rx), np.int64)
    count = 0
    j = len(rx) - 1
    for i in range(len(rx)):
        dx = rx[i] - rx[j]
        dy = ry[i] - ry[j]
        fx = x + half * vx - rx[j]
        fy = y + half * vy - ry[j]
        size = dx * dx + dy * dy
        along = min(max((fx * dx + fy * dy) / size, 0.0), 1.0)
        if (fx - along * dx) ** 2 + (fy - along * dy) ** 2 <= limit:
            sides[count] = i
            count += 1
        j = i
    cuts = grown(cuts, n + 3 * count + 16 * count * count)
    local = np.empty(3 * count + 2)
    local[0] = 0.0
    local[1] = lasts
    m = 2
    for k in range(count):
        i = sides[k]
        j = i - 1 if i > 0 else len(rx) - 1
        dx = rx[i] - rx[j]
        dy = ry[i] - ry[j]
        fx = x - rx[j]
        fy = y - ry[j]
        size = dx * dx + dy * dy
        speed = vx * dx + vy * dy
        if speed != 0.0:
            at = fx * dx + fy * dy
            for to in (0.0, 1.0):
                s = (to * size - at) / speed
                if 0.0 < s < lasts:
                    local[m] = s
                    m += 1
        across = vx * dy - vy * dx
        if across != 0.0:
            s = -(fx * dy - fy * dx) / across
            if 0.0 < s < lasts:
                local[m] = s
                m += 1
    local[:m].sort()
    functions = np.empty((count, 3))
    for k in range(m):
        if 0 < k < m - 1:
            cuts[n] = begin + local[k]
            n += 1
        if k == 0 or local[k] <= local[k - 1]:
            continue
        # Between two such times each side's distance is one quadratic: cut where two are equal.
        middle = 0.5 * (local[k - 1] + local[k])
        for one in range(count):
            i = sides[one]
            _side_function(rx, ry, i, x, y, vx, vy, middle, functions[one])
        for one in range(count):
            for other in range(one):
                a = functions[one, 0] - functions[other, 0]
                b = functions[one, 1] - functions[other, 1]
                c = functions[one, 2] - functions[other, 2]
                inner = b * b - 4.0 * a * c
                if abs(a) < 1e-12:
                    if b != 0.0 and local[k - 1] < -c / b < local[k]:
                        cuts[n] = begin - c / b
                        n += 1
                elif inner > 0.0:
                    for sign in (-1.0, 1.0):
                        s = (-b + sign * np.sqrt(inner)) / (2.0 * a)
                        if local[k - 1] < s < local[k]:
                            cuts = grown(cuts, n + 2)
                            cuts[n] = begin + s
                            n += 1
    return cuts, n


@kernel
def _side_function(
    rx: F64, ry: F64, i: int, x: float, y: float, vx: float, vy: float, middle: float, out: F64
) -> None:
    """The square of the distance from side i (between corners i - 1 and i), as it is around `middle`."""
    j = i - 1 if i > 0 else len(rx) - 1
    dx = rx[i] - rx[j]
    dy = ry[i] - ry[j]
    fx = x - rx[j]
    fy = y - ry[j]
    size = dx * dx + dy * dy
    along = ((fx + middle * vx) * dx + (fy + middle * vy) * dy) / size
    if 0.0 < along < 1.0:
        across = (fx * dy - fy * dx) / np.sqrt(size)
        speed = (vx * dy - vy * dx) / np.sqrt(size)
        out[0] = speed * speed
        out[1] = 2.0 * across * speed
        out[2] = across * across
        return
    if along >= 1.0:
        fx = x - rx[i]
        fy = y - ry[i]
    out[0] = vx * vx + vy * vy
    out[1] = 2.0 * (fx * vx + fy * vy)
    out[2] = fx * fx + fy * fy


@kernel
def region_function(
    rx: F64, ry: F64, x: float, y: float, vx: float, vy: float, middle: float, out: F64
) -> None:
    """The square of the distance from a region, s seconds after the point was at (x, y), around `middle`."""
    side, _, _, inside = _nearest_side(rx, ry, x + middle * vx, y + middle * vy)
    if inside:
        out[0] = 0.0
        out[1] = 0.0
        out[2] = 0.0
        return
    i = side + 1 if side + 1 < len(rx) else 0
    _side_function(rx, ry, i, x, y, vx, vy, middle, out)
