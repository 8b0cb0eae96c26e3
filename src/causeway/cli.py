"""The command line: `causeway BENCHMARK COMMAND`. Read from top to bottom, it is the path of the data."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from causeway import __version__
from causeway.errors import CausewayError, CheckFailedError
from causeway.progress import console
from causeway.session import parse_settings, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["app", "main"]

app = typer.Typer(
    name="causeway",
    help="Streaming tables on Apache Spark, and the benchmarks that prove them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
linear_road = typer.Typer(
    help="Linear Road (VLDB 2004): generate or import traffic, inspect it, give it a history, drive it.",
    no_args_is_help=True,
)
app.add_typer(linear_road, name="linear-road")

_output = Console(highlight=False)

Master = Annotated[str, typer.Option(help="Where Spark runs: local[*] is this machine.", metavar="URL")]
Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", help="A Spark setting, as often as you like.", metavar="KEY=VALUE"),
]
WorkloadFolder = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="A workload, as `generate` or `import` left it.", show_default=False),
]


class Format(StrEnum):
    """How files are written."""

    parquet = "parquet"
    csv = "csv"


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and stop.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
) -> None:
    context.obj = {"debug": debug}
    if version:
        _output.print(f"causeway {__version__}")
        raise typer.Exit


@linear_road.command()
def generate(
    out: Annotated[Path, typer.Option(help="Folder for the workload; must be new or empty.", metavar="DIR")],
    xways: Annotated[
        float, typer.Option(help="L, the number of expressways: 0.5, 1, 1.5, 2, …", metavar="L")
    ] = 1,
    minutes: Annotated[int, typer.Option(help="Simulated minutes; the benchmark has 180.")] = 180,
    seed: Annotated[int, typer.Option(help="The same seed gives the same traffic.")] = 1,
    stream_format: Annotated[
        Format, typer.Option("--format", help="Parquet, or the paper's flat file for each expressway.")
    ] = Format.parquet,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Simulate the traffic of L expressways, with its historical query requests."""
    from causeway.linear_road.simulator.generate import generate as generate_workload

    with _spark("linear-road generate", master, conf) as spark:
        workload = generate_workload(
            spark, out, expressways=xways, minutes=minutes, seed=seed, stream_format=stream_format.value
        )
    _print_counts(f"{out}: L = {xways:g}, {minutes} minutes, seed {seed}", workload.counts)


@linear_road.command("import")
def import_(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Original .dat files, .gz too.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="Folder for the workload; must be new or empty.", metavar="DIR")],
    slack: Annotated[
        int, typer.Option(help="Seconds that a line may be out of time order.", metavar="S")
    ] = 0,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first malformed line.")] = False,
) -> None:
    """Read original Linear Road files into a workload; malformed lines go to rejects.csv."""
    from causeway.linear_road.importer import REJECTS_FILE, import_files

    workload = import_files(files, out, slack=slack, strict=strict)
    _print_counts(f"{out}: {len(files)} file{'s' if len(files) > 1 else ''} imported", workload.counts)
    if workload.counts.get("rejected"):
        console.print(f"[yellow]{workload.counts['rejected']:,} lines rejected: see {out / REJECTS_FILE}")


@linear_road.command()
def inspect(folder: WorkloadFolder, master: Master = "local[*]", conf: Conf = None) -> None:
    """Measure a workload and compare it with what the paper says of one; exit code 1 where it differs."""
    from causeway.linear_road.inspection import inspect_workload
    from causeway.linear_road.workload import Workload
    from causeway.report.traffic import inspection_table, write_traffic_page

    workload = Workload.load(folder)
    with _spark("linear-road inspect", master, conf) as spark:
        inspection = inspect_workload(spark, workload)
    page = folder / "inspection.html"
    write_traffic_page(inspection, page)
    _output.print(inspection_table(inspection))
    _output.print(f"Plot: {page}")
    if not inspection.holds:
        raise CheckFailedError("some figures are out of what the paper says; see the table")


