"""Beam's rules to the letter: its generator's events against the answers of its own model simulators."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.nexmark.judge.batch.tables import Event, answer, delivered
from tests.reference import REFERENCE

from causeway.nexmark.judge.batch import batch_answer
from causeway.nexmark.model import MODERN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STORED = REFERENCE / "nexmark/beam_r100_n10000"

pytestmark = pytest.mark.skipif(not STORED.is_dir(), reason=f"no reference data at {STORED}")


def lines(name: str) -> list[Any]:
    with gzip.open(STORED / f"{name}.jsonl.gz", "rt", encoding="utf-8") as text:
        return [json.loads(line) for line in text]


def events() -> list[Event]:
    return [(line["type"], line["event"]) for line in lines("events")]


def winning_bids() -> Counter[tuple[Any, ...]]:
    return Counter(
        (*line["value"]["auction"].values(), *line["value"]["bid"].values()) for line in lines("model_q9")
    )


@pytest.fixture(scope="module")
def spark_with_events(spark: SparkSession) -> Iterator[SparkSession]:
    with delivered(spark, MODERN, events()):
        yield spark


@pytest.mark.parametrize("query", ["q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8"])
def test_simulators_answer(spark_with_events: SparkSession, query: str) -> None:
    columns = batch_answer(spark_with_events, "modern", query, "beam").columns
    stored = Counter(tuple(line["value"][column] for column in columns) for line in lines(f"model_{query}"))
    assert answer(spark_with_events, MODERN, query, "beam") == stored


def test_simulators_winning_bids(spark_with_events: SparkSession) -> None:
    assert answer(spark_with_events, MODERN, "q9", "beam") == winning_bids()


def test_simulator_passes_every_event_through(spark_with_events: SparkSession) -> None:
    table = batch_answer(spark_with_events, "modern", "q0", "beam").toArrow()
    passed = Counter(
        tuple(
            value.cast(pa.int64()).as_py() // 1000 if pa.types.is_timestamp(value.type) else value.as_py()
            for value in struct.values()
        )
        for column in table.columns
        for struct in column
        if struct.is_valid
    )
    assert passed == Counter(tuple(line["value"].values()) for line in lines("model_q0"))


def test_order_of_delivery_does_not_matter(spark: SparkSession) -> None:
    with delivered(spark, MODERN, reversed(events())):
        assert answer(spark, MODERN, "q9", "beam") == winning_bids()
