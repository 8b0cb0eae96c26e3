"""What the commands of all benchmarks share: options, the session, how results are printed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from causeway.runtime.errors import UserError
from causeway.spark.open_session import SparkOptions, check_options
from causeway.spark.session import spark_session
from causeway.spark.settings import check_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "Conf",
    "Master",
    "command_session",
    "output",
    "parse_settings",
    "print_counts",
    "print_lines",
    "print_wide",
    "set_debugging",
    "spark_options",
    "wants_debugging",
]

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
    command: str, master: str, conf: list[str] | None, log_file: Path | None = None
) -> AbstractContextManager[SparkSession]:
    """The session of a command, with Spark's warnings on the terminal if the user debugs."""
    return spark_session(
        command,
        master,
        parse_settings(conf or []),
        log_file=log_file,
        log_level="WARN" if wants_debugging() else "OFF",
    )


def spark_options(master: str, conf: list[str] | None) -> SparkOptions:
    """How a library function is to start Spark, with its warnings on the terminal if the user debugs."""
    options = SparkOptions(
        master, parse_settings(conf or []), log_level="WARN" if wants_debugging() else "OFF"
    )
    check_options(options)
    return options


def parse_settings(pairs: Sequence[str]) -> dict[str, str]:
    """Read the `key=value` pairs of --conf; what is no setting of Spark's is the user's mistake."""
    settings = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise UserError(f"--conf takes key=value, as in spark.driver.memory=8g; got {pair!r}")
        settings[key.strip()] = value.strip()
    check_settings(settings)
    return settings


_debugging = False


def set_debugging(debugging: bool) -> None:
    """Say whether `--debug` is among the arguments of the command line."""
    global _debugging  # noqa: PLW0603
    _debugging = debugging


def wants_debugging() -> bool:
    """Whether `--debug` is among the arguments of the command line."""
    return _debugging


def print_lines(text: str) -> None:
    """Text as it is: not wrapped, so that paths and commands in it can be copied."""
    output.print(text, markup=False, soft_wrap=True)


def print_wide(table: Table, width: int) -> None:
    """A table that keeps `width` characters where the terminal has fewer: broken cells cannot be compared."""
    Console(highlight=False, width=max(output.width, width)).print(table)


def print_counts(title: str, counts: dict[str, int]) -> None:
    """A title, and a line for each count."""
    table = Table(show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, count in counts.items():
        table.add_row(name.replace("_", " "), f"{count:,}")
    print_lines(title)
    output.print(table)
