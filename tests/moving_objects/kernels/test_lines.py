"""Trajectories, lengths and distances of lines; movements put together; boxes."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.moving_objects.movements import (
    Movement,
    columns,
    movements,
)

from causeway.moving_objects.kernels.lines import length, line_distance, line_length, trajectory
from causeway.moving_objects.kernels.values import MovingPoints


def _geometry(one: Movement) -> shapely.Geometry:
    parts = []
    for piece in one:
        corners = [(x, y) for _, x, y in piece.instants]
        parts.append(shapely.LineString(corners) if len(set(corners)) > 1 else shapely.Point(corners[0]))
    return shapely.GeometryCollection(parts)


@settings(max_examples=100)
@given(st.lists(st.tuples(movements(), movements()), min_size=1, max_size=4))
def test_lines_against_shapely(rows: list[tuple[Movement, Movement]]) -> None:
    one, other = (columns([pair[k] for pair in rows]) for k in (0, 1))
    lines = trajectory(one), trajectory(other)
    apart = line_distance(*lines)
    for r, pair in enumerate(rows):
        first, second = (_geometry(each) for each in pair)
        assert length(one)[r] == pytest.approx(first.length)
        assert line_length(lines[0])[r] == pytest.approx(first.length)
        if first.is_empty or second.is_empty:
            assert math.isnan(apart[r])
        else:
            assert apart[r] == pytest.approx(shapely.distance(first, second), abs=1e-9)


def _walk(seed: int, count: int, far: float) -> MovingPoints:
    random = np.random.default_rng(seed)
    x, y = np.cumsum(random.normal(0, 5, (2, count)), axis=1)
    ends = np.array([0, count])
    closed = np.ones(1, bool)
    return MovingPoints(np.array([0, 1]), ends, np.arange(count) * 1000.0, x + far, y, closed, closed)


@pytest.mark.parametrize("far", [0.0, 300.0, 2000.0])
def test_long_lines_against_shapely(far: float) -> None:
    one, other = _walk(1, 1500, 0.0), _walk(2, 1000, far)
    shapes = [shapely.LineString(np.column_stack([each.x, each.y])) for each in (one, other)]
    found = line_distance(trajectory(one), trajectory(other))[0]
    assert found == pytest.approx(shapely.distance(*shapes), abs=1e-9)
