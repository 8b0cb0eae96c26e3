"""The commands of Linear Road: read from top to bottom, they are the path of the data."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape

from causeway.cli.options import Conf, Master, output, print_counts, spark_options, wants_debugging
from causeway.runtime.errors import CheckFailedError
from causeway.runtime.progress import console

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


class RulesOption(StrEnum):
    """Dialects of the benchmark."""

    vldb2004 = "vldb2004"


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
    from causeway.linear_road import api

    workload = api.generate(
        out,
        expressways=xways,
        minutes=minutes,
        seed=seed,
        stream_format=stream_format.value,
        spark=spark_options(master, conf),
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
    from causeway.linear_road import api
    from causeway.linear_road.workload.importer import REJECTS_FILE

    workload = api.import_files(files, out, slack=slack, strict=strict)
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
    from causeway.linear_road import api
    from causeway.linear_road.report.traffic import inspection_table

    result = api.inspect(folder, spark=spark_options(master, conf))
    output.print(inspection_table(result.inspection))
    output.print(f"Plot: {result.report}")
    if not result.holds:
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
    from causeway.linear_road import api

    workload = api.Workload.load(folder)
    made = api.generate_history(
        workload, seed=seed, output_format=output_format.value, spark=spark_options(master, conf)
    )
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
    from causeway.linear_road import api
    from causeway.linear_road.history.prepare import prepared_folder

    workload = api.Workload.load(folder)
    made = api.prepare(workload, spark=spark_options(master, conf))
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
    from causeway.linear_road import api
    from causeway.linear_road.driver.deliver import PROMISED_LATENESS_MS

    delivery = api.drive(folder, to, speed=speed, from_minute=from_minute)
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
        str | None,
        typer.Option(
            help="Simulated seconds per real second; max: as fast as possible. Default 1.",
            metavar="K|max",
            show_default=False,
        ),
    ] = None,
    from_minute: Annotated[
        int | None,
        typer.Option(
            help="Process everything before minute M at once; real time starts at M. Default 0.",
            metavar="M",
            min=0,
            show_default=False,
        ),
    ] = None,
    rules: Annotated[
        RulesOption | None,
        typer.Option(help="The dialect of the benchmark. Default vldb2004.", show_default=False),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted run, with its own settings.")
    ] = False,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Answer a workload on Spark, in real time.

    Starts the pipeline and the driver, and writes every toll, alert, balance, expenditure and travel time to
    RUN/answers.csv and RUN/answers, with the time at which it was emitted. RUN/report.html shows the results,
    RUN/log.txt has what Spark had to say.
    """
    from causeway.linear_road import api

    result = api.run(
        folder,
        out,
        speed=None if speed is None else _speed(speed),
        from_minute=from_minute,
        rules=None if rules is None else rules.value,
        resume=resume,
        spark=spark_options(master, conf),
    )
    expressways = result.facts["expressways"]
    print_counts(
        f"{out}: L = {expressways:g}, answered in {result.seconds:.0f} s",
        {"tuples": result.tuples} | {f"{name}s": count for name, count in result.answers.items()},
    )
    output.print(f"Answers: {result.answers_file}\nReport: {result.report}")
    output.print(f"Are they right, and in time? causeway linear-road validate {folder} {out}")
    if result.kept_promise is False:
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
    only_xways: Annotated[
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
    from causeway.linear_road import api
    from causeway.linear_road.validation import validation_table

    if only_xways is not None and sample is not None:
        raise typer.BadParameter("give either the expressways or how many, not both.", param_hint="--sample")
    result = api.validate(
        folder,
        answers,
        only_xways=_expressways(only_xways),
        sample=sample,
        speed=None if speed is None else _speed(speed),
        from_minute=from_minute,
        spark=spark_options(master, conf),
    )
    output.print(validation_table(result.validation))
    for difference in result.validation.differences:
        output.print(f"- {escape(difference.words)}")
    for note in result.validation.notes:
        output.print(escape(note))
    output.print(f"Judgement: {result.file}")
    if result.report is not None:
        output.print(f"Report: {result.report}")
    if not result.passed:
        raise CheckFailedError("the answers fail; see the table")


def _expressways(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no list as in 0,3,4.", param_hint="--only-xways") from None


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
    from causeway.linear_road import api
    from causeway.linear_road.rating.rate import RATING_FILE
    from causeway.linear_road.report.rating import print_rating, rating_words

    rating = api.rate(
        out,
        max_xways=max_xways,
        minutes=minutes,
        speed=speed,
        from_minute=from_minute,
        seed=seed,
        sample=sample,
        workloads=workloads,
        spark=spark_options(master, conf),
        report_line=lambda line: console.print(escape(line)),
        debug=wants_debugging(),
    )
    print_rating(rating, output)
    output.print(f"Rating: {out / RATING_FILE}")
    if not rating.xways:
        raise CheckFailedError(rating_words(rating))


def _speed(text: str) -> float | Literal["max"]:
    if text == "max":
        return "max"
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no number, and not max.", param_hint="--speed") from None


def _count(number: int, of: str) -> str:
    return f"{number:,} {of}{'' if number == 1 else 's'}"
