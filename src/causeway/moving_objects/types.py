"""The types as Spark writes them: plain structs of arrays, so that any table can hold them."""

from __future__ import annotations

from typing import Final

__all__ = [
    "BOXES",
    "INSTANT_POINT",
    "LINE",
    "MOVING_BOOL",
    "MOVING_POINT",
    "MOVING_REAL",
    "PERIODS",
    "POINT",
    "REGION",
]

POINT: Final = "struct<x:double,y:double>"
"""Metres in a plane."""

INSTANT_POINT: Final = "struct<t:double,x:double,y:double>"
"""A position and its time; Table 4's `ipoint`."""

MOVING_POINT: Final = (
    "struct<t:array<double>,x:array<double>,y:array<double>,"
    "first:array<int>,begin_closed:array<boolean>,end_closed:array<boolean>>"
)
"""Instants and positions. `first` has for each piece the place of its first instant, counted from 0; the
flags say for each piece whether its first and last instant belong to it. Functions also take the plain
`struct<t, x, y>` of a history without gaps: one piece, closed at its begin and open at its end (a single
instant is closed)."""

_INTERVALS: Final = (
    "begin:array<double>,end:array<double>,begin_closed:array<boolean>,end_closed:array<boolean>"
)

PERIODS: Final = f"struct<{_INTERVALS}>"
"""Disjoint intervals of time. Functions also take a single `struct<begin, end>`, closed at both ends."""

MOVING_BOOL: Final = f"struct<{_INTERVALS},value:array<boolean>>"
"""A truth value for each interval."""

MOVING_REAL: Final = f"struct<{_INTERVALS},a:array<double>,b:array<double>,c:array<double>,root:boolean>"
"""For each interval a·s² + b·s + c, or its root if `root`; s is seconds from the interval's begin."""

LINE: Final = "struct<x:array<double>,y:array<double>,first:array<int>>"
"""Polylines; `first` has for each the place of its first corner."""

REGION: Final = LINE
"""Rings, the first corner not repeated; `first` may be left out if there is one ring."""

BOXES: Final = (
    "array<struct<first:int,units:int,begin_closed:boolean,end_closed:boolean,"
    "t_min:double,t_max:double,x_min:double,x_max:double,y_min:double,y_max:double>>"
)
"""Boxes of a few units each: the place of their first instant, how many they are, whether the ends belong to
them (so that each instant is in one box only), and the box."""
