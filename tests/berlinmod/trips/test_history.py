"""Histories: padded, without gaps, one trip at a time, and without days that end too late."""

from __future__ import annotations

import numpy as np
import pytest
from tests.berlinmod.small_city import small_city

from causeway.berlinmod.city import RoadMap
from causeway.berlinmod.generator.part import Journal, city_of, make_histories
from causeway.berlinmod.model.calendar import DAY_MS, HOUR_MS, day_start
from causeway.berlinmod.model.parameters import Parameters, make_parameters
from causeway.berlinmod.trips.vehicles import describe_vehicles


def journals(road_map: RoadMap, parameters: Parameters, first: int = 0) -> list[Journal]:
    vehicles = describe_vehicles(road_map, parameters, first, parameters.cars)
    return make_histories(city_of(road_map, parameters.distance), parameters, vehicles)


def test_a_history_is_padded_and_continuous_and_its_legs_follow_one_another() -> None:
    road_map, parameters = small_city(), make_parameters(cars=12, days=7)
    vehicles = describe_vehicles(road_map, parameters, 0, 12)
    for vehicle, (legs, history) in enumerate(journals(road_map, parameters)):
        home = vehicles.home[vehicle]
        assert history.t[0] == day_start(2701)
        assert history.t[-1] == day_start(2702 + 7 + 1)
        assert (history.x[0], history.y[0]) == (road_map.node_x[home], road_map.node_y[home])
        assert (history.x[-1], history.y[-1]) == (road_map.node_x[home], road_map.node_y[home])
        assert np.all(np.diff(history.t) > 0)
        standing = (np.diff(history.x) == 0) & (np.diff(history.y) == 0)
        assert not np.any(standing[1:] & standing[:-1])
        driven = history.legs
        assert np.all(driven.departure[1:] >= driven.arrival[:-1])
        drives = driven.length > 0
        assert np.all(drives == (legs.origin != legs.destination))
        # At its departure and arrival, the vehicle is at the leg's nodes.
        for leg in np.flatnonzero(drives):
            for moment, node in (
                (driven.departure[leg], legs.origin[leg]),
                (driven.arrival[leg], legs.destination[leg]),
            ):
                assert np.interp(moment, history.t, history.x) == pytest.approx(road_map.node_x[node])
                assert np.interp(moment, history.t, history.y) == pytest.approx(road_map.node_y[node])
        # Between the legs nothing moves.
        metres = np.hypot(np.diff(history.x), np.diff(history.y)).sum()
        assert metres == pytest.approx(driven.length.sum())


def test_a_day_that_overlaps_or_ends_after_six_is_left_out_whole() -> None:
    # Limits of 1 to 3 km/h: many a drive takes hours.
    road_map, parameters = small_city(size=10, slow=25.0), make_parameters(cars=40, days=7)
    dropped = kept = 0
    for legs, history in journals(road_map, parameters):
        driven = history.legs
        for day in np.unique(legs.day):
            mine = legs.day == day
            planned = legs.departure[mine]
            late = np.flatnonzero(planned >= 0)
            overlap = any(planned[i] < driven.arrival[mine][i - 1] for i in late if i > 0)
            late_end = driven.arrival[mine][-1] >= day_start(int(day)) + DAY_MS + 6 * HOUR_MS
            assert np.all(driven.dropped[mine] == (overlap or late_end))
            dropped += overlap or late_end
            kept += not (overlap or late_end)
        metres = np.hypot(np.diff(history.x), np.diff(history.y)).sum()
        assert metres == pytest.approx(driven.length[~driven.dropped].sum())
        assert np.all(np.diff(history.t) > 0)
        assert history.t[-1] == parameters.last_ms
    assert dropped > 10
    assert kept > 10


def test_a_vehicle_and_its_days_are_the_same_whatever_the_scale() -> None:
    road_map = small_city()
    large = journals(road_map, make_parameters(cars=9, days=9))
    small = journals(road_map, make_parameters(cars=5, days=4), first=2)
    end = day_start(2702 + 4)
    for vehicle, (legs, history) in enumerate(small, start=2):
        other = large[vehicle]
        count = legs.day.size
        assert all(np.array_equal(a, b[:count]) for a, b in zip(legs, other.legs, strict=True))
        before = history.t < end
        mine = np.count_nonzero(before)
        for axis in range(3):
            assert np.array_equal(history[axis][before], other.history[axis][:mine])
