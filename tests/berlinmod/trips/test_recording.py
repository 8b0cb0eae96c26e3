"""What is recorded: errors of positions, trips and pauses, lengths and boxes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causeway.berlinmod.trips.recording import (
    UNITS_PER_BOX,
    cumulate_lengths,
    disturb,
    make_boxes,
    split_at_pauses,
)

PAUSE = 300_000


@st.composite
def movements(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random units, of which many stand."""
    units = draw(
        st.lists(st.tuples(st.integers(1, 400_000), st.sampled_from([0, 0, 1, 5])), min_size=1, max_size=40)
    )
    t = np.concatenate(([0], np.cumsum([duration for duration, _ in units]))).astype(np.int64)
    x = np.concatenate(([0], np.cumsum([step for _, step in units]))).astype(np.float64)
    return t, x, 2 * x


@given(movements())
def test_trips_are_cut_at_pauses_of_five_minutes(movement: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    t, x, y = movement
    first, moving = split_at_pauses(t, x, y, PAUSE, 0.0)
    # In another way: runs of standing units, of which those that last long enough are trips of their own.
    stands = (np.diff(x) == 0).tolist()
    labels, unit = [], 0
    while unit < len(stands):
        end = unit
        while end < len(stands) and stands[end] == stands[unit]:
            end += 1
        pause = stands[unit] and t[end] - t[unit] >= PAUSE
        labels += [("pause", unit) if pause else ("moves", -1)] * (end - unit)
        unit = end
    expected = [unit for unit in range(len(labels)) if unit == 0 or labels[unit] != labels[unit - 1]]
    assert first.tolist() == [*expected, len(labels)]
    assert moving.tolist() == [labels[unit][0] == "moves" for unit in expected]


def test_what_creeps_slower_than_the_least_velocity_stands() -> None:
    t = np.array([0, 1000, 3_601_000, 3_602_000], np.int64)
    x = np.array([0.0, 10.0, 10.5, 20.0])
    assert split_at_pauses(t, x, x * 0, PAUSE, 0.4)[1].tolist() == [True]
    assert split_at_pauses(t, x, x * 0, PAUSE, 0.6)[1].tolist() == [True, False, True]


@given(st.lists(st.integers(1, 200), min_size=1, max_size=5), st.integers(0, 2**32))
def test_boxes_and_lengths_are_those_of_the_units(sizes: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    offsets = np.concatenate(([0], np.cumsum([size + 1 for size in sizes]))).astype(np.int64)
    t = np.arange(offsets[-1], dtype=np.int64)
    x, y = random.normal(size=(2, offsets[-1]))
    boxes = make_boxes(offsets, t, x, y)
    length = cumulate_lengths(offsets, x, y)
    box = 0
    for first, end in itertools.pairwise(offsets):
        steps = np.hypot(np.diff(x[first:end]), np.diff(y[first:end]))
        assert length[first:end] == pytest.approx(np.concatenate(([0], np.cumsum(steps))))
        for begin in range(first, end - 1, UNITS_PER_BOX):
            mine = slice(begin, min(begin + UNITS_PER_BOX + 1, end))
            assert boxes.t[box] == t[begin]
            assert (boxes.x_min[box], boxes.x_max[box]) == (x[mine].min(), x[mine].max())
            assert (boxes.y_min[box], boxes.y_max[box]) == (y[mine].min(), y[mine].max())
            box += 1
    assert boxes.t.size == box == boxes.offsets[-1]


def test_errors_walk_within_their_bounds_and_rest_while_the_vehicle_stands() -> None:
    x = np.repeat(np.arange(20_000.0), 2)
    y = x * 3
    disturbed_x, disturbed_y = disturb(x, y, np.uint64(5), 100.0, 1.0)
    for error in (disturbed_x - x, disturbed_y - y):
        assert np.all(np.abs(error) <= 100.0 + 1e-6)
        steps = np.diff(error)
        assert np.all(np.abs(steps) <= 1.0 + 1e-6)
        assert np.all(np.abs(steps[::2]) < 1e-6)
        assert np.mean(np.abs(steps[1::2])) == pytest.approx(0.5, rel=0.1)
    assert np.all(disturbed_x[::2] == disturbed_x[1::2])
    firsts = [disturb(x[:1], y[:1], np.uint64(key), 100.0, 1.0)[0][0] for key in range(400)]
    assert np.mean(np.abs(firsts)) == pytest.approx(50, rel=0.15)
