"""Distances in time and their comparison with a limit, against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.moving_objects.movements import (
    START,
    Movement,
    Piece,
    columns,
    interesting,
    is_in,
    movements,
    points_of,
    position,
)

from causeway.moving_objects.kernels.distances import compare, distance, distance_to_point
from causeway.moving_objects.kernels.spans import at_value, deftime, sometimes

NEAR = Fraction(1, 10**5)


def _square(one: Movement, other: Movement, t: Fraction) -> Fraction | None:
    """The square of the distance at an instant, exactly; `None` if one of the two is not there then."""
    a, b = position(one, t), position(other, t)
    return None if a is None or b is None else (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2


@settings(max_examples=200)
@given(
    st.lists(st.tuples(movements(), movements()), min_size=1, max_size=3), st.sampled_from([0, 1, 2, 3, 5])
)
def test_within_a_distance_is_when_exact_fractions_say_so(
    pairs: list[tuple[Movement, Movement]], metres: int
) -> None:
    """Small whole coordinates and whole limits: distances that only touch the limit come often."""
    ones, others = columns([one for one, _ in pairs]), columns([other for _, other in pairs])
    limit = np.full(len(pairs), float(metres))
    apart = distance(ones, others)
    near = compare(apart, "le", limit)
    below = compare(apart, "lt", limit)
    when = at_value(near, np.ones(len(pairs), bool)).spans
    strictly = at_value(below, np.ones(len(pairs), bool)).spans
    known, ever = deftime(apart), sometimes(near)
    for r, (one, other) in enumerate(pairs):
        for t in interesting(one, other, when, strictly):
            square = _square(one, other, t)
            assert is_in(known, r, t) == (square is not None)
            if square is None:
                assert not is_in(when, r, t)
                continue
            assert ever[r] or square > metres**2 - NEAR
            at_an_instant = any(t == instant for piece in (*one, *other) for instant, _, _ in piece.instants)
            if at_an_instant or abs(square - metres**2) > NEAR:
                assert is_in(when, r, t) == (square <= metres**2), (t, square)
                assert is_in(strictly, r, t) == (square < metres**2), (t, square)


@pytest.mark.parametrize("aside", [-1e-6, 0.0, 1e-6])
@pytest.mark.parametrize("begin", [0, START])
def test_a_micrometre_decides_whether_a_limit_is_reached(aside: float, begin: int) -> None:
    """Two vehicles pass each other at 60 m/s, 10 m apart give or take a micrometre."""
    one = columns([_line((begin, -60, 0), (begin + 2000, 60, 0))])
    other = columns([_line((begin, 60, 10 + aside), (begin + 2000, -60, 10 + aside))])
    bools = compare(distance(one, other), "le", np.array([10.0]))
    assert bool(sometimes(bools)[0]) == (aside <= 0)
    if aside < 0:
        spans = at_value(bools, np.array([True])).spans
        half = 1000 * np.sqrt(100 - (10 + aside) ** 2) / 120
        expected = [begin + 1000 - half, begin + 1000 + half]
        assert [spans.begin[0], spans.end[0]] == pytest.approx(expected, abs=1e-3)


def _line(*instants: tuple[float, float, float]) -> Movement:
    return (Piece(instants, True, False),)  # type: ignore[arg-type]


def test_huge_times_lose_nothing() -> None:
    one = columns([_line((START, 0, 0), (START + 2000, 20, 0))])
    other = columns([_line((START, 10, 3), (START + 2000, 10, 3))])
    spans = at_value(compare(distance(one, other), "le", np.array([5.0])), np.array([True])).spans
    assert spans.begin.tolist() == [START + 600]
    assert spans.end.tolist() == [START + 1400]


def test_an_instant_in_nanoseconds_has_a_distance() -> None:
    """So far from 1970, a millisecond more or less is the same double."""
    instant = float(1180344600000 * 10**6)
    assert instant + 1.0 == instant
    one = columns([(Piece(((instant, 3, 4),), True, True),)])  # type: ignore[arg-type]
    apart = distance_to_point(one, points_of((0, 0)))
    assert (apart.a.tolist(), apart.b.tolist(), apart.c.tolist()) == ([0.0], [0.0], [25.0])


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
