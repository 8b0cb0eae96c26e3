"""Definitions of tables, and the types of their columns."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pytest
from tests.streaming_tables.storage.small_tables import numbered_definition

from causeway.runtime.errors import UserError
from causeway.streaming_tables.storage import (
    ColumnDefinition,
    IndexDefinition,
    TableDefinition,
    TimeDefinition,
    default_compartment,
)
from causeway.streaming_tables.storage.column_types import arrow_type, type_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int", pa.int32()),
        ("BIGINT", pa.int64()),
        ("decimal(12, 3)", pa.decimal128(12, 3)),
        ("decimal", pa.decimal128(10, 0)),
        ("varchar(20)", pa.string()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("timestamp_ntz", pa.timestamp("us")),
        ("array<int>", pa.list_(pa.int32())),
        ("map<string, array<double>>", pa.map_(pa.string(), pa.list_(pa.float64()))),
        ("struct<a:int,`b,c`: decimal(5,1)>", pa.struct([("a", pa.int32()), ("b,c", pa.decimal128(5, 1))])),
        ("struct<Upper int>", pa.struct([("Upper", pa.int32())])),
    ],
)
def test_types(text: str, expected: pa.DataType) -> None:
    assert arrow_type(text) == expected
    assert arrow_type(type_text(expected)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "interval day",
        "nothing",
        "array<>",
        "struct<>",
        "map<int>",
        "variant",
        "decimal(50,2)",
        "decimal(3,5)",
    ],
)
def test_types_that_a_table_can_not_have(text: str) -> None:
    with pytest.raises(UserError, match="can't have the type"):
        arrow_type(text)


def test_json_gives_the_definition_back() -> None:
    definition = numbered_definition(range=5, generation=3, kind="view")
    assert TableDefinition.from_json(json.loads(json.dumps(definition.to_json()))) == definition


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"columns": (ColumnDefinition("t", "int"),)}, "two columns with the name t"),
        ({"columns": (ColumnDefinition("__seq", "int"),), "indexes": ()}, "reserved"),
        ({"compartment": 0}, "positive compartment"),
        ({"indexes": (IndexDefinition("i", "x"),)}, "no column x"),
        ({"columns": (ColumnDefinition("x", "strange"),), "indexes": ()}, "type strange"),
    ],
)
def test_definitions_that_make_no_sense(changes: dict[str, object], complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        replace(numbered_definition(), **changes)  # type: ignore[arg-type]


def test_the_default_compartment() -> None:
    seconds, timestamp = TimeDefinition(), TimeDefinition("T", "timestamp")
    assert default_compartment(seconds, None) == 3600
    assert default_compartment(seconds, 300) == 60
    assert default_compartment(seconds, 16 * 61) == 120
    assert default_compartment(seconds, 1_209_600) == 3600
    assert default_compartment(timestamp, 16 * 60 * 10**6) == 60 * 10**6


def test_the_historical_period_ends_at_zero_for_seconds_only() -> None:
    assert numbered_definition(range=100).oldest_kept(30) == 0
    assert numbered_definition(range=100).oldest_kept(130) == 30
    assert numbered_definition(range=None).oldest_kept(130) is None
    timestamps = replace(numbered_definition(range=100), time=TimeDefinition("T", "timestamp"))
    assert timestamps.oldest_kept(30) == -70
