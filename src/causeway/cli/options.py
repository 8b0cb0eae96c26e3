"""What the commands of all benchmarks share: options, the session, how results are printed."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from causeway.spark.session import parse_settings, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Conf", "Master", "command_session", "output", "print_counts", "wants_debugging"]

output = Console(highlight=False)

Master = Annotated[
    str, typer.Option(help="Where Spark runs, as for spark-submit; local[*] is this machine.", metavar="URL")
]
Conf = Annotated[
    list[str] | None,
    typer.Option(
        "--conf",
        help="A Spark setting, such as spark.driver.memory=8g; may be repeated.",
        metavar="KEY=VALUE",
        show_default=False,
    ),
]


def command_session(
    command: str, master: str, conf: list[str] | None
) -> AbstractContextManager[SparkSession]:
    """The session of a command, with Spark's warnings where the user debugs."""
    return spark_session(
        command, master, parse_settings(conf or []), log_level="WARN" if wants_debugging() else "OFF"
    )


def wants_debugging() -> bool:
    """Whether `--debug` was given, anywhere."""
    return "--debug" in sys.argv


def print_counts(title: str, counts: dict[str, int]) -> None:
    """A title, and a line for each count."""
    table = Table(show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, count in counts.items():
        table.add_row(name.replace("_", " "), f"{count:,}")
    output.print(escape(title))
    output.print(table)
