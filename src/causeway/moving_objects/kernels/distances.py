"""Distances in time: of two movements, or of a movement and a point, and when they are below a limit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from causeway.moving_objects.kernels.spans import find_unit, grown, overlap
from causeway.moving_objects.kernels.values import (
    Doubles,
    Flags,
    Longs,
    MovingBools,
    MovingPoints,
    MovingReals,
    Points,
    Spans,
)
from causeway.runtime.compiled import kernel

__all__ = ["COMPARISONS", "compare", "distance", "distance_to_point", "standing"]

COMPARISONS = {
    "lt": (True, False, False),
    "le": (True, True, False),
    "eq": (False, True, False),
    "ne": (True, False, True),
    "ge": (False, True, True),
    "gt": (False, False, True),
}
"""For each comparison: is it true below the limit, at it, above it."""


@kernel
def _place(t: Doubles, x: Doubles, y: Doubles, u: int, last: int, instant: float) -> Any:
    """Where a movement is at an instant of unit `u`, and its speed there in metres a second."""
    if u >= last:
        return x[u], y[u], 0.0, 0.0
    lasts = t[u + 1] - t[u]
    vx = (x[u + 1] - x[u]) / lasts
    vy = (y[u + 1] - y[u]) / lasts
    since = instant - t[u]
    return x[u] + since * vx, y[u] + since * vy, 1000.0 * vx, 1000.0 * vy


@kernel
def _distance(
    row1: Longs,
    piece1: Longs,
    t1: Doubles,
    x1: Doubles,
    y1: Doubles,
    bc1: Flags,
    ec1: Flags,
    row2: Longs,
    piece2: Longs,
    t2: Doubles,
    x2: Doubles,
    y2: Doubles,
    bc2: Flags,
    ec2: Flags,
) -> Any:
    rows = len(row1) - 1
    out_row = np.zeros(rows + 1, np.int64)
    out = np.empty((64 + rows, 5))
    closed = np.empty((64 + rows, 2), np.bool_)
    n = 0
    for r in range(rows):
        p = row1[r]
        q = row2[r]
        while p < row1[r + 1] and q < row2[r + 1]:
            i0 = piece1[p]
            i1 = piece1[p + 1] - 1
            j0 = piece2[q]
            j1 = piece2[q + 1] - 1
            b, e, b_closed, e_closed, common = overlap(
                t1[i0], t1[i1], bc1[p], ec1[p], t2[j0], t2[j1], bc2[q], ec2[q]
            )
            if common:
                u = find_unit(t1, i0, i1, b)
                v = find_unit(t2, j0, j1, b)
                now = b
                while True:
                    after = e
                    if u < i1 and t1[u + 1] < after:
                        after = t1[u + 1]
                    if v < j1 and t2[v + 1] < after:
                        after = t2[v + 1]
                    if n == len(out):
                        copy = np.empty((2 * n, 5))
                        copy[:n] = out
                        out = copy
                        flags = np.empty((2 * n, 2), np.bool_)
                        flags[:n] = closed
                        closed = flags
                    ax, ay, avx, avy = _place(t1, x1, y1, u, i1, now)
                    bx, by, bvx, bvy = _place(t2, x2, y2, v, j1, now)
                    fx = ax - bx
                    fy = ay - by
                    wx = avx - bvx
                    wy = avy - bvy
                    out[n, 0] = now
                    out[n, 1] = after
                    out[n, 2] = wx * wx + wy * wy
                    out[n, 3] = 2.0 * (fx * wx + fy * wy)
                    out[n, 4] = fx * fx + fy * fy
                    closed[n, 0] = b_closed if now == b else True
                    closed[n, 1] = e_closed if after == e else False
                    n += 1
                    if after == e:
                        break
                    now = after
                    if u < i1 and t1[u + 1] == now:
                        u += 1
                    if v < j1 and t2[v + 1] == now:
                        v += 1
            if t1[i1] < t2[j1] or (t1[i1] == t2[j1] and not (ec1[p] and not ec2[q])):
                p += 1
            else:
                q += 1
        out_row[r + 1] = n
    return out_row, out[:n], closed[:n]


def _reals(row: np.ndarray, units: np.ndarray, closed: np.ndarray) -> MovingReals:
    columns = [np.ascontiguousarray(units[:, k]) for k in range(5)]
    spans = Spans(row, columns[0], columns[1], closed[:, 0].copy(), closed[:, 1].copy())
    return MovingReals(spans, columns[2], columns[3], columns[4], np.ones(len(row) - 1, np.bool_))


def distance(one: MovingPoints, other: MovingPoints) -> MovingReals:
    """The distance of each two movements, defined while both are."""
    return _reals(*_distance(*one.pieces, *other.pieces))


def standing(places: Points, points: MovingPoints) -> MovingPoints:
    """Movements that stand at the places during the whole time of `points`, row by row."""
    rows = len(points)
    defined = np.diff(points.row) > 0
    count = int(defined.sum())
    row = np.concatenate([[0], np.cumsum(defined)]).astype(np.int64)
    t = np.empty(2 * count)
    t[0::2] = points.t[points.piece[points.row[:-1][defined]]]
    t[1::2] = points.t[points.piece[points.row[1:][defined]] - 1]
    # A little longer, so that an instant has a duration too; far from 1970 a millisecond adds nothing.
    longer = np.maximum(1.0, np.spacing(np.abs(t)))
    t[0::2] -= longer[0::2]
    t[1::2] += longer[1::2]
    rows_of = np.repeat(np.arange(rows)[defined], 2)
    always = np.ones(count, np.bool_)
    instants = 2 * np.arange(count + 1, dtype=np.int64)
    return MovingPoints(row, instants, t, places.x[rows_of], places.y[rows_of], always, always)


def distance_to_point(points: MovingPoints, places: Points) -> MovingReals:
    """The distance of each movement from its point."""
    return distance(points, standing(places, points))


@kernel
def _sign(value: float) -> Any:
    return 1 if value > 0.0 else (-1 if value < 0.0 else 0)


@kernel
def _roots(a: float, b: float, c: float) -> Any:
    """How many roots a·s² + b·s + c has, and which; none if it is constant."""
    if a == 0.0:
        if b == 0.0:
            return 0, 0.0, 0.0
        return 1, -c / b, 0.0
    inner = b * b - 4.0 * a * c
    if inner < 0.0:
        return 0, 0.0, 0.0
    # Adding two numbers of the same sign: nothing is lost where a is almost 0.
    sum_ = -0.5 * (b + math.copysign(math.sqrt(inner), b))
    if sum_ == 0.0:
        return 1, 0.0, 0.0
    one = sum_ / a
    other = c / sum_
    return 2, min(one, other), max(one, other)


@kernel
def _compare(
    row: Longs,
    begin: Doubles,
    end: Doubles,
    bc: Flags,
    ec: Flags,
    a: Doubles,
    b: Doubles,
    c: Doubles,
    root: Flags,
    limit: Doubles,
    below: bool,
    equal: bool,
    above: bool,
) -> Any:
    rows = len(row) - 1
    out_row = np.zeros(rows + 1, np.int64)
    size = 16 + rows
    out_begin = np.empty(size)
    out_end = np.empty(size)
    closed = np.empty((size, 2), np.bool_)
    value = np.empty(size, np.bool_)
    times = np.empty(4)
    n = 0
    for r in range(rows):
        never = root[r] and limit[r] < 0.0
        level = limit[r] * limit[r] if root[r] else limit[r]
        for k in range(row[r], row[r + 1]):
            if n + 8 > len(out_begin):
                out_begin = grown(out_begin, n + 8)
                out_end = grown(out_end, len(out_begin))
                value = grown(value, len(out_begin))
                flags = np.empty((len(out_begin), 2), np.bool_)
                flags[:n] = closed[:n]
                closed = flags
            cc = c[k] - level
            seconds = 0.001 * (end[k] - begin[k])
            times[0] = begin[k]
            count = 1
            if not never and end[k] > begin[k]:
                roots, one, other = _roots(a[k], b[k], cc)
                for which in range(roots):
                    s = one if which == 0 else other
                    at = begin[k] + 1000.0 * s
                    if s > 0.0 and s < seconds and at > times[count - 1] and at < end[k]:
                        times[count] = at
                        count += 1
            times[count] = end[k]
            # Instant, open interval, instant, open interval, …, instant; each has one sign.
            for m in range(2 * count + 1):
                place = m // 2
                if m % 2 == 0:
                    if (m == 0 and not bc[k]) or (m == 2 * count and not ec[k]):
                        continue
                    if begin[k] == end[k] and m > 0:
                        continue
                    s = 0.001 * (times[place] - begin[k])
                    sign = _sign((a[k] * s + b[k]) * s + cc) if m == 0 or m == 2 * count else 0
                    from_ = times[place]
                    to = times[place]
                    is_closed = True
                else:
                    if times[place] == times[place + 1]:
                        continue
                    s = 0.0005 * (times[place] + times[place + 1] - 2.0 * begin[k])
                    sign = _sign((a[k] * s + b[k]) * s + cc)
                    from_ = times[place]
                    to = times[place + 1]
                    is_closed = False
                if never:
                    sign = 1
                truth = below if sign < 0 else (equal if sign == 0 else above)
                if (
                    n > out_row[r]
                    and value[n - 1] == truth
                    and out_end[n - 1] == from_
                    and (closed[n - 1, 1] or is_closed)
                ):
                    out_end[n - 1] = to
                    closed[n - 1, 1] = is_closed
                else:
                    out_begin[n] = from_
                    out_end[n] = to
                    closed[n, 0] = is_closed
                    closed[n, 1] = is_closed
                    value[n] = truth
                    n += 1
        out_row[r + 1] = n
    return out_row, out_begin[:n], out_end[:n], closed[:n, 0].copy(), closed[:n, 1].copy(), value[:n]


def compare(reals: MovingReals, comparison: str, limit: Doubles) -> MovingBools:
    """When each moving real is `lt`, `le`, `eq`, `ne`, `ge` or `gt` its limit, and when it is not."""
    truths = COMPARISONS[comparison]
    *spans, value = _compare(*reals.spans.intervals, reals.a, reals.b, reals.c, reals.root, limit, *truths)
    truth: Flags = value
    return MovingBools(Spans(*spans), truth)
