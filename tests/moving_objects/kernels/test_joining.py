"""Movements put together, against the movement that they were cut from."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.moving_objects.movements import (
    Movement,
    Piece,
    columns,
    interesting,
    movement,
    movements,
    position,
    spans_of,
)

from causeway.moving_objects.kernels.joining import concat, from_rows, stacked
from causeway.moving_objects.kernels.spans import restrict
from causeway.moving_objects.kernels.values import MovingPoints
from causeway.runtime.errors import UserError

FOREVER = 10.0**14


def _halves(one: Movement, cut: int, cut_is_first: bool) -> tuple[MovingPoints, MovingPoints]:
    """What is before an instant, and what is after it; the instant itself belongs to one of the two."""
    points = columns([one])
    before = spans_of([[(-FOREVER, float(cut), True, cut_is_first)]])
    after = spans_of([[(float(cut), FOREVER, not cut_is_first, True)]])
    return restrict(points, before), restrict(points, after)


@settings(max_examples=150)
@given(movements().filter(bool), st.integers(0, 60), st.booleans(), st.booleans())
def test_halves_put_together_are_the_whole(
    one: Movement, place: int, cut_is_first: bool, in_order: bool
) -> None:
    cut = one[0].instants[0][0] + 500 * place
    halves = _halves(one, cut, cut_is_first)
    again = movement(concat(stacked(*(halves if in_order else halves[::-1]))), 0)
    for t in interesting(one, again):
        here, there = position(one, t), position(again, t)
        assert (here is None) == (there is None)
        if here is not None and there is not None:
            assert max(abs(a - b) for a, b in zip(here, there, strict=True)) < Fraction(1, 10**9)


@settings(max_examples=100)
@given(movements().filter(bool))
def test_what_is_put_together_with_itself_overlaps(one: Movement) -> None:
    points = columns([one])
    with pytest.raises(UserError, match="must not overlap in time"):
        concat(stacked(points, points))


def test_pieces_that_meet_in_time_but_not_in_place_stay_two() -> None:
    coming = Piece(((0, 0, 0), (1000, 1, 0)), True, False)
    jumping = Piece(((1000, 5, 5), (2000, 6, 5)), True, True)
    found = movement(concat(stacked(columns([(coming,)]), columns([(jumping,)]))), 0)
    assert found == (coming, jumping)


@given(st.permutations([(0, 1.0, 2.0), (1000, 3.0, 4.0), (2500, 5.0, 6.0)]))
def test_rows_in_any_order_are_one_movement(rows: list[tuple[int, float, float]]) -> None:
    t, x, y = (np.array(column, float) for column in zip(*rows, strict=True))
    found = movement(from_rows(np.array([0, 0, 3]), t, x, y), 1)
    assert found == (Piece(((0, 1.0, 2.0), (1000, 3.0, 4.0), (2500, 5.0, 6.0)), True, True),)  # type: ignore[arg-type]
