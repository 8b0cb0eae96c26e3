"""What feeds a continuous insert."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol

import pyarrow as pa

from causeway.streaming_tables.sources.feeds.feed import Feed, Limits
from causeway.streaming_tables.sources.feeds.making import make_feed
from causeway.streaming_tables.sources.feeds.received import Receiver
from causeway.streaming_tables.sources.parsing.target import Reading

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["FedSource", "SocketSource", "Source"]

_TASKS_WORTH_STARTING: Final = 2
"""A batch of rows for one task is read at once in the time that Spark takes to plan and start the task."""


class Source(Protocol):
    """A stream of rows for one table. Offsets are those of Spark's checkpoints."""

    description: str

    @property
    def ends(self) -> bool:
        """Whether the source ends by itself: what it holds now is all that it will ever hold."""

    def load(self, spark: SparkSession, *, tasks: int) -> DataFrame:
        """A streaming DataFrame: the table's columns and time, then __source, __line, __reason and __text.

        In a good row these four are null. In a rejected one all others are.
        """

    def read_here(self, start: Mapping[str, int] | None, end: Mapping[str, int]) -> pa.Table | None:
        """The rows of a batch as `load` gives them, read in this process; None if they are worth tasks."""

    def available(self) -> dict[str, int]:
        """The offset up to which the source holds data at this moment."""

    def reached(self, offset: Mapping[str, int] | None, goal: Mapping[str, int]) -> bool:
        """Whether everything before `goal` is before `offset` too; None is the offset before any batch."""

    def finished(self, offset: Mapping[str, int] | None) -> bool:
        """Whether the source has ended and holds nothing after `offset`."""

    def closed(self, offset: Mapping[str, int]) -> int | None:
        """The second up to which no more rows come after `offset`; None if that is not known."""

    def stop(self) -> None:
        """Release what the source holds open."""


class FedSource:
    """A source that is read from a feed."""

    def __init__(self, description: str, feed: Feed, limits: Limits) -> None:
        self.description = description
        self._feed = feed
        self._limits = limits

    @property
    def ends(self) -> bool:
        return self._feed.ended()

    def load(self, spark: SparkSession, *, tasks: int) -> DataFrame:
        # The command line opens sources only to check them, without Spark.
        from causeway.streaming_tables.sources.feeds.spark_source import stream_of

        return stream_of(spark, self._feed, self._limits, tasks)

    def read_here(self, start: Mapping[str, int] | None, end: Mapping[str, int]) -> pa.Table | None:
        feed = self._own_feed
        begin = feed.initial() if start is None else start
        parts = feed.partitions(begin, end, _TASKS_WORTH_STARTING)
        if len(parts) >= _TASKS_WORTH_STARTING:
            return None
        schema = Reading.from_json(feed.spec()["reading"]).schema
        return pa.Table.from_batches([batch for part in parts for batch in feed.read(part)], schema)

    @cached_property
    def _own_feed(self) -> Feed:
        """For the thread that reads batches; the other one is asked by other threads."""
        return make_feed(self._feed.spec())

    def available(self) -> dict[str, int]:
        return self._feed.available()

    def reached(self, offset: Mapping[str, int] | None, goal: Mapping[str, int]) -> bool:
        return not self._feed.before(self._feed.initial() if offset is None else offset, goal)

    def finished(self, offset: Mapping[str, int] | None) -> bool:
        # Whether it has ended comes first: what is added before it ends is then seen.
        return self.ends and self.reached(offset, self.available())

    def closed(self, offset: Mapping[str, int]) -> int | None:
        return self._feed.closed(offset)

    def stop(self) -> None:
        """Nothing is held open."""


class SocketSource(FedSource):
    """A source whose lines are received in this process."""

    def __init__(self, description: str, feed: Feed, limits: Limits, receiver: Receiver) -> None:
        super().__init__(description, feed, limits)
        self._receiver = receiver

    def available(self) -> dict[str, int]:
        self._receiver.flush()
        return super().available()

    def stop(self) -> None:
        self._receiver.stop()
