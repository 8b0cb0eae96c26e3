"""From the text of a statement to what it says."""

from __future__ import annotations

from typing import Final

from causeway.streaming_tables.language.catalog import Catalog
from causeway.streaming_tables.language.cursor import Cursor
from causeway.streaming_tables.language.reading.changes import (
    read_delete,
    read_insert,
    read_update,
    refuse_change,
    refuse_change_after_query,
)
from causeway.streaming_tables.language.reading.definitions import (
    read_create_index,
    read_create_table,
    read_create_view,
    read_drop,
)
from causeway.streaming_tables.language.reading.extensions import read_query
from causeway.streaming_tables.language.reading.housekeeping import (
    read_describe,
    read_kill,
    read_resume,
    read_set,
    read_show,
    read_wait,
)
from causeway.streaming_tables.language.script import SourceStatement
from causeway.streaming_tables.language.statements import (
    Explain,
    Passthrough,
    Select,
    Statement,
)
from causeway.streaming_tables.language.words import QUERY_STARTS

__all__ = ["parse"]

_QUERY_STARTS: Final = QUERY_STARTS | {"MAP", "REDUCE"}
_EXPLAIN_MODES: Final = frozenset({"EXTENDED", "FORMATTED", "COST", "CODEGEN", "LOGICAL"})


def parse(text: str | SourceStatement, catalog: Catalog) -> Statement:
    """What a statement says.

    It is one of ours when its syntax is, or when the table it names is a streaming one. Everything else comes
    back as `Passthrough`, byte for byte. Errors are `StatementError`, placed in the script if there is one,
    and so are those that are noticed later.
    """
    source = text if isinstance(text, SourceStatement) else SourceStatement.alone(text)
    tokens = source.tokens()
    end = len(tokens)
    while end and tokens[end - 1].symbol() == ";":
        end -= 1
    stop = tokens[end].start if end < len(tokens) else source.end
    return _statement(Cursor(source.script, tokens, 0, end, source.end), catalog, source.offset, stop)


def _statement(cursor: Cursor, catalog: Catalog, start: int, stop: int) -> Statement:
    """The statement in the cursor's tokens. Its text is `[start, stop)`, with the comments around it."""
    found = _ours(cursor.at(cursor.position), catalog, start, stop)
    if found is not None:
        return found
    text = cursor.text[start : cursor.text_end]
    # What follows SET is free text, where nothing is a relation.
    free_text = cursor.peek().word() == "SET" and cursor.peek(1).word() not in {"VAR", "VARIABLE"}
    if cursor.done or free_text:
        return Passthrough(text, None, cursor.text, start)
    query = read_query(cursor, catalog, query=False, start=start, stop=stop)
    if query.sample is not None:
        raise cursor.error("SAMPLE belongs to a SELECT or to CREATE VIEW … RANGE, not to this statement")
    if query.streams:
        raise cursor.error("STREAM 'source' is read by INSERT INTO … SELECT … FROM STREAM 'source' only")
    reads_ours = query.relations or query.extended
    return Passthrough(text, query if reads_ours else None, cursor.text, start)


def _ours(cursor: Cursor, catalog: Catalog, start: int, stop: int) -> Statement | None:
    word, second = cursor.peek().word(), cursor.peek(1).word()
    if word in _QUERY_STARTS or cursor.peek().symbol() == "(":
        return _select(cursor, catalog, start, stop)
    match word:
        case "CREATE":
            return (
                read_create_table(cursor.at(cursor.position), catalog)
                or read_create_index(cursor.at(cursor.position), catalog)
                or read_create_view(cursor, catalog)
            )
        case "INSERT":
            return read_insert(cursor, catalog)
        case "DELETE":
            return read_delete(cursor, catalog)
        case "UPDATE":
            return read_update(cursor, catalog)
        case "ALTER" | "TRUNCATE" | "MERGE":
            refuse_change(cursor, catalog)
            return None
        case "DROP":
            return read_drop(cursor, catalog)
        case "SHOW":
            return read_show(cursor, catalog)
        case "DESCRIBE" | "DESC":
            return read_describe(cursor, catalog)
        case "RESUME":
            return read_resume(cursor)
        case "KILL":
            return read_kill(cursor)
        case "WAIT" if second == "FOR":
            return read_wait(cursor, catalog)
        case "SET":
            return read_set(cursor)
        case "EXPLAIN":
            return _explain(cursor, catalog, stop)
    return None


def _select(cursor: Cursor, catalog: Catalog, start: int, stop: int) -> Statement:
    refuse_change_after_query(cursor.at(cursor.position), catalog)
    query = read_query(cursor, catalog, start=start, stop=stop)
    if query.streams:
        raise cursor.error("STREAM 'source' is read by INSERT INTO … SELECT … FROM STREAM 'source' only")
    if query.relations or query.extended:
        return Select(query)
    return Passthrough(cursor.text[start : cursor.text_end], None, cursor.text, start)


def _explain(cursor: Cursor, catalog: Catalog, stop: int) -> Statement | None:
    cursor.next()
    mode = cursor.next().text if cursor.peek().word() in _EXPLAIN_MODES else ""
    if cursor.done:
        return None
    inner = _statement(cursor, catalog, cursor.offset(), stop)
    if isinstance(inner, Passthrough) and inner.query is None:
        return None
    return Explain(inner, mode)
