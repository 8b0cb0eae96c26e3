"""The streaming query: spool, shards of roads, sink.

SPOOL ──► source ──────► shards ─────────► sink ──► RUN/batches
          (a task a       (a task a shard:   (adds up
           file: tuples    state store,       balances,
           by shard)       kernel, history)   takes Emit)
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from causeway.linear_road.driver.spool import source_options
from causeway.linear_road.history.prepared import PreparedHistory
from causeway.linear_road.pipeline.answer_sink import AnswerSink
from causeway.linear_road.pipeline.processor import ANSWERS_DDL, RoadProcessor
from causeway.linear_road.pipeline.spool_source import SpoolSource
from causeway.spark.shards import shard_keys

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["shards_for", "start_query"]

_SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.minBatchesToRetain": "4",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
    # An empty batch answers nothing: there are no watermarks to move on.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}


def shards_for(spark: SparkSession, expressways: float) -> int:
    """As many as there are cores for them, and no more than roads."""
    return max(1, min(spark.sparkContext.defaultParallelism, round(2 * expressways)))


def start_query(
    spark: SparkSession,
    spool: Path,
    checkpoint: Path,
    sink: AnswerSink,
    *,
    shards: int,
    rules: str,
    history: PreparedHistory,
) -> StreamingQuery:
    """Start answering what arrives in `spool`; goes on from `checkpoint` if there is one.

    `shards` must be what it was when the checkpoint was begun.
    """
    for key, value in _SETTINGS.items():
        spark.conf.set(key, value)
    spark.conf.set("spark.sql.shuffle.partitions", str(shards))
    spark.dataSource.register(SpoolSource)
    keys = shard_keys(spark, shards)
    spool_format, options = source_options(spool, keys)
    processor = RoadProcessor(str(uuid.uuid4()), keys, rules, history)
    return (
        spark.readStream.format(spool_format)
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
