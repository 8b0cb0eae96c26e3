"""One direction's traffic: what section 3.1.1 promises of it, on simulated hours, without Spark."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.linear_road.model.expressway import EAST, WEST
from causeway.linear_road.simulator.car_following import VEHICLE_LENGTH, following_speed, safe_speed
from causeway.linear_road.simulator.demand import draw_accidents, draw_trips
from causeway.linear_road.simulator.road import Accidents, Reports, Road, Trips, empty_road, no_reports
from causeway.linear_road.simulator.traffic import simulate_minute


@dataclass
class Simulated:
    """A simulation and all its reports, ordered by trip and time."""

    minutes: int
    road: Road
    trips: Trips
    accidents: Accidents
    time: np.ndarray
    trip: np.ndarray
    position: np.ndarray
    speed: np.ndarray
    lane: np.ndarray

    @property
    def same_trip(self) -> np.ndarray:
        """Whether a report is of the same trip as the one after it."""
        return self.trip[1:] == self.trip[:-1]


def simulate(seed: int, direction: int, minutes: int) -> Simulated:
    trips = draw_trips(seed, 0, direction, minutes)
    accidents = draw_accidents(seed, 0, direction, minutes)
    road = empty_road(seed)
    room = no_reports()
    columns: list[list[np.ndarray]] = [[] for _ in Reports._fields]
    for minute in range(minutes):
        count = simulate_minute(road, trips, accidents, minute, room)
        for column, values in zip(columns, room, strict=True):
            column.append(values[:count].copy())
    time, trip, position, speed, lane = (np.concatenate(column) for column in columns)
    assert (np.diff(time) >= 0).all(), "reports come in time order"
    order = np.lexsort((time, trip))
    return Simulated(
        minutes, road, trips, accidents, *(column[order] for column in (time, trip, position, speed, lane))
    )


@pytest.fixture(scope="module")
def congested() -> Simulated:
    """An hour and a half: long jams, two or three accidents, thousands of finished trips."""
    return simulate(seed=1, direction=WEST, minutes=90)


def check_promises(traffic: Simulated) -> None:
    """What holds of any simulation, however short."""
    same = traffic.same_trip
    assert (np.diff(traffic.time)[same] == 30).all(), "reports are exactly 30 s apart"
    moved = np.diff(traffic.position.astype(np.int64))[same]
    assert moved.min(initial=0) >= 0, "nobody goes back"
    assert moved.max(initial=0) <= 30 * 100 * 5280 / 3600, "nobody is faster than 100 mph"
    segment = traffic.position // 5280
    assert np.diff(segment)[same].max(initial=0) <= 1, "every segment travelled is reported from"
    assert traffic.speed.min() >= 0
    assert traffic.speed.max() <= 100
    assert traffic.position.min() >= 0
    assert traffic.position.max() < 528_000

    on_ramp = (traffic.lane == 0) | (traffic.lane == 4)
    assert traffic.speed[on_ramp].max() <= 40, "a ramp is taken at 40 mph or less"
    offset = traffic.position % 5280
    assert offset[traffic.lane == 0].max() <= 1760
    assert offset[traffic.lane == 4].min(initial=5280) >= 3520
    begins = np.flatnonzero(np.concatenate([[True], ~same]))
    ends = np.flatnonzero(np.concatenate([~same, [True]]))
    assert (traffic.lane[begins] == 0).all(), "a trip begins on the entry ramp"
    ended = traffic.time[ends] + 30 < 60 * traffic.minutes
    assert (traffic.lane[ends][ended] == 4).all(), "a trip ends on the exit ramp"
    onto_ramp = (traffic.lane[1:] == 0) & (traffic.lane[:-1] != 0) & same
    off_exit = (traffic.lane[1:] != 4) & (traffic.lane[:-1] == 4) & same
    assert not onto_ramp.any()
    assert not off_exit.any()


def test_promises_hold_in_dense_traffic(congested: Simulated) -> None:
    check_promises(congested)
    assert (congested.lane == 4).sum() > 10_000


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from([EAST, WEST]), st.integers(1, 12))
def test_promises_hold_for_any_seed(seed: int, direction: int, minutes: int) -> None:
    check_promises(simulate(seed, direction, minutes))


def test_trips_enter_where_and_when_they_were_drawn_to(congested: Simulated) -> None:
    trips = congested.trips
    begins = np.flatnonzero(np.concatenate([[True], ~congested.same_trip]))
    trip = congested.trip[begins]
    assert (congested.position[begins] // 5280 == trips.entry[trip]).all()
    assert (congested.time[begins] == trips.first_report[trip]).all()
    assert (congested.time[begins] >= trips.departure[trip]).all()
    ends = np.concatenate([begins[1:] - 1, [congested.trip.size - 1]])
    assert (congested.time[ends] == trips.last_report[trip]).all()


def test_most_leave_where_they_meant_to(congested: Simulated) -> None:
    ends = np.flatnonzero(np.concatenate([~congested.same_trip, [True]]))
    left = ends[congested.lane[ends] == 4]
    meant = congested.trips.exit[congested.trip[left]]
    # The others were alerted of an accident ahead, or missed their exit.
    assert (congested.position[left] // 5280 == meant).mean() > 0.7


def test_vehicles_of_a_lane_never_overlap(congested: Simulated) -> None:
    road = congested.road
    size = int(road.size[0])
    assert size > 10_000
    assert (np.diff(road.position[:size]) <= 0).all(), "the road is kept in order"
    moving = road.condition[:size] == 0
    for lane in range(5):
        place = road.position[:size][(road.lane[:size] == lane) & moving]
        assert (-np.diff(place)).min() >= VEHICLE_LENGTH - 1e-6


def test_reports_are_spread_over_the_seconds(congested: Simulated) -> None:
    share = np.bincount(congested.time % 30, minlength=30) / congested.time.size
    assert np.abs(30 * share - 1).max() < 0.1


def test_denser_is_slower_and_congestion_happens(congested: Simulated) -> None:
    cell = congested.position // 5280 + 100 * (congested.time // 60)
    reports = np.bincount(cell)
    speed = np.bincount(cell, weights=congested.speed) / np.maximum(reports, 1)
    vehicles = reports / 2
    sparse, dense, jam = (vehicles > 5) & (vehicles < 50), (vehicles > 150) & (vehicles < 300), vehicles > 400
    assert speed[sparse].mean() > 38
    assert speed[dense].mean() < speed[sparse].mean()
    assert speed[jam].mean() < 20
    assert ((speed < 40) & (vehicles > 50)).sum() > 500


def stopped_spells(traffic: Simulated) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """When somebody was stopped at a place (lane, position): from the fourth report there on."""
    spells: dict[tuple[int, int], list[tuple[int, int]]] = {}
    begin = 0
    place = list(zip(traffic.trip.tolist(), traffic.lane.tolist(), traffic.position.tolist(), strict=True))
    for row in range(1, len(place) + 1):
        if row == len(place) or place[row] != place[begin]:
            if row - begin >= 4:
                spell = (int(traffic.time[begin + 3]), int(traffic.time[row - 1]) + 30)
                spells.setdefault(place[begin][1:], []).append(spell)
            begin = row
    return spells


def test_accidents_are_seen_in_the_reports_and_only_those_planned(congested: Simulated) -> None:
    lasted = {}
    for (lane, position), spells in stopped_spells(congested).items():
        if len(spells) > 1 and 1 <= lane <= 3:
            begin = max(spell[0] for spell in spells)
            end = min(spell[1] for spell in spells)
            if begin < end:
                lasted[lane, position] = end - begin
    accidents = congested.accidents
    happened = accidents.detected >= 0
    assert happened.sum() >= 2
    assert set(lasted) == {
        (int(lane), int(position))
        for lane, position in zip(accidents.lane[happened], accidents.position[happened], strict=True)
    }
    over = [seconds for place, seconds in lasted.items() if seconds > 0]
    cleared = accidents.detected + accidents.duration < 60 * congested.minutes - 60
    finished = sorted(over)[-int((happened & cleared).sum()) :]
    assert all(600 <= seconds <= 1230 for seconds in finished)


def test_the_accidents_segment_is_slow(congested: Simulated) -> None:
    accidents = congested.accidents
    accident = int(np.flatnonzero(accidents.detected >= 0)[0])
    standing = np.abs(congested.time - accidents.detected[accident] - 300) < 300
    travelling = (congested.lane >= 1) & (congested.lane <= 3) & standing
    there = travelling & (congested.position // 5280 == accidents.segment[accident])
    # Who reports in the second in which he comes in has not slowed down yet.
    assert np.quantile(congested.speed[there], 0.9) <= 20
    assert congested.speed[there].mean() < 0.6 * congested.speed[travelling].mean()


def test_the_same_seed_gives_the_same_reports() -> None:
    one, again, other = simulate(5, EAST, 15), simulate(5, EAST, 15), simulate(6, EAST, 15)
    for name in ("time", "trip", "position", "speed", "lane"):
        assert np.array_equal(getattr(one, name), getattr(again, name))
    assert not np.array_equal(one.position, other.position)


@given(st.floats(-20, 500), st.floats(0, 140), st.floats(0, 140), st.floats(0, 140))
def test_nobody_runs_into_his_leader(gap: float, leader_speed: float, moves: float, speed: float) -> None:
    chosen = following_speed(gap, leader_speed, moves, speed)
    assert chosen >= 0
    assert chosen <= max(gap + moves, 0) + 1e-9


@given(st.floats(0, 500), st.floats(0, 140), st.floats(0, 140))
def test_a_longer_gap_is_never_slower(gap: float, leader_speed: float, speed: float) -> None:
    assert safe_speed(gap + 10, leader_speed, speed) > safe_speed(gap, leader_speed, speed)
