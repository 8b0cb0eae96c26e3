"""The commands of Linear Road: read from top to bottom, they are the path of the data."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from causeway.cli.options import (
    Conf,
    Master,
    command_session,
    output,
    parse_settings,
    print_counts,
    wants_debugging,
)
from causeway.runtime.errors import CheckFailedError
from causeway.runtime.progress import console
from causeway.spark.master import check_master

__all__ = ["linear_road"]

linear_road = typer.Typer(
    help="""Linear Road (VLDB 2004): tolls that depend on the traffic.

    `generate` (or `import`) makes a workload, `inspect` checks it, `history` adds ten weeks of history, and
    `prepare` converts that for fast lookups. `run` answers the workload on Spark; `drive` delivers it in real
    time, to `run` or to another system. `validate` checks the answers, and `rate` finds how many expressways
    a machine can handle.
    """,
    epilog="""Example:

    \b
      causeway linear-road generate --out traffic --minutes 60
      causeway linear-road history traffic
      causeway linear-road run traffic --out run --speed 4 --from-minute 50
      causeway linear-road validate traffic run
    """,
    no_args_is_help=True,
    rich_markup_mode=None,
)

Minutes = Annotated[int, typer.Option(help="Minutes to simulate; the benchmark has 180.", metavar="N", min=1)]
OutFolder = Annotated[Path, typer.Option(help="Folder for the workload, new or empty.", metavar="DIR")]
WorkloadFolder = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="A workload, made by `generate` or `import`.", show_default=False),
]


class Format(StrEnum):
    """How files are written."""

    parquet = "parquet"
    csv = "csv"


def _halves_of_expressways(number: float | None) -> float | None:
    if number is None:
        return None
    if number <= 0 or not (2 * number).is_integer():
        raise typer.BadParameter(f"{number:g} is none of 0.5, 1, 1.5, 2 and so on.")
    return number


@linear_road.command()
def generate(
    out: OutFolder,
    xways: Annotated[
        float,
        typer.Option(
            help="The number of expressways: 0.5, 1, 1.5, 2, …", metavar="L", callback=_halves_of_expressways
        ),
    ] = 1,
    minutes: Minutes = 180,
    seed: Annotated[int, typer.Option(help="The same seed gives the same traffic.", metavar="N", min=0)] = 1,
    stream_format: Annotated[
        Format, typer.Option("--format", help="Parquet, or a flat file per expressway as in the paper.")
    ] = Format.parquet,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Simulate the traffic of L expressways.

    Cars follow each other, change lanes, have accidents and get into jams. Each reports its position every
    30 seconds; some ask for their account balance, past tolls or a travel time. The tuples are written in
    time order.
    """
    from causeway.linear_road.simulator.generate import check_output
    from causeway.linear_road.simulator.generate import generate as generate_workload

    check_output(out)
    with command_session("linear-road generate", master, conf) as spark:
        workload = generate_workload(
            spark, out, expressways=xways, minutes=minutes, seed=seed, stream_format=stream_format.value
        )
    print_counts(f"{out}: L = {xways:g}, {_count(minutes, 'minute')}, seed {seed}", workload.counts)


@linear_road.command("import")
def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", help="Files of the original generator (.dat, .dat.gz).", show_default=False
        ),
    ],
    out: OutFolder,
    slack: Annotated[
        int, typer.Option(help="Seconds that a line may be out of time order.", metavar="S", min=0)
    ] = 0,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first malformed line.")] = False,
) -> None:
    """Read original Linear Road files into a workload.

    Malformed lines are counted and written to DIR/rejects.csv, with file, line and reason.
    """
    from causeway.linear_road.workload.importer import REJECTS_FILE, import_files

    workload = import_files(files, out, slack=slack, strict=strict)
    print_counts(f"{out}: {_count(len(files), 'file')} imported", workload.counts)
    rejected = workload.counts.get("rejected", 0)
    if rejected:
        console.print(
            f"[yellow]{_count(rejected, 'line')} rejected: see {escape(str(out / REJECTS_FILE))}[/]"
        )


