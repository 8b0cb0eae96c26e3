"""Shards: a few groups of keys, each of which Spark gives to a task of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from causeway.spark.internals import task_of_key

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["shard_keys"]

_known: dict[int, list[int]] = {}
"""By the number of shards: Spark's hash is the same in every session."""


def shard_keys(spark: SparkSession, shards: int) -> list[int]:
    """A number for each shard, such that Spark gives every one a task of its own."""
    if shards not in _known:
        rows = spark.sql(
            f"SELECT min(id) AS key FROM range(0, {64 * shards + 64}) "
            f"GROUP BY {task_of_key('id', shards)} ORDER BY key"
        ).collect()
        _known[shards] = [int(row.key) for row in rows]
    return list(_known[shards])
