"""Columns of moving objects as flat NumPy arrays: what every kernel takes and gives.

A column has rows, a row has pieces, a piece has instants. Offsets have one number more than there are rows
or pieces: the pieces of row r are `row[r]` to `row[r + 1] - 1`. Times are milliseconds since 1970 as
doubles: whole ones are exact, and what is computed falls between them, to a tenth of a microsecond.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Doubles",
    "Flags",
    "Longs",
    "MovingBools",
    "MovingPoints",
    "MovingReals",
    "Points",
    "Shapes",
    "Spans",
]

Doubles: TypeAlias = NDArray[np.float64]
Longs: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class MovingPoints:
    """Straight, even movement from instant to instant within a piece; nothing is defined between pieces."""

    row: Longs
    """Offsets of pieces."""
    piece: Longs
    """Offsets of instants."""
    t: Doubles
    x: Doubles
    y: Doubles
    begin_closed: Flags
    """For each piece: whether its first instant belongs to it."""
    end_closed: Flags

    def __len__(self) -> int:
        return len(self.row) - 1

    @property
    def instant_row(self) -> Longs:
        """Offsets of instants for each row."""
        offsets: Longs = self.piece[self.row]
        return offsets

    @property
    def pieces(self) -> tuple[Longs, Longs, Doubles, Doubles, Doubles, Flags, Flags]:
        """The arrays in the order in which kernels take them."""
        return self.row, self.piece, self.t, self.x, self.y, self.begin_closed, self.end_closed


@dataclass(frozen=True, slots=True)
class Spans:
    """Intervals of time, disjoint and in order within a row; also what a `periods` value is."""

    row: Longs
    begin: Doubles
    end: Doubles
    begin_closed: Flags
    end_closed: Flags

    def __len__(self) -> int:
        return len(self.row) - 1

    @property
    def intervals(self) -> tuple[Longs, Doubles, Doubles, Flags, Flags]:
        """The arrays in the order in which kernels take them."""
        return self.row, self.begin, self.end, self.begin_closed, self.end_closed


@dataclass(frozen=True, slots=True)
class MovingBools:
    """A truth value for each interval."""

    spans: Spans
    value: Flags

    def __len__(self) -> int:
        return len(self.spans)


@dataclass(frozen=True, slots=True)
class MovingReals:
    """For each interval a·s² + b·s + c, or its root; s is seconds from the interval's begin."""

    spans: Spans
    a: Doubles
    b: Doubles
    c: Doubles
    root: Flags
    """For each row: whether its values are the roots."""

    def __len__(self) -> int:
        return len(self.spans)


@dataclass(frozen=True, slots=True)
class Shapes:
    """Lines (parts are polylines; one of a single point is that point) or regions (parts are rings).

    A point is in a region if an odd number of rings surrounds it, or if it is on a ring.
    """

    row: Longs
    """Offsets of parts."""
    part: Longs
    """Offsets of corners."""
    x: Doubles
    y: Doubles

    def __len__(self) -> int:
        return len(self.row) - 1

    @property
    def parts(self) -> tuple[Longs, Longs, Doubles, Doubles]:
        """The arrays in the order in which kernels take them."""
        return self.row, self.part, self.x, self.y


@dataclass(frozen=True, slots=True)
class Points:
    """Places in the plane."""

    x: Doubles
    y: Doubles

    def __len__(self) -> int:
        return len(self.x)
