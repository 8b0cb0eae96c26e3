"""The one place that makes the Spark session: embedded by default, any `--master` on request."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from causeway.errors import UserError
from causeway.java import ensure_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["local_cores", "parse_settings", "spark_session"]

_EVERYWHERE = {
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # The default manager asks the local file system for things that fork some 35 processes a batch.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.noDataMicroBatches.enabled": "true",
}

_EMBEDDED = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "4g",
    "spark.python.unix.domain.socket.enabled": "true",
}


def parse_settings(pairs: Sequence[str]) -> dict[str, str]:
    """Read `k=v` pairs as given to --conf; a pair without `=` or without a key is the user's mistake."""
    settings = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise UserError(f"--conf takes key=value, as in spark.driver.memory=8g; got {pair!r}")
        settings[key.strip()] = value.strip()
    return settings


def local_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def spark_session(
    application: str,
    master: str = "local[*]",
    settings: Mapping[str, str] | None = None,
    log_level: str = "OFF",
) -> Iterator[SparkSession]:
    """A session that is stopped at the end.

    What the user gives in `settings` wins over every default here. Spark's own log is off: what goes wrong
    comes back as an exception, and once is enough.
    """
    ensure_java()
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    chosen = dict(_EVERYWHERE)
    if master.startswith("local"):
        chosen |= _EMBEDDED
        chosen["spark.sql.shuffle.partitions"] = str(max(2, local_cores()))
        # Python workers must find what this process finds: the same interpreter, the same packages.
        os.environ["PYSPARK_PYTHON"] = sys.executable
    chosen |= settings or {}
    builder = SparkSession.builder.appName(f"causeway {application}").master(master)
    for key, value in chosen.items():
        builder = builder.config(key, value)
    try:
        spark = builder.getOrCreate()
    except (PySparkException, OSError, RuntimeError) as failure:
        raise UserError(f"Spark did not start with --master {master}: {failure}") from failure
    spark.sparkContext.setLogLevel(log_level)
    try:
        yield spark
    finally:
        spark.stop()
