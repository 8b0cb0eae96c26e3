"""The command `causeway sql`: statements over streaming tables, from a script or a shell."""

from __future__ import annotations

import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from causeway.cli.options import Conf, Master, parse_settings, print_lines
from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    from causeway.cli.sql.output import AnswerPrinter
    from causeway.streaming_tables import Connection

__all__ = ["sql"]


class AnswerFormat(StrEnum):
    """How answers are printed."""

    table = "table"
    csv = "csv"
    json = "json"


def sql(
    warehouse: Annotated[
        Path, typer.Option(help="Folder of the warehouse; made if it is missing or empty.", metavar="DIR")
    ],
    execute: Annotated[
        str | None,
        typer.Option("-e", "--execute", help="Statements to run, separated by `;`.", metavar="SQL"),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="A file of statements to run.", metavar="FILE")
    ] = None,
    answer_format: Annotated[
        AnswerFormat,
        typer.Option(
            "--format",
            help="Tables for people; csv with a header for each answer and a blank line between two; json "
            "with an array of rows for each answer, on a line.",
        ),
    ] = AnswerFormat.table,
    timing: Annotated[
        bool, typer.Option("--timing", help="Print each statement of a script and how long it took.")
    ] = False,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Run SQL over streaming tables: Spark SQL, and what docs/streaming-tables.md adds to it.

    Without -e and --file it is a shell: statements end with `;` and may have many lines, Ctrl-C ends a
    query, Ctrl-D the shell. A query with SAMPLE prints each answer as soon as its tick is over, and ends when
    nothing writes to its tables any more.
    """
    from causeway.cli.sql.output import AnswerPrinter
    from causeway.streaming_tables import connect

    if execute is not None and file is not None:
        raise typer.BadParameter("give either statements or a file, not both.", param_hint="--file")
    script = execute if file is None else _read(file)
    settings = parse_settings(conf or [])
    with connect(warehouse, master=master, settings=settings) as connection:
        printer = AnswerPrinter(answer_format.value, sys.stdout)
        if script is None:
            from causeway.cli.sql.shell import run_shell

            run_shell(connection, printer)
        else:
            run_script(connection, script, printer, timing=timing)


def run_script(connection: Connection, script: str, printer: AnswerPrinter, *, timing: bool = False) -> None:
    """Run the statements of a script one after the other; stops at the first that fails.

    `timing` prints each statement, and the time from its call to its last row.
    """
    from causeway.streaming_tables import Answer, StatementError, split_script

    for statement in split_script(script):
        try:
            if timing:
                print_lines(f"\n{statement.text.strip()}")
            began = time.perf_counter()
            answer = connection.sql(statement)
            if isinstance(answer, Answer) and answer.summary is None:
                answer.to_arrow()
            took = time.perf_counter() - began
            printer.print_answer(connection, answer)
            if timing:
                print_lines(f"{1000 * took:,.0f} ms")
        except StatementError:
            raise
        except UserError as failure:
            raise UserError(
                f"{failure}\nin the statement at line {statement.line}: {_short(statement.text)}"
            ) from failure


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as refused:
        raise UserError(f"{file} cannot be read: {refused}") from refused


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 200 else f"{words[:200]} …"
