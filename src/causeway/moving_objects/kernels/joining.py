"""Movements put together: pieces of several to one, rows of positions to one."""

from __future__ import annotations

from typing import Any

import numpy as np

from causeway.moving_objects.kernels.values import Doubles, Flags, Longs, MovingPoints
from causeway.runtime.compiled import kernel
from causeway.runtime.errors import UserError

__all__ = ["concat", "from_rows", "stacked"]


@kernel
def _concat(row: Longs, piece: Longs, t: Doubles, x: Doubles, y: Doubles, bc: Flags, ec: Flags) -> Any:
    """The pieces of each row in the order of time; those that meet in time and place are one."""
    out_row = np.zeros(len(row), np.int64)
    out_piece = np.zeros(len(piece), np.int64)
    out = np.empty((len(t), 3))
    out_bc = np.empty(len(bc), np.bool_)
    out_ec = np.empty(len(ec), np.bool_)
    pieces = 0
    n = 0
    for r in range(len(row) - 1):
        first = pieces
        begins = np.empty(row[r + 1] - row[r])
        for k in range(len(begins)):
            begins[k] = t[piece[row[r] + k]]
        order = np.argsort(begins, kind="mergesort")
        # Of two that begin together, one is a single instant and goes first.
        for k in range(1, len(order)):
            p = row[r] + order[k]
            if begins[order[k]] == begins[order[k - 1]] and piece[p + 1] - piece[p] == 1:
                order[k], order[k - 1] = order[k - 1], order[k]
        for k in order:
            p = row[r] + k
            i0 = piece[p]
            if pieces > first:
                before = out[n - 1, 0]
                if t[i0] < before or (t[i0] == before and bc[p] and out_ec[pieces - 1]):
                    return r, before, t[i0], out_row, out_piece, out, out_bc, out_ec
                if (
                    t[i0] == before
                    and (bc[p] or out_ec[pieces - 1])
                    and x[i0] == out[n - 1, 1]
                    and y[i0] == out[n - 1, 2]
                ):
                    i0 += 1
            if i0 == piece[p]:
                out_bc[pieces] = bc[p]
                pieces += 1
            for i in range(i0, piece[p + 1]):
                out[n, 0] = t[i]
                out[n, 1] = x[i]
                out[n, 2] = y[i]
                n += 1
            # A single instant that only closes the end of the piece before adds no instant.
            out_ec[pieces - 1] = ec[p]
            out_piece[pieces] = n
        out_row[r + 1] = pieces
    return -1, 0.0, 0.0, out_row, out_piece[: pieces + 1], out[:n], out_bc[:pieces], out_ec[:pieces]


def concat(points: MovingPoints) -> MovingPoints:
    """Each row's pieces, in any order, as one movement."""
    bad, before, begin, row, piece, out, bc, ec = _concat(*points.pieces)
    if bad >= 0:
        raise UserError(
            f"concat: two of the movements are both defined at {begin:.3f} ms (one goes on until "
            f"{before:.3f}); movements that are put together must not overlap in time"
        )
    t, x, y = (np.ascontiguousarray(out[:, k]) for k in range(3))
    return MovingPoints(row, piece, t, x, y, bc, ec)


def stacked(one: MovingPoints, other: MovingPoints) -> MovingPoints:
    """Row by row the pieces of both, first those of `one`: what `concat` takes."""
    counts = np.diff(one.row) + np.diff(other.row)
    row: Longs = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    # Where each piece goes: one's pieces of row r, then other's.
    rows = np.arange(len(one))
    place_one = np.arange(len(one.piece) - 1) + np.repeat(other.row[:-1], np.diff(one.row))
    place_other = np.arange(len(other.piece) - 1) + np.repeat(one.row[1:], np.diff(other.row))
    assert len(rows) == len(other)
    source = np.empty(len(place_one) + len(place_other), np.int64)
    source[place_one] = np.arange(len(place_one))
    source[place_other] = np.arange(len(place_other)) + len(place_one)
    sizes = np.concatenate([np.diff(one.piece), np.diff(other.piece)])
    starts = np.concatenate([one.piece[:-1], other.piece[:-1] + len(one.t)])
    piece: Longs = np.concatenate([[0], np.cumsum(sizes[source])]).astype(np.int64)
    take = np.repeat(starts[source] - piece[:-1], sizes[source]) + np.arange(piece[-1])
    both = (np.concatenate([getattr(one, name), getattr(other, name)]) for name in ("t", "x", "y"))
    t, x, y = (values[take] for values in both)
    flags = (
        np.concatenate([getattr(one, f), getattr(other, f)])[source] for f in ("begin_closed", "end_closed")
    )
    return MovingPoints(row, piece, t, x, y, *flags)


def from_rows(row: Longs, t: np.ndarray, x: np.ndarray, y: np.ndarray) -> MovingPoints:
    """Positions of each row, in any order, as one movement that is closed at both ends.

    A position that is there more than once, with the same time, counts once.
    """
    owner = np.repeat(np.arange(len(row) - 1), np.diff(row))
    order = np.lexsort((y, x, t, owner))
    sorted_values = np.stack((owner, t, x, y))[:, order]
    fresh = np.ones(len(t), np.bool_)
    fresh[1:] = (sorted_values[:, 1:] != sorted_values[:, :-1]).any(axis=0)
    order = order[fresh]
    row = np.searchsorted(owner[order], np.arange(len(row))).astype(np.int64)
    defined = np.diff(row) > 0
    pieces = np.concatenate([[0], np.cumsum(defined)]).astype(np.int64)
    piece = np.concatenate([row[:-1][defined], row[-1:]]).astype(np.int64)
    always = np.ones(int(defined.sum()), np.bool_)
    return MovingPoints(pieces, piece, t[order], x[order], y[order], always, always)
