"""Delta Lake on Spark: a Structured Streaming query from the spool into a table that the same Spark reads.

The history is compacted and Z-ordered by time and vehicle, as a nightly job would; that can't be done to rows
that stream in, so these have optimized writes, automatic compaction and file statistics on T and VID.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyspark
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from causeway.runtime.cache import user_cache
from causeway.runtime.errors import UserError
from causeway.spark.session import spark_session
from others.system import Reader, System, UnavailableError, folder_bytes
from position_reports import batches

_SCHEMA = "VID INT, SPD INT, XWAY INT, LANE INT, DIR INT, SEG INT, POS INT, T BIGINT"
_PROPERTIES = (
    "TBLPROPERTIES ('delta.autoOptimize.optimizeWrite' = 'true', 'delta.autoOptimize.autoCompact' = 'true', "
    "'delta.dataSkippingStatsColumns' = 'T,VID', 'delta.checkpointInterval' = '100')"
)
_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
_SETTINGS = {
    # One table's metadata is small; the default is made for large clusters.
    "spark.databricks.delta.snapshotPartitions": "2",
    # Several files, so that their statistics can leave some out.
    "spark.databricks.delta.optimize.maxFileSize": str(32 * 2**20),
    # Statements and the streaming query share the cores, instead of one after the other.
    "spark.scheduler.mode": "FAIR",
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
}


@contextmanager
def delta_session(
    application: str, master: str, settings: dict[str, str]
) -> Iterator[tuple[SparkSession, str]]:
    """A Spark with the newest Delta that Maven has for its version, and that Delta's version.

    Spark's own resolver gets the jars into the user's cache.
    """
    version = ".".join(pyspark.__version__.split(".")[:2])
    name = f"delta-spark_{version}_2.13"
    chosen = _DELTA | settings
    chosen["spark.jars.packages"] = f"io.delta:{name}:latest.release"
    chosen["spark.jars.ivy"] = str(user_cache() / "ivy")
    with ExitStack() as stack:
        try:
            spark = stack.enter_context(spark_session(application, master, chosen))
        except UserError as failure:
            raise UnavailableError(
                f"Delta for Spark {version} can't be had from Maven; --delta-spark names a version of Spark "
                "to install for it, such as 4.2"
            ) from failure
        found = re.search(rf"{re.escape(name)}-([^/,]+)\.jar", spark.conf.get("spark.jars") or "")
        assert found is not None, "Spark started without the jar that it was asked for"
        yield spark, found[1]


class Delta(System):
    """A Spark with Delta's jar, otherwise set up as ours."""

    promise = "a committed batch is kept after a crash of Spark; Spark does not fsync files on a local disk"

    def __init__(self, folder: Path) -> None:
        """Start Spark."""
        self._folder = folder
        self._stack = ExitStack()
        settings = _SETTINGS | {
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
        }
        self._spark, release = self._stack.enter_context(delta_session("comparison", "local[*]", settings))
        self._query: StreamingQuery | None = None
        self._log: DeltaTable | None = None
        self.version = f"{release} on Spark {self._spark.version}"
        self.unequal = [
            "Delta: Spark does not fsync local files, so an insert is acknowledged before it would survive a "
            "power loss",
            "Delta: a batch counts as visible when its commit is there, before Spark plans a read of it",
            "Delta: has no value index; Parquet and file statistics leave out what can't match",
        ]

    def fill(self, rows: int) -> None:
        """Load, compact and Z-order, and remove what that replaced."""
        history = self._folder / "history"
        history.mkdir()
        for number, part in enumerate(batches(rows)):
            pq.write_table(part, history / f"{number:05d}.parquet", compression="lz4")
        self._create("posreports")
        self._spark.read.schema(_SCHEMA).parquet(str(history)).write.format("delta").mode(
            "append"
        ).saveAsTable("posreports")
        self._spark.sql("OPTIMIZE posreports ZORDER BY (T, VID)")
        self._spark.sql("VACUUM posreports RETAIN 0 HOURS")

    def _create(self, name: str) -> None:
        self._spark.sql(f"CREATE TABLE {name} ({_SCHEMA}) USING delta {_PROPERTIES}")

    def _stream(self, folder: Path) -> DataFrame:
        return self._spark.readStream.schema(_SCHEMA).parquet(str(folder))

    def follow(self, spool: Path) -> None:
        """Batch after batch, as fast as it goes."""
        self._query = (
            self._stream(spool)
            .writeStream.format("delta")
            .option("checkpointLocation", str(self._folder / "checkpoint"))
            .toTable("posreports")
        )

    def stop_following(self) -> None:
        """After the batch at hand."""
        assert self._query is not None
        failure = self._query.exception()
        if failure is not None:
            raise failure
        self._query.stop()

    def reader(self) -> Reader:
        """The session is for many threads."""
        return lambda text: self._spark.sql(text).toArrow()

    def visible_rows(self, totals: Sequence[int]) -> int:
        """From the transaction log, without Spark: counts by Spark would take its cores from the rest."""
        if self._log is None:
            self._log = DeltaTable(self._table_folder())
        self._log.update_incremental()
        return int(
            pc.sum(pa.table(self._log.get_add_actions(flatten=True)).column("num_records")).as_py() or 0
        )

    def insert(self, folder: Path) -> None:
        """A streaming query that ends."""
        self._create("bulk")
        (
            self._stream(folder)
            .writeStream.format("delta")
            .option("checkpointLocation", str(self._folder / "bulk-checkpoint"))
            .trigger(availableNow=True)
            .toTable("bulk")
            .awaitTermination()
        )

    def bytes_on_disk(self) -> int:
        """With the transaction log, and files that compaction replaced and VACUUM will remove."""
        return folder_bytes(self._table_folder())

    def _table_folder(self) -> Path:
        return self._folder / "warehouse" / "posreports"

    def close(self) -> None:
        """With Spark."""
        if self._query is not None and self._query.isActive:
            self._query.stop()
        self._stack.close()
