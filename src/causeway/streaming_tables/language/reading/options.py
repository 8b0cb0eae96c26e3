"""`OPTIONS (name = value, …)`."""

from __future__ import annotations

from causeway.streaming_tables.language.cursor import Cursor
from causeway.streaming_tables.language.tokens import Kind, identifier_value, string_value

__all__ = ["read_options"]


def read_options(cursor: Cursor) -> dict[str, str]:
    """Read the clause. Names come back in lower case; values are strings, numbers or words."""
    cursor.expect("OPTIONS")
    cursor.expect_symbol("(")
    options: dict[str, str] = {}
    while not cursor.symbol(")"):
        if options:
            cursor.expect_symbol(",")
        position = cursor.position
        name = _name(cursor)
        if not (cursor.symbol("=") or cursor.symbol("==")):
            raise cursor.unexpected(f"= and a value after the option {name}")
        if name in options:
            raise cursor.error(f"the option {name} is given twice", position)
        options[name] = _value(cursor, name)
    return options


def _name(cursor: Cursor) -> str:
    if cursor.peek().kind is Kind.STRING:
        return string_value(cursor.next()).lower()
    parts = [cursor.expect_name("the name of an option")]
    while cursor.symbol("."):
        parts.append(cursor.expect_name("the rest of an option's name"))
    return ".".join(parts).lower()


def _value(cursor: Cursor, name: str) -> str:
    sign = "-" if cursor.symbol("-") else ""
    token = cursor.peek()
    if token.kind is Kind.STRING and not sign:
        return string_value(cursor.next())
    if token.kind is Kind.NUMBER:
        return sign + cursor.next().text
    if token.is_name and not sign:
        return identifier_value(cursor.next())
    raise cursor.unexpected(f"a value for the option {name}")
