"""What predicates take; that they select the right rows is shown against the oracle."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from causeway.streaming_tables.storage import Comparison, Predicate, UnsupportedPredicate
from causeway.streaming_tables.storage.predicate import CompiledPredicate

SCHEMA = pa.schema(
    [
        ("i", pa.int32()),
        ("l", pa.int64()),
        ("f", pa.float32()),
        ("d", pa.float64()),
        ("s", pa.string()),
        ("b", pa.bool_()),
        ("day", pa.date32()),
        ("ts", pa.timestamp("us", "UTC")),
        ("ntz", pa.timestamp("us")),
        ("m", pa.decimal128(10, 2)),
        ("list", pa.list_(pa.int32())),
    ]
)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("i", 1.0),
        ("i", True),
        ("i", 2**31),
        ("i", "1"),
        ("i", pa.scalar(1, pa.int64())),
        ("f", 0.1),
        ("d", 2**53 + 1),
        ("s", b"a"),
        ("b", 1),
        ("day", datetime(2024, 1, 1)),
        ("ts", datetime(2024, 1, 1)),
        ("ntz", datetime(2024, 1, 1, tzinfo=UTC)),
        ("m", Decimal("0.001")),
        ("m", 0.5),
        ("list", [1]),
        ("nothing", 1),
    ],
)
def test_constants_that_would_have_to_be_cast(column: str, value: Any) -> None:
    with pytest.raises(UnsupportedPredicate):
        CompiledPredicate(Predicate.all_of(Comparison(column, "=", value)), SCHEMA)


def test_operators_that_are_not_supported() -> None:
    with pytest.raises(UnsupportedPredicate, match="like"):
        CompiledPredicate(Predicate.all_of(Comparison("s", "like", "a%")), SCHEMA)
    with pytest.raises(UnsupportedPredicate, match="list"):
        CompiledPredicate(Predicate.all_of(Comparison("s", "in", "abc")), SCHEMA)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("i", np.int32(3)),
        ("f", 0.5),
        ("d", 3),
        ("day", date(2024, 1, 1)),
        ("ts", datetime(2024, 1, 1, tzinfo=UTC)),
        ("m", Decimal("1.5")),
        ("m", 7),
        ("l", pa.scalar(1, pa.int64())),
        ("s", pa.scalar("x")),
    ],
)
def test_constants_of_the_columns_type(column: str, value: Any) -> None:
    compiled = CompiledPredicate(Predicate.all_of(Comparison(column, "=", value)), SCHEMA)
    as_python = value.as_py() if isinstance(value, pa.Scalar) else value
    values = pa.array([as_python, None], SCHEMA.field(column).type)
    assert compiled.groups[0][0].mask(values).tolist() == [True, False]


def test_null_tests_work_for_all_types() -> None:
    for op, expected in (("is null", [False, True]), ("is not null", [True, False])):
        compiled = CompiledPredicate(Predicate.all_of(Comparison("list", op)), SCHEMA)
        assert compiled.groups[0][0].mask(pa.array([[1], None], pa.list_(pa.int32()))).tolist() == expected


def test_bounds_take_in_all_conjunctions() -> None:
    low, high = Comparison("l", ">=", 5), Comparison("l", "<", 9)
    assert CompiledPredicate(Predicate.all_of(low, high), SCHEMA).bounds("l") == (5, 9)
    either = Predicate(((low, high), (Comparison("l", "in", [2, 30]),)))
    assert CompiledPredicate(either, SCHEMA).bounds("l") == (2, 30)
    unbounded = Predicate(((low, high), (Comparison("i", "=", 3),)))
    assert CompiledPredicate(unbounded, SCHEMA).bounds("l") == (None, None)
    assert CompiledPredicate(Predicate.all_of(Comparison("l", "!=", 3)), SCHEMA).bounds("l") == (None, None)
