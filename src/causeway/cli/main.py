"""The command line: `causeway sql`, and `causeway BENCHMARK COMMAND`, each in a module of its own."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperGroup

from causeway import __version__
from causeway.cli.berlinmod import berlinmod
from causeway.cli.linear_road import linear_road
from causeway.cli.nexmark import nexmark
from causeway.cli.options import output, set_debugging, wants_debugging
from causeway.cli.sql import sql
from causeway.runtime.errors import CausewayError
from causeway.runtime.progress import console, show_progress
from causeway.spark.errors import explain, was_interrupted

__all__ = ["app", "main"]

_UNEXPECTED = 70
"""The exit code for a bug: EX_SOFTWARE of sysexits.h."""


class _Commands(TyperGroup):
    """Ends with exit code 130 on Ctrl-C, whatever the version of typer makes of it."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, Exception) as failure:
            if not was_interrupted(failure):
                raise
            console.print("interrupted")
            raise typer.Exit(130) from None


app = typer.Typer(
    name="causeway",
    cls=_Commands,
    help="Streaming tables on Apache Spark, and the benchmarks that prove them.",
    epilog="Exit codes: 0 success, 1 a check failed, 2 a mistake in the command or its input.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("sql")(sql)
app.add_typer(
    linear_road, name="linear-road", short_help="Linear Road (VLDB 2004): tolls that depend on the traffic."
)
app.add_typer(nexmark, name="nexmark", short_help="NEXMark (2002): queries over an auction house's streams.")
app.add_typer(berlinmod, name="berlinmod", short_help="BerlinMOD (2009): where a city's vehicles were.")


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show Spark's warnings and tracebacks of errors; allowed at any place."),
    ] = False,
) -> None:
    if version:
        output.print(f"causeway {__version__}")
        raise typer.Exit


def _debug_first(arguments: Sequence[str]) -> list[str]:
    """The arguments with `--debug` in front, where it is declared, wherever the user put it."""
    rest = [argument for argument in arguments if argument != "--debug"]
    return ["--debug", *rest] if len(rest) < len(arguments) else rest


def main() -> None:
    """Run the command line; with `--debug` an error's traceback comes before its message."""
    set_debugging("--debug" in sys.argv[1:])
    show_progress()
    if not wants_debugging():
        # Spark's Python side logs tracebacks of what it raises anyway, and of every Ctrl-C.
        logging.disable()
    try:
        app(_debug_first(sys.argv[1:]))
    except CausewayError as error:
        _print_traceback_if_debugging()
        word = "no" if error.exit_code == 1 else "error"
        # Not wrapped, so that a path can be copied.
        console.print(f"[bold red]{word}:[/] {escape(str(error))}", soft_wrap=True)
        sys.exit(error.exit_code)
    except Exception as unexpected:
        _print_traceback_if_debugging()
        console.print(
            f"[bold red]failed:[/] {escape(explain(unexpected))}\n"
            "This should not happen; `causeway --debug …` shows where it did.",
            soft_wrap=True,
        )
        sys.exit(_UNEXPECTED)


def _print_traceback_if_debugging() -> None:
    if wants_debugging():
        traceback.print_exc()
