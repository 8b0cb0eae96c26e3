"""Streams made of Python rows as the views that the batch statements read, and answers as Python rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from causeway.nexmark.judge.batch import batch_answer
from causeway.nexmark.model import Model

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = dict[str, Any]
Event = tuple[str, Row]


@contextmanager
def delivered(
    spark: SparkSession, model: Model, events: Iterable[Event], **statics: pa.Table
) -> Iterator[None]:
    """The events as views in order of their delivery; a column that an event doesn't name is null."""
    columns: Mapping[str, list[Row]] = {name: [] for name in model.streams}
    for arrival, (stream, event) in enumerate(events):
        columns[stream].append({**event, "arrival": arrival})
    tables = {
        name: pa.Table.from_pylist(columns[name], schema=schema.append(pa.field("arrival", pa.int64())))
        for name, schema in model.streams.items()
    }
    for name, table in {**tables, **statics}.items():
        spark.createDataFrame(table).createOrReplaceTempView(name)
    yield
    for name in [*tables, *statics]:
        spark.catalog.dropTempView(name)


def answer(spark: SparkSession, model: Model, query: str, rules: str = "ours") -> Counter[tuple[Any, ...]]:
    """The rows of an answer and how often each is there; times are milliseconds."""
    table = batch_answer(spark, model.name, query, rules).toArrow()
    columns = [
        column.cast(pa.timestamp("ms", tz=column.type.tz)).cast(pa.int64())
        if pa.types.is_timestamp(column.type)
        else column
        for column in table.columns
    ]
    return Counter(zip(*(column.to_pylist() for column in columns), strict=True))
