"""`causeway nexmark run`: queries on Spark, one after the other, with what was measured.

From a folder of events a query takes what it can: throughput. From the firehose it takes what comes: latency.
A query's state, answers and times are in its own folder, so that it goes on after a crash.

    RUN/q5/checkpoint/   Spark's
    RUN/q5/answers/      see `answers`
    RUN/q5/rejects/      what was no event, or came too late
    RUN/q5/spool/        the firehose's, while it runs
    RUN/result.json      every query's figures, and the machine
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from causeway.nexmark.events.dataset import write_dataset
from causeway.nexmark.events.firehose_process import FirehoseClock, FirehoseProcess, begin_spool
from causeway.nexmark.events.slices import Slices
from causeway.nexmark.generator.firehose import Firehose
from causeway.nexmark.judge.check import check_answers
from causeway.nexmark.judge.output_matching import output_matching
from causeway.nexmark.queries import Input, Query
from causeway.nexmark.runner.answers import AnswerSink, batch_notes
from causeway.nexmark.runner.measurements import latencies, throughput
from causeway.runtime.cpu_time import CpuMeter
from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import write_json
from causeway.runtime.progress import ProgressBar, progress_bar
from causeway.spark.session import explain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["Steady", "answering", "run_query", "settle"]

_BATCH_EVENTS: Final = 2_000_000
"""What a batch takes where there is more than it can take."""
_DEFAULT_DELAY: Final = 4_000
"""Milliseconds by which events may be late where nobody says: as Flink's statements have it."""
_POLL: Final = 0.05
_WARM_UP: Final = "warm-up"
_WARM_UP_BATCHES: Final = 2
_MOST_SLICE_EVENTS: Final = 1_000_000
_ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_ON_HEAP: Final = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
_SLICE_SECONDS: Final = 0.1
_LAST_WATERMARK: Final = "9990"


@dataclass(frozen=True)
class Steady:
    """Events from the firehose, at a rate, for a time."""

    firehose: Firehose
    rate: float
    """Events a second of the clock."""
    warm_up: float
    """Seconds at the beginning whose latencies do not count."""

    @property
    def slice_events(self) -> int:
        return max(1, round(self.rate * _SLICE_SECONDS))

    @property
    def interval(self) -> float:
        return self.slice_events / self.rate


def settle(spark: SparkSession, query: Query) -> None:
    """Spark's settings for a query: small partitions, and the state store that suits it."""
    spark.conf.set("spark.sql.shuffle.partitions", str(spark.sparkContext.defaultParallelism))
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", _ROCKSDB if query.kernel else _ON_HEAP)
    spark.conf.set("spark.sql.streaming.minBatchesToRetain", "4")
    spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", "1000")


@contextmanager
def answering(
    spark: SparkSession,
    query: Query,
    source: Path,
    folder: Path,
    sink: Callable[[DataFrame, int], None],
    most: int,
    delay: int,
) -> Iterator[StreamingQuery]:
    """A query at work on `source`, its checkpoint and rejects in `folder`."""
    settle(spark, query)
    given = Input(
        folder=source,
        most=most,
        tasks=spark.sparkContext.defaultParallelism,
        delay=delay,
        rejects=folder / "rejects",
    )
    started = (
        query.stream(spark, given)
        .writeStream.queryName(f"nexmark {query.name}")
        .option("checkpointLocation", str((folder / "checkpoint").resolve()))
        .outputMode(query.output_mode)
        .foreachBatch(sink)
        .start()
    )
    try:
        yield started
    finally:
        started.stop()


def run_query(
    spark: SparkSession, query: Query, source: Path | Steady, out: Path, *, check: bool
) -> dict[str, Any]:
    """Run one query to its end and write its figures to `out/result.json`; goes on with what is there."""
    kept = out / "result.json"
    if kept.exists():
        facts: dict[str, Any] = json.loads(kept.read_text())
        return facts
    resumed = (out / "checkpoint").exists()
    out.mkdir(parents=True, exist_ok=True)
    if isinstance(source, Path):
        folder, most, delay = source, *_cut(source, query.model)
        firehose = None
    else:
        folder, most, delay = out / "spool", 1 << 30, round(1000 * source.firehose.disorder)
        begin_spool(folder, source.firehose)
        firehose = FirehoseProcess(folder, source.firehose, source.interval, source.slice_events)
    try:
        facts = _run(spark, query, source, folder, out, most, delay, firehose)
    finally:
        if firehose is not None:
            firehose.stop()
    facts |= {"query": query.name, "rules": query.rules, "streams": query.streams, "resumed": resumed}
    facts["rejects"] = _count_rejects(out / "rejects")
    if isinstance(source, Steady):
        facts["output_matching"] = output_matching(
            spark, query, folder, out / "answers", FirehoseClock.load(folder), source.warm_up
        )
    if check:
        facts["check"] = asdict(checked := check_answers(spark, query, folder, out / "answers"))
        facts["check"]["passed"] = checked.passed
    write_json(kept, facts)
    shutil.rmtree(out / "checkpoint", ignore_errors=True)
    if firehose is not None:
        shutil.rmtree(folder, ignore_errors=True)
    return facts


