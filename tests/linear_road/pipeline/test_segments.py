from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.linear_road.model.rules import RULES
from causeway.linear_road.pipeline.segments import NO_ACCIDENT, STOP, Segments, accident_cells, stops_of
from causeway.linear_road.pipeline.traffic import SCALE
from causeway.streaming.cells import Arrays, pack, unpack

RULES_2004 = RULES["vldb2004"]
EAST, WEST = 0, 1

Stop = tuple[int, int, int, int, int, int]
"""Road, position, lane, since, until, vehicle"""


def stops(*given_: Stop) -> np.ndarray:
    return np.array(list(given_), STOP)


def two_at(road: int, segment: int, since: int = 10, until: int = 40) -> list[Stop]:
    """An accident."""
    return [(road, segment * 5280 + 5279, 2, since, until, vehicle) for vehicle in (1, 2)]


def with_accidents(shards: int, shard: int, roads: int, *given_: Stop) -> Segments:
    """What is told in minute 2 after stops in minute 1."""
    segments = Segments(RULES_2004, shards, shard)
    segments.make_room(roads)
    segments.begin_minute(1)
    segments.add_stops(stops(*given_))
    segments.begin_minute(2)
    return segments


def felt(segments: Segments, road: int = 0) -> dict[int, int]:
    """The nearest accident of every segment of the shard's n-th road that feels one."""
    ahead = segments.ahead[100 * road : 100 * road + 100]
    return {segment: int(nearest) for segment, nearest in enumerate(ahead) if nearest != NO_ACCIDENT}


@pytest.mark.parametrize(
    ("direction", "accident", "upstream"),
    [
        (EAST, 50, [46, 47, 48, 49, 50]),
        (WEST, 50, [50, 51, 52, 53, 54]),
        (EAST, 2, [0, 1, 2]),
        (EAST, 0, [0]),
        (EAST, 99, [95, 96, 97, 98, 99]),
        (WEST, 97, [97, 98, 99]),
        (WEST, 99, [99]),
        (WEST, 0, [0, 1, 2, 3, 4]),
    ],
)
@pytest.mark.parametrize("shards", [1, 2, 3])
@pytest.mark.parametrize("xway", [0, 1, 2])
def test_an_accident_is_felt_five_segments_upstream(
    direction: int, accident: int, upstream: list[int], xway: int, shards: int
) -> None:
    road = 2 * xway + direction
    shard, nth = road % shards, road // shards
    segments = with_accidents(shards, shard, nth + 1, *two_at(road, accident))
    assert felt(segments, nth) == dict.fromkeys(upstream, accident)
    assert all(felt(segments, other) == {} for other in range(nth))


def test_the_nearest_of_several_accidents_is_told() -> None:
    segments = with_accidents(1, 0, 2, *two_at(0, 50), *two_at(0, 53), *two_at(1, 50), *two_at(1, 53))
    assert felt(segments, 0) == dict.fromkeys(range(46, 51), 50) | dict.fromkeys((51, 52, 53), 53)
    assert felt(segments, 1) == dict.fromkeys(range(53, 58), 53) | dict.fromkeys((50, 51, 52), 50)


def test_an_accident_lifts_the_toll_and_goes_after_a_minute() -> None:
    segments = Segments(RULES_2004, 1, 0)
    segments.make_room(1)
    segments.begin_minute(1)
    for accident in (True, False):
        segments.cars[[45, 46, 50]] = 60
        segments.speeds[[45, 46, 50]] = 60 * 30 * SCALE
        if accident:
            segments.add_stops(stops(*two_at(0, 50)))
        segments.begin_minute(segments.minute + 1)
        tolls = {int(segment): int(segments.toll[segment]) for segment in np.flatnonzero(segments.toll)}
        assert tolls == ({45: 200} if accident else {45: 200, 46: 200, 50: 200})


def test_a_stop_may_last_into_the_next_minute() -> None:
    """[100, 130) touches minutes 2 and 3, so that it is felt in minutes 3 and 4."""
    segments = Segments(RULES_2004, 1, 0)
    segments.make_room(1)
    segments.begin_minute(2)
    segments.add_stops(stops(*two_at(0, 7, 100, 130)))
    told = {}
    for minute in (3, 4, 5):
        segments.begin_minute(minute)
        told[minute] = felt(segments)
    assert told == {3: dict.fromkeys(range(3, 8), 7), 4: dict.fromkeys(range(3, 8), 7), 5: {}}


def test_who_was_seen_elsewhere_no_longer_stands() -> None:
    segments = Segments(RULES_2004, 1, 0)
    segments.make_room(1)
    segments.begin_minute(1)
    # They overlap in second 35 only.
    segments.add_stops(stops((0, 9, 1, 10, 40, 1), (0, 9, 1, 35, 65, 2)))
    segments.end_stop(1, 10, 35)
    segments.begin_minute(2)
    assert felt(segments) == {}


STOPS = st.lists(
    st.builds(
        lambda road, pos, lane, since, length, key: (road, pos, lane, since, since + length, key),
        st.integers(0, 3),
        st.sampled_from([0, 1, 5279, 5280, 527_999]),
        st.integers(1, 2),
        st.integers(0, 130),
        st.integers(0, 30),
        st.integers(0, 3),
    ),
    max_size=14,
)


