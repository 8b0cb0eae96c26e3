"""Operators on columns of Arrow: what Spark seldom sends, NULLs and NaN."""

from __future__ import annotations

import pyarrow as pa
import pytest

from causeway.moving_objects.spark import operators
from causeway.runtime.errors import UserError

_POSITION = pa.struct([("t", pa.int64()), ("x", pa.float64()), ("y", pa.float64())])


def test_a_position_that_is_null_is_left_out() -> None:
    place = {"t": 5, "x": 1.0, "y": 2.0}
    later = {"t": 7, "x": 3.0, "y": 2.0}
    column = pa.array([[None, later, None, place], [None], [], None, [place]], pa.list_(_POSITION))
    found = operators.moving_point(column).to_pylist()
    assert [None if one is None else one["t"] for one in found] == [[5.0, 7.0], [], [], None, [5.0]]
    assert found[0]["x"] == [1.0, 3.0]


def test_a_row_of_a_streaming_table_that_is_null_is_left_out() -> None:
    rows = pa.struct([("pos", pa.int64()), ("T", pa.int64())])
    column = pa.array([[None, {"pos": 4, "T": 1}], [{"pos": 5, "T": 2}]], pa.list_(rows))
    names = pa.array(["pos", "pos"])
    found = operators.moving_point(column, names, pa.array([0, 1])).to_pylist()
    assert [(one["t"], one["x"], one["y"]) for one in found] == [
        ([1000.0], [4.0], [0.0]),
        ([2000.0], [5.0], [1.0]),
    ]


@pytest.mark.parametrize("name", ["lt", "le", "eq", "ne", "ge", "gt"])
def test_nothing_is_compared_with_nan(name: str) -> None:
    trip = pa.array([[{"t": 0, "x": 0.0, "y": 0.0}, {"t": 9, "x": 1.0, "y": 0.0}]], pa.list_(_POSITION))
    moving = operators.moving_point(trip)
    apart = operators.distance(moving, moving)
    with pytest.raises(UserError, match=f"^{name}: the number to compare with is NaN"):
        operators.comparison(name)(apart, pa.array([float("nan")]))
