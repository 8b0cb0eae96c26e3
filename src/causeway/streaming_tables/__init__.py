"""Streaming tables: SQL tables whose live, recent and old rows are read at once, on Apache Spark.

language   our SQL, found and rendered as Spark's
storage    a table on disk: arrival log, Delta table, indexes, snapshots
sources    what feeds continuous inserts
engine     statements on Spark: one-time reads, continuous queries, views, inserts
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from causeway.streaming_tables.engine.connection import Connection, connect
    from causeway.streaming_tables.engine.continuous.queries import PullQuery, PushQuery
    from causeway.streaming_tables.engine.reads.answers import Answer
    from causeway.streaming_tables.language import StatementError, split_script

__all__ = ["Answer", "Connection", "PullQuery", "PushQuery", "StatementError", "connect", "split_script"]

_PLACES = {
    "Answer": "engine.reads.answers",
    "Connection": "engine.connection",
    "PullQuery": "engine.continuous.queries",
    "PushQuery": "engine.continuous.queries",
    "StatementError": "language",
    "connect": "engine.connection",
    "split_script": "language",
}


def __getattr__(name: str) -> Any:
    # Python workers of Spark import this package for the sources alone, and should not load the rest.
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
