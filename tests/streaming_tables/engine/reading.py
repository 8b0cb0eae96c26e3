"""How tests ask a connection: answers as lists of tuples, and continuous queries in a chosen way."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import pyarrow as pa

from causeway.streaming_tables.engine.connection import Connection
from causeway.streaming_tables.engine.continuous.queries import PullQuery, PushQuery
from causeway.streaming_tables.engine.continuous.query import ContinuousQuery
from causeway.streaming_tables.engine.reads.answers import Answer
from causeway.streaming_tables.language import CreateView, Select, parse

__all__ = ["Way", "answers", "ask", "bag", "continuous", "pulled", "pushed", "tuples", "unused"]

Way = Literal["chain", "arrivals", "together", "each tick"]
_NUMBERS = itertools.count()


def unused(prefix: str) -> str:
    """A name that nothing else has."""
    return f"{prefix}_{next(_NUMBERS)}"


def tuples(rows: pa.Table) -> list[tuple[Any, ...]]:
    """Rows of Arrow. Columns may have the same name."""
    columns = [[_in_utc(value) for value in column.to_pylist()] for column in rows.columns]
    return list(zip(*columns, strict=True)) if columns else []


def _in_utc(value: Any) -> Any:
    return value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo else value


def bag(rows: Iterable[Sequence[Any]]) -> list[str]:
    """Rows in an order of their own, to compare as multisets; NaN equals NaN, 1 and 1.0 differ."""
    return sorted(repr(tuple(row)) for row in rows)


def ask(db: Connection, statement: str) -> list[tuple[Any, ...]]:
    """The rows of a one-time statement."""
    answer = db.sql(statement)
    assert isinstance(answer, Answer)
    return tuples(answer.to_arrow())


def pulled(db: Connection, statement: str) -> PullQuery:
    query = db.sql(statement)
    assert isinstance(query, PullQuery)
    return query


def pushed(db: Connection, statement: str) -> PushQuery:
    query = db.sql(statement)
    assert isinstance(query, PushQuery)
    return query


def continuous(db: Connection, statement: str, way: Way | None = None) -> ContinuousQuery | None:
    """The continuous query of a statement, answered in one way; None if it cannot be answered that way."""
    parsed = parse(statement, db.warehouse)
    assert isinstance(parsed, Select | CreateView)
    query = ContinuousQuery(db.warehouse, db._relations, parsed.query)
    if way is None or query.way == way:
        return query
    if way in ("chain", "arrivals") or (way == "together" and not query._together.works()):
        return None
    query._chain = query._arrivals = None
    query.way = way
    return query


def answers(query: ContinuousQuery, after: int | None = None) -> list[tuple[int, list[tuple[Any, ...]]]]:
    """The answers of all ticks after `after` that are over."""
    found: list[tuple[int, list[tuple[Any, ...]]]] = []
    while batch := query.answers(after):
        found += [(tick, tuples(rows)) for tick, rows in batch]
        after = batch[-1][0]
    return found
