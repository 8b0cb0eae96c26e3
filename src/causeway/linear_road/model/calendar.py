"""The calendar of Linear Road: ten weeks of history, and the days and minutes that it is kept by."""

from __future__ import annotations

from typing import Final

__all__ = ["HISTORY_DAYS", "MINUTES_PER_DAY", "WEEKDAYS"]

HISTORY_DAYS: Final = 70
"""Day 1 is yesterday, day 70 ten weeks ago. Day n falls on the weekday 1 + (70 - n) mod 7.

The 2003 thesis (Table 3.2) has 1 for Monday and 6 for Saturday. Yesterday is thus a Sunday, and the
simulation runs on a Monday.
"""

MINUTES_PER_DAY: Final = 1440
WEEKDAYS: Final = 7
