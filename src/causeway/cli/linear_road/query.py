"""`causeway linear-road query`: one-time queries over the history of a run."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from causeway.cli.linear_road.options import counted
from causeway.cli.options import Conf, Master, output, print_lines, print_wide, spark_options
from causeway.runtime.errors import CheckFailedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from causeway.linear_road.queries.statements import Selectivity

__all__ = ["query"]


class SelectivityOption(StrEnum):
    """How many rows a query asks for."""

    all = "all"
    high = "high"
    medium = "medium"
    low = "low"


def query(
    run_folder: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="A run that keeps its history, going on or ended.", show_default=False
        ),
    ],
    rate: Annotated[
        float, typer.Option(help="Queries a minute; the paper has 20, 100 and 200.", metavar="N")
    ] = 20,
    selectivity: Annotated[
        SelectivityOption,
        typer.Option(
            help="Answers of about 10,000, 30,000 or over 60,000 rows; all: any of them, by chance."
        ),
    ] = SelectivityOption.all,
    from_minute: Annotated[
        int | None,
        typer.Option(
            help="Begin when the run has come to minute M. Default: when its real time has started.",
            metavar="M",
            min=0,
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(help="How long to ask.", metavar="S")] = 60,
    no_index: Annotated[
        bool, typer.Option("--no-index", help="Ask such that no index can be used, for comparison.")
    ] = False,
    check: Annotated[
        int, typer.Option(help="So many answers are compared with the workload.", metavar="N", min=0)
    ] = 20,
    seed: Annotated[int, typer.Option(help="The same seed draws the same queries.", metavar="N", min=0)] = 1,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Ask one-time queries over the history of a run, while it goes on or after it.

    Queries come at random; each asks for the reports of a range of vehicles in a past time range, and counts
    from the moment it is due to its last row. Prints the Streaming Tables paper's Tables III to VI with our
    figures and adds them to RUN/queries.json and RUN/report.html. Exit code 1 if an answer is wrong.
    """
    from causeway.linear_road import api
    from causeway.linear_road.queries.statements import SELECTIVITIES
    from causeway.linear_road.report.history_tables import TABLES_WIDTH, history_tables

    chosen = SELECTIVITIES if selectivity is SelectivityOption.all else (selectivity.value,)
    result = api.query(
        run_folder,
        rate=rate,
        selectivity=cast("Sequence[Selectivity]", chosen),
        from_minute=from_minute,
        seconds=seconds,
        index=not no_index,
        check=check,
        seed=seed,
        spark=spark_options(master, conf),
    )
    for table in history_tables(run_folder):
        print_wide(table, TABLES_WIDTH)
    visible = result.session["visible"]
    if visible["count"]:
        output.print(
            f"From arrival to visible in this process: p50 {1000 * visible['p50']:.0f}, "
            f"p99 {1000 * visible['p99']:.0f}, worst {1000 * visible['max']:.0f} ms"
        )
    queries = counted(len(result.session["queries"]), "query", "queries")
    print_lines(f"{queries} asked, {result.session['checked']:,} answers compared with the workload")
    print_lines(f"Figures: {result.file}\nReport: {result.report}")
    for words in result.wrong:
        print_lines(f"- {words}")
    if result.wrong:
        raise CheckFailedError(f"{counted(len(result.wrong), 'answer is', 'answers are')} wrong; see above")