def _cut(source: Path, model: str) -> tuple[int, int]:
    """Slices of a batch, and the milliseconds that events may be late."""
    slices = Slices.of(source, model)
    delay = _DEFAULT_DELAY if slices.disorder is None else round(1000 * slices.disorder)
    return max(1, _BATCH_EVENTS // slices.slice_events), delay


def _run(
    spark: SparkSession,
    query: Query,
    source: Path | Steady,
    folder: Path,
    out: Path,
    most: int,
    delay: int,
    firehose: FirehoseProcess | None,
) -> dict[str, Any]:
    slices = Slices.of(folder, query.model)
    if not (out / "checkpoint").exists():
        if isinstance(source, Path):
            _warm_up(spark, query, folder, out, most, delay)
        else:
            _warm_up_for(spark, query, source, out, delay)
    with answering(
        spark, query, folder, out, AnswerSink(out / "answers", out / "checkpoint"), most, delay
    ) as query_at_work:
        if firehose is not None:
            _wait(lambda: query_at_work.isActive and query_at_work.lastProgress is None, 1.0)
            firehose.start()
        without = () if firehose is None else (firehose.pid,)
        watch = _Watch(slices, query_at_work, query.ends_by_watermark, without)
        title = f"{query.name}, {'slices of the firehose' if firehose else 'slices'}"
        with progress_bar(title, slices.total or watch.expected(source), "slices") as bar:
            watch.until_the_end(bar, firehose)
    batches = [asdict(note) for note in batch_notes(out / "answers")]
    facts: dict[str, Any] = {"batches": batches, "most_slices": most, "delay_ms": delay}
    facts |= throughput(slices, query.streams, watch.marks)
    if firehose is not None:
        assert isinstance(source, Steady)
        clock = FirehoseClock.load(folder)
        facts["firehose"] = firehose.outcome() | {"rate": source.rate, "warm_up_seconds": source.warm_up}
        facts["clock"] = asdict(clock)
        facts["latency"] = latencies(clock, batches, source.warm_up)
    return facts


class _Watch:
    """Looks at a query until it has answered everything, and notes how far it was when."""

    def __init__(self, slices: Slices, query: StreamingQuery, waits: bool, without: Sequence[int]) -> None:
        self._slices = slices
        self._waits = waits
        self._query = query
        self._cpu = CpuMeter(without)
        self.marks: list[tuple[float, int, float | None]] = [(time.time(), 0, self._cpu.read())]
        """Time, slices answered, CPU seconds."""

    @staticmethod
    def expected(source: Path | Steady) -> int:
        """How many slices the firehose is going to deliver."""
        assert isinstance(source, Steady)
        return -(-source.firehose.events // source.slice_events)

    def until_the_end(self, bar: ProgressBar, firehose: FirehoseProcess | None) -> None:
        while True:
            time.sleep(_POLL)
            if (failure := self._query.exception()) is not None:
                raise RuntimeError(explain(failure)) from failure
            if firehose is not None and (why := firehose.failure()) is not None:
                raise UserError(f"the firehose failed: {why}")
            answered, spent = self._answered(), self._cpu.read()
            if answered > self.marks[-1][1]:
                self.marks.append((time.time(), answered, spent))
            total = self._slices.total
            bar.update(min(answered, total or answered))
            # One more than there are: the end is a slice of its own.
            if total is not None and answered > total:
                # Windows that the end has closed come out in a batch without input.
                self._query.processAllAvailable()
                if self._ended_by_watermark():
                    return

    def _ended_by_watermark(self) -> bool:
        """Whether Spark's own watermark, where a query has one, has come to the end of time."""
        progress = self._query.lastProgress
        told = dict(progress["eventTime"] or {}) if progress is not None else {}
        return "watermark" not in told or not self._waits or told["watermark"] >= _LAST_WATERMARK

    def _answered(self) -> int:
        progress = self._query.lastProgress
        if progress is None or not progress["sources"]:
            return 0
        ends = [source["endOffset"] for source in progress["sources"]]
        told = [json.loads(end) if isinstance(end, str) else end for end in ends]
        return min(int(end["slice"]) for end in told if end)


def _warm_up(spark: SparkSession, query: Query, source: Path, out: Path, most: int, delay: int) -> None:
    """Let Java and the Python workers compile what they will run, on the first slices."""
    folder = out / _WARM_UP
    shutil.rmtree(folder, ignore_errors=True)
    batches = min(_WARM_UP_BATCHES, -(-(Slices.of(source, query.model).total or 1) // most))
    answers = folder / "answers"
    sink = AnswerSink(answers, folder / "checkpoint")
    with answering(spark, query, source, folder, sink, most, delay) as at_work:
        _wait(lambda: at_work.isActive and len(batch_notes(answers)) < batches, 600.0)
    shutil.rmtree(folder, ignore_errors=True)


def _warm_up_for(spark: SparkSession, query: Query, source: Steady, out: Path, delay: int) -> None:
    """The same on a few events like those to come."""
    first = replace(
        source.firehose, events=min(source.firehose.events, 2 * _WARM_UP_BATCHES * source.slice_events)
    )
    folder = out / "warm-up-events"
    shutil.rmtree(folder, ignore_errors=True)
    write_dataset(first, folder, slice_events=min(source.slice_events, _MOST_SLICE_EVENTS))
    _warm_up(spark, query, folder, out, 2, delay)
    shutil.rmtree(folder)


def _wait(while_true: Callable[[], bool], most: float) -> None:
    until = time.monotonic() + most
    while time.monotonic() < until and while_true():
        time.sleep(0.02)


def _count_rejects(folder: Path) -> dict[str, int]:
    """Lines that were no events, and events that came too late."""
    counts = {"malformed": 0, "late": 0}
    if folder.is_dir():
        import pyarrow.parquet as pq

        for path in folder.iterdir():
            if path.suffix == ".jsonl":
                counts["malformed"] += len(path.read_text().splitlines())
            elif path.suffix == ".parquet":
                counts["late"] += pq.read_metadata(path).num_rows
    return counts