@linear_road.command()
def inspect(folder: WorkloadFolder, master: Master = "local[*]", conf: Conf = None) -> None:
    """Measure a workload and compare it with the paper.

    Prints each figure beside the expected one and plots the traffic over time in DIR/inspection.html. Exit
    code 1 if a figure is out of range.
    """
    from causeway.linear_road.inspection.inspect import inspect_workload, write_figures
    from causeway.linear_road.report.traffic import inspection_table, write_traffic_page
    from causeway.linear_road.workload.workload import Workload

    workload = Workload.load(folder)
    with command_session("linear-road inspect", master, conf) as spark:
        inspection = inspect_workload(spark, workload)
    page = folder / "inspection.html"
    write_figures(inspection, folder / "inspection.json")
    write_traffic_page(inspection, page)
    output.print(inspection_table(inspection))
    output.print(f"Plot: {page}")
    if not inspection.holds:
        raise CheckFailedError("some figures are out of what the paper says; see the table")


@linear_road.command()
def history(
    folder: WorkloadFolder,
    seed: Annotated[int, typer.Option(help="The same seed gives the same history.", metavar="N", min=0)] = 1,
    output_format: Annotated[
        Format, typer.Option("--format", help="Parquet, or two comma-separated files as in the papers.")
    ] = Format.parquet,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Generate ten weeks of history for a workload.

    Writes DIR/history: TollHistory, what each vehicle paid on each day, and SegmentHistory, the traffic and
    toll of each segment in each minute. An existing history is replaced.
    """
    from causeway.linear_road.history.generate import generate_history
    from causeway.linear_road.workload.workload import Workload

    workload = Workload.load(folder)
    with command_session("linear-road history", master, conf) as spark:
        made = generate_history(spark, workload, seed=seed, output_format=output_format.value)
    print_counts(
        f"{workload.history}: made in {made.seconds:.1f} s",
        {"TollHistory rows": made.toll_history, "SegmentHistory rows": made.segment_history},
    )


@linear_road.command()
def prepare(folder: WorkloadFolder, master: Master = "local[*]", conf: Conf = None) -> None:
    """Convert a workload's history for fast lookups.

    Writes DIR/history/prepared: TollHistory, and the means of SegmentHistory by weekday, as arrays. A request
    then needs no search through millions of rows. `run` does this itself where it has not been done.
    """
    from causeway.linear_road.history.prepare import prepare as prepare_history
    from causeway.linear_road.history.prepare import prepared_folder, require_history
    from causeway.linear_road.workload.workload import Workload

    workload = Workload.load(folder)
    require_history(workload)
    with command_session("linear-road prepare", master, conf) as spark:
        made = prepare_history(spark, workload)
    print_counts(
        f"{prepared_folder(workload)}: made in {made.seconds:.1f} s",
        {
            "expressways": made.expressways,
            "TollHistory rows": made.toll_history,
            "SegmentHistory rows": made.segment_history,
            "bytes": made.bytes,
        },
    )


@linear_road.command()
def drive(
    folder: WorkloadFolder,
    to: Annotated[
        Path,
        typer.Option(help="Folder for the tuples; it must not hold those of another run.", metavar="SPOOL"),
    ],
    speed: Annotated[float, typer.Option(help="Simulated seconds per real second.", metavar="K")] = 1.0,
    from_minute: Annotated[
        int,
        typer.Option(
            help="Deliver everything before minute M at once; real time starts at M.", metavar="M", min=0
        ),
    ] = 0,
) -> None:
    """Deliver a workload in real time.

    The tuples of simulated second t appear in SPOOL t / K seconds after the start, as whole Parquet files
    that a Spark file stream can read. Exit code 1 if a file was more than 100 ms late. Ctrl-C and SIGTERM
    stop it cleanly.
    """
    from causeway.linear_road.driver.deliver import PROMISED_LATENESS_MS
    from causeway.linear_road.driver.deliver import drive as deliver
    from causeway.linear_road.workload.workload import Workload

    delivery = deliver(Workload.load(folder), to, speed=speed, from_minute=from_minute)
    print_counts(
        f"{to}: {'stopped' if delivery.stopped else 'delivered'}",
        {"tuples": delivery.tuples, "files": delivery.files, "simulated seconds": delivery.seconds},
    )
    output.print(
        f"Lateness: {delivery.worst_lateness_ms:.1f} ms at worst, "
        f"{delivery.p99_lateness_ms:.1f} ms at the 99th percentile, "
        f"{delivery.mean_lateness_ms:.1f} ms on average"
    )
    if not delivery.kept_promise:
        raise CheckFailedError(
            f"a tuple was {delivery.worst_lateness_ms:.0f} ms late; {PROMISED_LATENESS_MS} ms were promised"
        )


@linear_road.command()
def run(
    folder: WorkloadFolder,
    out: Annotated[Path, typer.Option(help="Folder for the run, new or empty.", metavar="RUN")],
    speed: Annotated[
        str,
        typer.Option(
            help="Simulated seconds per real second; max: as fast as possible.",
            metavar="K|max",
        ),
    ] = "1",
    from_minute: Annotated[
        int,
        typer.Option(
            help="Process everything before minute M at once; real time starts at M.", metavar="M", min=0
        ),
    ] = 0,
    rules: Annotated[str, typer.Option(help="The dialect of the benchmark.", metavar="NAME")] = "vldb2004",
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted run, with its own settings.")
    ] = False,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Answer a workload on Spark, in real time.

    Starts the pipeline and the driver, and writes every toll, alert, balance, expenditure and travel time to
    RUN/answers.csv and RUN/answers, with the time at which it was emitted. RUN/report.html shows the results.
    """
    from causeway.linear_road.report.run_page import write_run_page
    from causeway.linear_road.runner.run import RunSettings, begin_run
    from causeway.linear_road.runner.run import run as answer
    from causeway.linear_road.workload.workload import Workload

    workload = Workload.load(folder)
    settings = begin_run(workload, out, RunSettings(_speed(speed), from_minute, rules), resume=resume)
    with command_session("linear-road run", master, conf) as spark:
        facts = answer(spark, workload, out, settings, resume=resume)
    page = write_run_page(out)
    names = (
        "toll notifications",
        "accident alerts",
        "account balances",
        "daily expenditures",
        "travel times",
    )
    print_counts(
        f"{out}: L = {workload.expressways:g}, answered in {facts['seconds']:.0f} s",
        {"tuples": facts["counts"]["tuples"]}
        | {name: facts["counts"]["answers"][str(kind)] for kind, name in enumerate(names)},
    )
    output.print(f"Answers: {out / 'answers.csv'}\nReport: {page}")
    output.print(f"Are they right, and in time? causeway linear-road validate {folder} {out}")
    if settings.speed is not None and not facts["delivery"]["kept_promise"]:
        console.print("[yellow]the driver was late: the machine could not even deliver the input in time[/]")


@linear_road.command()
def validate(
    folder: WorkloadFolder,
    answers: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            help="A run's folder, or another system's answers as a flat file or Parquet.",
            show_default=False,
        ),
    ],
    xways: Annotated[
        str | None,
        typer.Option(
            help="Judge only vehicles that report from these expressways.",
            metavar="A,B,…",
            show_default=False,
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            help="Judge only the vehicles of N expressways.", metavar="N", min=1, show_default=False
        ),
    ] = None,
    speed: Annotated[
        str | None,
        typer.Option(
            help="Simulated seconds per real second, for another system's answers; default 1. max: do not "
            "judge response times. Not needed for a run's folder.",
            metavar="K|max",
            show_default=False,
        ),
    ] = None,
    from_minute: Annotated[
        int | None,
        typer.Option(
            help="The minute at which real time began, for another system's answers; default 0.",
            metavar="M",
            min=0,
            show_default=False,
        ),
    ] = None,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Check that the answers to a workload are complete, right and in time.

    Each expected answer must be there once, and no other. The expected answers are computed from the whole
    input, with other code than that of `run`. Writes RUN/validation.json, or NAME.validation.json beside
    another system's answers. Exit code 1 if the answers fail.
    """
    from causeway.linear_road.report.run_page import write_run_page
    from causeway.linear_road.validation import HowItWas, given_answers, validation_table, write_validation
    from causeway.linear_road.validation import validate as judge
    from causeway.linear_road.workload.workload import Workload

    workload = Workload.load(folder)
    chosen = _expressways(xways)
    if chosen is not None and sample is not None:
        raise typer.BadParameter("give either the expressways or how many, not both.", param_hint="--sample")
    told = None
    if speed is not None or from_minute is not None:
        told = HowItWas(_speed(speed or "1"), from_minute or 0)
    given = given_answers(answers, told)
    with command_session("linear-road validate", master, conf) as spark:
        validation = judge(
            spark,
            workload,
            given.answers,
            xways=chosen,
            sample=sample,
            speed=given.how.speed,
            from_minute=given.how.from_minute,
        )
    output.print(validation_table(validation))
    for difference in validation.differences:
        output.print(f"- {escape(difference.words)}")
    for note in validation.notes:
        output.print(escape(note))
    write_validation(validation, given.validation)
    output.print(f"Judgement: {given.validation}")
    if given.is_run:
        output.print(f"Report: {write_run_page(answers)}")
    if not validation.passed:
        raise CheckFailedError("the answers fail; see the table")


def _expressways(given: str | None) -> list[int] | None:
    if given is None:
        return None
    try:
        return [int(number) for number in given.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{given!r} is no list as in 0,3,4.", param_hint="--xways") from None


@linear_road.command()
def rate(
    out: Annotated[
        Path, typer.Option(help="Folder for the rating; an interrupted rating continues.", metavar="DIR")
    ] = Path("rating"),
    max_xways: Annotated[
        float | None,
        typer.Option(
            help="The largest number of expressways to try.",
            metavar="L",
            callback=_halves_of_expressways,
            show_default=False,
        ),
    ] = None,
    minutes: Minutes = 180,
    speed: Annotated[float, typer.Option(help="Simulated seconds per real second.", metavar="K")] = 1.0,
    from_minute: Annotated[
        int,
        typer.Option(
            help="Process everything before minute M at once; real time starts at M.", metavar="M", min=0
        ),
    ] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the traffic and its history.", metavar="N", min=0)] = 1,
    sample: Annotated[
        int | None,
        typer.Option(
            help="Judge only the vehicles of N expressways.", metavar="N", min=1, show_default=False
        ),
    ] = None,
    workloads: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the workloads, which ratings can share; default DIR/workloads.",
            metavar="DIR",
            show_default=False,
        ),
    ] = None,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Find the largest L that this machine sustains.

    Generates, runs and validates L = 0.5, 1, 2, 4 … expressways until one fails, then halves the gap. It
    takes hours; you can interrupt it and call it again. Prints the paper's tables with a column for this
    machine and writes DIR/rating.json. Exit code 1 if no L passes.
    """
    from functools import partial

    from causeway.linear_road.rating.command_process import run_command
    from causeway.linear_road.rating.rate import RATING_FILE, Protocol
    from causeway.linear_road.rating.rate import rate as rate_machine
    from causeway.linear_road.report.rating import print_rating, rating_words
    from causeway.linear_road.report.run_page import write_run_page

    check_master(master)
    protocol = Protocol(minutes, from_minute, speed, seed, sample, master, parse_settings(conf or []))
    rating = rate_machine(
        out,
        protocol,
        max_xways=max_xways,
        workloads=workloads,
        command=partial(run_command, debug=wants_debugging()),
        write_page=write_run_page,
        tell=lambda line: console.print(escape(line)),
    )
    print_rating(rating, output)
    output.print(f"Rating: {out / RATING_FILE}")
    if not rating.xways:
        raise CheckFailedError(rating_words(rating))


def _speed(given: str) -> float | None:
    if given == "max":
        return None
    try:
        return float(given)
    except ValueError:
        raise typer.BadParameter(f"{given!r} is no number, and not max.", param_hint="--speed") from None


def _count(number: int, of: str) -> str:
    return f"{number:,} {of}{'' if number == 1 else 's'}"
