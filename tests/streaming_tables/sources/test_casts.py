"""Single columns: what is a value of a type, and what is told of one that is none."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal

import pyarrow as pa
import pytest

from causeway.streaming_tables.sources.parsing.casts import ColumnRule, column_rules, convert, plain_value
from causeway.streaming_tables.sources.parsing.target import Reading, TargetColumns
from causeway.streaming_tables.storage import TimeDefinition

_TIMESTAMP = pa.timestamp("us", tz="UTC")
_NOON = datetime(2024, 5, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (pa.int32(), "7", 7),
        (pa.int32(), " +7 ", 7),
        (pa.int32(), "-2147483648", -(2**31)),
        (pa.int32(), "007", 7),
        (pa.float64(), "1e3", 1000.0),
        (pa.float32(), " .5", 0.5),
        (pa.decimal128(5, 2), "1.5", Decimal("1.50")),
        (pa.bool_(), "TRUE", True),
        (pa.bool_(), " false", False),
        (pa.string(), " x ", " x "),
        (pa.binary(), "é", "é".encode()),
        (_TIMESTAMP, "2024-05-31T12:00:00Z", _NOON),
        (_TIMESTAMP, "2024-05-31 12:00:00", _NOON),
        (_TIMESTAMP, "2024-05-31 14:00:00+02:00", _NOON),
        (_TIMESTAMP, "2024-05-31T12:00:00.000000999", _NOON),
    ],
)
def test_text_that_is_a_value(kind: pa.DataType, text: str, value: Any) -> None:
    converted, reasons = convert(pa.array([text]), ColumnRule("x", kind))
    assert reasons == {}
    assert converted.type == kind
    assert converted.to_pylist() == [value]


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        (pa.int32(), "0x1F", "x is 0x1F, not a whole number"),
        (pa.int32(), "0X1f", "x is 0X1f, not a whole number"),
        (pa.int32(), "1.0", "x is 1.0, not a whole number"),
        (pa.int32(), "1_000", "x is 1_000, not a whole number"),
        (pa.int32(), "", "x is empty, not a whole number"),
        (pa.int32(), "2147483648", "x is 2147483648, which does not fit in INT"),
        (pa.int8(), "-129", "x is -129, which does not fit in TINYINT"),
        (pa.float64(), "1,5", "x is 1,5, not a number"),
        (pa.decimal128(5, 2), "1.005", "x is 1.005, not a number that fits in DECIMAL(5,2)"),
        (pa.bool_(), "yes", "x is yes, neither true nor false"),
        (pa.date32(), "31.5.2024", "x is 31.5.2024, not a date such as 2024-05-31"),
        (_TIMESTAMP, "noon", "x is noon, not a time such as 2024-05-31T12:00:00Z"),
        (_TIMESTAMP, "17", "x is 17, not a time such as 2024-05-31T12:00:00Z"),
    ],
)
def test_text_that_is_no_value(kind: pa.DataType, text: str, reason: str) -> None:
    converted, reasons = convert(pa.array([None, text, None]), ColumnRule("x", kind))
    assert reasons == {1: reason}
    assert converted.to_pylist() == [None, None, None]


@pytest.mark.parametrize(
    ("values", "seconds"),
    [
        (pa.array(["1717156800", "2024-05-31T12:00:00.9Z"]), [1717156800, 1717156800]),
        (pa.array([_NOON], _TIMESTAMP), [1717156800]),
        (pa.array([_NOON.replace(tzinfo=None)], pa.timestamp("ns")), [1717156800]),
        (pa.array([_NOON.date()], pa.date32()), [1717113600]),
        (pa.array([5], pa.uint16()), [5]),
        (pa.array(["5"]).dictionary_encode(), [5]),
    ],
)
def test_seconds(values: pa.Array, seconds: list[int]) -> None:
    converted, reasons = convert(values, ColumnRule("T", pa.int64(), time=True, seconds=True))
    assert reasons == {}
    assert converted.to_pylist() == seconds


def test_times_that_are_none() -> None:
    rule = ColumnRule("T", pa.int64(), time=True, seconds=True)
    _, reasons = convert(pa.array(["5", None, "-1", "1969-12-31T23:59:59.5Z", "later"]), rule)
    assert reasons == {
        1: "T has no value, but it is the row's time",
        2: "T is -1, before second 0",
        3: "T is 1969-12-31T23:59:59.5Z, before second 0",
        4: "T is later, neither a whole number of seconds nor a time",
    }


def test_integers_count_what_the_unit_says() -> None:
    milliseconds = pa.array([1_717_156_800_999])
    converted, _ = convert(milliseconds, ColumnRule("x", _TIMESTAMP, unit="ms"))
    assert converted.to_pylist() == [_NOON.replace(microsecond=999_000)]
    converted, _ = convert(milliseconds, ColumnRule("T", pa.int64(), time=True, seconds=True, unit="ms"))
    assert converted.to_pylist() == [1_717_156_800]


def test_only_what_does_not_convert_is_taken_out() -> None:
    values = [str(number) for number in range(10_000)]
    for place in (0, 17, 18, 9_999):
        values[place] = "x"
    converted, reasons = convert(pa.array(values), ColumnRule("x", pa.int16()))
    assert sorted(reasons) == [0, 17, 18, 9_999]
    assert [number for number in converted.to_pylist() if number is not None] == [
        number for number in range(10_000) if number not in (0, 17, 18, 9_999)
    ]


@pytest.mark.parametrize("kind", ["seconds", "timestamp"])
def test_times_that_no_row_can_have_are_told(kind: Literal["seconds", "timestamp"]) -> None:
    time = TimeDefinition(kind=kind)
    target = TargetColumns(pa.schema([("T", time.arrow_type)]), kind, time.limits)
    (rule,) = column_rules(Reading(TargetColumns.from_json(target.to_json())))
    last = time.limits[1]
    times = pa.array([1, last, last + 1, None, 2**63 - 1], pa.int64()).cast(time.arrow_type)
    converted, reasons = convert(times, rule)
    assert converted.cast(pa.int64()).to_pylist() == [1, last, None, None, None]
    assert sorted(reasons) == [2, 3, 4]
    assert "too early or too late" in reasons[2]


def test_values_that_python_does_not_have() -> None:
    far = pa.array([10**18], pa.int64())
    assert plain_value(far.cast(pa.timestamp("us"))[0]) == "1000000000000000000"
    assert "too late" in plain_value(pa.array([10**8], pa.int32()).cast(pa.date32())[0])
    assert "too late" in plain_value(
        pa.array([[10**18]], pa.list_(pa.int64())).cast(pa.list_(pa.timestamp("us")))[0]
    )
    assert plain_value(pa.scalar(7)) == 7
