"""Historical query requests (section 3.1.1): with one report in a hundred, from the same vehicle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causeway.linear_road.model.expressway import SEGMENTS, WEST
from causeway.linear_road.model.tuples import ABSENT, TupleType
from causeway.linear_road.simulator.road import I32

__all__ = ["REQUESTS_PER_REPORT", "RequestStream", "Requests"]

REQUESTS_PER_REPORT = 0.01
_TYPES = (TupleType.ACCOUNT_BALANCE, TupleType.DAILY_EXPENDITURE, TupleType.TRAVEL_TIME)
_SHARES = (0.5, 0.1, 0.4)
# Section 3.1.2 lets a request name days 1 to 69.
_LAST_DAY = 69
# Request identifiers are one after another, even ones for the east and odd ones for the west, so that
# neither direction's depend on the other's; a million for each expressway.
_IDENTIFIERS_PER_EXPRESSWAY = 1_000_000


class Requests(NamedTuple):
    """Requests of a stretch of reports; -1 where a field does not apply to the type."""

    report: I32
    """Which of the reports it comes with, counted from 0."""
    type: I32
    expressway: I32
    identifier: I32
    initial_segment: I32
    end_segment: I32
    weekday: I32
    minute_of_day: I32
    day: I32


class RequestStream:
    """The requests of one direction of an expressway, drawn stretch by stretch in time order."""

    def __init__(self, seed: int, expressway: int, direction: int) -> None:
        self._random = np.random.default_rng([seed, expressway, direction, 3])
        self._expressway = expressway
        self._direction = direction
        self._next_identifier = expressway * _IDENTIFIERS_PER_EXPRESSWAY + direction
        self._skip = int(self._random.geometric(REQUESTS_PER_REPORT)) - 1

    def draw(self, reports: int) -> Requests:
        """Requests that come with the next `reports` reports.

        They ask about the expressway and the direction that they are on, so that half an expressway, which
        has no history of the other direction, can answer them.
        """
        chosen = []
        while self._skip < reports:
            chosen.append(self._skip)
            self._skip += int(self._random.geometric(REQUESTS_PER_REPORT))
        self._skip -= reports
        count = len(chosen)
        random = self._random
        kind = random.choice(np.array(_TYPES, np.int32), count, p=_SHARES)
        identifier = self._next_identifier + 2 * np.arange(count)
        self._next_identifier += 2 * count
        daily = kind == TupleType.DAILY_EXPENDITURE
        travel = kind == TupleType.TRAVEL_TIME

        segments = np.sort(random.integers(0, SEGMENTS, (count, 2)), axis=1)
        if self._direction == WEST:
            segments = segments[:, ::-1]

        def only(applies: np.ndarray[tuple[int], np.dtype[np.bool_]], values: object) -> I32:
            return np.where(applies, values, ABSENT).astype(np.int32)  # type: ignore[call-overload, no-any-return]

        return Requests(
            report=np.array(chosen, np.int32),
            type=kind,
            expressway=only(daily | travel, self._expressway),
            identifier=identifier.astype(np.int32),
            initial_segment=only(travel, segments[:, 0]),
            end_segment=only(travel, segments[:, 1]),
            weekday=only(travel, random.integers(1, 8, count)),
            minute_of_day=only(travel, random.integers(1, 1441, count)),
            day=only(daily, random.integers(1, _LAST_DAY + 1, count)),
        )
