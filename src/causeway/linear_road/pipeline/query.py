"""The streaming query: spool, shards of roads, sink.

SPOOL ──► source ──────► shards ─────────► sink ──► RUN/batches
          (a task a       (a task a shard:   (adds up
           file: tuples    state store,       balances,
           by shard)       kernel, history)   takes Emit)
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from causeway.linear_road.history.prepared import PreparedHistory
from causeway.linear_road.pipeline.answer_sink import AnswerSink
from causeway.linear_road.pipeline.processor import ANSWERS_DDL, RoadProcessor
from causeway.linear_road.pipeline.spool_source import SpoolSource
from causeway.spark.internals import ROCKSDB_STATE_STORE
from causeway.spark.settings import applied, refuse_other_values, users_settings
from causeway.spark.shards import shard_keys

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["Shards", "answering", "check_users_settings", "shards_for"]

_PARTITIONS: Final = "spark.sql.shuffle.partitions"

_SETTINGS: Final = {
    "spark.sql.streaming.stateStore.providerClass": ROCKSDB_STATE_STORE,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.minBatchesToRetain": "4",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}
_REQUIRED: Final = {
    "spark.sql.streaming.stateStore.providerClass": "the pipeline's state works with no other store",
    "spark.sql.streaming.noDataMicroBatches.enabled": (
        "a batch without input looks like one whose answers were lost"
    ),
    _PARTITIONS: "the number of partitions belongs to the run",
}


def check_users_settings(users: Mapping[str, str]) -> None:
    """Refuse settings that the query cannot work with, before Spark starts."""
    refuse_other_values(users, _SETTINGS, _REQUIRED)


@dataclass(frozen=True)
class Shards:
    """How a run's roads are divided into shards. This belongs to the run, also after a resume."""

    keys: tuple[int, ...]
    """A key for each shard, such that Spark gives every one a task of its own."""
    partitions: int
    """Tasks of Spark's shuffle, at least one for each shard."""

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.keys)


def shards_for(spark: SparkSession, expressways: float) -> Shards:
    """As many as there are cores for them, and no more than roads; a user's number of partitions stands."""
    count = max(1, min(spark.sparkContext.defaultParallelism, round(2 * expressways)))
    partitions = int(users_settings(spark, [_PARTITIONS]).get(_PARTITIONS, count))
    return Shards(tuple(shard_keys(spark, partitions)[:count]), partitions)


@contextmanager
def answering(
    spark: SparkSession,
    source: tuple[str, dict[str, str]],
    checkpoint: Path,
    sink: AnswerSink,
    *,
    shards: Shards,
    rules: str,
    history: PreparedHistory,
) -> Iterator[StreamingQuery]:
    """A query that answers what `source` (format and options) brings, for as long as the block runs.

    It goes on from `checkpoint` if there is one; `shards` must then be what they were. The settings that it
    needs are in the session only inside the block. A user's settings win, except for those that it cannot
    work with: these are refused.
    """
    spark.dataSource.register(SpoolSource)
    source_format, options = source
    processor = RoadProcessor(str(uuid.uuid4()), shards.keys, rules, history)
    with applied(spark, _SETTINGS | {_PARTITIONS: str(shards.partitions)}, required=_REQUIRED):
        query = (
            spark.readStream.format(source_format)
            .options(**options)
            .load()
            .groupBy("shard")
            .transformWithStateInPandas(
                statefulProcessor=processor,
                outputStructType=ANSWERS_DDL,
                outputMode="append",
                timeMode="none",
            )
            .writeStream.queryName("linear-road")
            .option("checkpointLocation", str(checkpoint.resolve()))
            .outputMode("append")
            .foreachBatch(sink)
            .start()
        )
        try:
            yield query
        finally:
            query.stop()
