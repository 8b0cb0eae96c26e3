"""Spark's errors on a statement, in the user's words and at the place in the user's text."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from causeway.runtime.errors import UserError
from causeway.spark.errors import explain
from causeway.streaming_tables.language import Rendered

__all__ = ["Text", "in_users_text", "is_fault_of_a_row", "spark_message", "unlogged"]

_PLACE: Final = re.compile(r";?\s*\(?line (\d+),? pos(?:ition)? (\d+)")
_RUNTIME_PLACE: Final = re.compile(r"== SQL \(line (\d+), position (\d+)\) ==")
"""Where an error happened that came while rows were read. Its positions count from 1."""
_STATE: Final = re.compile(r"\s*SQLSTATE: \w+.*", re.DOTALL)
_CLASS: Final = re.compile(r"^\[[A-Z0-9_.]+\]\s*")
_CAUSE: Final = re.compile(r"\[[A-Z0-9_.]+\] [^\n]*")
_OWN_NAMES: Final = re.compile(r"__causeway_(\w+?)_\d+\b")
_HIDDEN: Final = re.compile(r"`__(?:seq|row|previous|tick)`, |, `__(?:seq|row|previous|tick)`")
_DAMAGE: Final = "could not verify page integrity"
"""What Spark's Parquet reader says of a page whose checksum is wrong."""
_DATA_STATES: Final = ("22", "38", "P0")
"""Classes of SQLSTATE for errors of a row: data exceptions, a function of the user's, raise_error."""

Text = Rendered | str | Sequence[tuple[int, Rendered]]
"""A statement as Spark gets it. One of ours may have parts of the user's: each with its first line's number.
"""


@contextmanager
def in_users_text(rendered: Text) -> Iterator[None]:
    """Turn Spark's complaint about a statement, or its failure, into an error about the user's text."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        with unlogged():
            yield
    except (PySparkException, Py4JJavaError) as refused:
        raise _in_users_words(refused, rendered) from refused


def is_fault_of_a_row(failure: BaseException | None) -> bool:
    """Whether a statement failed because of the values in a row, such as a text that is no number."""
    from pyspark.errors import PySparkException

    state = failure.getSqlState() if isinstance(failure, PySparkException) else None
    return state is not None and state.startswith(_DATA_STATES)


def _in_users_words(refused: BaseException, rendered: Text) -> UserError:
    from pyspark.errors import AnalysisException

    if _DAMAGE in str(refused):
        return UserError(f"a data file of the table is damaged: {explain(refused)}")
    at_runtime = not isinstance(refused, AnalysisException)
    # A failed write, for instance, has what went wrong in a row as its cause.
    trace = f"{refused}\n{getattr(refused, '_stackTrace', '')}"
    place = _RUNTIME_PLACE.search(trace) if at_runtime else _PLACE.search(str(refused))
    causes = _CAUSE.findall(trace[: place.start()]) if at_runtime and place is not None else []
    if causes:
        message = _plain(causes[-1])
    else:
        message = spark_message(refused) if _CLASS.match(str(refused).strip()) else explain(refused)
    if at_runtime and place is None:
        return UserError(message)
    line, position = (int(place[1]), int(place[2]) - at_runtime) if place else (1, 0)
    if isinstance(rendered, str):
        rendered = Rendered(rendered, rendered, (0,), ((0, True),))
    if not isinstance(rendered, Rendered):
        parts = [part for part in rendered if part[0] <= line] or list(rendered)[:1]
        if not parts:
            return UserError(message)
        line, rendered = line - parts[-1][0] + 1, parts[-1][1]
    return rendered.error(message, line, position)


class _Quiet(logging.Filter):
    """Lets nothing through in threads that are inside `unlogged`."""

    def __init__(self) -> None:
        super().__init__()
        self.here = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:
        return not getattr(self.here, "depth", 0)


_QUIET: Final = _Quiet()


@contextmanager
def unlogged() -> Iterator[None]:
    """Keep PySpark from printing errors with a whole plan and Java stack: they are told in a sentence."""
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        # PySpark logs with arguments of its own, so the logger must be of its class, whoever makes it.
        PySparkLogger.getLogger(name).addFilter(_QUIET)
    _QUIET.here.depth = getattr(_QUIET.here, "depth", 0) + 1
    try:
        yield
    finally:
        _QUIET.here.depth -= 1


def spark_message(refused: BaseException) -> str:
    """The first sentence of Spark's message, without its codes, plans and our names for relations."""
    return _plain(str(refused))


def _plain(message: str) -> str:
    text = _CLASS.sub("", message.strip())
    text = _STATE.sub("", _PLACE.split(text)[0])
    text = _HIDDEN.sub("", _OWN_NAMES.sub(r"\1", text))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else "Spark does not accept the statement"
