"""What a column must be before a kernel sees it; errors say which value is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from causeway.moving_objects.kernels.values import Doubles, Flags, Longs, MovingPoints, Shapes, Spans
from causeway.runtime.compiled import kernel
from causeway.runtime.errors import UserError

__all__ = ["checked_points", "checked_regions", "checked_spans"]


@kernel
def _first_fault(row: Longs, piece: Longs, t: Doubles, x: Doubles, y: Doubles, bc: Flags, ec: Flags) -> Any:
    """Kind of the first fault (0 for none), its row, piece and instant."""
    for r in range(len(row) - 1):
        for p in range(row[r], row[r + 1]):
            i0 = piece[p]
            i1 = piece[p + 1] - 1
            if i1 < i0:
                return 3, r, p, i0
            for i in range(i0, i1 + 1):
                # One sum is finite only if all three are.
                if not np.isfinite(t[i] + x[i] + y[i]):
                    return 1, r, p, i
                if i > i0 and t[i] <= t[i - 1]:
                    return 2, r, p, i
            if i0 == i1 and not (bc[p] and ec[p]):
                return 4, r, p, i0
            if p > row[r] and (t[i0] < t[i0 - 1] or (t[i0] == t[i0 - 1] and bc[p] and ec[p - 1])):
                return 5, r, p, i0
    return 0, 0, 0, 0


def checked_points(points: MovingPoints) -> MovingPoints:
    """`points`, or an error that names the first value that cannot be."""
    fault, r, p, i = _first_fault(*points.pieces)
    if fault == 0:
        return points
    at = int(i - points.piece[points.row[r]]) if len(points.piece) > points.row[r] else 0
    t = points.t
    if fault == 1:
        raise UserError(
            f"moving point: instant {at} is t = {t[i]}, x = {points.x[i]}, y = {points.y[i]}; "
            "times and positions must be numbers, neither NaN nor infinite"
        )
    if fault == 2:
        raise UserError(
            f"moving point: times must increase, but instant {at} ({t[i]:.3f} ms) is not after the one "
            f"before ({t[i - 1]:.3f} ms); sort the positions by time and drop repeated times"
        )
    if fault == 3:
        raise UserError(f"moving point: piece {p - points.row[r]} of `first` has no instants")
    if fault == 4:
        raise UserError(
            f"moving point: the piece at {t[i]:.3f} ms is a single instant, so it must be closed at both ends"
        )
    raise UserError(
        f"moving point: pieces must be in the order of time and not overlap, but piece {p - points.row[r]} "
        f"begins at {t[i]:.3f} ms and the one before ends at {t[i - 1]:.3f} ms"
    )


def checked_spans(spans: Spans) -> Spans:
    """`spans`, or an error that names the first interval that cannot be."""
    wrong = ~(spans.begin <= spans.end) | ~np.isfinite(spans.begin + spans.end)
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        raise UserError(
            f"periods: an interval goes from {spans.begin[k]} to {spans.end[k]}; its begin must not be after "
            "its end, and both must be numbers"
        )
    return spans


def checked_regions(regions: Shapes) -> Shapes:
    """`regions`, or an error that names the first ring that cannot be."""
    if not np.isfinite(regions.x).all() or not np.isfinite(regions.y).all():
        raise UserError("region: a corner is NaN or infinite; corners must be numbers")
    corners = np.diff(regions.part)
    if (corners < 3).any():
        raise UserError(
            f"region: a ring has {int(corners[corners < 3][0])} corners; a region needs at least three "
            "(the first one is not repeated at the end)"
        )
    return regions
