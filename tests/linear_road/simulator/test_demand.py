"""The trips and accidents drawn before anything moves, against section 3.1.1."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causeway.linear_road.model.expressway import EAST, SEGMENTS, WEST
from causeway.linear_road.simulator.demand import departures_per_second, draw_accidents, draw_trips

seeds = st.integers(0, 2**31)


def whole_expressway(seed: int, minutes: int) -> tuple[np.ndarray, np.ndarray]:
    """Entry and exit segments of both directions, in the expressway's own numbers."""
    east, west = (draw_trips(seed, 0, direction, minutes) for direction in (EAST, WEST))
    entry = np.concatenate([east.entry, SEGMENTS - 1 - west.entry])
    exit_ = np.concatenate([east.exit, SEGMENTS - 1 - west.exit])
    return entry, exit_


def test_entries_are_uniform_and_exits_normal() -> None:
    entry, exit_ = whole_expressway(seed=3, minutes=180)
    per_segment = np.bincount(entry, minlength=SEGMENTS)
    expected = entry.size / SEGMENTS
    chi_square = ((per_segment - expected) ** 2 / expected).sum()
    assert chi_square < 150  # 99 degrees of freedom: beyond this once in 1,500 times
    assert exit_.mean() == pytest.approx(50, abs=0.5)
    # N(50, 20) cut at 0 and 99 has a deviation of 19.1.
    assert exit_.std() == pytest.approx(19.1, abs=0.3)


@given(seeds, st.sampled_from([EAST, WEST]), st.integers(1, 5))
def test_everybody_travels_forward(seed: int, direction: int, minutes: int) -> None:
    trips = draw_trips(seed, 7, direction, minutes)
    assert (trips.exit > trips.entry).all()
    assert trips.entry.min() >= 0
    assert trips.exit.max() < SEGMENTS
    assert (np.diff(trips.departure) >= 0).all()
    assert trips.departure.max() < 60 * minutes


def test_departures_are_spread_evenly() -> None:
    departures = departures_per_second(10800)
    by_phase = np.bincount(np.arange(10800) % 30, weights=departures)
    assert np.abs(by_phase / by_phase.mean() - 1).max() < 0.02
    assert np.abs(np.diff(departures)).max() <= 1


@given(seeds)
def test_one_accident_in_twenty_minutes_in_turns(seed: int) -> None:
    east, west = (draw_accidents(seed, 2, direction, 180) for direction in (EAST, WEST))
    begin = np.sort(np.concatenate([east.begin, west.begin]))
    assert (begin // 1200).tolist() == list(range(9))
    assert abs(east.begin.size - west.begin.size) == 1
    duration = np.concatenate([east.duration, west.duration])
    assert duration.min() >= 600
    assert duration.max() <= 1200


def test_a_different_seed_or_expressway_is_different_traffic() -> None:
    one = draw_trips(1, 0, EAST, 10)
    assert not np.array_equal(one.entry, draw_trips(2, 0, EAST, 10).entry)
    assert not np.array_equal(one.entry, draw_trips(1, 1, EAST, 10).entry)
    assert np.array_equal(one.entry, draw_trips(1, 0, EAST, 10).entry)