@linear_road.command()
def history(
    folder: WorkloadFolder,
    seed: Annotated[int, typer.Option(help="The same seed gives the same history.")] = 1,
    output_format: Annotated[
        Format, typer.Option("--format", help="Parquet, or the papers' two comma-separated files.")
    ] = Format.parquet,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Make ten weeks of TollHistory and SegmentHistory for a workload's vehicles and expressways."""
    from causeway.linear_road.history import generate_history
    from causeway.linear_road.workload import Workload

    workload = Workload.load(folder)
    with _spark("linear-road history", master, conf) as spark:
        made = generate_history(spark, workload, seed=seed, output_format=output_format.value)
    _print_counts(
        f"{workload.history}: made in {made.seconds:.1f} s",
        {"TollHistory rows": made.toll_history, "SegmentHistory rows": made.segment_history},
    )


@linear_road.command()
def drive(
    folder: WorkloadFolder,
    to: Annotated[Path, typer.Option(help="Folder for the tuples; must be new or empty.", metavar="SPOOL")],
    speed: Annotated[
        float, typer.Option(help="Simulated seconds released in one second.", metavar="K")
    ] = 1.0,
    from_minute: Annotated[
        int, typer.Option(help="Deliver all before this minute at once; real time starts there.", metavar="M")
    ] = 0,
) -> None:
    """Deliver a workload in real time, as files that a Spark file stream reads.

    Exit code 1 if a tuple was ever more than 100 ms late.
    """
    from causeway.linear_road.driver import PROMISED_LATENESS_MS
    from causeway.linear_road.driver import drive as deliver
    from causeway.linear_road.workload import Workload

    delivery = deliver(Workload.load(folder), to, speed=speed, from_minute=from_minute)
    _print_counts(
        f"{to}: {'stopped' if delivery.stopped else 'delivered'}",
        {"tuples": delivery.tuples, "files": delivery.files, "simulated seconds": delivery.seconds},
    )
    _output.print(
        f"Lateness: {delivery.worst_lateness_ms:.1f} ms at worst, "
        f"{delivery.p99_lateness_ms:.1f} ms at the 99th percentile, "
        f"{delivery.mean_lateness_ms:.1f} ms on average"
    )
    if not delivery.kept_promise:
        raise CheckFailedError(
            f"a tuple was {delivery.worst_lateness_ms:.0f} ms late; {PROMISED_LATENESS_MS} ms were promised"
        )


def _spark(command: str, master: str, conf: list[str] | None) -> AbstractContextManager[SparkSession]:
    log_level = "WARN" if _wants_debugging() else "OFF"
    return spark_session(command, master, parse_settings(conf or []), log_level)


def _wants_debugging() -> bool:
    return "--debug" in sys.argv


def _print_counts(title: str, counts: dict[str, int]) -> None:
    table = Table(title=title, title_justify="left", show_header=False)
    for name, count in counts.items():
        table.add_row(name.replace("_", " "), f"{count:,}", end_section=False)
        table.columns[1].justify = "right"
    _output.print(table)


def main() -> None:
    """Run the command line; without `--debug`, no error comes with a traceback."""
    try:
        app()
    except KeyboardInterrupt:
        console.print("interrupted")
        sys.exit(130)
    except CausewayError as told:
        if _wants_debugging():
            raise
        console.print(f"[bold red]{'no' if told.exit_code == 1 else 'error'}:[/] {escape(str(told))}")
        sys.exit(told.exit_code)
    except Exception as unexpected:
        if _wants_debugging():
            raise
        first_line = (str(unexpected).strip().splitlines() or [""])[0]
        console.print(
            f"[bold red]failed:[/] {escape(f'{type(unexpected).__name__}: {first_line}')}\n"
            "This should not happen; `causeway --debug …` shows where it did."
        )
        sys.exit(70)
