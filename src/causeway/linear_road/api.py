"""Linear Road as a library: what each command does is a function with a typed result.

    from causeway import linear_road

    workload = linear_road.generate("traffic", expressways=0.5, minutes=60)
    linear_road.generate_history(workload)
    run = linear_road.run(workload, "run", speed=4, from_minute=56)
    assert linear_road.validate(workload, run.folder).passed

Folders are paths or text. A workload is a `Workload`, or the folder that it is in. `spark` is a session of
yours; or `SparkOptions`, to start one for the call; or nothing, to start one on this machine. Nothing is
printed. Mistakes of the user are `UserError`s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from causeway.linear_road.results import InspectionResult, QueryResult, RunResult, ValidationResult
from causeway.linear_road.workload.workload import StreamFormat, Workload
from causeway.runtime.errors import UserError
from causeway.spark.open_session import SparkOptions, check_options, open_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from causeway.linear_road.driver.deliver import DriveResult
    from causeway.linear_road.history.generate import HistoryCounts, HistoryFormat
    from causeway.linear_road.history.prepare import Preparation
    from causeway.linear_road.queries.statements import Selectivity
    from causeway.linear_road.rating.rate import Rating

__all__ = [
    "InspectionResult",
    "QueryResult",
    "RunResult",
    "SparkOptions",
    "ValidationResult",
    "Workload",
    "drive",
    "generate",
    "generate_history",
    "import_files",
    "inspect",
    "prepare",
    "query",
    "rate",
    "run",
    "validate",
]

Folder = str | Path
Speed = float | Literal["max"]
EngineName = Literal["columnar", "tables"]


def generate(
    out: Folder,
    *,
    expressways: float = 1,
    minutes: int = 180,
    seed: int = 1,
    stream_format: StreamFormat = "parquet",
    history: bool = False,
    spark: SparkSession | SparkOptions | None = None,
) -> Workload:
    """Simulate the traffic of `expressways` (L, a multiple of 0.5) into the new folder `out`.

    With `history`, ten weeks of history with the same seed are added, as by `generate_history`. The same seed
    gives the same traffic on any number of cores.
    """
    from causeway.linear_road.history import generate as histories
    from causeway.linear_road.simulator import generate as simulator
    from causeway.runtime.compiled import compiled_beside

    check_options(spark)
    simulator.check_output(Path(out))
    if history:
        histories.check_seed(seed)
    with (
        compiled_beside(simulator.use_kernels) as wait_until_compiled,
        open_session(spark, "linear-road generate") as session,
    ):
        wait_until_compiled()
        workload = simulator.generate(
            session,
            Path(out),
            expressways=expressways,
            minutes=minutes,
            seed=seed,
            stream_format=stream_format,
        )
        if history:
            histories.generate_history(session, workload, seed=seed)
    return workload


def import_files(files: Sequence[Folder], out: Folder, *, slack: int = 0, strict: bool = False) -> Workload:
    """Read files of the original tools into the new workload folder `out`; needs no Spark.

    A line may be `slack` seconds out of time order. Malformed lines are counted and written to
    `out/rejects.csv`; with `strict` the first of them is a `UserError`.
    """
    from causeway.linear_road.workload import importer

    return importer.import_files([Path(file) for file in files], Path(out), slack=slack, strict=strict)


def inspect(
    workload: Workload | Folder, *, spark: SparkSession | SparkOptions | None = None
) -> InspectionResult:
    """Measure a workload and compare it with the paper.

    Writes `inspection.json` and `inspection.html` to the workload's folder.
    """
    from causeway.linear_road.inspection.inspect import inspect_workload, write_figures
    from causeway.linear_road.report.traffic import write_traffic_page

    loaded = _load(workload)
    with open_session(spark, "linear-road inspect") as session:
        inspection = inspect_workload(session, loaded)
    result = InspectionResult(
        inspection, loaded.folder / "inspection.json", loaded.folder / "inspection.html"
    )
    write_figures(inspection, result.figures)
    write_traffic_page(inspection, result.report)
    return result


def generate_history(
    workload: Workload | Folder,
    *,
    seed: int = 1,
    output_format: HistoryFormat = "parquet",
    spark: SparkSession | SparkOptions | None = None,
) -> HistoryCounts:
    """Generate ten weeks of history in the workload's folder; an earlier history is replaced."""
    from causeway.linear_road.history import generate as histories

    loaded = _load(workload)
    histories.check_seed(seed)
    with open_session(spark, "linear-road history") as session:
        return histories.generate_history(session, loaded, seed=seed, output_format=output_format)


