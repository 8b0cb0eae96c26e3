"""Table 8: how the scale determines the numbers of vehicles and days, and what is refused."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from causeway.berlinmod.model.calendar import DAY_MS, date_of, day_start
from causeway.berlinmod.model.parameters import make_parameters
from causeway.runtime.errors import UserError


@pytest.mark.parametrize(
    ("scale", "cars", "days"), [(0.005, 141, 2), (0.05, 447, 6), (0.2, 894, 13), (1.0, 2000, 28)]
)
def test_the_scale_gives_the_vehicles_and_days_of_table_11(scale: float, cars: int, days: int) -> None:
    parameters = make_parameters(scale=scale)
    assert (parameters.cars, parameters.days) == (cars, days)


def test_single_scales_and_numbers_win_over_the_scale() -> None:
    assert make_parameters(scale=0.2, scale_cars=0.1).cars == 200
    assert make_parameters(scale=0.2, scale_days=0.5).days == 14
    assert make_parameters(scale=0.2, cars=7, days=3).cars == 7
    assert make_parameters(seed=4).trip_seed == 4
    assert make_parameters(seed=4, home_seed=2).home_seed == 2


def test_the_observation_begins_on_monday_28_may_2007() -> None:
    assert date_of(2702) == date(2007, 5, 28)
    assert date_of(2702).weekday() == 0
    parameters = make_parameters(days=2)
    assert parameters.begin_ms == day_start(2702) == (date(2007, 5, 28) - date(1970, 1, 1)).days * DAY_MS
    assert parameters.first_ms == parameters.begin_ms - DAY_MS
    assert parameters.last_ms == parameters.end_ms + DAY_MS == parameters.begin_ms + 3 * DAY_MS


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"scale": 0}, "scale is a number above 0"),
        ({"scale": float("nan")}, "scale is a number above 0"),
        ({"scale_days": -1}, "scale days is a number above 0"),
        ({"cars": 0}, "cars is a whole number from 1"),
        ({"cars": 10**9}, "cars is a whole number from 1 to 6,000,000"),
        ({"days": 10**6}, "days is a whole number from 1 to 3,650"),
        ({"sample_size": 0}, "sample size is a whole number"),
        ({"gps_interval_ms": 0}, "gps interval .milliseconds. is a whole number from 1"),
        ({"min_pause_ms": 0}, "min pause .milliseconds. is a whole number from 1"),
        ({"gps_total_error": -1.0}, "gps total error is a number from 0 on"),
        ({"min_velocity": float("inf")}, "min velocity is a number from 0 on"),
        ({"neighbourhood_radius": 0.0}, "neighbourhood radius is a number above 0"),
        ({"mode": "square"}, "mode is one of network, region; got square"),
        ({"distance": "cheapest"}, "distance is one of fastest, shortest"),
        ({"seed": -1}, "seed is a whole number from 0"),
    ],
)
def test_a_wrong_parameter_is_told_with_what_is_expected(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        make_parameters(**wrong)
