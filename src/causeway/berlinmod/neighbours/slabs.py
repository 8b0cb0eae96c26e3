"""Bounds of distances during a slab of time, by the boxes of the movements; and who they leave."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from causeway.berlinmod.model.arrays import BOOL, F64, I64
from causeway.berlinmod.neighbours.levels import SAME_METRES
from causeway.berlinmod.neighbours.regions import distance_to_ring
from causeway.runtime.compiled import kernel

__all__ = ["Tracks", "bounds_of", "box_of", "survivors", "unit_at"]


class Tracks(NamedTuple):
    """Movements as arrays; times are seconds from a common instant. A place that stands has two instants."""

    offsets: I64
    t: F64
    x: F64
    y: F64


@kernel
def unit_at(t: F64, first: int, last: int, now: float) -> Any:
    """The unit of a movement that `now` is in, between the instants first and last."""
    u = first + np.searchsorted(t[first : last + 1], now, "right") - 1
    return min(max(u, first), last - 1)


@kernel
def box_of(t: F64, x: F64, y: F64, first: int, last: int, begin: float, end: float, out: F64) -> Any:
    """The box of a movement during a slab; False if it is not defined then. The fifth: is in all of it."""
    if t[first] > end or t[last] < begin:
        return False
    out[4] = 1.0 if t[first] <= begin and t[last] >= end else 0.0
    b = max(begin, t[first])
    e = min(end, t[last])
    u = unit_at(t, first, last, b)
    part = (b - t[u]) / (t[u + 1] - t[u])
    px = x[u] + part * (x[u + 1] - x[u])
    py = y[u] + part * (y[u + 1] - y[u])
    out[0] = px
    out[1] = px
    out[2] = py
    out[3] = py
    while True:
        if t[u + 1] >= e:
            part = (e - t[u]) / (t[u + 1] - t[u])
            px = x[u] + part * (x[u + 1] - x[u])
            py = y[u] + part * (y[u + 1] - y[u])
        else:
            px = x[u + 1]
            py = y[u + 1]
        out[0] = min(out[0], px)
        out[1] = max(out[1], px)
        out[2] = min(out[2], py)
        out[3] = max(out[3], py)
        if t[u + 1] >= e or u + 1 >= last:
            return True
        u += 1


@kernel
def bounds_of(one: F64, other: F64, rx: F64, ry: F64) -> Any:
    """Squares of the least and the largest distance between points of two boxes, or of a box and a ring."""
    if len(rx) > 0:
        half = 0.5 * np.sqrt((one[1] - one[0]) ** 2 + (one[3] - one[2]) ** 2)
        metres = distance_to_ring(rx, ry, 0.5 * (one[0] + one[1]), 0.5 * (one[2] + one[3]))
        return max(metres - half, 0.0) ** 2, (metres + half) ** 2
    dx = max(one[0] - other[1], other[0] - one[1], 0.0)
    dy = max(one[2] - other[3], other[2] - one[3], 0.0)
    ex = max(one[1] - other[0], other[1] - one[0])
    ey = max(one[3] - other[2], other[3] - one[2])
    return dx * dx + dy * dy, ex * ex + ey * ey


@kernel
def survivors(
    boxes: F64,
    defined: BOOL,
    among: I64,
    count: int,
    own: int,
    box: F64,
    rx: F64,
    ry: F64,
    k: int,
    left: I64,
    ranks: F64,
    low: F64,
) -> Any:
    """Write to `left` which of the candidates `among` may be among the k nearest; gives how many."""
    found = 0
    for m in range(count):
        v = among[m]
        if v == own or not defined[v]:
            low[m] = np.inf
            continue
        below, above = bounds_of(boxes[v], box, rx, ry)
        low[m] = below
        if boxes[v, 4] < 1.0:
            continue
        place = min(found, k)
        while place > 0 and ranks[place - 1] > above:
            if place < k:
                ranks[place] = ranks[place - 1]
            place -= 1
        if place < k:
            ranks[place] = above
            found = min(found + 1, k)
    # A little more than the bound: it is rounded, and who is as near as that is a tie.
    limit = (np.sqrt(ranks[k - 1]) + 2.0 * SAME_METRES) ** 2 + 1e-12 if found == k else np.inf
    n = 0
    for m in range(count):
        if low[m] <= limit and low[m] < np.inf:
            left[n] = among[m]
            n += 1
    return n