def prepare(workload: Workload | Folder, *, spark: SparkSession | SparkOptions | None = None) -> Preparation:
    """Convert a workload's history for fast lookups; `run` does this itself where it has not been done."""
    from causeway.linear_road.history import prepare as preparation

    loaded = _load(workload)
    preparation.require_history(loaded)
    with open_session(spark, "linear-road prepare") as session:
        return preparation.prepare(session, loaded)


def drive(
    workload: Workload | Folder, to: Folder, *, speed: float = 1.0, from_minute: int = 0
) -> DriveResult:
    """Deliver a workload in real time into the folder `to`; returns when all is delivered.

    The tuples of simulated second t are readable t / `speed` seconds after the start, as Parquet files that a
    Spark file stream can read. Everything before minute `from_minute` is delivered at once. Needs no Spark.
    """
    from causeway.linear_road.driver import deliver

    return deliver.drive(_load(workload), Path(to), speed=speed, from_minute=from_minute)


def run(
    workload: Workload | Folder,
    out: Folder,
    *,
    speed: Speed | None = None,
    from_minute: int | None = None,
    rules: str | None = None,
    engine: EngineName | None = None,
    keep: str | None = None,
    resume: bool = False,
    spark: SparkSession | SparkOptions | None = None,
) -> RunResult:
    """Answer a workload on Spark, in real time or at the speed "max", into the new folder `out`.

    `engine` is "columnar", the fast pipeline, or "tables", SQL over streaming tables, which stay in
    `out`/warehouse with all position reports. With `keep`, the columnar engine keeps them too: every position
    report also enters the streaming table of that name in `out`/warehouse, where any process can read it.

    The defaults are the speed 1, minute 0, the rules vldb2004 and the columnar engine. With `resume`, the run
    in `out` that was interrupted is continued with its own settings; other settings are a `UserError`. The
    run's folder keeps all that is known of it, and a log.
    """
    from causeway.linear_road.model.answers import ANSWER_NAMES
    from causeway.linear_road.pipeline.query import check_users_settings
    from causeway.linear_road.report.run_page import write_run_page
    from causeway.linear_road.runner.run import begun_run
    from causeway.linear_road.runner.settings import RequestedSettings
    from causeway.spark.precedence import give_way

    check_options(spark)
    if isinstance(spark, SparkOptions) and engine != "tables":
        check_users_settings(spark.settings)
    requested = RequestedSettings(speed, from_minute, rules, keep, engine)
    with begun_run(_load(workload), Path(out), requested, resume=resume) as attempt:
        folder = attempt.folder
        with open_session(spark, "linear-road run", log_file=folder.log) as session:
            if spark is None or isinstance(spark, SparkOptions):
                # The driver must be punctual while Spark uses every core.
                give_way(session)
            facts = attempt.answer(session)
        real_time = attempt.settings.speed is not None
        return RunResult(
            folder=folder.path,
            seconds=facts["seconds"],
            tuples=facts["counts"]["tuples"],
            answers={name: facts["counts"]["answers"][str(kind)] for kind, name in ANSWER_NAMES.items()},
            kept_promise=bool(facts["delivery"]["kept_promise"]) if real_time else None,
            answers_file=folder.path / "answers.csv",
            report=write_run_page(folder.path),
            log=folder.log,
            facts=facts,
        )


