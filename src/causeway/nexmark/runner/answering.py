"""A query at work on Spark: its settings while it runs, its start, its warm-up, waiting for its end."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from causeway.nexmark.events.slices import Slices
from causeway.nexmark.queries import FEED, Input, Query, errors_in
from causeway.nexmark.queries.answers import AnswerSink, batch_notes, planned_slices
from causeway.nexmark.runner.measurements import Mark
from causeway.runtime.cpu_time import CpuMeter
from causeway.runtime.errors import UserError
from causeway.runtime.progress import ProgressBar
from causeway.spark.internals import HEAP_STATE_STORE, ROCKSDB_STATE_STORE, committed_batch
from causeway.spark.settings import applied, users_settings
from causeway.streaming.watch import QueryFailedError, QueryWatch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = [
    "CHECKPOINT",
    "Meter",
    "Reading",
    "answered_slices",
    "answering",
    "shards_for",
    "until_the_end",
    "warm_up",
]

CHECKPOINT: Final = "checkpoint"
_PARTITIONS: Final = "spark.sql.shuffle.partitions"
_STATE_STORE: Final = "spark.sql.streaming.stateStore.providerClass"
_STATE_STORES: Final = {"memory": HEAP_STATE_STORE, "rocksdb": ROCKSDB_STATE_STORE}
_POLL: Final = 0.02
_CHECK_SECONDS: Final = 0.2
_WARM_UP: Final = "warm-up"


@dataclass(frozen=True)
class Reading:
    """How a run reads its input. A resumed run keeps all of it: the state depends on the shards."""

    limit: int
    """Slices of a batch at most."""
    tasks: int
    shards: int
    delay: int
    """Milliseconds by which events may be late."""


def shards_for(spark: SparkSession) -> int:
    """The shards of a new run: the user's number of shuffle partitions, or one for each core."""
    return int(users_settings(spark, [_PARTITIONS]).get(_PARTITIONS, spark.sparkContext.defaultParallelism))


@contextmanager
def answering(
    spark: SparkSession,
    query: Query,
    source: Path,
    folder: Path,
    sink: Callable[[DataFrame, int], None] | None,
    reading: Reading,
) -> Iterator[StreamingQuery]:
    """A query at work on `source`; its checkpoint, rejects and notes are in `folder`.

    Without a `sink`, Spark's own `noop` takes the answers and keeps nothing.
    Spark's settings are those of the query within the block, but the user's word wins.
    """
    inputs = Input(
        folder=source,
        limit=reading.limit,
        tasks=reading.tasks,
        shards=reading.shards,
        delay=reading.delay,
        rejects=folder / "rejects",
        notes=folder / "notes",
    )
    settings = {
        _PARTITIONS: str(1 if query.has_one_shard else reading.shards),
        _STATE_STORE: ROCKSDB_STATE_STORE if query.kernel else _STATE_STORES[query.state_store],
        "spark.sql.streaming.minBatchesToRetain": "4",
        "spark.sql.streaming.numRecentProgressUpdates": "1000",
    }
    required = {}
    if query.kernel:
        required[_STATE_STORE] = "the operators keep their state in RocksDB"
    if not query.has_one_shard:
        required[_PARTITIONS] = f"the run was begun with {reading.shards} shards, and keeps them"
    with applied(spark, settings, required=required):
        with errors_in(query.file):
            writer = (
                query.stream(spark, inputs)
                .writeStream.queryName(f"nexmark {query.name}")
                .option("checkpointLocation", str((folder / CHECKPOINT).resolve()))
                .outputMode(query.output_mode)
            )
            started = (writer.format("noop") if sink is None else writer.foreachBatch(sink)).start()
        try:
            yield started
        except QueryFailedError as failure:
            if query.file is None:
                raise
            raise UserError(f"{query.file}: {failure}") from failure
        finally:
            started.stop()


def answered_slices(checkpoint: Path) -> int:
    """The slices that a query has answered, by Spark's log of its finished batches."""
    batch = committed_batch(checkpoint)
    return 0 if batch is None else planned_slices(checkpoint, batch)


class Meter:
    """Time and CPU time of a query. CPU time is read once a batch: looking at all processes is work too."""

    def __init__(self, slices: int, without: Collection[int] = ()) -> None:
        """`slices` were answered before. The processes `without` do not count."""
        self._cpu = CpuMeter(without)
        self.begin = Mark(time.time(), slices, self._cpu.read())
        self._answered = slices

    def see(self, answered: int) -> None:
        """Note CPU time if more slices are answered than before."""
        if answered > self._answered:
            self._answered = answered
            self._cpu.read()

    def end(self, moment: float) -> Mark:
        """The mark of the end: of `moment`, when the last answers were readable."""
        return Mark(max(moment, self.begin.time), self._answered, self._cpu.read())


def until_the_end(
    at_work: StreamingQuery,
    query: Query,
    slices: Slices,
    log: Path | None,
    *,
    look: Callable[[int], None],
    bar: ProgressBar,
    folder: Path,
) -> None:
    """Wait until a query has answered everything; `look` is called often, with the slices answered so far.

    `folder` is that of `answering`. Spark's log in it says what is answered: to ask Java each time would take
    a tenth of a core.
    """
    watch = QueryWatch(at_work, "slice", log=log)
    checked = -_CHECK_SECONDS
    batch: int | None = None
    answered = 0
    while True:
        if time.monotonic() - checked >= _CHECK_SECONDS:
            watch.check()
            checked = time.monotonic()
        newest = committed_batch(folder / CHECKPOINT)
        if newest is not None and newest != batch:
            batch, answered = newest, planned_slices(folder / CHECKPOINT, newest)
        look(answered)
        total = slices.total
        bar.update(min(answered, answered if total is None else total))
        if total is not None:
            if query.watermarked:
                query.feed(slices.folder, folder / FEED).end(total)
            # One more than there are: the end is a slice of its own, but for plain Spark without a watermark.
            if answered > total or (answered == total and query.engine == "spark" and not query.watermarked):
                # Windows that the end has closed come out in a batch without input.
                at_work.processAllAvailable()
                return
        time.sleep(_POLL)


def warm_up(
    spark: SparkSession,
    query: Query,
    source: Path,
    folder: Path,
    reading: Reading,
    batches: int,
    log: Path | None,
) -> None:
    """Let Java and the Python workers compile what they will run, on the first batches of `source`."""
    scratch = folder / _WARM_UP
    shutil.rmtree(scratch, ignore_errors=True)
    answers = scratch / "answers"
    possible = -(-(Slices.of(source, query.model).total or 1) // reading.limit)
    sink = AnswerSink(answers, scratch / CHECKPOINT)
    with answering(spark, query, source, scratch, sink, reading) as at_work:
        watch = QueryWatch(at_work, "slice", log=log)
        watch.wait_until(lambda: len(batch_notes(answers)) >= min(batches, possible))
    shutil.rmtree(scratch, ignore_errors=True)
