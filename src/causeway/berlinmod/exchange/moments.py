"""Dates of the authors' files, `yyyy-mm-dd-hh:mm:ss.mmm`, to milliseconds since 1970 and back."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.berlinmod.model.arrays import BOOL, I64
from causeway.moving_objects.conversions.binary import flat_bytes
from causeway.runtime.compiled import inlined, kernel

__all__ = ["MOMENT_WIDTH", "moment_bytes", "moment_texts", "read_moments"]

MOMENT_WIDTH: Final = 23
_FIRST_MS: Final = -62_135_596_800_000
_END_MS: Final = 253_402_300_800_000
"""Years have four digits: 0001 to 9999."""


def moment_texts(t: I64, separator: str = "-") -> pa.Array:
    """Texts of moments; `separator` stands between the date and the time of day."""
    width = np.arange(t.size + 1, dtype=np.int32) * MOMENT_WIDTH
    data = pa.py_buffer(moment_bytes(t, separator))
    return pa.Array.from_buffers(pa.string(), t.size, [None, pa.py_buffer(width), data])


def moment_bytes(t: I64, separator: str = "-") -> NDArray[np.uint8]:
    """The same as rows of 23 bytes."""
    inside = np.clip(t, _FIRST_MS, _END_MS - 1)
    return _format(inside.astype(np.int64), ord(separator))


@inlined
def _digits(out: Any, row: int, place: int, number: int, count: int) -> None:
    for k in range(count):
        out[row, place + count - 1 - k] = 48 + number % 10
        number //= 10


@kernel
def _format(t: I64, separator: int) -> NDArray[np.uint8]:
    out = np.empty((t.size, 23), np.uint8)
    last_day = np.int64(-(2**62))
    year = month = day = 0
    for i in range(t.size):
        days = t[i] // 86_400_000
        rest = t[i] - days * 86_400_000
        if days != last_day:
            # The calendar in eras of 400 years that begin in March, so that leap days come last.
            shifted = days + 719_468
            era = shifted // 146_097
            of_era = shifted - era * 146_097
            year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
            of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
            march = (5 * of_year + 2) // 153
            day = of_year - (153 * march + 2) // 5 + 1
            month = march + 3 if march < 10 else march - 9
            year = year_of_era + era * 400 + (1 if month <= 2 else 0)
            last_day = days
        _digits(out, i, 0, year, 4)
        out[i, 4] = out[i, 7] = 45
        _digits(out, i, 5, month, 2)
        _digits(out, i, 8, day, 2)
        out[i, 10] = separator
        _digits(out, i, 11, rest // 3_600_000, 2)
        out[i, 13] = out[i, 16] = 58
        _digits(out, i, 14, rest // 60_000 % 60, 2)
        _digits(out, i, 17, rest // 1000 % 60, 2)
        out[i, 19] = 46
        _digits(out, i, 20, rest % 1000, 3)
    return out


def read_moments(texts: pa.Array) -> tuple[I64, BOOL]:
    """Milliseconds of each text, rounded, and whether it is a moment.

    Read are `2007-05-28-06:40:15.000` and what the authors' downloads have beside it: a space or a T before
    the time of day, no fraction, no seconds, no time of day at all. A zone (`Z`, `+02`, `+02:00`) is
    subtracted, so that the result is in UTC.
    """
    offsets, data = flat_bytes(texts)
    return _parse(offsets, data)


@inlined
def _number(data: Any, place: Any, end: Any, count: int) -> Any:
    """The number of `count` digits, or -1."""
    if place + count > end:
        return -1
    value = np.int64(0)
    for k in range(count):
        digit = np.int64(data[place + k]) - 48
        if digit < 0 or digit > 9:
            return -1
        value = value * 10 + digit
    return value


@inlined
def _is(data: Any, place: int, end: int, character: int) -> bool:
    return place < end and data[place] == character


@kernel
def _parse(offsets: I64, data: NDArray[np.uint8]) -> tuple[I64, BOOL]:
    rows = offsets.size - 1
    out = np.zeros(rows, np.int64)
    good = np.zeros(rows, np.bool_)
    month_days = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
    for i in range(rows):
        place, end = offsets[i], offsets[i + 1]
        year = _number(data, place, end, 4)
        month = _number(data, place + 5, end, 2)
        day = _number(data, place + 8, end, 2)
        if year < 1 or month < 1 or month > 12 or day < 1:
            continue
        if not (_is(data, place + 4, end, 45) and _is(data, place + 7, end, 45)):
            continue
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        if day > month_days[month - 1] + (1 if leap and month == 2 else 0):
            continue
        march_year = year - (1 if month <= 2 else 0)
        era = march_year // 400
        year_of_era = march_year - era * 400
        of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
        days = era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + of_year - 719_468
        micros = np.int64(days) * 86_400_000_000
        place += 10
        if place < end:
            if data[place] != 45 and data[place] != 32 and data[place] != 84:
                continue
            hour = _number(data, place + 1, end, 2)
            minute = _number(data, place + 4, end, 2)
            if hour < 0 or hour > 23 or minute < 0 or minute > 59 or not _is(data, place + 3, end, 58):
                continue
            micros += hour * 3_600_000_000 + minute * 60_000_000
            place += 6
            if _is(data, place, end, 58):
                second = _number(data, place + 1, end, 2)
                if second < 0 or second > 59:
                    continue
                micros += second * 1_000_000
                place += 3
                if _is(data, place, end, 46):
                    place += 1
                    worth = 100_000
                    first = place
                    while place < end and 48 <= data[place] <= 57:
                        micros += worth * (np.int64(data[place]) - 48)
                        worth //= 10
                        place += 1
                    if place == first:
                        continue
            if _is(data, place, end, 90):
                place += 1
            elif _is(data, place, end, 43) or _is(data, place, end, 45):
                sign = 1 if data[place] == 43 else -1
                hour = _number(data, place + 1, end, 2)
                place += 3
                minute = 0
                if place < end:
                    if _is(data, place, end, 58):
                        place += 1
                    minute = _number(data, place, end, 2)
                    place += 2
                if hour < 0 or hour > 23 or minute < 0 or minute > 59:
                    continue
                micros -= sign * (hour * 3_600_000_000 + minute * 60_000_000)
        if place == end:
            out[i] = (micros + 500) // 1000
            good[i] = True
    return out, good
