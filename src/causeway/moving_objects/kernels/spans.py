"""Intervals of time: how kernels write them, and how a movement is restricted to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from causeway.moving_objects.kernels.values import (
    Doubles,
    Flags,
    Longs,
    MovingBools,
    MovingPoints,
    MovingReals,
    Spans,
)
from causeway.runtime.compiled import kernel

__all__ = [
    "append",
    "at_value",
    "deftime",
    "find_unit",
    "grown",
    "overlap",
    "restrict",
    "sometimes",
    "united",
]


@kernel
def grown(values: Any, needed: int) -> Any:
    """`values`, or a copy with room for `needed` and more."""
    if needed <= len(values):
        return values
    copy = np.empty(max(needed, 2 * len(values)), values.dtype)
    copy[: len(values)] = values
    return copy


@kernel
def append(
    begin: Doubles,
    end: Doubles,
    closed: Flags,
    count: int,
    first: int,
    b: float,
    e: float,
    b_closed: bool,
    e_closed: bool,
) -> Any:
    """Write one interval after `count` others, or make the last one longer; gives the new count.

    `closed` has two columns: begin and end. An interval that is empty is left out. The arrays have room.
    Those before `first` belong to other rows. Intervals come in order of their begin.
    """
    if b > e or (b == e and not (b_closed and e_closed)):
        return count
    if count > first and (b < end[count - 1] or (b == end[count - 1] and (b_closed or closed[count - 1, 1]))):
        if e > end[count - 1]:
            end[count - 1] = e
            closed[count - 1, 1] = e_closed
        elif e == end[count - 1]:
            closed[count - 1, 1] |= e_closed
        return count
    begin[count] = b
    end[count] = e
    closed[count, 0] = b_closed
    closed[count, 1] = e_closed
    return count + 1


@kernel
def overlap(b1: float, e1: float, bc1: bool, ec1: bool, b2: float, e2: float, bc2: bool, ec2: bool) -> Any:
    """The common interval of two: begin, end, closed at begin and end, and whether there is one."""
    b = max(b1, b2)
    e = min(e1, e2)
    b_closed = (bc1 if b1 >= b2 else True) and (bc2 if b2 >= b1 else True)
    e_closed = (ec1 if e1 <= e2 else True) and (ec2 if e2 <= e1 else True)
    return b, e, b_closed, e_closed, b < e or (b == e and b_closed and e_closed)


@kernel
def find_unit(t: Doubles, first: int, last: int, instant: float) -> Any:
    """The unit that `instant` is in: the last i in first..last - 1 with t[i] <= instant, at least `first`."""
    low = first
    high = max(last, first + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if t[middle] <= instant:
            low = middle
        else:
            high = middle
    return low


@kernel
def _united(row: Longs, begin: Doubles, end: Doubles, bc: Flags, ec: Flags) -> Any:
    out_row = np.zeros(len(row), np.int64)
    out_begin = np.empty(len(begin))
    out_end = np.empty(len(begin))
    closed = np.empty((len(begin), 2), np.bool_)
    count = 0
    for r in range(len(row) - 1):
        first = count
        order = np.argsort(begin[row[r] : row[r + 1]], kind="mergesort")
        for k in order:
            i = row[r] + k
            if count > first and bc[i] and out_begin[count - 1] == begin[i]:
                closed[count - 1, 0] = True
            count = append(out_begin, out_end, closed, count, first, begin[i], end[i], bc[i], ec[i])
        out_row[r + 1] = count
    return out_row, out_begin[:count], out_end[:count], closed[:count, 0].copy(), closed[:count, 1].copy()


def united(spans: Spans) -> Spans:
    """The same times as disjoint intervals in order, none of which touches another."""
    return Spans(*_united(*spans.intervals))


@kernel
def _restrict(
    row: Longs,
    piece: Longs,
    t: Doubles,
    x: Doubles,
    y: Doubles,
    bc: Flags,
    ec: Flags,
    span_row: Longs,
    begin: Doubles,
    end: Doubles,
    span_bc: Flags,
    span_ec: Flags,
) -> Any:
    out_row = np.zeros(len(row), np.int64)
    size = 16 + len(begin)
    out_piece = np.zeros(size + 1, np.int64)
    closed = np.empty((size, 2), np.bool_)
    out = np.empty((64 + 2 * len(begin), 3))
    pieces = 0
    n = 0
    for r in range(len(row) - 1):
        p = row[r]
        s = span_row[r]
        while p < row[r + 1] and s < span_row[r + 1]:
            i0 = piece[p]
            i1 = piece[p + 1] - 1
            b, e, b_closed, e_closed, common = overlap(
                t[i0], t[i1], bc[p], ec[p], begin[s], end[s], span_bc[s], span_ec[s]
            )
            if common:
                u = find_unit(t, i0, i1, b)
                v = find_unit(t, u, i1, e)
                needed = n + v - u + 3
                if needed > len(out):
                    copy = np.empty((max(needed, 2 * len(out)), 3))
                    copy[:n] = out[:n]
                    out = copy
                if pieces + 2 > len(out_piece):
                    out_piece = grown(out_piece, pieces + 2)
                if pieces + 1 > len(closed):
                    flags = np.empty((2 * len(closed), 2), np.bool_)
                    flags[:pieces] = closed[:pieces]
                    closed = flags
                # Two intervals that meet inside a piece are one piece of the result.
                meets = (
                    pieces > out_row[r]
                    and n > 0
                    and out[n - 1, 0] == b
                    and s > span_row[r]
                    and b > t[i0]
                    and (b_closed or closed[pieces - 1, 1])
                )
                if not meets:
                    n = _place(out, n, t, x, y, u, i1, b)
                    closed[pieces, 0] = b_closed
                    pieces += 1
                for i in range(u + 1, v + 1):
                    if t[i] > b and t[i] < e:
                        out[n, 0] = t[i]
                        out[n, 1] = x[i]
                        out[n, 2] = y[i]
                        n += 1
                if e > b:
                    n = _place(out, n, t, x, y, v, i1, e)
                closed[pieces - 1, 1] = e_closed
                out_piece[pieces] = n
            # Whichever ends first is done with; both may end together.
            if t[i1] < end[s] or (t[i1] == end[s] and not (ec[p] and not span_ec[s])):
                p += 1
            else:
                s += 1
        out_row[r + 1] = pieces
    points = out[:n]
    return (
        out_row,
        out_piece[: pieces + 1].copy(),
        points[:, 0].copy(),
        points[:, 1].copy(),
        points[:, 2].copy(),
        closed[:pieces, 0].copy(),
        closed[:pieces, 1].copy(),
    )


@kernel
def _place(
    out: Doubles, n: int, t: Doubles, x: Doubles, y: Doubles, u: int, last: int, instant: float
) -> Any:
    """Write where the movement is at `instant`, which is in unit `u`."""
    out[n, 0] = instant
    if u >= last or instant == t[u]:
        out[n, 1] = x[u]
        out[n, 2] = y[u]
    elif instant == t[u + 1]:
        out[n, 1] = x[u + 1]
        out[n, 2] = y[u + 1]
    else:
        part = (instant - t[u]) / (t[u + 1] - t[u])
        out[n, 1] = x[u] + part * (x[u + 1] - x[u])
        out[n, 2] = y[u] + part * (y[u + 1] - y[u])
    return n + 1


def restrict(points: MovingPoints, spans: Spans) -> MovingPoints:
    """`atperiods`: the movement during intervals that are disjoint and in order."""
    return MovingPoints(*_restrict(*points.pieces, *spans.intervals))


def deftime(value: MovingPoints | MovingReals | MovingBools) -> Spans:
    """When a value is defined: intervals that do not touch."""
    if isinstance(value, MovingPoints):
        starts, ends = value.piece[:-1], value.piece[1:] - 1
        return united(Spans(value.row, value.t[starts], value.t[ends], value.begin_closed, value.end_closed))
    return united(value.spans)


def at_value(bools: MovingBools, wanted: Flags) -> MovingBools:
    """The part of each moving bool that has the wanted value of its row."""
    spans = bools.spans
    kept = bools.value == np.repeat(wanted, np.diff(spans.row))
    row: Longs = np.concatenate([[0], np.cumsum(kept)])[spans.row].astype(np.int64)
    begin: Doubles = spans.begin[kept]
    chosen = Spans(row, begin, spans.end[kept], spans.begin_closed[kept], spans.end_closed[kept])
    return MovingBools(chosen, bools.value[kept])


def sometimes(bools: MovingBools) -> Flags:
    """Whether each moving bool is ever true."""
    true_before = np.concatenate([[0], np.cumsum(bools.value)])[bools.spans.row]
    found: Flags = np.diff(true_before) > 0
    return found
