"""Answers on the terminal or for another program: tables, CSV, JSON."""

from __future__ import annotations

import csv
import json
import math
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, TextIO

import pyarrow as pa
from rich.console import Console

from causeway.report.text_table import text_table
from causeway.runtime.progress import console

if TYPE_CHECKING:
    from causeway.streaming_tables import Answer, Connection, PullQuery, PushQuery

__all__ = ["AnswerPrinter"]

_SHOWN: int = 1000
"""The most rows of an answer that are drawn as a table."""
_WIDTH: int = 1000
"""The most columns of text that a table takes which goes to a file or another program."""


class AnswerPrinter:
    """Prints answers in one format, with what separates them."""

    def __init__(self, answer_format: str, stream: TextIO) -> None:
        self._format = answer_format
        self._stream = stream
        self._printed = 0

    def print_answer(self, connection: Connection, answer: Answer | PullQuery | PushQuery) -> None:
        """Print an answer; of a pushed query, each answer until the query ends."""
        from causeway.streaming_tables import PullQuery, PushQuery

        if isinstance(answer, PushQuery):
            answer.end_when(connection.is_quiet)
            try:
                for tick, rows in answer:
                    self._print(rows, answer.tick_text(tick))
            finally:
                answer.kill()
            return
        if isinstance(answer, PullQuery):
            if self._format == "table":
                console.print(
                    f"query {answer.id}: RESUME {answer.id} answers it again, KILL {answer.id} ends it"
                )
            answer = answer.resume()
        if answer.summary is not None:
            if self._format == "table" and answer.summary:
                console.print(answer.summary)
            return
        self._print(answer.to_arrow(), None)

    def _print(self, rows: pa.Table, tick: Any) -> None:
        if self._format == "table":
            if tick is not None:
                self._stream.write(f"tick {tick}\n")
            width = None if self._stream.isatty() else _WIDTH
            drawn = Console(file=self._stream, width=width, highlight=False, markup=False)
            drawn.print(text_table(rows, _SHOWN))
        elif self._format == "csv":
            self._print_csv(rows, tick)
        else:
            answer = [dict(zip(rows.schema.names, row, strict=True)) for row in _rows(rows)]
            self._stream.write(_json(answer if tick is None else {"tick": tick, "rows": answer}) + "\n")
        self._printed += 1
        self._stream.flush()

    def _print_csv(self, rows: pa.Table, tick: Any) -> None:
        if self._printed:
            self._stream.write("\n")
        writer = csv.writer(self._stream, lineterminator="\n")
        ticks = [] if tick is None else [tick]
        writer.writerow([*(["tick"] if tick is not None else []), *rows.schema.names])
        for row in _rows(rows):
            writer.writerow([*ticks, *(_field(value) for value in row)])


def _rows(rows: pa.Table) -> list[tuple[Any, ...]]:
    columns = [column.to_pylist(maps_as_pydicts="lossy") for column in rows.columns]
    return list(zip(*columns, strict=True))


def _field(value: Any) -> Any:
    """A value of a CSV file: NULL is empty, nested values are JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return _json(value)
    return _plain(value) if isinstance(value, datetime | date | bytes) else value


def _json(value: Any) -> str:
    return json.dumps(_known(value), ensure_ascii=False, allow_nan=False)


def _known(value: Any) -> Any:
    """A value as JSON knows it, which has no NaN, no dates and only texts for keys."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(_plain(key)): _known(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_known(one) for one in value]
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return _plain(value)


def _plain(value: Any) -> Any:
    """A value that JSON does not know."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, bytes):
        return value.hex()
    return str(value)
