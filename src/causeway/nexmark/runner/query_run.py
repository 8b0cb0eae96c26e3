"""One query from its start to its end, with what was measured.

From a folder of events a query takes what it can: throughput. From the firehose it takes what is due:
latency.
A query's state, answers and times are in its own folder, so that it goes on after a crash.

    RUN/q5/result.json   its figures, written last
    RUN/q5/reading.json  batch size, tasks, shards and delay: the same after a resume, wherever it runs
    RUN/q5/answers/      see `queries.answers`
    RUN/q5/rejects/      what was no event, or was late
    RUN/q5/notes/        what tasks noted of each slice that they read
    RUN/q5/checkpoint/   Spark's, while it goes on
    RUN/q5/input/        links to the slices, for Spark's own file source, while it goes on
    RUN/q5/spool/        the firehose's, while it goes on
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from causeway.nexmark.events.dataset import write_dataset
from causeway.nexmark.events.firehose_process import FirehoseClock, FirehoseProcess, begin_spool
from causeway.nexmark.events.slices import Slices
from causeway.nexmark.generator.firehose import Firehose
from causeway.nexmark.judge.check import check_answers
from causeway.nexmark.judge.output_matching import output_matching
from causeway.nexmark.queries import FEED, Query
from causeway.nexmark.queries.answers import AnswerSink, batch_notes
from causeway.nexmark.runner.answering import (
    CHECKPOINT,
    Meter,
    Reading,
    answered_slices,
    answering,
    shards_for,
    until_the_end,
    warm_up,
)
from causeway.nexmark.runner.input_notes import note_slices
from causeway.nexmark.runner.measurements import latencies, throughput
from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import write_json
from causeway.runtime.progress import progress_bar
from causeway.streaming.watch import QueryWatch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["Steady", "run_query"]

_BATCH_EVENTS: Final = 2_000_000
"""Events of a batch, where there are more than it can take."""
_DEFAULT_DELAY: Final = 4_000
"""Milliseconds by which events may be late where nothing says so: as Flink's statements have it."""
_WARM_UP_BATCHES: Final = 2
_SLICE_LIMIT: Final = 1_000_000
_ANY_NUMBER: Final = 1 << 30
_SLICE_SECONDS: Final = 0.1
_RESULT: Final = "result.json"
_READING: Final = "reading.json"


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
        """Events of a slice."""
        return max(1, round(self.rate * _SLICE_SECONDS))

    @property
    def interval(self) -> float:
        """Seconds of a slice."""
        return self.slice_events / self.rate

    @property
    def slices(self) -> int:
        """How many slices the firehose is going to deliver."""
        return -(-self.firehose.events // self.slice_events)


def run_query(
    spark: SparkSession, query: Query, source: Path | Steady, out: Path, *, check: bool, log: Path | None
) -> dict[str, Any]:
    """Run one query to its end and write its figures to `out/result.json`; goes on with what is there.

    `log` is the file that errors name.
    """
    kept = out / _RESULT
    if kept.exists():
        facts: dict[str, Any] = json.loads(kept.read_text())
        return facts
    resumed = (out / CHECKPOINT).exists()
    out.mkdir(parents=True, exist_ok=True)
    reading = _reading(spark, query, source, out)
    folder = source if isinstance(source, Path) else out / "spool"
    if query.engine == "spark" and isinstance(source, Path):
        query.feed(source, out / FEED)
    if isinstance(source, Path):
        facts = _run_over_folder(spark, query, source, out, reading, log)
    else:
        facts = _run_at_rate(spark, query, source, folder, out, reading, log)
    facts |= {
        "query": query.name,
        "engine": query.engine,
        "rules": query.rules,
        "streams": query.streams,
        "resumed": resumed,
    }
    facts["rejects"] = _count_rejects(out / "rejects")
    facts["rejects"]["late"] += facts.pop("late_rows", 0)
    # Nothing says what an ideal system would answer to a query of the user's own.
    if isinstance(source, Steady) and query.file is None:
        facts["output_matching"] = output_matching(
            spark, query, folder, out / "answers", FirehoseClock.load(folder), source.warm_up
        )
    if check:
        facts["check"] = asdict(checked := check_answers(spark, query, folder, out / "answers"))
        facts["check"]["passed"] = checked.passed
    write_json(kept, facts)
    shutil.rmtree(out / CHECKPOINT, ignore_errors=True)
    shutil.rmtree(out / FEED, ignore_errors=True)
    if isinstance(source, Steady):
        shutil.rmtree(folder, ignore_errors=True)
    return facts


def _reading(spark: SparkSession, query: Query, source: Path | Steady, out: Path) -> Reading:
    """How the query reads its input: as it was begun, or decided now."""
    path = out / _READING
    if path.exists():
        return Reading(**json.loads(path.read_text()))
    if isinstance(source, Path):
        slices = Slices.of(source, query.model)
        limit = max(1, _BATCH_EVENTS // slices.slice_events)
        delay = _DEFAULT_DELAY if slices.disorder is None else round(1000 * slices.disorder)
    else:
        limit, delay = _ANY_NUMBER, round(1000 * source.firehose.disorder)
    reading = Reading(limit, spark.sparkContext.defaultParallelism, shards_for(spark), delay)
    write_json(path, asdict(reading))
    return reading


def _run_over_folder(
    spark: SparkSession, query: Query, source: Path, out: Path, reading: Reading, log: Path | None
) -> dict[str, Any]:
    slices = Slices.of(source, query.model)
    if not (out / CHECKPOINT).exists():
        warm_up(spark, query, source, out, reading, _WARM_UP_BATCHES, log)
    # The planning of the query is part of the measured time.
    meter = Meter(answered_slices(out / CHECKPOINT))
    sink = AnswerSink(out / "answers", out / CHECKPOINT)
    with (
        progress_bar(f"{query.name}, slices", slices.total or 0, "slices") as bar,
        answering(spark, query, source, out, sink, reading) as at_work,
    ):
        until_the_end(at_work, query, slices, log, look=meter.see, bar=bar, folder=out)
        return _facts(query, slices, out, reading, meter) | _late_facts(query, at_work)


def _run_at_rate(
    spark: SparkSession,
    query: Query,
    source: Steady,
    spool: Path,
    out: Path,
    reading: Reading,
    log: Path | None,
) -> dict[str, Any]:
    begin_spool(spool, source.firehose)
    firehose = FirehoseProcess(
        spool, source.firehose, source.interval, source.slice_events, out / "firehose-log.txt"
    )

    def look(answered: int) -> None:
        if (reason := firehose.failure()) is not None:
            raise UserError(reason)
        meter.see(answered)

    try:
        if not (out / CHECKPOINT).exists():
            _warm_up_with_made_events(spark, query, source, out, reading, log)
        meter = Meter(answered_slices(out / CHECKPOINT), without=(firehose.pid,))
        sink = AnswerSink(out / "answers", out / CHECKPOINT)
        with (
            progress_bar(f"{query.name}, slices of the firehose", source.slices, "slices") as bar,
            answering(spark, query, spool, out, sink, reading) as at_work,
        ):
            # The first report of a query comes when it looks for input.
            watch = QueryWatch(at_work, "slice", log=log)
            watch.wait_until(lambda: at_work.lastProgress is not None or firehose.failure() is not None)
            firehose.start()
            slices = Slices.of(spool, query.model)
            until_the_end(at_work, query, slices, log, look=look, bar=bar, folder=out)
            facts = _facts(query, slices, out, reading, meter) | _late_facts(query, at_work)
        clock = FirehoseClock.load(spool)
        facts["firehose"] = firehose.outcome() | {"rate": source.rate, "warm_up_seconds": source.warm_up}
        facts["clock"] = asdict(clock)
        facts["latency"] = latencies(clock, facts["batches"], source.warm_up)
        return facts
    finally:
        firehose.stop()


def _facts(query: Query, slices: Slices, out: Path, reading: Reading, meter: Meter) -> dict[str, Any]:
    """Batches and rates; called while Spark's processes of the query are still there."""
    batches = [asdict(note) for note in batch_notes(out / "answers")]
    end = meter.end(max((batch["readable"] for batch in batches), default=0.0))
    if query.engine == "spark":
        # Tasks of Spark's own file source note nothing.
        note_slices(slices, query.streams, out / "notes", out / "rejects")
    return {"batches": batches, "reading": asdict(reading)} | throughput(out / "notes", meter.begin, end)


def _late_facts(query: Query, at_work: StreamingQuery) -> dict[str, Any]:
    """What Spark's own operators dropped as late; the columnar engine's tasks keep late events themselves."""
    if query.engine == "columnar":
        return {}
    operators = [operator for one in at_work.recentProgress for operator in one["stateOperators"]]
    return {"late_rows": sum(int(operator["numRowsDroppedByWatermark"]) for operator in operators)}


def _warm_up_with_made_events(
    spark: SparkSession, query: Query, source: Steady, out: Path, reading: Reading, log: Path | None
) -> None:
    """A warm-up on a few events like those to come."""
    events = min(source.firehose.events, 2 * _WARM_UP_BATCHES * source.slice_events)
    folder = out / "warm-up-events"
    shutil.rmtree(folder, ignore_errors=True)
    write_dataset(
        replace(source.firehose, events=events), folder, slice_events=min(source.slice_events, _SLICE_LIMIT)
    )
    warm_up(spark, query, folder, out, replace(reading, limit=2), _WARM_UP_BATCHES, log)
    shutil.rmtree(folder)


def _count_rejects(folder: Path) -> dict[str, int]:
    """Lines that were no events, and late events."""
    counts = {"malformed": 0, "late": 0}
    if folder.is_dir():
        import pyarrow.parquet as pq

        for path in folder.glob("[!.]*"):
            if path.suffix == ".jsonl":
                counts["malformed"] += len(path.read_text().splitlines())
            elif path.suffix == ".parquet":
                counts["late"] += pq.read_metadata(path).num_rows
    return counts
