"""Where in a statement an error is that was noticed when the statement was run, not when it was read."""

from __future__ import annotations

from causeway.runtime.errors import UserError
from causeway.streaming_tables.language import InsertFrom, InsertSelectStream, SourceStatement, Statement
from causeway.streaming_tables.language.tokens import Kind, identifier_value, string_value
from causeway.streaming_tables.sources import ColumnsError

__all__ = ["placed"]


def placed(refused: UserError, statement: Statement, source: SourceStatement) -> UserError:
    """An error that names no place yet, at what it is most likely about.

    That is the source of an insert that cannot be read, else the table or view, else the whole statement.
    """
    if type(refused) not in (UserError, ColumnsError) or "\n" in str(refused):
        return refused
    names = [getattr(statement, name, None) for name in ("table", "name", "id")]
    if isinstance(statement, InsertFrom | InsertSelectStream) and "written by" not in str(refused):
        names.insert(
            0, statement.source if isinstance(statement, InsertFrom) else statement.streams[0].source
        )
    tokens = source.tokens()
    for name in names:
        for token in tokens:
            value = string_value(token) if token.kind is Kind.STRING else identifier_value(token)
            if name is not None and value.lower() == str(name).lower():
                return source.error(str(refused), token.start)
    return source.error(str(refused), tokens[0].start if tokens else source.offset)
