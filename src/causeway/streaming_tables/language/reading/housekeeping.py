"""SHOW, DESCRIBE, WAIT FOR, SET causeway.clock, and the ids of queries."""

from __future__ import annotations

from typing import Final

from causeway.streaming_tables.language.catalog import Catalog
from causeway.streaming_tables.language.cursor import Cursor
from causeway.streaming_tables.language.errors import NotStreamingTableError
from causeway.streaming_tables.language.reading.definitions import table_of
from causeway.streaming_tables.language.statements import Describe, Kill, Resume, SetClock, Show, WaitFor
from causeway.streaming_tables.language.tokens import Kind, identifier_value, string_value

__all__ = ["read_describe", "read_kill", "read_resume", "read_set", "read_show", "read_wait"]

_QUERY_ID: Final = "the id of a query (SHOW QUERIES lists them)"


def read_resume(cursor: Cursor) -> Resume:
    """`RESUME id`, `RESUME INSERT n` and `RESUME VIEW v`."""
    cursor.expect("RESUME")
    if cursor.accept("INSERT"):
        return Resume(_insert_number(cursor), "insert")
    if cursor.accept("VIEW"):
        return Resume(_id(cursor, "the name of a view"), "view")
    return Resume(_id(cursor, _QUERY_ID))


def read_kill(cursor: Cursor) -> Kill:
    """`KILL id` and `KILL INSERT n`."""
    cursor.expect("KILL")
    if cursor.accept("INSERT"):
        return Kill(_insert_number(cursor), "insert")
    return Kill(_id(cursor, _QUERY_ID))


def _insert_number(cursor: Cursor) -> str:
    if cursor.peek().kind is not Kind.NUMBER:
        raise cursor.unexpected("the number of an insert (DESCRIBE lists those of a table)")
    return _id(cursor, "")


def _id(cursor: Cursor, expected: str) -> str:
    """A number, a name or a string, and the end of the statement."""
    token = cursor.peek()
    if token.kind is Kind.STRING:
        value = string_value(token)
    elif token.is_name or token.kind is Kind.NUMBER:
        value = identifier_value(token)
    else:
        raise cursor.unexpected(expected)
    cursor.next()
    cursor.expect_end()
    return value


def read_show(cursor: Cursor, catalog: Catalog) -> Show | None:
    """SHOW QUERIES and SHOW INDEXES are ours; SHOW TABLES and SHOW VIEWS are when no database is named."""
    cursor.expect("SHOW")
    if cursor.accept("QUERIES"):
        cursor.expect_end()
        return Show("queries")
    if cursor.accept("INDEXES"):
        table = None
        if cursor.accept("ON") or cursor.accept("FROM") or cursor.accept("IN"):
            table = _streaming_table(cursor, catalog, "SHOW INDEXES")
        cursor.expect_end()
        return Show("indexes", table=table)
    what = cursor.peek().word()
    if what not in {"TABLES", "VIEWS"}:
        return None
    cursor.next()
    pattern = None
    if cursor.accept("LIKE") or cursor.peek().kind is Kind.STRING:
        if cursor.peek().kind is not Kind.STRING:
            return None
        pattern = string_value(cursor.next())
    return Show("tables" if what == "TABLES" else "views", pattern) if cursor.done else None


def read_describe(cursor: Cursor, catalog: Catalog) -> Describe | None:
    """`DESCRIBE [TABLE] [EXTENDED | FORMATTED] table` of a streaming table; of one column it is refused."""
    cursor.next()
    for word in ("TABLE", "EXTENDED", "FORMATTED"):
        if cursor.words(word) and cursor.peek(1).is_name:
            cursor.next()
    info = table_of(cursor, catalog)
    if info is None:
        return None
    cursor.expect_end()
    return Describe(info.name)


def read_wait(cursor: Cursor, catalog: Catalog) -> WaitFor:
    """`WAIT FOR table [UNTIL n]`; n is a number of seconds, or a string for a timestamp."""
    cursor.expect("WAIT", "FOR")
    table = _streaming_table(cursor, catalog, "WAIT FOR")
    until: int | str | None = None
    if cursor.accept("UNTIL"):
        token = cursor.peek()
        if cursor.words("TIMESTAMP") and cursor.peek(1).kind is Kind.STRING:
            cursor.next()
            token = cursor.peek()
        if token.kind is Kind.STRING:
            until = string_value(token)
        elif token.kind is Kind.NUMBER and token.text.isascii() and token.text.isdigit():
            until = int(token.text)
        else:
            raise cursor.unexpected("a time of the table: a whole number, or a timestamp in quotes")
        cursor.next()
    cursor.expect_end()
    return WaitFor(table, until)


def _streaming_table(cursor: Cursor, catalog: Catalog, statement: str) -> str:
    info = table_of(cursor, catalog)
    if info is not None:
        return info.name
    if not cursor.peek().is_name:
        raise cursor.unexpected("the name of a streaming table")
    raise NotStreamingTableError(
        f"{cursor.peek().text} is not a streaming table; {statement} needs one", cursor.text, cursor.offset()
    )


def read_set(cursor: Cursor) -> SetClock | None:
    """`SET causeway.clock = stream | wall`; every other SET is Spark's."""
    if not cursor.accept("SET", "CAUSEWAY"):
        return None
    if not (cursor.symbol(".") and cursor.accept("CLOCK")) or not (cursor.symbol("=") or cursor.symbol("==")):
        return None
    token = cursor.peek()
    value = (string_value(token) if token.kind is Kind.STRING else token.text).lower()
    if value not in {"stream", "wall"}:
        raise cursor.unexpected("stream or wall")
    cursor.next()
    cursor.expect_end()
    return SetClock("wall" if value == "wall" else "stream")
