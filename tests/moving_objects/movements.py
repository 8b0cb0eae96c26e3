"""Random movements, and the operators said again in plain Python: exact fractions, one instant at a time."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

from causeway.moving_objects.kernels.values import MovingPoints, Points, Shapes, Spans

START = 1_180_310_400_000
"""2007-05-28 in ms; its square is far above what a double holds exactly."""


@dataclass(frozen=True)
class Piece:
    instants: tuple[tuple[int, int, int], ...]
    begin_closed: bool
    end_closed: bool


Movement = tuple[Piece, ...]


@st.composite
def movements(draw: st.DrawFn) -> Movement:
    """Small whole coordinates, so that standing, touching and parallel pieces come often; whole seconds."""
    start = draw(st.sampled_from([0, START]))
    pieces: list[Piece] = []
    now = start + 1000 * draw(st.integers(0, 3))
    for _ in range(draw(st.integers(0, 3))):
        instants = []
        coordinate = st.integers(-3, 3)
        for k in range(draw(st.integers(1, 5))):
            now += 1000 * draw(st.integers(1, 4)) if k else 0
            instants.append((now, draw(coordinate), draw(coordinate)))
        single = len(instants) == 1
        begin_closed, end_closed = single or draw(st.booleans()), single or draw(st.booleans())
        gap = draw(st.integers(0, 2))
        if pieces and pieces[-1].instants[-1][0] == instants[0][0] and pieces[-1].end_closed and begin_closed:
            if single:
                continue
            begin_closed = False
        pieces.append(Piece(tuple(instants), begin_closed, end_closed))
        now += 1000 * gap
    return tuple(pieces)


def columns(rows: list[Movement]) -> MovingPoints:
    """Movements as the kernels take them."""
    pieces = [piece for row in rows for piece in row]
    instants = np.array([instant for piece in pieces for instant in piece.instants], float).reshape(-1, 3)
    t, x, y = (np.ascontiguousarray(instants[:, k]) for k in range(3))
    row = np.cumsum([0, *(len(one) for one in rows)])
    piece = np.cumsum([0, *(len(one.instants) for one in pieces)])
    flags = ([getattr(one, name) for one in pieces] for name in ("begin_closed", "end_closed"))
    return MovingPoints(row, piece, t, x, y, *(np.array(one, bool) for one in flags))


def movement(points: MovingPoints, r: int) -> Movement:
    """Row `r` of a column."""
    found = []
    for p in range(points.row[r], points.row[r + 1]):
        part = slice(points.piece[p], points.piece[p + 1])
        instants = zip(points.t[part], points.x[part], points.y[part], strict=True)
        found.append(Piece(tuple(instants), bool(points.begin_closed[p]), bool(points.end_closed[p])))  # type: ignore[arg-type]
    return tuple(found)


def position(one: Movement, t: Fraction) -> tuple[Fraction, Fraction] | None:
    """Where a movement is at an instant, or `None`."""
    for piece in one:
        begin, end = piece.instants[0][0], piece.instants[-1][0]
        if (
            t < begin
            or t > end
            or (t == begin and not piece.begin_closed)
            or (t == end and not piece.end_closed)
        ):
            continue
        for t0, x0, y0 in piece.instants:
            if t == Fraction(t0):
                return Fraction(x0), Fraction(y0)
        for (t0, x0, y0), (t1, x1, y1) in pairwise(piece.instants):
            if t0 < t < t1:
                part = (t - Fraction(t0)) / (Fraction(t1) - Fraction(t0))
                return (
                    Fraction(x0) + part * (Fraction(x1) - Fraction(x0)),
                    Fraction(y0) + part * (Fraction(y1) - Fraction(y0)),
                )
    return None


def is_in(spans: Spans, r: int, t: Fraction) -> bool:
    """Whether an instant is in one of a row's intervals."""
    for k in range(spans.row[r], spans.row[r + 1]):
        begin, end = Fraction(spans.begin[k]), Fraction(spans.end[k])
        if begin < t < end:
            return True
        if (t == begin and spans.begin_closed[k]) or (t == end and spans.end_closed[k]):
            return True
    return False


def spans_of(rows: list[list[tuple[float, float, bool, bool]]]) -> Spans:
    """Intervals as the kernels take them."""
    flat = [one for row in rows for one in row]
    row = np.cumsum([0, *(len(one) for one in rows)])
    times = (np.array([one[k] for one in flat], float) for k in (0, 1))
    flags = (np.array([one[k] for one in flat], bool) for k in (2, 3))
    return Spans(row, *times, *flags)


def interesting(*given: Movement | Spans) -> list[Fraction]:
    """Instants at which something may change, and between any two of them that follow each other."""
    times: set[Fraction] = set()
    for one in given:
        if isinstance(one, Spans):
            times |= {Fraction(t) for t in (*one.begin, *one.end)}
        else:
            times |= {Fraction(t) for piece in one for t, _, _ in piece.instants}
    order = sorted(times)
    between = [(a + b) / 2 for a, b in pairwise(order)]
    thirds = [a + (b - a) / 3 for a, b in pairwise(order)]
    outside = [order[0] - 1, order[-1] + 1] if order else []
    return sorted({*order, *between, *thirds, *outside})


def points_of(*places: tuple[float, float]) -> Points:
    xy = np.array(places, float).reshape(-1, 2)
    return Points(np.ascontiguousarray(xy[:, 0]), np.ascontiguousarray(xy[:, 1]))


def region_of(*rings: list[tuple[float, float]]) -> Shapes:
    """One region."""
    xy = np.array([corner for ring in rings for corner in ring], float)
    part = np.cumsum([0, *(len(ring) for ring in rings)])
    return Shapes(
        np.array([0, len(rings)]), part, np.ascontiguousarray(xy[:, 0]), np.ascontiguousarray(xy[:, 1])
    )


def in_region(rings: list[list[tuple[int, int]]], x: Fraction, y: Fraction) -> bool:
    """In a region or on its border, by exact fractions: a ray upwards crosses an odd number of sides."""
    odd = False
    for ring in rings:
        for (x0, y0), (x1, y1) in zip(ring, [*ring[1:], ring[0]], strict=True):
            side = (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)
            if side == 0 and min(x0, x1) <= x <= max(x0, x1) and min(y0, y1) <= y <= max(y0, y1):
                return True
            if (x0 <= x) != (x1 <= x):
                height = y0 + (x - x0) * Fraction(y1 - y0, x1 - x0)
                if height > y:
                    odd = not odd
    return odd


def arrow_struct(one: Movement) -> dict[str, Any]:
    """A movement as a value of Spark's or Arrow's."""
    instants = [instant for piece in one for instant in piece.instants]
    sizes = [len(piece.instants) for piece in one]
    return {
        **{name: [float(instant[k]) for instant in instants] for k, name in enumerate("txy")},
        "first": [int(sum(sizes[:k])) for k in range(len(sizes))],
        "begin_closed": [piece.begin_closed for piece in one],
        "end_closed": [piece.end_closed for piece in one],
    }
