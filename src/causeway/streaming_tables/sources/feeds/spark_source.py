"""Spark's way to a feed: a Python data source whose tasks yield Arrow batches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from causeway.streaming_tables.sources.feeds.feed import Feed, Limits
from causeway.streaming_tables.sources.feeds.making import make_feed
from causeway.streaming_tables.sources.parsing.target import Reading

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["FeedSource", "stream_of"]

_FORMAT: Final = "causeway-feed"


def stream_of(spark: SparkSession, feed: Feed, limits: Limits, tasks: int) -> DataFrame:
    """The feed's rows as a streaming DataFrame, in at most `tasks` tasks a batch."""
    spark.dataSource.register(FeedSource)
    facts = {"feed": feed.spec(), "rows": limits.rows, "bytes": limits.bytes, "tasks": tasks}
    return spark.readStream.format(_FORMAT).option("facts", json.dumps(facts)).load()


class FeedSource(DataSource):
    """Option `facts`: the feed, the most that a batch reads, and its tasks, as JSON."""

    @classmethod
    def name(cls) -> str:
        return _FORMAT

    def schema(self) -> StructType:
        reading = Reading.from_json(json.loads(self.options["facts"])["feed"]["reading"])
        return from_arrow_schema(reading.schema)

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        return _FeedReader(json.loads(self.options["facts"]))


class _FeedReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, facts: dict[str, Any]) -> None:
        self._facts = facts
        self._limits = Limits(facts["rows"], facts["bytes"])
        self._feed = make_feed(facts["feed"])
        self._goal: dict[str, int] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # Tasks need the facts, not what planning has learned.
        return _FeedReader, (self._facts,)

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return self._feed.initial()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._limits.rows)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._goal = self._feed.available()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        limits: Limits | None = self._limits
        if isinstance(limit, ReadAllAvailable):
            limits = None
        elif isinstance(limit, ReadMaxRows):
            limits = Limits(limit.max_rows, self._limits.bytes)
        end = self._feed.next(start, limits)
        if self._goal is not None and self._feed.before(self._goal, end):
            end = self._goal
        return start if self._feed.before(end, start) else end

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        parts = self._feed.partitions(start, end, self._facts["tasks"])
        return [InputPartition(part) for part in parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._feed.read(partition.value)

    def commit(self, end: dict[str, int]) -> None:
        self._feed.forget(end)
