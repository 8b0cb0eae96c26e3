"""The shell of `causeway sql`: a history, statements of many lines, Ctrl-C for the query at work."""

from __future__ import annotations

import itertools
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.markup import escape

from causeway.runtime.errors import CausewayError
from causeway.runtime.progress import console
from causeway.spark.errors import explain, was_interrupted
from causeway.spark.internals import cancel_job_group

if TYPE_CHECKING:
    from causeway.cli.sql.output import AnswerPrinter
    from causeway.streaming_tables import Connection

__all__ = ["run_shell"]

_HISTORY: Final = ".causeway_sql_history"
_HISTORY_LINES: Final = 5000
_NUMBERS: Final = itertools.count()
_HELP: Final = """\
Statements end with `;` and may have many lines. Ctrl-C ends the query at work, or clears what you typed.
  SHOW TABLES; SHOW VIEWS; SHOW INDEXES; SHOW QUERIES;     what is there
  DESCRIBE t;  EXPLAIN SELECT …;                           what it holds, how it is read
  help, quit (or Ctrl-D)
docs/streaming-tables.md has the language."""


def run_shell(connection: Connection, printer: AnswerPrinter) -> None:
    """Read statements and run them until the user leaves."""
    _load_history()
    if sys.stdin.isatty():
        console.print(f"Warehouse {escape(str(connection.warehouse.folder))}. `help` says more.")
    typed = ""
    while True:
        try:
            line = input(_prompt(typed))
        except EOFError:
            break
        except KeyboardInterrupt:
            console.print("^C")
            typed = ""
            continue
        if not typed and line.strip().rstrip(";").lower() in ("quit", "exit"):
            break
        if not typed and line.strip().rstrip(";").lower() == "help":
            console.print(_HELP, markup=False)
            continue
        typed = f"{typed}\n{line}" if typed else line
        if _is_complete(typed):
            _run(connection, printer, typed)
            typed = ""
    if typed.strip():
        _run(connection, printer, typed)
    _save_history()


def _prompt(typed: str) -> str:
    """What asks for a line; statements that come from a file or another program are not asked for."""
    if not sys.stdin.isatty():
        return ""
    return "     ...> " if typed else "causeway> "


def _is_complete(text: str) -> bool:
    """Whether the last statement has its `;`, or nothing but space was typed."""
    from causeway.streaming_tables import split_script

    if not text.strip():
        return True
    # A `;` at the end separates the last statement from a next one, which is then counted.
    return text.rstrip().endswith(";") and len(split_script(f"{text}\nSELECT 1")) > len(split_script(text))


def _run(connection: Connection, printer: AnswerPrinter, text: str) -> None:
    from causeway.streaming_tables import split_script

    for statement in split_script(text):
        began = time.perf_counter()
        try:
            with _jobs_end_by_ctrl_c(connection):
                printer.print_answer(connection, connection.sql(statement))
            console.print(f"[dim]{time.perf_counter() - began:.3f} s[/]")
        except (KeyboardInterrupt, Exception) as failure:
            if was_interrupted(failure):
                console.print("ended by Ctrl-C")
            elif isinstance(failure, CausewayError):
                console.print(f"[bold red]error:[/] {escape(str(failure))}")
            else:
                console.print(f"[bold red]failed:[/] {escape(explain(failure))}")
            return


@contextmanager
def _jobs_end_by_ctrl_c(connection: Connection) -> Iterator[None]:
    """Let Ctrl-C end the statement's Spark jobs, those that are yet to begin included, and no others.

    PySpark's own handler cancels the jobs that run at that moment, those of continuous inserts too. It asks
    Java by the connection of the main thread, on which that thread may already be waiting for a job's end.
    """
    context = connection.spark.sparkContext
    group = f"causeway-sql-{next(_NUMBERS)}"

    def interrupt(*_: object) -> None:
        threading.Thread(target=cancel_job_group, args=(connection.spark, group), daemon=True).start()
        raise KeyboardInterrupt

    context.setJobGroup(group, "causeway sql")
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]


def _load_history() -> None:
    if not sys.stdin.isatty():
        return
    with suppress(ImportError, OSError):
        import readline

        readline.set_history_length(_HISTORY_LINES)
        readline.read_history_file(Path.home() / _HISTORY)


def _save_history() -> None:
    if not sys.stdin.isatty():
        return
    with suppress(ImportError, OSError):
        import readline

        readline.write_history_file(Path.home() / _HISTORY)
