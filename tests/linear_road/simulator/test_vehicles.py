"""Who drives which trip."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from causeway.linear_road.simulator.vehicles import deal_vehicles

trips = st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 3000)), min_size=1, max_size=300)


@given(trips, st.integers(0, 1000))
def test_nobody_is_in_two_places_and_numbers_have_no_gaps(drawn: list[tuple[int, int]], seed: int) -> None:
    first = np.array([begin for begin, _ in drawn], np.int32)
    last = np.array([begin + length for begin, length in drawn], np.int32)
    vehicle = deal_vehicles(first, last, seed)
    assert set(vehicle.tolist()) == set(range(vehicle.max() + 1))
    for number in range(vehicle.max() + 1):
        mine = sorted((first[trip], last[trip]) for trip in np.flatnonzero(vehicle == number))
        for (_, ended), (begun, _) in pairwise(mine):
            assert begun - ended > 30


def test_some_make_several_trips() -> None:
    first = np.sort(np.random.default_rng(1).integers(0, 10800, 100_000)).astype(np.int32)
    vehicle = deal_vehicles(first, first + 1800, seed=1)
    trips_of_vehicle = np.bincount(vehicle)
    assert 0.01 < (trips_of_vehicle > 1).mean() < 0.05


def test_numbers_follow_the_first_departure() -> None:
    first = np.array([50, 10, 30], np.int32)
    assert deal_vehicles(first, first + 60, seed=1).tolist() == [2, 0, 1]
