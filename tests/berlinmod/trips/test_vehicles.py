"""Vehicles: their homes and work places, licences, types and models."""

from __future__ import annotations

import math
import re
from collections import Counter

import numpy as np
import pytest
from tests.berlinmod.small_city import line_city, small_city

from causeway.berlinmod.model.parameters import make_parameters
from causeway.berlinmod.trips.vehicles import describe_vehicles, neighbourhoods
from causeway.runtime.errors import UserError


def near(count: int, draws: int, share: float) -> bool:
    return abs(count / draws - share) <= 4 * math.sqrt(share * (1 - share) / draws)


def test_licences_are_unique_and_types_and_models_have_their_shares() -> None:
    vehicles = describe_vehicles(small_city(), make_parameters(cars=20_000), 0, 20_000)
    assert len(set(vehicles.licence)) == 20_000
    assert all(re.fullmatch(r"B-[A-Z]{2} [1-9][0-9]{0,3}", licence) for licence in vehicles.licence)
    types, models = Counter(vehicles.type), Counter(vehicles.model)
    assert all(
        near(types[name], 20_000, share)
        for name, share in (("passenger", 0.9), ("bus", 0.05), ("truck", 0.05))
    )
    assert len(models) == 12
    assert all(near(count, 20_000, 1 / 12) for count in models.values())


def test_homes_are_even_over_the_nodes_or_by_the_weights_of_regions() -> None:
    city, draws = small_city(), 20_000
    even = describe_vehicles(city, make_parameters(cars=draws), 0, draws)
    assert all(near(count, draws, 1 / city.nodes) for count in np.bincount(even.home, minlength=city.nodes))
    regional = describe_vehicles(city, make_parameters(cars=draws, mode="region"), 0, draws)
    home_region, work_region = city.region_of_nodes()
    west = int(np.count_nonzero(home_region == 0))
    counts = np.bincount(regional.home, minlength=city.nodes)
    assert all(near(count, draws, 0.75 / west) for count in counts[home_region == 0])
    assert near(int(np.count_nonzero(work_region[regional.work] == 0)), draws, 0.25)


def test_a_vehicle_is_the_same_in_every_range() -> None:
    city, parameters = small_city(), make_parameters(cars=100, mode="region")
    whole, part = describe_vehicles(city, parameters, 0, 100), describe_vehicles(city, parameters, 40, 60)
    assert part.licence == whole.licence[40:60]
    assert np.array_equal(part.home, whole.home[40:60])
    assert np.array_equal(part.work, whole.work[40:60])


def test_the_neighbourhood_is_all_nodes_within_the_radius_and_the_home() -> None:
    city = small_city()
    homes = np.array([0, 14], np.int32)
    for home, nodes in zip(homes, neighbourhoods(city, homes, 1000.0), strict=True):
        distance = np.hypot(city.node_x - city.node_x[home], city.node_y - city.node_y[home])
        assert nodes.tolist() == np.flatnonzero(distance <= 1000.0).tolist()
        assert home in nodes


def test_a_map_without_regions_is_refused_for_the_region_mode() -> None:
    city = line_city([[(0.0, 0.0), (1.0, 0.0)]], [30.0])
    with pytest.raises(UserError, match="has no regions"):
        describe_vehicles(city, make_parameters(cars=2, mode="region"), 0, 2)
