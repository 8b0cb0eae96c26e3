"""Boxes in space and time around every few units of a movement: what an index holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from causeway.moving_objects.kernels.values import Doubles, Flags, Longs, MovingPoints
from causeway.runtime.compiled import kernel

__all__ = ["Boxes", "boxes"]


@dataclass(frozen=True, slots=True)
class Boxes:
    """`row` are offsets of boxes; `first` and `last` are instants, counted from the start of the row."""

    row: Longs
    first: Longs
    last: Longs
    begin_closed: Flags
    end_closed: Flags
    t_min: Doubles
    t_max: Doubles
    x_min: Doubles
    x_max: Doubles
    y_min: Doubles
    y_max: Doubles


@kernel
def _boxes(
    row: Longs,
    piece: Longs,
    t: Doubles,
    x: Doubles,
    y: Doubles,
    bc: Flags,
    ec: Flags,
    units: int,
    longest: float,
) -> Any:
    out_row = np.zeros(len(row), np.int64)
    size = 16 + len(piece) + len(t) // units
    ends = np.empty((size, 4), np.int64)
    box = np.empty((size, 6))
    n = 0
    for r in range(len(row) - 1):
        start = piece[row[r]]
        for p in range(row[r], row[r + 1]):
            last = piece[p + 1] - 1
            i = piece[p]
            while True:
                k = i
                # A unit that takes longer than `longest` (parking, as a rule) has a box of its own.
                while k < last and k - i < units and (t[k + 1] - t[k] <= longest or k == i):
                    k += 1
                    if t[k] - t[k - 1] > longest:
                        break
                if n == len(box):
                    more_box = np.empty((2 * n, 6))
                    more_box[:n] = box
                    box = more_box
                    more_ends = np.empty((2 * n, 4), np.int64)
                    more_ends[:n] = ends
                    ends = more_ends
                ends[n, 0] = i - start
                ends[n, 1] = k - start
                ends[n, 2] = bc[p] if i == piece[p] else True
                # The end of a box inside a piece belongs to the next one.
                ends[n, 3] = ec[p] if k == last else False
                box[n, 0] = t[i]
                box[n, 1] = t[k]
                box[n, 2] = x[i : k + 1].min()
                box[n, 3] = x[i : k + 1].max()
                box[n, 4] = y[i : k + 1].min()
                box[n, 5] = y[i : k + 1].max()
                n += 1
                i = k
                if i >= last:
                    break
        out_row[r + 1] = n
    return out_row, ends[:n], box[:n]


def boxes(points: MovingPoints, units: int, longest: float) -> Boxes:
    """A box for at most `units` units in a row; a unit of more than `longest` ms has one of its own."""
    row, ends, box = _boxes(*points.pieces, units, longest)
    columns = [np.ascontiguousarray(box[:, k]) for k in range(6)]
    flags = (ends[:, k] > 0 for k in (2, 3))
    return Boxes(row, ends[:, 0].copy(), ends[:, 1].copy(), *flags, *columns)
