"""Spark's errors on a statement, in the user's words and at the place in the user's text."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from causeway.runtime.errors import UserError
from causeway.streaming_tables.language import Rendered

__all__ = ["in_users_text", "spark_message", "unlogged"]

_PLACE: Final = re.compile(r";?\s*\(?line (\d+),? pos(?:ition)? (\d+)")
_STATE: Final = re.compile(r"\s*SQLSTATE: \w+.*", re.DOTALL)
_CLASS: Final = re.compile(r"^\[[A-Z0-9_.]+\]\s*")
_OWN_NAMES: Final = re.compile(r"__causeway_(\w+?)_\d+\b")
_HIDDEN: Final = re.compile(r"`__(?:seq|row|previous|tick)`, |, `__(?:seq|row|previous|tick)`")


@contextmanager
def in_users_text(rendered: Rendered | str | Sequence[tuple[int, Rendered]]) -> Iterator[None]:
    """Turn Spark's complaint about the rendered statement into a StatementError about the user's.

    A statement of our own may have parts of the user's: each with the number of the line where it begins.
    """
    from pyspark.errors import AnalysisException, ParseException

    try:
        with unlogged():
            yield
    except (AnalysisException, ParseException) as refused:
        message = spark_message(refused)
        place = _PLACE.search(str(refused))
        line, position = (int(place[1]), int(place[2])) if place else (1, 0)
        if isinstance(rendered, str):
            rendered = Rendered(rendered, rendered, (0,), ((0, True),))
        if not isinstance(rendered, Rendered):
            parts = [part for part in rendered if part[0] <= line] or list(rendered)[:1]
            if not parts:
                raise UserError(message) from refused
            line, rendered = line - parts[-1][0] + 1, parts[-1][1]
        raise rendered.error(message, line, position) from refused


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
    text = _CLASS.sub("", str(refused).strip())
    text = _STATE.sub("", _PLACE.split(text)[0])
    text = _HIDDEN.sub("", _OWN_NAMES.sub(r"\1", text))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else "Spark does not accept the statement"