def query(
    run: Folder,
    *,
    rate: float = 20,
    selectivity: Sequence[Selectivity] | Selectivity | None = None,
    from_minute: int | None = None,
    seconds: float = 60,
    index: bool = True,
    check: int = 20,
    seed: int = 1,
    spark: SparkSession | SparkOptions | None = None,
) -> QueryResult:
    """Ask one-time queries over the history of a run that goes on in another process, or has ended.

    `rate` queries a minute are due at random moments for so many `seconds`; each asks for the reports of a
    past time range and a range of vehicles, in SQL, with one of the selectivities. The session begins when
    the run has come to `from_minute`, or to its real time. Without `index`, queries are asked such that no
    index can be used. So many answers are compared with the workload (`check`). The figures are added to
    `queries.json` in the run's folder.
    """
    from causeway.linear_road.queries.record import add_session
    from causeway.linear_road.queries.session import QueryRun, QuerySettings, ask_queries
    from causeway.linear_road.queries.statements import SELECTIVITIES
    from causeway.linear_road.report.run_page import write_run_page
    from causeway.streaming_tables import connect

    check_options(spark)
    chosen = (selectivity,) if isinstance(selectivity, str) else tuple(selectivity or SELECTIVITIES)
    settings = QuerySettings(rate, chosen, from_minute, seconds, index, check, seed)
    settings.check()
    queried = QueryRun.load(Path(run))
    queried.check_minute(from_minute)
    queried.wait_for_table()
    with (
        open_session(spark, "linear-road query") as session,
        connect(queried.folder.warehouse, session) as connection,
    ):
        facts = ask_queries(queried, settings, connection)
    return QueryResult(facts, add_session(Path(run), facts), write_run_page(Path(run)))


def validate(
    workload: Workload | Folder,
    answers: Folder,
    *,
    only_xways: Sequence[int] | None = None,
    sample: int | None = None,
    speed: Speed | None = None,
    from_minute: int | None = None,
    spark: SparkSession | SparkOptions | None = None,
) -> ValidationResult:
    """Judge the answers in a run's folder, or another system's flat file or Parquet folder.

    With `only_xways`, or a `sample` of so many expressways, only vehicles that report from there are judged.
    `speed` ("max": response times are not judged) and `from_minute` are for another system's answers; a run's
    folder has its own. The judgement is written to `validation.json` in the run's folder, or beside the
    answers.
    """
    from causeway.linear_road.report.run_page import write_run_page
    from causeway.linear_road.validation import Conditions, locate_answers, write_validation
    from causeway.linear_road.validation import validate as judge

    loaded = _load(workload)
    if from_minute is not None and from_minute >= loaded.minutes:
        raise UserError(
            f"real time cannot have begun at minute {from_minute}: {loaded.folder} has the minutes "
            f"0 to {loaded.minutes - 1}"
        )
    if only_xways is not None and sample is not None:
        raise UserError("give either the expressways to judge or the size of a sample, not both")
    conditions = None
    if speed is not None or from_minute is not None:
        conditions = Conditions(None if speed == "max" else 1.0 if speed is None else speed, from_minute or 0)
    location = locate_answers(Path(answers), conditions)
    with open_session(spark, "linear-road validate") as session:
        validation = judge(
            session,
            loaded,
            location.answers,
            xways=only_xways,
            sample=sample,
            conditions=location.conditions,
        )
    write_validation(validation, location.validation)
    report = write_run_page(Path(answers)) if location.is_run else None
    return ValidationResult(validation, location.validation, report)


def rate(
    out: Folder,
    *,
    max_xways: float | None = None,
    minutes: int = 180,
    speed: float = 1.0,
    from_minute: int = 0,
    seed: int = 1,
    sample: int | None = None,
    workloads: Folder | None = None,
    spark: SparkOptions | None = None,
    report_line: Callable[[str], None] = lambda _: None,
    debug: bool = False,
) -> Rating:
    """Find the largest L that this machine, or the cluster at the master of `spark`, sustains.

    Every L is generated, run and validated by commands in processes of their own. It takes hours; a rating in
    `out` that was interrupted is continued. `report_line` is called with a line when a trial begins and ends;
    `debug` shows what the commands write.
    """
    from causeway.linear_road.rating import rate as rating
    from causeway.linear_road.rating.command_process import run_command
    from causeway.linear_road.report.run_page import write_run_page

    options = spark or SparkOptions()
    check_options(options)
    protocol = rating.Protocol(
        minutes, from_minute, speed, seed, sample, options.master, dict(options.settings)
    )
    return rating.rate(
        Path(out),
        protocol,
        max_xways=max_xways,
        workloads=None if workloads is None else Path(workloads),
        command=partial(run_command, debug=debug),
        write_page=write_run_page,
        report_line=report_line,
    )


def _load(workload: Workload | Folder) -> Workload:
    return workload if isinstance(workload, Workload) else Workload.load(Path(workload))
