"""The rules of Linear Road that a pipeline follows, one class per dialect; the validator uses none of them.

A pipeline knows what a trip, a segment and a minute are. What it charges, when a vehicle is stopped and where
an accident is felt is decided here. All methods work on whole arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import floor
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from causeway.linear_road.model.array_types import I32, I64

__all__ = ["RULES", "Rules", "Vldb2004"]

NO_SPEED: Final = -1
"""Lav of a segment in which nobody has reported lately."""

_IN_DOUBT: Final = 1e-9
"""How near to a whole number a sum of floats is added again, exactly; far more than its rounding error."""


class Rules(Protocol):
    """What a dialect of Linear Road has to say."""

    name: str
    stopped_after: int
    """Consecutive reports from one place that make a vehicle stopped."""
    minutes_averaged: int
    """How many minutes before the current one Lav looks at."""
    accident_reach: int
    """An accident is felt in its segment and so many further ones upstream."""

    def lav(self, speeds: I64, cars: I64, scale: int) -> I32:
        """Latest average velocity, of each segment in the minute to come.

        `cars[i]` are the vehicles of the minute i + 1 minutes ago, `speeds[i]` the sum over them of each
        vehicle's mean speed, in units of 1 / `scale`.
        """

    def toll(self, lav: I32, cars: I32, accident: NDArray[np.bool_] | None = None) -> I32:
        """The toll with `cars` vehicles in the minute before, and whether an accident was felt then."""


class Vldb2004:
    """The rules of the paper of 2004, Tables 2 and 3."""

    name = "vldb2004"
    stopped_after = 4
    minutes_averaged = 5
    accident_reach = 4

    def lav(self, speeds: I64, cars: I64, scale: int) -> I32:
        """The floor of the mean over those of the five minutes in which the segment had vehicles."""
        minutes = np.count_nonzero(cars, axis=0)
        some = np.maximum(cars, 1)
        step = np.maximum(minutes, 1) * scale
        # The floor of a sum of at most five fractions. Whole parts are added as integers; floats only have to
        # tell how many whole ones the rests make, at most four. Their error is below 1e-14, so that only sums
        # this close to a whole number are in doubt, and of these only those at which Lav changes.
        whole = (speeds // some).sum(axis=0)
        rests = (speeds % some / some).sum(axis=0)
        nearest = np.rint(rests).astype(np.int64)
        total = whole + np.floor(rests).astype(np.int64)
        doubtful = (np.abs(rests - nearest) < _IN_DOUBT) & ((whole + nearest) % step == 0) & (rests > 0)
        for segment in np.flatnonzero(doubtful).tolist():
            total[segment] = _floor_of_sum(speeds[:, segment].tolist(), some[:, segment].tolist())
        return np.where(minutes > 0, total // step, NO_SPEED).astype(np.int32)

    def toll(self, lav: I32, cars: I32, accident: NDArray[np.bool_] | None = None) -> I32:
        """2 · (cars - 50)² where traffic is slow and dense, and no accident makes it so."""
        due = (lav >= 0) & (lav < 40) & (cars > 50)
        if accident is not None:
            due &= ~accident
        return np.where(due, 2 * (cars - 50) ** 2, 0).astype(np.int32)


def _floor_of_sum(numerators: list[int], denominators: list[int]) -> int:
    """The floor of a sum of fractions, without any rounding."""
    parts = (Fraction(*part) for part in zip(numerators, denominators, strict=True))
    return floor(sum(parts, Fraction(0)))


RULES: Final[Mapping[str, Rules]] = {rules.name: rules for rules in (Vldb2004(),)}
"""Every dialect by its name."""
