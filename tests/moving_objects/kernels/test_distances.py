"""Distances in time and their comparison with a limit, against exact fractions."""

from __future__ import annotations

import numpy as np
import pytest
from tests.moving_objects.movements import (
    START,
    Movement,
    Piece,
    columns,
    points_of,
)

from causeway.moving_objects.kernels.distances import compare, distance, distance_to_point
from causeway.moving_objects.kernels.spans import at_value


def _line(*instants: tuple[float, float, float]) -> Movement:
    return (Piece(instants, True, False),)  # type: ignore[arg-type]


def test_huge_times_lose_nothing() -> None:
    one = columns([_line((START, 0, 0), (START + 2000, 20, 0))])
    other = columns([_line((START, 10, 3), (START + 2000, 10, 3))])
    spans = at_value(compare(distance(one, other), "le", np.array([5.0])), np.array([True])).spans
    assert spans.begin.tolist() == [START + 600]
    assert spans.end.tolist() == [START + 1400]


def test_nearly_parallel_pieces_part_when_they_do() -> None:
    """They drift apart by 1e-6 m in 1000 s: the quadratic term is 1e-18, the linear one 2e-8."""
    one = columns([_line((START, 0, 0), (START + 1_000_000, 0, 10_000))])
    other = columns([_line((START, 10, 0), (START + 1_000_000, 10 + 1e-6, 10_000))])
    bools = compare(distance(one, other), "le", np.array([10 + 5e-7]))
    assert bools.value.tolist() == [True, False]
    assert bools.spans.end[0] == pytest.approx(START + 500_000, abs=0.1)


def test_standing_at_exactly_the_limit_is_true_all_the_time() -> None:
    one = columns([_line((START, 0, 0), (START + 9000, 0, 0))])
    bools = compare(distance_to_point(one, points_of((3, 4))), "le", np.array([5.0]))
    assert bools.value.tolist() == [True]
    assert bools.spans.end.tolist() == [START + 9000]
    assert bools.spans.end_closed.tolist() == [False]


def test_touching_the_limit_is_one_instant() -> None:
    one = columns([_line((START, -10, 5), (START + 2000, 10, 5))])
    bools = compare(distance_to_point(one, points_of((0, 0))), "le", np.array([5.0]))
    assert bools.value.tolist() == [False, True, False]
    assert bools.spans.begin.tolist() == [START, START + 1000, START + 1000]
    assert bools.spans.begin_closed.tolist() == [True, True, False]


@pytest.mark.parametrize(("name", "expected"), [("lt", False), ("le", False), ("ge", True), ("gt", True)])
def test_a_distance_is_never_below_zero(name: str, expected: bool) -> None:
    one = columns([_line((0, 0, 0), (1000, 5, 0))])
    bools = compare(distance_to_point(one, points_of((0, 0))), name, np.array([-1.0]))
    assert bools.value.tolist() == [expected]
