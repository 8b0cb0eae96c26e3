"""The published counts with the authors' map, where it is there: trips within 5 %, units within 7 %."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import REFERENCE

from causeway.berlinmod.city import open_map
from causeway.berlinmod.generator.part import City, city_of, make_histories
from causeway.berlinmod.inspection.expectations import published_for
from causeway.berlinmod.model.parameters import Mode, make_parameters
from causeway.berlinmod.trips.recording import split_at_pauses
from causeway.berlinmod.trips.vehicles import describe_vehicles

MAP = REFERENCE / "berlinmod"
pytestmark = pytest.mark.skipif(not MAP.exists(), reason="the authors' map is not here")


@pytest.fixture(scope="module")
def berlin() -> City:
    return city_of(open_map(MAP), "fastest")


@pytest.mark.parametrize(
    ("mode", "scale"),
    [
        ("region", 0.005),
        ("region", 0.05),
        ("network", 0.05),
        pytest.param("region", 0.2, marks=pytest.mark.slow),
        pytest.param("network", 0.2, marks=pytest.mark.slow),
        pytest.param("region", 1.0, marks=pytest.mark.slow),
        pytest.param("network", 1.0, marks=pytest.mark.slow),
    ],
)
def test_trips_and_units_are_as_many_as_were_published(berlin: City, mode: Mode, scale: float) -> None:
    parameters = make_parameters(scale=scale, mode=mode)
    vehicles = describe_vehicles(berlin.road_map, parameters, 0, parameters.cars)
    trips, units, metres = [], [], []
    for first in range(0, parameters.cars, 20):
        some = vehicles.some(first, min(first + 20, parameters.cars))
        for _, history in make_histories(berlin, parameters, some):
            cuts, _ = split_at_pauses(
                history.t, history.x, history.y, parameters.min_pause_ms, parameters.min_velocity
            )
            trips.append(cuts.size - 1)
            units.append(history.t.size - 1)
            metres.append(np.hypot(np.diff(history.x), np.diff(history.y)).sum())
    published = published_for(parameters, on_berlin=True)
    assert published is not None
    assert sum(trips) == pytest.approx(published.trips, rel=0.05)
    assert sum(units) == pytest.approx(published.units, rel=0.07)
    if mode == "network":
        assert sum(metres) / sum(trips) == pytest.approx(5100, rel=0.07)