@given(STOPS, st.integers(0, 2), st.integers(1, 3))
@settings(max_examples=300)
def test_accidents_are_found_as_second_by_second(given_: list[Stop], minute: int, shards: int) -> None:
    start, end = 60 * minute, 60 * minute + 60
    found = set()
    for second in range(start, end):
        standing = defaultdict(set)
        for road, pos, lane, since, until, vehicle in given_:
            if since <= second < until:
                standing[road, pos, lane].add(vehicle)
        found |= {
            road // shards * 100 + pos // 5280
            for (road, pos, _), vehicles in standing.items()
            if len(vehicles) > 1
        }
    assert accident_cells(stops(*given_), start, end, shards).tolist() == sorted(found)


def test_reports_make_stops_of_thirty_seconds() -> None:
    arrays: Arrays = {
        name: np.array(values, np.int32)
        for name, values in {
            "road": [4, 5, 6],
            "pos": [1, 2, 3],
            "lane": [1, 2, 3],
            "time": [90, 91, 92],
        }.items()
    }
    made = stops_of(arrays, np.array([0, 2], np.int32), np.array([77, 78]))
    assert made.tolist() == [(4, 1, 1, 90, 120, 77), (6, 3, 3, 92, 122, 78)]


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 60), st.integers(0, 100)), min_size=2, max_size=2),
        min_size=1,
        max_size=9,
    )
)
def test_lav_of_the_last_five_minutes(minutes: list[list[tuple[int, int]]]) -> None:
    """Two segments, so many cars at so much each; the minute to come is told the mean of the five before."""
    segments = Segments(RULES_2004, 1, 0)
    segments.make_room(1)
    segments.begin_minute(1)
    for number, minute in enumerate(minutes, 1):
        for segment, (cars, speed) in enumerate(minute):
            segments.cars[segment] = cars
            segments.speeds[segment] = cars * speed * SCALE
        segments.begin_minute(number + 1)
        for segment in (0, 1):
            recent = [past[segment][1] for past in minutes[max(0, number - 5) : number] if past[segment][0]]
            expected = floor(Fraction(sum(recent), len(recent))) if recent else -1
            assert segments.lav[segment] == expected


@pytest.mark.parametrize("empty", [1, 5, 6, 7, 8, 30])
def test_empty_minutes_are_passed_over(empty: int) -> None:
    """Whether a long silence is ended minute by minute or at once, what is told after it is the same."""
    told = []
    for at_once in (True, False):
        segments = Segments(RULES_2004, 1, 0)
        segments.make_room(1)
        segments.begin_minute(1)
        segments.cars[5], segments.speeds[5] = 70, 70 * 20 * SCALE
        segments.add_stops(stops(*two_at(0, 50, 50, 80)))
        ended = []
        for minute in [2 + empty] if at_once else range(2, 3 + empty):
            ended += segments.begin_minute(minute)
        saved = segments.save()
        told.append({name: values.tolist() for name, values in saved.items()})
        assert segments.minute == 2 + empty
        assert ended[0]["minute"].tolist() == [1, 1]
        assert ended[0]["seg"].tolist() == [5, 50]
        assert ended[0]["cars"].tolist() == [70, 0]
        assert ended[0]["accident"].tolist() == [0, 1]
    assert told[0] == told[1]


def test_an_ended_minute_tells_its_roads() -> None:
    segments = Segments(RULES_2004, 3, 1)
    segments.make_room(2)
    segments.begin_minute(1)
    segments.cars[[7, 199]], segments.speeds[[7, 199]] = [51, 1], [51 * 10 * SCALE, 99 * SCALE]
    (ended,) = segments.begin_minute(2)
    # The shard has roads 1 (expressway 0, west) and 4 (expressway 2, east).
    assert {name: values.tolist() for name, values in ended.items()} == {
        "minute": [1, 1],
        "xway": [0, 2],
        "dir": [1, 0],
        "seg": [7, 99],
        "cars": [51, 1],
        "lav": [10, 99],
        "toll": [2, 0],
        "accident": [0, 0],
    }


def test_room_for_more_roads_changes_nothing_of_those_there_are() -> None:
    segments = with_accidents(1, 0, 1, *two_at(0, 50))
    segments.cars[5] = 3
    before = segments.ahead.copy()
    segments.make_room(3)
    assert len(segments.cars) == len(segments.toll) == 300
    assert segments.cars[5] == 3
    assert segments.ahead[:100].tolist() == before.tolist()
    assert (segments.lav[100:] == -1).all()


def test_irregular_vehicles_are_counted_when_the_minute_ends() -> None:
    """Several reports of one vehicle from one segment are one car with their mean speed."""
    segments = Segments(RULES_2004, 1, 0)
    segments.make_room(1)
    segments.begin_minute(1)
    reports = [(7, 5, 10), (7, 5, 20), (7, 5, 40), (7, 6, 50), (8, 5, 33)]
    segments.add_irregular(np.array(reports, np.int64))
    (ended,) = segments.begin_minute(2)
    assert (ended["seg"].tolist(), ended["cars"].tolist()) == ([5, 6], [2, 1])
    # ((10 + 20 + 40) / 3 + 33) / 2 = 28.17
    assert ended["lav"].tolist() == [28, 50]


def test_saved_and_restored_it_goes_on_the_same() -> None:
    first = with_accidents(2, 1, 2, *two_at(3, 9, 50, 80))
    first.cars[9], first.speeds[9] = 60, 60 * 30 * SCALE
    first.add_irregular(np.array([[1, 9, 10], [1, 9, 11]], np.int64))
    second = Segments(RULES_2004, 2, 1)
    second.restore(unpack(pack(first.save())))
    for minute in (3, 4):
        one, other = (segments.begin_minute(minute) for segments in (first, second))
        assert [part["cars"].tolist() for part in one] == [part["cars"].tolist() for part in other]
        assert pack(first.save()) == pack(second.save())
