"""NEXMark from Python: what each command does, as a function that a notebook calls.

    import causeway.nexmark as nexmark

    events = nexmark.generate("events", events=1_000_000)
    result = nexmark.run("run", source="events", queries="q5,q7", check=True)
    result["q5"].events_per_second

Nothing is printed. Mistakes of the caller raise `causeway.runtime.errors.UserError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from causeway.nexmark.events.dataset import Dataset, write_dataset
from causeway.nexmark.generator.encoding import FileFormat
from causeway.nexmark.generator.firehose import ModelName
from causeway.nexmark.generator.scale import ScaleName, scaled_firehose
from causeway.nexmark.runner.results import Check, Latency, QueryResult, RunResult, run_result
from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import refuse_used_folder
from causeway.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from causeway.nexmark.report.comparison import ComparedRun

__all__ = [
    "Check",
    "Comparison",
    "Dataset",
    "Latency",
    "OpenSession",
    "QueryResult",
    "RunResult",
    "compare",
    "generate",
    "run",
]


@dataclass(frozen=True)
class Comparison:
    """Runs beside each other."""

    runs: tuple[ComparedRun, ...]
    """The first is what the others are compared with."""
    page: Path


OpenSession = Callable[[Path | None], AbstractContextManager["SparkSession"]]
"""Opens a Spark session whose log goes to a file."""


def generate(
    out: str | Path,
    *,
    model: ModelName = "modern",
    scale: ScaleName = "small",
    events: int | None = None,
    rate: float | None = None,
    bid_streams: int | None = None,
    disorder: float = 0.0,
    seed: int = 1,
    file_format: FileFormat = "parquet",
    slice_events: int | None = None,
    spark: SparkSession | None = None,
    open_session: OpenSession | None = None,
) -> Dataset:
    """Write the events of an auction house to `out`, a folder that is new or empty.

    The same seed gives the same events on any number of cores.

    Args:
        out: the folder; all of Spark's workers must see it.
        model: the paper's five streams, or today's three (`modern`).
        scale: the number of events, their rate and the bid streams.
        events: number of events, instead of the scale's.
        rate: events a second of event time, instead of the scale's.
        bid_streams: bid streams of the paper's model, instead of the scale's.
        disorder: seconds of event time by which an event may come late.
        seed: of all random numbers.
        file_format: `parquet`, `json` or `xml`.
        slice_events: events of one slice; by default 100,000, fewer for small sets.
        spark: the session to use; without one, a session is made and stopped.
        open_session: makes the session, in place of `spark`.
    """
    firehose = scaled_firehose(
        model, scale, events=events, rate=rate, bid_streams=bid_streams, disorder=disorder, seed=seed
    )
    refuse_used_folder(Path(out))
    with _session(spark, open_session, "nexmark generate", None) as session:
        return write_dataset(
            firehose,
            Path(out),
            file_format=file_format,
            slice_events=slice_events,
            scale=scale,
            spark=session,
        )


def run(
    out: str | Path,
    *,
    source: str | Path | None = None,
    queries: str | Iterable[str] | None = None,
    query_file: str | Path | None = None,
    model: ModelName | None = None,
    rules: str | None = None,
    engine: str | None = None,
    check: bool | None = None,
    rate: float | None = None,
    duration: float | None = None,
    warm_up: float | None = None,
    rounds: int | None = None,
    bid_streams: int | None = None,
    disorder: float | None = None,
    seed: int | None = None,
    resume: bool = False,
    spark: SparkSession | None = None,
    open_session: OpenSession | None = None,
) -> RunResult:
    """Run queries on Spark, one after the other, and measure them; see docs/nexmark.md for the metrics.

    Over a folder of events each query runs as fast as it can: throughput. Without a `source`, a firehose
    delivers events at a fixed rate: latency and Output Matching. The run is in the folder `out`, with
    `result.json`, a report, a log and every query's answers; one process at a time can work on it.

    Args:
        out: the folder, new or empty; of the run to go on with if `resume`.
        source: a folder of events; by default the firehose.
        queries: names such as `q5`, or `all` (the default).
        query_file: a query of one's own in place of those: SQL (`my.sql`) or Python (`my.py`), on the Spark
            engine; checked if there is `my.batch.sql` beside it.
        model: of the queries; by default the source's, or `modern`.
        rules: whose version of a query: `ours` (the default), `beam` or `flink`.
        engine: `columnar` (the default), with hand-written operators; or `spark`, Structured Streaming alone.
        check: whether to compare the final answers with the batch statements; by default not.
        rate: events a second of the firehose; by default 10,000.
        duration: seconds for which the firehose runs for each query; by default 60.
        warm_up: seconds at the start that are not measured; by default 15.
        rounds: how often each query is run (figures are medians, the first is checked); by default 1.
        bid_streams: bid streams of the firehose in the paper's model.
        disorder: seconds of event time by which the firehose may deliver late; by default 0.
        seed: of the firehose; by default 1.
        resume: go on with an interrupted run. It keeps its settings, and refuses others.
        spark: the session to use; without one, a session is made and stopped, and its log is `out/log.txt`.
        open_session: makes the session, in place of `spark`.
    """
    from causeway.nexmark.report.run_page import write_nexmark_page
    from causeway.nexmark.runner.run_all import NexmarkRunFolder, begin_run, new_settings, run_all

    requested: Mapping[str, Any] = {
        "source": None if source is None else str(Path(source).resolve()),
        "model": model,
        "queries": queries if queries is None or isinstance(queries, str) else ",".join(queries),
        "query_file": None if query_file is None else str(Path(query_file).resolve()),
        "rules": rules,
        "engine": engine,
        "check": check,
        "rate": rate,
        "duration": duration,
        "warm_up": warm_up,
        "rounds": rounds,
        "bid_streams": bid_streams,
        "disorder": disorder,
        "seed": seed,
    }
    folder = NexmarkRunFolder(Path(out))
    if resume:
        folder.facts()
    else:
        # Before the lock, which makes the folder.
        new_settings(requested)
        refuse_used_folder(folder.path)
    with folder.locked():
        settings = begin_run(folder, requested, resume=resume)
        log = folder.log if spark is None else None
        with _session(spark, open_session, "nexmark run", log) as session:
            facts = run_all(session, folder, settings, log=log)
    return run_result(folder.path, facts, write_nexmark_page(folder.path))


def compare(runs: Sequence[str | Path], out: str | Path) -> Comparison:
    """Compare finished or interrupted runs with the first of them; writes a page to the file `out`.

    Args:
        runs: folders of runs, two or more; of other engines, machines or versions, for instance.
        out: the page; one that is there is replaced.
    """
    from causeway.nexmark.report.comparison import load_runs
    from causeway.nexmark.report.comparison_page import write_comparison_page

    if len(runs) < 2:
        raise UserError("a comparison takes two runs or more")
    loaded = load_runs([Path(run) for run in runs])
    return Comparison(tuple(loaded), write_comparison_page(Path(out), loaded))


def _session(
    spark: SparkSession | None, open_session: OpenSession | None, application: str, log: Path | None
) -> AbstractContextManager[SparkSession]:
    if spark is not None:
        return nullcontext(spark)
    return spark_session(application, log_file=log) if open_session is None else open_session(log)
