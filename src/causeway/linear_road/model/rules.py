"""The rules of Linear Road that a pipeline follows, one class per dialect; nothing else uses them.

A pipeline knows what a trip, a segment and a minute are. What it charges, what it calls stopped and where an
accident is felt, it asks here. All methods work on whole arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from causeway.linear_road.model.array_types import I32, I64

__all__ = ["RULES", "Rules", "Vldb2004"]

NO_SPEED: Final = -1
"""Lav of a segment in which nobody has reported lately."""


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
        # A sum of up to five fractions: whole parts are added as integers, so that only the small rest is a
        # matter of rounding. Sums of mean speeds are multiples of scale / 16, so that the total is a whole
        # number of steps or at least scale / 16 / (product of cars) away from it: far more than the rounding
        # error, for up to 3,000 vehicles a minute in one segment.
        rests = (speeds % some / some).sum(axis=0)
        total = (speeds // some).sum(axis=0) + np.floor(rests + 1e-13).astype(np.int64)
        return np.where(minutes > 0, total // (np.maximum(minutes, 1) * scale), NO_SPEED).astype(np.int32)

    def toll(self, lav: I32, cars: I32, accident: NDArray[np.bool_] | None = None) -> I32:
        """2 · (cars - 50)² where traffic is slow and dense, and no accident makes it so."""
        due = (lav >= 0) & (lav < 40) & (cars > 50)
        if accident is not None:
            due &= ~accident
        return np.where(due, 2 * (cars - 50) ** 2, 0).astype(np.int32)


RULES: Final[Mapping[str, Rules]] = {rules.name: rules for rules in (Vldb2004(),)}
"""Every dialect by the name that `--rules` takes."""
