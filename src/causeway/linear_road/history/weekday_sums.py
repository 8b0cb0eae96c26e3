"""The shape in which an expressway's SegmentHistory is kept for lookups: sums by weekday and minute."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from causeway.linear_road.model.calendar import MINUTES_PER_DAY, WEEKDAYS
from causeway.linear_road.model.expressway import SEGMENTS

__all__ = ["CNT", "DAYS_SUMMED", "LAV", "WEEKDAY_SUMS_SHAPE", "WeekdaySums"]

WeekdaySums = npt.NDArray[np.integer]
"""One expressway's SegmentHistory, summed over the days of each weekday.

Indexed by [direction, DOW - 1, minute - 1, segment]; the last axis has the sums `LAV` and `CNT` of the rows,
and their number `DAYS_SUMMED`: ten at most, 0 where the history has none.
"""

LAV, CNT, DAYS_SUMMED = range(3)
WEEKDAY_SUMS_SHAPE: Final = (2, WEEKDAYS, MINUTES_PER_DAY, SEGMENTS, 3)
