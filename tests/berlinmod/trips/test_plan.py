"""Plans: the layout of days (section 4.2) and Algorithm 2."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from causeway.berlinmod.model.calendar import DAY_MS, HOUR_MS, MINUTE_MS, day_start
from causeway.berlinmod.trips.plan import SPARE_TIME, TO_HOME, TO_WORK, Legs, plan_days
from causeway.runtime.randomness import keys_of, seeded

MONDAY = 2702
NEIGHBOURS = np.array([3, 5, 8, 9], np.int32)
HOME, WORK, NODES = 5, 70, 1000


def plans(vehicles: int = 300, days: int = 14, home: int = HOME, work: int = WORK) -> list[Legs]:
    keys = keys_of(seeded(1, 2), np.arange(vehicles))
    return [plan_days(key, MONDAY, days, home, work, NEIGHBOURS, NODES) for key in keys]


def near(count: int, draws: int, share: float) -> bool:
    return abs(count / draws - share) <= 4 * math.sqrt(share * (1 - share) / draws)


def test_work_trips_are_on_weekdays_around_8_and_16_within_two_hours() -> None:
    departures: dict[int, list[int]] = {TO_WORK: [], TO_HOME: []}
    for legs in plans():
        for kind, hour in ((TO_WORK, 8), (TO_HOME, 16)):
            mine = legs.kind == kind
            assert sorted(set((legs.day[mine] - MONDAY) % 7)) == [0, 1, 2, 3, 4]
            assert np.count_nonzero(mine) == 10
            since = legs.departure[mine] - (day_start(0) + legs.day[mine].astype(np.int64) * DAY_MS)
            assert np.all(np.abs(since - hour * HOUR_MS) <= 2 * HOUR_MS)
            departures[kind] += (since - hour * HOUR_MS).tolist()
            assert np.all(legs.origin[mine] == (HOME if kind == TO_WORK else WORK))
    for times in departures.values():
        assert np.mean(times) == pytest.approx(0, abs=4 * HOUR_MS / math.sqrt(len(times)))
        # Clamped, not drawn again: 4.55 % of all are exactly at a bound.
        bound = sum(abs(time) == 2 * HOUR_MS for time in times)
        assert near(bound, len(times), 0.0455)


def test_spare_time_is_as_algorithm_2_says() -> None:
    weekday_blocks = weekend_blocks = 0
    stops: Counter[int] = Counter()
    nearby = far = 0
    pauses: list[int] = []
    vehicles = 500
    for legs in plans(vehicles):
        spare = np.flatnonzero(legs.kind == SPARE_TIME)
        for begin in spare[legs.stop[spare] == 0]:
            end = begin + 1
            while end < legs.kind.size and legs.stop[end] > 0:
                end += 1
            weekend = (legs.day[begin] - MONDAY) % 7 >= 5
            since = legs.departure[begin] - day_start(int(legs.day[begin]))
            if weekend:
                weekend_blocks += 1
                first = (9 if legs.block[begin] == 2 else 19) * HOUR_MS
                assert first <= since <= first + 120 * MINUTE_MS
            else:
                weekday_blocks += 1
                assert 20 * HOUR_MS <= since <= 20 * HOUR_MS + 90 * MINUTE_MS
            stops[end - begin - 1] += 1
            assert legs.origin[begin] == HOME
            assert legs.destination[end - 1] == HOME
            assert legs.origin[begin + 1 : end].tolist() == legs.destination[begin : end - 1].tolist()
            assert np.all(legs.departure[begin + 1 : end] == -1)
            pauses += legs.pause[begin + 1 : end].tolist()
            inside = np.isin(legs.destination[begin : end - 1], NEIGHBOURS)
            nearby += int(np.count_nonzero(inside))
            far += int(np.count_nonzero(~inside))
    assert near(weekday_blocks, vehicles * 10, 0.4)
    assert near(weekend_blocks, vehicles * 4 * 2, 0.4)
    assert all(near(stops[number], stops.total(), share) for number, share in ((1, 0.8), (2, 0.1), (3, 0.1)))
    assert near(nearby, nearby + far, 0.8 + 0.2 * NEIGHBOURS.size / NODES)
    assert min(pauses) >= 0 and max(pauses) <= 120 * MINUTE_MS
    assert np.mean(pauses) == pytest.approx(60 * MINUTE_MS, rel=0.02)
    assert np.std(pauses) == pytest.approx(14 * MINUTE_MS, rel=0.05)


def test_a_day_is_the_same_whatever_is_before_and_after_it() -> None:
    key = keys_of(seeded(1, 2), np.arange(1))[0]
    long = plan_days(key, MONDAY, 28, HOME, WORK, NEIGHBOURS, NODES)
    short = plan_days(key, MONDAY + 3, 5, HOME, WORK, NEIGHBOURS, NODES)
    mine = (long.day >= MONDAY + 3) & (long.day < MONDAY + 8)
    assert all(np.array_equal(a[mine], b) for a, b in zip(long, short, strict=True))


def test_who_works_at_home_does_not_drive_there() -> None:
    assert all(np.all(legs.kind == SPARE_TIME) for legs in plans(20, work=HOME))
