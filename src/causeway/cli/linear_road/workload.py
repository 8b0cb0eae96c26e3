"""`causeway linear-road generate`, `import`, `inspect`, `history` and `prepare`: what makes a workload."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from causeway.cli.linear_road.options import Minutes, WorkloadFolder, counted, halves_of_expressways
from causeway.cli.options import Conf, Master, output, print_counts, print_lines, spark_options
from causeway.runtime.errors import CheckFailedError
from causeway.runtime.progress import console

__all__ = ["generate", "history", "import_", "inspect", "prepare"]

OutFolder = Annotated[Path, typer.Option(help="Folder for the workload, new or empty.", metavar="DIR")]


_TABLES = {"toll_history": "TollHistory rows", "segment_history": "SegmentHistory rows"}


class Format(StrEnum):
    """How files are written."""

    parquet = "parquet"
    csv = "csv"


def generate(
    out: OutFolder,
    xways: Annotated[
        float,
        typer.Option(
            help="The number of expressways: 0.5, 1, 1.5, 2, …", metavar="L", callback=halves_of_expressways
        ),
    ] = 1,
    minutes: Minutes = 180,
    seed: Annotated[int, typer.Option(help="The same seed gives the same traffic.", metavar="N", min=0)] = 1,
    stream_format: Annotated[
        Format, typer.Option("--format", help="Parquet, or a flat file per expressway as in the paper.")
    ] = Format.parquet,
    with_history: Annotated[
        bool,
        typer.Option("--history", help="Add ten weeks of history, as `history` does."),
    ] = False,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Simulate the traffic of L expressways.

    Cars follow each other, change lanes, have accidents and get into jams. Each reports its position every
    30 seconds; some ask for their account balance, past tolls or a travel time. The tuples are written in
    time order.
    """
    from causeway.linear_road import api
    from causeway.linear_road.history.generate import history_rows

    workload = api.generate(
        out,
        expressways=xways,
        minutes=minutes,
        seed=seed,
        stream_format=stream_format.value,
        history=with_history,
        spark=spark_options(master, conf),
    )
    print_counts(f"{out}: L = {xways:g}, {counted(minutes, 'minute')}, seed {seed}", workload.counts)
    if with_history:
        rows = {_TABLES[table]: count for table, count in history_rows(workload).items()}
        print_counts(f"{workload.history}", rows)


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
    print_counts(f"{out}: {counted(len(files), 'file')} imported", workload.counts)
    rejected = workload.counts.get("rejected", 0)
    if rejected:
        console.print(
            f"[yellow]{counted(rejected, 'line')} rejected: see {escape(str(out / REJECTS_FILE))}[/]"
        )


def inspect(folder: WorkloadFolder, master: Master = "local[*]", conf: Conf = None) -> None:
    """Measure a workload and compare it with the paper.

    Prints each figure beside the expected one and plots the traffic over time in DIR/inspection.html. Exit
    code 1 if a figure is out of range.
    """
    from causeway.linear_road import api
    from causeway.linear_road.report.traffic import inspection_table

    result = api.inspect(folder, spark=spark_options(master, conf))
    output.print(inspection_table(result.inspection))
    print_lines(f"Plot: {result.report}")
    if not result.holds:
        raise CheckFailedError("some figures are out of what the paper says; see the table")


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
        {name: getattr(made, table) for table, name in _TABLES.items()},
    )


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
            **{name: getattr(made, table) for table, name in _TABLES.items()},
            "bytes": made.bytes,
        },
    )
