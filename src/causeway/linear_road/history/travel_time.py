"""Travel times (type 4, section 3.2.3): every journey walked through the weekday's mean history.

Where a journey is depends on the minute reached, and that on an exact sum of fractions. Here it is a sum of
whole parts of a second, each rounded down, together with how many of them were rounded: the truth lies less
than that many parts above. Where even so little decides over a minute (or, at the end, a second), the journey
is walked again in fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from causeway.linear_road.history.weekday_sums import CNT, DAYS_SUMMED, LAV, WeekdaySums
from causeway.linear_road.model.array_types import I32, I64
from causeway.linear_road.model.calendar import MINUTES_PER_DAY, WEEKDAYS
from causeway.linear_road.model.expressway import EAST, SEGMENTS, WEST
from causeway.runtime.compiled import kernel

__all__ = ["Toll", "by_expressway", "travel_times"]

Toll = Callable[[I32, I32], npt.NDArray[np.integer]]
"""A rule set's toll where no accident is, of segments with a Lav and a number of cars."""

# A segment is a mile, and speeds are miles per hour.
_SECONDS_AT_1_MPH = 3600
# Parts of a second. 99 segments at 1/10 mph, the slowest mean of ten whole numbers, stay below 2^63 of them.
_SECOND = 1 << 32
_MINUTE = 60 * _SECOND

_WALKED, _TOO_CLOSE, _NO_HISTORY = range(3)


def travel_times(
    weekday_sums: Callable[[int], WeekdaySums | None],
    xway: npt.ArrayLike,
    sinit: npt.ArrayLike,
    send: npt.ArrayLike,
    dow: npt.ArrayLike,
    tod: npt.ArrayLike,
    toll: Toll,
) -> tuple[I64, I64]:
    """Seconds, rounded down, and toll of each journey; `weekday_sums` gives the history of an expressway.

    Both are 0 for a journey that there cannot be (a segment, weekday or minute out of range) and for one
    through a segment of which the history knows no speed: no rows, or a mean Lav of 0 or less.
    """
    # Copies, since the kernel would be compiled anew for what is narrower or cannot be written to.
    xway, sinit, send, dow, tod = (np.array(column, np.int64) for column in (xway, sinit, send, dow, tod))
    possible = _within(sinit, 0, SEGMENTS - 1) & _within(send, 0, SEGMENTS - 1)
    possible &= _within(dow, 1, WEEKDAYS) & _within(tod, 1, MINUTES_PER_DAY)
    segments = np.where(possible, np.abs(send - sinit), 0)
    ends = np.cumsum(segments)
    starts = ends - segments
    passed = int(ends[-1]) if len(ends) else 0
    lav, cars = np.zeros(passed, np.int32), np.zeros(passed, np.int32)
    seconds = np.zeros(len(xway), np.int64)
    outcome = np.full(len(xway), _NO_HISTORY, np.int8)
    for number, journeys in by_expressway(xway, segments > 0):
        sums = weekday_sums(number)
        if sums is None:
            continue
        _walk(sums, journeys, sinit, send, dow, tod, starts, seconds, outcome, lav, cars)
        for i in journeys[outcome[journeys] == _TOO_CLOSE].tolist():
            place = slice(int(starts[i]), int(ends[i]))
            journey = int(sinit[i]), int(send[i]), int(dow[i]), int(tod[i])
            seconds[i], outcome[i] = _walk_in_fractions(sums, journey, lav[place], cars[place])
    # One call for all: a rule set works on arrays, and a few hundred segments cost it what one does.
    paid = np.concatenate([[0], np.cumsum(toll(lav, cars), dtype=np.int64)])
    answered = outcome == _WALKED
    return np.where(answered, seconds, 0), np.where(answered, paid[ends] - paid[starts], 0)


def by_expressway(xway: I64, wanted: npt.NDArray[np.bool_]) -> Iterator[tuple[int, I64]]:
    """Each expressway's number, and where in `xway` it stands and is `wanted`."""
    places = np.flatnonzero(wanted)
    order = places[np.argsort(xway[places], kind="stable")]
    in_order = xway[order]
    bounds = [0, *(np.flatnonzero(np.diff(in_order)) + 1).tolist(), len(order)]
    for first, end in pairwise(bounds):
        if first < end:
            yield int(in_order[first]), order[first:end]


def _within(values: I64, least: int, largest: int) -> npt.NDArray[np.bool_]:
    return (least <= values) & (values <= largest)


@kernel
def _walk(
    sums: WeekdaySums,
    journeys: I64,
    sinit: I64,
    send: I64,
    dow: I64,
    tod: I64,
    starts: I64,
    seconds: I64,
    outcome: npt.NDArray[np.int8],
    lav: I32,
    cars: I32,
) -> None:
    """Fill in `seconds` and `outcome` of `journeys`, and `lav` and `cars` of their segments."""
    for i in journeys:
        direction = EAST if send[i] >= sinit[i] else WEST
        step = 1 if direction == EAST else -1
        weekday = sums[direction, dow[i] - 1]
        # The truth is `elapsed` if none was rounded, or else between that and `elapsed + rounded`.
        elapsed = np.int64(0)
        rounded = np.int64(0)
        outcome[i] = _WALKED
        at = starts[i]
        for segment in range(sinit[i], send[i], step):
            minute = min(tod[i] + elapsed // _MINUTE, MINUTES_PER_DAY)
            if minute != min(tod[i] + (elapsed + rounded) // _MINUTE, MINUTES_PER_DAY):
                outcome[i] = _TOO_CLOSE
                break
            lav_sum = np.int64(weekday[minute - 1, segment, LAV])
            days = np.int64(weekday[minute - 1, segment, DAYS_SUMMED])
            if lav_sum <= 0:
                outcome[i] = _NO_HISTORY
                break
            parts = _SECONDS_AT_1_MPH * _SECOND * days
            elapsed += parts // lav_sum
            rounded += parts % lav_sum != 0
            lav[at] = lav_sum // days
            cars[at] = np.int64(weekday[minute - 1, segment, CNT]) // days
            at += 1
        seconds[i] = elapsed // _SECOND
        if outcome[i] == _WALKED and seconds[i] != (elapsed + rounded) // _SECOND:
            outcome[i] = _TOO_CLOSE


def _walk_in_fractions(
    sums: WeekdaySums, journey: tuple[int, int, int, int], lav: I32, cars: I32
) -> tuple[int, int]:
    """The same for one journey, slowly and without any doubt: its seconds and outcome."""
    sinit, send, dow, tod = journey
    direction = EAST if send >= sinit else WEST
    elapsed = Fraction(0)
    for at, segment in enumerate(range(sinit, send, 1 if direction == EAST else -1)):
        minute = min(tod + elapsed // 60, MINUTES_PER_DAY)
        lav_sum, cnt_sum, days = sums[direction, dow - 1, minute - 1, segment].tolist()
        if lav_sum <= 0:
            return 0, _NO_HISTORY
        elapsed += Fraction(_SECONDS_AT_1_MPH * days, lav_sum)
        lav[at] = lav_sum // days
        cars[at] = cnt_sum // days
    return int(elapsed), _WALKED
