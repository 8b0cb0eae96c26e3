"""`causeway linear-road drive` and `run`: the workload's delivery in real time, and its answers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from causeway.cli.linear_road.options import FromMinute, Speed, WorkloadFolder, read_speed
from causeway.cli.options import Conf, Master, output, print_counts, print_lines, spark_options
from causeway.runtime.errors import CheckFailedError
from causeway.runtime.progress import console

__all__ = ["RulesOption", "drive", "run"]


class RulesOption(StrEnum):
    """Dialects of the benchmark."""

    vldb2004 = "vldb2004"


class EngineOption(StrEnum):
    """What answers a run."""

    columnar = "columnar"
    tables = "tables"


def _engine(option: EngineOption) -> Literal["columnar", "tables"]:
    return "tables" if option is EngineOption.tables else "columnar"


def drive(
    folder: WorkloadFolder,
    to: Annotated[
        Path,
        typer.Option(help="Folder for the tuples; it must not hold those of another run.", metavar="SPOOL"),
    ],
    speed: Speed = 1.0,
    from_minute: FromMinute = None,
) -> None:
    """Deliver a workload in real time.

    The tuples of simulated second t appear in SPOOL t / K seconds after the start, as whole Parquet files
    that a Spark file stream can read. Exit code 1 if a file was more than 100 ms late. Ctrl-C and SIGTERM
    stop it cleanly.
    """
    from causeway.linear_road import api
    from causeway.linear_road.driver.deliver import PROMISED_LATENESS_MS

    delivery = api.drive(folder, to, speed=speed, from_minute=from_minute or 0)
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
    from_minute: FromMinute = None,
    rules: Annotated[
        RulesOption | None,
        typer.Option(help="The dialect of the benchmark. Default vldb2004.", show_default=False),
    ] = None,
    engine: Annotated[
        EngineOption | None,
        typer.Option(
            help="What answers: the columnar pipeline, or SQL over streaming tables. Default columnar.",
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            help="Keep every position report in this streaming table of RUN/warehouse, as in POSREPORTS.",
            metavar="TABLE",
            show_default=False,
        ),
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
        speed=None if speed is None else read_speed(speed),
        from_minute=from_minute,
        rules=None if rules is None else rules.value,
        engine=None if engine is None else _engine(engine),
        keep=keep,
        resume=resume,
        spark=spark_options(master, conf),
    )
    expressways = result.facts["expressways"]
    print_counts(
        f"{out}: L = {expressways:g}, answered in {result.seconds:.0f} s",
        {"tuples": result.tuples} | {f"{name}s": count for name, count in result.answers.items()},
    )
    print_lines(f"Answers: {result.answers_file}\nReport: {result.report}")
    if kept := result.facts.get("kept"):
        print_lines(
            f"Kept: {kept['rows']:,} reports in {result.facts['history_table']}, "
            f"{kept['bytes'] / 1e6:,.1f} MB (causeway sql --warehouse {out / 'warehouse'})"
        )
    print_lines(f"Are they right, and in time? causeway linear-road validate {folder} {out}")
    if result.kept_promise is False:
        console.print("[yellow]the driver was late: the machine could not even deliver the input in time[/]")
