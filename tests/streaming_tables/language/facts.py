"""What a statement says, without the texts and places it was read from; and a plain way to render queries."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, Final

from tests.streaming_tables.language.made_catalog import CATALOG

from causeway.streaming_tables.language import Query, SourceStatement, Statement, parse

__all__ = ["facts", "query_of", "rendered"]

_TEXTS: Final = {
    "text",
    "body_text",
    "where_text",
    "assignments",
    "edits",
    "script",
    "offset",
    "mode_text",
}


def facts(value: object) -> Any:
    """A statement as plain values that two ways of writing it have in common."""
    if is_dataclass(value):
        named = {field.name: facts(getattr(value, field.name)) for field in fields(value)}
        return type(value).__name__, {name: fact for name, fact in named.items() if name not in _TEXTS}
    if isinstance(value, tuple):
        return tuple(facts(part) for part in value)
    return value


def query_of(statement: str | SourceStatement | Statement) -> Query:
    """The query of a statement, which must have one."""
    found = parse(statement, CATALOG) if isinstance(statement, str | SourceStatement) else statement
    query = getattr(found, "query", None)
    assert isinstance(query, Query), found
    return query


def rendered(query: Query) -> str:
    """Spark SQL with names that tell what each place asks for."""
    return query.render(
        lambda piece: f"window_{piece.index}",
        lambda offset: f"now[{offset // 1_000_000}]",
        table_name=lambda piece: f"table_{piece.index}",
        stream_name=lambda piece: f"stream_{piece.index}",
    )
