"""Days and milliseconds: the paper counts days from Monday, 3 January 2000 (Table 8)."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

__all__ = ["DAY_MS", "HOUR_MS", "MINUTE_MS", "NULL_DAY", "NULL_DAY_MS", "date_of", "day_start"]

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS

NULL_DAY: Final = date(2000, 1, 3)
"""Day 0, a Monday: day d is a Monday if 7 divides d."""
NULL_DAY_MS: Final = (NULL_DAY - date(1970, 1, 1)).days * DAY_MS


def day_start(day: int) -> int:
    """Midnight at which a day begins, in milliseconds since 1970."""
    return NULL_DAY_MS + day * DAY_MS


def date_of(day: int) -> date:
    """The date of a day."""
    return NULL_DAY + timedelta(days=day)
