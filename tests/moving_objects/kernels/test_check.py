"""What cannot be a moving object is refused in words that say what is wrong."""

from __future__ import annotations

import pyarrow as pa
import pytest

from causeway.moving_objects.spark import operators
from causeway.runtime.errors import UserError

TRIP = {"t": [0, 1000, 2000], "x": [0.0, 1.0, 2.0], "y": [0.0, 0.0, 0.0]}
PIECES = {"first": [0, 2], "begin_closed": [True, True], "end_closed": [False, True]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"t": [0, 1000, 1000]}, "times must increase, but instant 2"),
        ({"t": [0, 1000]}, "`t` and `x` must have equal lengths, but have 2 and 3"),
        ({"x": [0.0, float("nan"), 1.0]}, "instant 1 is .* x = nan"),
        ({"y": [0.0, None, 1.0]}, "`y`: a value is NULL"),
        ({**PIECES, "first": [0, 3]}, "`first` must begin with 0"),
        ({**PIECES, "first": [1, 2]}, "`first` must begin with 0"),
        ({**PIECES, "begin_closed": [True]}, "must have equal lengths"),
        ({**PIECES, "end_closed": [False, False]}, "single instant, so it must be closed"),
        ({**PIECES, "t": [0, 1000, 500]}, "pieces must be in the order of time"),
    ],
)
def test_wrong_moving_points(changes: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        operators.length(pa.array([{**TRIP, **changes}]))


def test_a_list_that_is_null() -> None:
    numbers = pa.list_(pa.float64())
    kind = pa.struct({"t": pa.list_(pa.int64()), "x": numbers, "y": numbers})
    with pytest.raises(UserError, match="`x`: a list is NULL"):
        operators.length(pa.array([{**TRIP, "x": None}], kind))


def test_a_value_without_the_fields() -> None:
    with pytest.raises(UserError, match="expected a struct with the field `t`"):
        operators.atinstant(pa.array([{"x": [1.0]}]), pa.array([1]))


@pytest.mark.parametrize(
    ("region", "message"),
    [
        ({"x": [0.0, 1.0], "y": [0.0, 1.0]}, "a ring has 2 corners; a region needs at least three"),
        ({"x": [0.0, 1.0, float("inf")], "y": [0.0, 1.0, 2.0]}, "a corner is NaN or infinite"),
    ],
)
def test_wrong_regions(region: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        operators.passes(pa.array([TRIP]), pa.array([region]))


def test_wrong_periods_points_and_tolerances() -> None:
    with pytest.raises(UserError, match="begin must not be after its end"):
        operators.atperiods(pa.array([TRIP]), pa.array([{"begin": 5, "end": 4}]))
    with pytest.raises(UserError, match="neither NaN nor infinite"):
        operators.passes(pa.array([TRIP]), pa.array([{"x": float("nan"), "y": 0.0}]))
    with pytest.raises(UserError, match="expected metres, 0 or more"):
        operators.passes(pa.array([TRIP]), pa.array([{"x": 0.0, "y": 0.0}]), pa.array([-1.0]))
    with pytest.raises(UserError, match="at least three corners"):
        operators.circle(pa.array([{"x": 0.0, "y": 0.0}]), pa.array([5.0]), pa.array([2]))


def test_null_arguments_give_null_and_leave_the_other_rows_alone() -> None:
    trips = pa.array([None, TRIP, TRIP])
    found = operators.atinstant(trips, pa.array([500, 500, None]))
    assert found.to_pylist() == [None, {"t": 500.0, "x": 0.5, "y": 0.0}, None]
    assert operators.isempty(pa.array([None, TRIP, {"t": [], "x": [], "y": []}])).to_pylist() == [
        True,
        False,
        True,
    ]
