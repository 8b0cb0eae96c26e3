"""What a shard knows of its segments: this minute's statistics, and what vehicles are told until it ends."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from causeway.linear_road.model.array_types import I32, I64
from causeway.linear_road.model.expressway import FEET_PER_SEGMENT, REPORT_INTERVAL, SEGMENTS, WEST
from causeway.linear_road.model.rules import Rules
from causeway.linear_road.pipeline.traffic import SCALE
from causeway.streaming.cells import Arrays

__all__ = ["NO_ACCIDENT", "STOP", "Segments", "accident_cells", "stops_of"]

STOP: Final = np.dtype(
    [("road", "<i4"), ("pos", "<i4"), ("lane", "<i4"), ("since", "<i4"), ("until", "<i4"), ("key", "<i8")]
)
"""A vehicle stopped at one place, in the seconds `since` up to, not including, `until`."""

NO_ACCIDENT: Final = -1

Stops = NDArray[np.void]


class Segments:
    """All segments of a shard's roads, as cells: the shard's n-th road has the cells from 100 n on.

    Minutes are numbered as M(t) in the paper. `toll`, `lav` and `ahead` are those of `minute`; `cars` and
    `speeds` are still being counted.
    """

    def __init__(self, rules: Rules, shards: int, shard: int) -> None:
        self._rules = rules
        self._shards = shards
        self._shard = shard
        self.minute = 0
        self.cars: I32 = np.zeros(0, np.int32)
        self.speeds: I64 = np.zeros(0, np.int64)
        self._past_cars: I64 = np.zeros((rules.minutes_averaged, 0), np.int64)
        self._past_speeds: I64 = np.zeros((rules.minutes_averaged, 0), np.int64)
        self.toll: I32 = np.zeros(0, np.int32)
        self.lav: I32 = np.zeros(0, np.int32)
        self.ahead: I32 = np.zeros(0, np.int32)
        """The nearest segment with an accident that is felt in a cell, NO_ACCIDENT where there is none."""
        self._stops: Stops = np.zeros(0, STOP)
        self._irregular: I64 = np.zeros((0, 3), np.int64)

    def save(self) -> Arrays:
        """All of it, as arrays."""
        return {
            "minute": np.array([self.minute]),
            "cars": self.cars,
            "speeds": self.speeds,
            "past_cars": self._past_cars,
            "past_speeds": self._past_speeds,
            "toll": self.toll,
            "lav": self.lav,
            "ahead": self.ahead,
            "stops": self._stops,
            "irregular": self._irregular,
        }

    def restore(self, saved: Arrays) -> None:
        """Take over what `save` gave."""
        self.minute = int(saved["minute"][0])
        self.cars, self.speeds = saved["cars"], saved["speeds"]
        self._past_cars, self._past_speeds = saved["past_cars"], saved["past_speeds"]
        self.toll, self.lav, self.ahead = saved["toll"], saved["lav"], saved["ahead"]
        self._stops, self._irregular = saved["stops"], saved["irregular"]

    def make_room(self, roads: int) -> None:
        """Have cells for the shard's first `roads` roads, at least."""
        missing = roads * SEGMENTS - len(self.cars)
        if missing > 0:
            self.cars = np.concatenate([self.cars, np.zeros(missing, np.int32)])
            self.speeds = np.concatenate([self.speeds, np.zeros(missing, np.int64)])
            none = np.zeros((len(self._past_cars), missing), np.int64)
            self._past_cars = np.concatenate([self._past_cars, none], axis=1)
            self._past_speeds = np.concatenate([self._past_speeds, none], axis=1)
            # What is told on the roads there are stays as it is: it was settled when the minute began.
            lav = self._rules.lav(none, none, SCALE)
            toll = self._rules.toll(lav, np.zeros(missing, np.int32))
            self.lav, self.toll = np.concatenate([self.lav, lav]), np.concatenate([self.toll, toll])
            self.ahead = np.concatenate([self.ahead, np.full(missing, NO_ACCIDENT, np.int32)])

    def add_stops(self, stops: Stops) -> None:
        """Note stops of the minute."""
        self._stops = np.concatenate([self._stops, stops])

    def end_stop(self, key: int, since: int, until: int) -> None:
        """A vehicle was seen elsewhere, sooner than its stop was to end."""
        stops = self._stops.copy()
        stops["until"][(stops["key"] == key) & (stops["since"] == since)] = until
        self._stops = stops

    def add_irregular(self, reports: I64) -> None:
        """Note reports (key, cell, speed) that are not in `speeds` and `cars`."""
        self._irregular = np.concatenate([self._irregular, reports])

    def begin_minute(self, minute: int) -> list[Arrays]:
        """End minutes until `minute` is the current one; returns what there was to count in each."""
        ended = []
        # After as many empty minutes as Lav looks back, nothing changes any more.
        if minute - self.minute > self._rules.minutes_averaged + 2:
            ended.append(self._end_minute())
            for _ in range(self._rules.minutes_averaged + 1):
                self._end_minute()
            self.minute = minute
        while self.minute < minute:
            ended.append(self._end_minute())
        return [minute for minute in ended if len(minute["minute"])]

    def _end_minute(self) -> Arrays:
        self._count_irregular()
        self._past_cars = np.concatenate([self.cars[None].astype(np.int64), self._past_cars[:-1]])
        self._past_speeds = np.concatenate([self.speeds[None], self._past_speeds[:-1]])
        cars = self.cars
        self.cars, self.speeds = np.zeros_like(cars), np.zeros_like(self.speeds)
        end = 60 * self.minute
        accidents = accident_cells(self._stops, end - 60, end, self._shards)
        self._stops = self._stops[self._stops["until"] > end]
        self._say(accidents)
        with_accident = np.zeros(len(cars), np.int32)
        with_accident[accidents] = 1
        there = np.flatnonzero((cars > 0) | (with_accident > 0))
        road = there // SEGMENTS * self._shards + self._shard
        ended = {
            "minute": np.full(len(there), self.minute),
            "xway": road // 2,
            "dir": road % 2,
            "seg": there % SEGMENTS,
            "cars": cars[there],
            "lav": self.lav[there],
            "toll": self.toll[there],
            "accident": with_accident[there],
        }
        self.minute += 1
        return {name: values.astype(np.int32) for name, values in ended.items()}

    def _count_irregular(self) -> None:
        """Table 2's Avgsv of vehicles with several trips in the minute: one mean for each segment."""
        if not len(self._irregular):
            return
        who, which = np.unique(self._irregular[:, :2], axis=0, return_inverse=True)
        reports = np.bincount(which.ravel(), minlength=len(who))
        speeds = np.zeros(len(who), np.int64)
        np.add.at(speeds, which.ravel(), self._irregular[:, 2])
        np.add.at(self.cars, who[:, 1], 1)
        np.add.at(self.speeds, who[:, 1], SCALE * speeds // reports)
        self._irregular = np.zeros((0, 3), np.int64)

    def _say(self, accidents: I64) -> None:
        """Settle what is told in the minute to come."""
        self.lav = self._rules.lav(self._past_speeds, self._past_cars, SCALE)
        self.ahead = self._nearest_accident(accidents)
        cars = self._past_cars[0].astype(np.int32)
        self.toll = self._rules.toll(self.lav, cars, self.ahead != NO_ACCIDENT)

    def _nearest_accident(self, accidents: I64) -> I32:
        ahead = np.full(len(self.cars), NO_ACCIDENT, np.int32)
        road, seg = accidents // SEGMENTS, accidents % SEGMENTS
        direction = (road * self._shards + self._shard) % 2
        upstream = np.where(direction == WEST, 1, -1)
        # The farthest first, so that the nearest has the last word.
        for away in range(self._rules.accident_reach, -1, -1):
            felt = seg + away * upstream
            on_road = (felt >= 0) & (felt < SEGMENTS)
            ahead[(road * SEGMENTS + felt)[on_road]] = seg[on_road]
        return ahead


def accident_cells(stops: Stops, start: int, end: int, shards: int) -> I64:
    """The cells with an accident within [start, end): two vehicles stopped at one place at one time."""
    since, until = np.maximum(stops["since"], start), np.minimum(stops["until"], end)
    stops, since, until = (array[since < until] for array in (stops, since, until))
    order = np.lexsort((since, stops["lane"], stops["pos"], stops["road"]))
    stops, since, until = stops[order], since[order], until[order]
    places = stops[["road", "pos", "lane"]]
    bounds = [0, *(np.flatnonzero(places[1:] != places[:-1]) + 1), len(stops)]
    found: set[int] = set()
    for first, last in pairwise(bounds):
        if _two_at_once(stops["key"][first:last], since[first:last], until[first:last]):
            road, pos = int(stops["road"][first]), int(stops["pos"][first])
            found.add(road // shards * SEGMENTS + pos // FEET_PER_SEGMENT)
    return np.array(sorted(found), np.int64)


def _two_at_once(key: I64, since: I32, until: I32) -> bool:
    """Whether intervals of two different vehicles overlap; they come in the order of `since`."""
    for one in range(len(key)):
        for other in range(one + 1, len(key)):
            if since[other] >= until[one]:
                break
            if key[other] != key[one]:
                return True
    return False


def stops_of(arrays: Arrays, which: I32, keys: I64) -> Stops:
    """The stops that reports make: each lasts until 30 s after the report."""
    stops: Stops = np.empty(len(which), STOP)
    for name in ("road", "pos", "lane"):
        stops[name] = arrays[name][which]
    stops["since"] = arrays["time"][which]
    stops["until"] = stops["since"] + REPORT_INTERVAL
    stops["key"] = keys
    return stops
