"""What answers a run: the columnar pipeline, or SQL over streaming tables.

Both read the run's spool, write batches of answers into the run's folder, and go on after a crash from what
they have left there. Everything else of a run is the same for both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from causeway.linear_road.driver.clock import SimulatedClock
from causeway.linear_road.driver.spool import SPOOL_BYTES, source_options
from causeway.linear_road.history.prepared import PreparedHistory
from causeway.linear_road.keeping.keep_process import KeepProcess
from causeway.linear_road.model.rules import RULES
from causeway.linear_road.pipeline.answer_files import write_whole
from causeway.linear_road.pipeline.answer_sink import AnswerSink
from causeway.linear_road.pipeline.query import Shards, answering, shards_for
from causeway.linear_road.runner.run_folder import RunFolder
from causeway.linear_road.runner.settings import EngineName, RunSettings
from causeway.linear_road.workload.workload import Workload
from causeway.spark.internals import committed_offsets
from causeway.spark.settings import applied
from causeway.streaming.watch import QueryWatch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "Answering",
    "ColumnarEngine",
    "Engine",
    "TablesEngine",
    "first_facts",
    "make_engine",
    "spool_limit",
]

_TABLES_SPOOL_BYTES: Final = 64 << 20
"""Less than for the pipeline: what is delivered at once must not get far ahead of the views."""
_TABLES_SETTINGS: Final = {
    # Statements are small and many: planning them twice costs more than a better plan gains.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    # A second's rows are few, so that a second task costs more than it saves; a minute's are in files.
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.files.minPartitionNum": "2",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    "spark.sql.streaming.numRecentProgressUpdates": "10",
}


class Answering(Protocol):
    """An engine at work on a run."""

    @property
    def answered(self) -> int:
        """The second up to which all is answered, not including it."""

    def check(self) -> None:
        """Raise if it has failed or ended."""

    def new_progress(self) -> list[Any]:
        """Reports of the batches that ended since the last call: `batchId` and `durationMs`, by step."""


class Engine(Protocol):
    """Answers what is in a run's spool."""

    def answering(
        self, folder: RunFolder, clock: SimulatedClock, keeper: KeepProcess | None = None
    ) -> AbstractContextManager[Answering]:
        """The engine at work, with its state and its answers in `folder`, for as long as the block runs.

        With a `keeper`, no answer is handed over before its report is in the history.
        """


def spool_limit(engine: EngineName) -> int:
    """The size of the spool at which the delivery of the past waits for the engine."""
    return _TABLES_SPOOL_BYTES if engine == "tables" else SPOOL_BYTES


def first_facts(engine: EngineName, spark: SparkSession, workload: Workload) -> dict[str, Any]:
    """What an engine settles when a run begins, and must find again when it is resumed."""
    if engine == "tables":
        return {}
    shards = shards_for(spark, workload.expressways)
    # Kept, since it takes a job to find them and a resumed run has no time for it.
    return {"shards": shards.count, "shard_keys": list(shards.keys), "partitions": shards.partitions}


def make_engine(
    settings: RunSettings,
    spark: SparkSession,
    history: PreparedHistory,
    facts: Mapping[str, Any],
    log: Path,
) -> Engine:
    """The engine of a run, with what `first_facts` settled for it."""
    if settings.engine == "tables":
        return TablesEngine(spark, settings.rules, history)
    shards = Shards(tuple(facts["shard_keys"]), facts["partitions"])
    return ColumnarEngine(spark, shards, settings.rules, history, log)


@dataclass(frozen=True)
class ColumnarEngine:
    """One streaming query, whose state is in shards."""

    spark: SparkSession
    shards: Shards
    rules: str
    history: PreparedHistory
    log: Path
    """Named by the error of a query that fails."""

    @contextmanager
    def answering(
        self, folder: RunFolder, clock: SimulatedClock, keeper: KeepProcess | None = None
    ) -> Iterator[QueryWatch]:
        """The query, and who looks at it."""
        # After a restart nothing may be left to answer. Spark's log tells, until its query continues it.
        offsets = [offset["second"] for offset in committed_offsets(folder.checkpoint) if offset]
        answered = min(offsets, default=0)
        with answering(
            self.spark,
            source_options(folder.spool, self.shards.keys, None if keeper is None else keeper.mark.path),
            folder.checkpoint,
            AnswerSink(
                folder.batches,
                folder.segments,
                clock,
                self.shards.count,
                None if keeper is None else keeper.wait_until_kept,
            ),
            shards=self.shards,
            rules=self.rules,
            history=self.history,
        ) as query:
            yield QueryWatch(query, "second", answered=answered, log=self.log)


@dataclass(frozen=True)
class TablesEngine:
    """Statements over streaming tables in the run's own warehouse, which stays after the run."""

    spark: SparkSession
    rules: str
    history: PreparedHistory

    @contextmanager
    def answering(
        self, folder: RunFolder, clock: SimulatedClock, keeper: KeepProcess | None = None
    ) -> Iterator[Answering]:
        """The statements at work, and the loop that hands answers over. They keep all reports anyway."""
        from causeway.linear_road.tables.answering import AnswerLoop
        from causeway.linear_road.tables.statements import INPUTS, begin, segment_rows
        from causeway.streaming_tables import connect

        with (
            applied(self.spark, _TABLES_SETTINGS),
            connect(folder.warehouse, self.spark) as db,
        ):
            begin(db, folder.spool)
            loop = AnswerLoop(db, folder.batches, folder.spool, clock, self.history, RULES[self.rules])
            try:
                yield loop
                for table in INPUTS:
                    db.wait_for(table)
                write_whole(segment_rows(db), folder.segments / "segments.parquet")
            finally:
                loop.stop()
