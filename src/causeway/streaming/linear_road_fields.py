"""The fields of Linear Road's input tuples: what the benchmark writes and any streaming table can read."""

from __future__ import annotations

from typing import Final

__all__ = ["INPUT_COLUMNS"]

INPUT_COLUMNS: Final = (
    "Type",
    "Time",
    "VID",
    "Spd",
    "XWay",
    "Lane",
    "Dir",
    "Seg",
    "Pos",
    "QID",
    "Sinit",
    "Send",
    "DOW",
    "TOD",
    "Day",
)
"""The fifteen fields of section 3.1.2, in the order of the flat files."""
