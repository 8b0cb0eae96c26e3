"""Trajectories: the line that a movement leaves in the plane, its length, and how near two lines come."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from causeway.moving_objects.kernels.values import Doubles, Longs, MovingPoints, Shapes
from causeway.runtime.compiled import kernel

__all__ = ["length", "line_distance", "line_length", "trajectory"]

_BLOCK = 64
"""Segments in a box."""


@kernel
def _trajectory(piece: Longs, x: Doubles, y: Doubles) -> Any:
    part = np.zeros(len(piece), np.int64)
    out_x = np.empty(len(x))
    out_y = np.empty(len(x))
    n = 0
    for p in range(len(piece) - 1):
        for i in range(piece[p], piece[p + 1]):
            if i == piece[p] or x[i] != out_x[n - 1] or y[i] != out_y[n - 1]:
                out_x[n] = x[i]
                out_y[n] = y[i]
                n += 1
        part[p + 1] = n
    return part, out_x[:n].copy(), out_y[:n].copy()


def trajectory(points: MovingPoints) -> Shapes:
    """The polylines that movements follow, one a piece; a piece that stands is a single point."""
    return Shapes(points.row, *_trajectory(points.piece, points.x, points.y))


@kernel
def _length(row: Longs, part: Longs, x: Doubles, y: Doubles) -> Any:
    out = np.zeros(len(row) - 1)
    for r in range(len(row) - 1):
        metres = 0.0
        for p in range(row[r], row[r + 1]):
            for i in range(part[p] + 1, part[p + 1]):
                dx = x[i] - x[i - 1]
                dy = y[i] - y[i - 1]
                metres += math.sqrt(dx * dx + dy * dy)
        out[r] = metres
    return out


def length(points: MovingPoints) -> Doubles:
    """Metres driven in each movement."""
    metres: Doubles = _length(points.row, points.piece, points.x, points.y)
    return metres


def line_length(lines: Shapes) -> Doubles:
    """Metres of each line."""
    metres: Doubles = _length(*lines.parts)
    return metres


@kernel
def _to_segment(px: float, py: float, x0: float, y0: float, x1: float, y1: float) -> Any:
    """The square of the distance of a point from a segment."""
    dx = x1 - x0
    dy = y1 - y0
    fx = px - x0
    fy = py - y0
    size = dx * dx + dy * dy
    along = 0.0
    if size > 0.0:
        along = min(max((fx * dx + fy * dy) / size, 0.0), 1.0)
    gx = fx - along * dx
    gy = fy - along * dy
    return gx * gx + gy * gy


@kernel
def _side(x0: float, y0: float, x1: float, y1: float, px: float, py: float) -> Any:
    return (x1 - x0) * (py - y0) - (y1 - y0) * (px - x0)


@kernel
def _of_segments(a: float, b: float, c: float, d: float, e: float, f: float, g: float, h: float) -> Any:
    """The square of the distance of the segments (a, b) (c, d) and (e, f) (g, h)."""
    if (
        min(a, c) <= max(e, g)
        and max(a, c) >= min(e, g)
        and min(b, d) <= max(f, h)
        and max(b, d) >= min(f, h)
        and _side(a, b, c, d, e, f) * _side(a, b, c, d, g, h) <= 0.0
        and _side(e, f, g, h, a, b) * _side(e, f, g, h, c, d) <= 0.0
        # Segments on one line, or of no length, are told apart by the distances of their ends.
        and (c - a) * (h - f) - (d - b) * (g - e) != 0.0
    ):
        return 0.0
    return min(
        _to_segment(a, b, e, f, g, h),
        _to_segment(c, d, e, f, g, h),
        _to_segment(e, f, a, b, c, d),
        _to_segment(g, h, a, b, c, d),
    )


@kernel
def _blocks(part: Longs, x: Doubles, y: Doubles, first: int, last: int) -> Any:
    """Boxes of the segments of the parts `first` to `last - 1`: first and last corner, then the box."""
    count = 0
    for p in range(first, last):
        count += (max(part[p + 1] - part[p] - 1, 1) + _BLOCK - 1) // _BLOCK
    ends = np.empty((count, 2), np.int64)
    box = np.empty((count, 4))
    n = 0
    for p in range(first, last):
        i = part[p]
        while True:
            k = min(i + _BLOCK, part[p + 1] - 1)
            ends[n, 0] = i
            ends[n, 1] = k
            box[n, 0] = x[i : k + 1].min()
            box[n, 1] = x[i : k + 1].max()
            box[n, 2] = y[i : k + 1].min()
            box[n, 3] = y[i : k + 1].max()
            n += 1
            i = k
            if i >= part[p + 1] - 1:
                break
    return ends[:n], box[:n]


@kernel
def _apart(one: Doubles, other: Doubles) -> Any:
    """The square of the distance of two boxes."""
    dx = max(one[0] - other[1], other[0] - one[1], 0.0)
    dy = max(one[2] - other[3], other[2] - one[3], 0.0)
    return dx * dx + dy * dy


@kernel
def _nearest(
    x1: Doubles, y1: Doubles, a0: int, a1: int, x2: Doubles, y2: Doubles, b0: int, b1: int, best: float
) -> Any:
    for i in range(a0, max(a1, a0 + 1)):
        k = min(i + 1, a1)
        for j in range(b0, max(b1, b0 + 1)):
            m = min(j + 1, b1)
            best = min(best, _of_segments(x1[i], y1[i], x1[k], y1[k], x2[j], y2[j], x2[m], y2[m]))
            if best == 0.0:
                return best
    return best


@kernel
def _line_distance(
    row1: Longs, part1: Longs, x1: Doubles, y1: Doubles, row2: Longs, part2: Longs, x2: Doubles, y2: Doubles
) -> Any:
    out = np.full(len(row1) - 1, np.nan)
    for r in range(len(row1) - 1):
        if row1[r] == row1[r + 1] or row2[r] == row2[r + 1]:
            continue
        ends1, box1 = _blocks(part1, x1, y1, row1[r], row1[r + 1])
        ends2, box2 = _blocks(part2, x2, y2, row2[r], row2[r + 1])
        best = np.inf
        # First the block that each block is nearest to: few pairs are left that could be nearer.
        for i in range(len(box1)):
            nearest = 0
            bound = np.inf
            for j in range(len(box2)):
                apart = _apart(box1[i], box2[j])
                if apart < bound:
                    bound = apart
                    nearest = j
            if bound < best:
                best = _nearest(
                    x1, y1, ends1[i, 0], ends1[i, 1], x2, y2, ends2[nearest, 0], ends2[nearest, 1], best
                )
            if best == 0.0:
                break
        for i in range(len(box1)):
            if best == 0.0:
                break
            for j in range(len(box2)):
                if _apart(box1[i], box2[j]) < best:
                    best = _nearest(x1, y1, ends1[i, 0], ends1[i, 1], x2, y2, ends2[j, 0], ends2[j, 1], best)
        out[r] = math.sqrt(best)
    return out


def line_distance(one: Shapes, other: Shapes) -> Doubles:
    """The smallest distance of each two lines; NaN where one of them is empty."""
    metres: Doubles = _line_distance(*one.parts, *other.parts)
    return metres
