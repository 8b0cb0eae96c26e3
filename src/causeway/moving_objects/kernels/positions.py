"""Where a movement is at an instant, whether it is defined then, and where it begins."""

from __future__ import annotations

from typing import Any

import numpy as np

from causeway.moving_objects.kernels.spans import find_unit, overlap
from causeway.moving_objects.kernels.values import Doubles, Flags, Longs, MovingPoints, Spans
from causeway.runtime.compiled import kernel

__all__ = ["at_instant", "initial", "present_at", "present_during"]


@kernel
def _at_instant(
    row: Longs, piece: Longs, t: Doubles, x: Doubles, y: Doubles, bc: Flags, ec: Flags, instant: Doubles
) -> Any:
    rows = len(row) - 1
    found = np.zeros(rows, np.bool_)
    out_x = np.full(rows, np.nan)
    out_y = np.full(rows, np.nan)
    for r in range(rows):
        now = instant[r]
        # The last piece that begins at or before the instant, and the one before, which may end there.
        low = row[r]
        high = row[r + 1]
        while low < high:
            middle = (low + high) // 2
            if t[piece[middle]] <= now:
                low = middle + 1
            else:
                high = middle
        for p in range(low - 1, max(row[r], low - 3) - 1, -1):
            i0 = piece[p]
            i1 = piece[p + 1] - 1
            if now > t[i1] or (now == t[i0] and not bc[p]) or (now == t[i1] and not ec[p]):
                continue
            u = find_unit(t, i0, i1, now)
            found[r] = True
            if u >= i1 or now == t[u]:
                out_x[r] = x[u]
                out_y[r] = y[u]
            elif now == t[u + 1]:
                out_x[r] = x[u + 1]
                out_y[r] = y[u + 1]
            else:
                part = (now - t[u]) / (t[u + 1] - t[u])
                out_x[r] = x[u] + part * (x[u + 1] - x[u])
                out_y[r] = y[u] + part * (y[u + 1] - y[u])
            break
    return found, out_x, out_y


def at_instant(points: MovingPoints, instant: Doubles) -> tuple[Flags, Doubles, Doubles]:
    """For each row whether it is defined at its instant, and x and y there (NaN if not)."""
    found, x, y = _at_instant(*points.pieces, instant)
    return found, x, y


def present_at(points: MovingPoints, instant: Doubles) -> Flags:
    """Whether each movement is defined at its instant."""
    return at_instant(points, instant)[0]


@kernel
def _present_during(
    row: Longs,
    piece: Longs,
    t: Doubles,
    bc: Flags,
    ec: Flags,
    span_row: Longs,
    begin: Doubles,
    end: Doubles,
    span_bc: Flags,
    span_ec: Flags,
) -> Any:
    found = np.zeros(len(row) - 1, np.bool_)
    for r in range(len(row) - 1):
        p = row[r]
        s = span_row[r]
        while p < row[r + 1] and s < span_row[r + 1]:
            last = t[piece[p + 1] - 1]
            if overlap(t[piece[p]], last, bc[p], ec[p], begin[s], end[s], span_bc[s], span_ec[s])[4]:
                found[r] = True
                break
            if last < end[s] or (last == end[s] and not (ec[p] and not span_ec[s])):
                p += 1
            else:
                s += 1
    return found


def present_during(points: MovingPoints, spans: Spans) -> Flags:
    """Whether each movement is defined at any time of its intervals."""
    row, piece, t, _, _, bc, ec = points.pieces
    found: Flags = _present_during(row, piece, t, bc, ec, *spans.intervals)
    return found


def initial(points: MovingPoints) -> tuple[Flags, Doubles, Doubles, Doubles]:
    """For each row whether it is defined at all, and t, x, y of its start (the limit, if that is open)."""
    defined: Flags = np.diff(points.row) > 0
    t, x, y = (np.full(len(points), np.nan) for _ in range(3))
    first = points.piece[points.row[:-1][defined]]
    t[defined], x[defined], y[defined] = points.t[first], points.x[first], points.y[first]
    return defined, t, x, y
