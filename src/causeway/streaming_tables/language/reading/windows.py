"""Windows in brackets and the SAMPLE clause."""

from __future__ import annotations

from typing import Final

from causeway.streaming_tables.language.catalog import RelationInfo
from causeway.streaming_tables.language.cursor import Cursor
from causeway.streaming_tables.language.query import Sample, Window
from causeway.streaming_tables.language.reading.durations import SECOND, read_duration
from causeway.streaming_tables.language.tokens import Kind, Token, identifier_value
from causeway.streaming_tables.language.words import BEFORE_OPERAND

__all__ = ["ends_operand", "find_sample", "is_sample_clause", "read_window", "require_whole_seconds"]

_MOST_ROWS: Final = 2**62
"""More than any table has."""


def require_whole_seconds(cursor: Cursor, duration_us: int, info: RelationInfo, position: int) -> None:
    """A table whose time is whole seconds has no fractions of them."""
    if info.kind == "seconds" and duration_us % SECOND:
        raise cursor.error(
            f"the time of {info.name} is in whole seconds; this interval has a fraction", position
        )


def read_window(cursor: Cursor, info: RelationInfo) -> Window:
    """Read `[[WINDOW] INTERVAL i]`, `[[WINDOW] ROWS k]` or `[[WINDOW] a, b ROWS k]`."""
    opened = cursor.position
    cursor.expect_symbol("[")
    if cursor.words("WINDOW") and (cursor.peek(1).is_name or cursor.peek(1).symbol() == "]"):
        cursor.next()
    if cursor.words("INTERVAL") and cursor.peek(1).word() != "ROWS" and cursor.peek(1).symbol() != ",":
        window = _time_window(cursor, info)
    else:
        window = _row_window(cursor, info)
    if not cursor.symbol("]"):
        if cursor.done:
            raise cursor.error("this window has no closing ]", opened)
        if window.interval_us is not None and cursor.peek().kind is Kind.WORD:
            raise cursor.unexpected("a unit of time (SECOND, MINUTE, HOUR, DAY, WEEK) or ]")
        raise cursor.unexpected("] at the end of the window")
    return window


def _time_window(cursor: Cursor, info: RelationInfo) -> Window:
    position = cursor.position
    length = read_duration(cursor)
    if length < 0:
        raise cursor.error("a window cannot have a negative length", position)
    require_whole_seconds(cursor, length, info, position)
    return Window(interval_us=length)


def _row_window(cursor: Cursor, info: RelationInfo) -> Window:
    columns: list[str] = []
    while not (cursor.words("ROWS") and cursor.peek(1).kind is Kind.NUMBER):
        token = cursor.peek()
        if not token.is_name or (token.word() == "ROWS" and cursor.peek(1).word() not in {"ROWS", ""}):
            if cursor.words("ROWS"):
                cursor.next()
                raise cursor.unexpected("a number of rows")
            raise cursor.unexpected("INTERVAL, ROWS or the columns of a partition")
        column = info.column(identifier_value(token))
        if column is None and token.word() == "ROWS" and cursor.peek(1).symbol() != ",":
            cursor.next()
            raise cursor.unexpected("a number of rows")
        if column is None:
            raise cursor.error(_no_column(info, token))
        columns.append(column)
        cursor.next()
        if not cursor.symbol(",") and not cursor.words("ROWS"):
            raise cursor.unexpected("a comma or ROWS after a column of the window")
    cursor.next()
    count = cursor.peek()
    if not (count.text.isascii() and count.text.isdigit()) or int(count.text) == 0:
        raise cursor.error(f"a window of rows needs a whole number of at least 1, found {count.text}")
    cursor.next()
    return Window(rows=min(int(count.text), _MOST_ROWS), partition_by=tuple(columns))


def _no_column(info: RelationInfo, token: Token) -> str:
    name = identifier_value(token)
    if name.lower() == info.time.lower():
        return f"{name} is the time of {info.name}; a window is partitioned by other columns"
    return f"{info.name} has no column {name}; it has {', '.join(info.columns)}"


def ends_operand(token: Token) -> bool:
    """Whether an expression or relation can end with this token, so that a clause can follow."""
    if token.kind in {Kind.STRING, Kind.QUOTED, Kind.NUMBER, Kind.UNCLOSED}:
        return True
    if token.kind is Kind.WORD:
        return token.word() not in BEFORE_OPERAND
    return token.symbol() in {")", "]"}


def is_sample_clause(cursor: Cursor, position: int) -> bool:
    """Whether a SAMPLE clause stands at `position`, and not a column or an alias of that name."""
    if position == 0 or cursor.tokens[position].word() != "SAMPLE":
        return False
    after = cursor.tokens[position + 1].word() if position + 1 < cursor.end else ""
    return after in {"REALTIME", "INTERVAL"} and ends_operand(cursor.tokens[position - 1])


def find_sample(cursor: Cursor) -> tuple[Sample | None, int]:
    """The SAMPLE clause at the end of the cursor's tokens, and where it starts (the end if there is none)."""
    depth = 0
    for position in range(cursor.end - 1, cursor.position, -1):
        symbol = cursor.tokens[position].symbol()
        depth += (symbol in {")", "]"}) - (symbol in {"(", "["})
        if depth < 0:
            break
        if depth == 0 and _may_end_with_sample(cursor, position):
            clause = cursor.at(position + 1)
            if clause.accept("REALTIME"):
                sample = Sample()
            else:
                length = read_duration(clause)
                if length <= 0:
                    raise clause.error("SAMPLE needs an interval longer than zero", position + 1)
                sample = Sample(length)
            if not clause.done:
                raise clause.error("SAMPLE is the last clause of a statement; more follows here")
            return sample, position
    return None, cursor.end


def _may_end_with_sample(cursor: Cursor, position: int) -> bool:
    # After `*` the word may be a factor; at the very end of a statement only the clause makes sense.
    star = cursor.tokens[position - 1].symbol() == "*" and cursor.tokens[position].word() == "SAMPLE"
    realtime_ends = position + 2 == cursor.end and cursor.tokens[position + 1].word() == "REALTIME"
    return is_sample_clause(cursor, position) or (star and realtime_ends)
