"""CREATE and DROP of streaming tables, views and indexes."""

from __future__ import annotations

from typing import Final

from causeway.streaming_tables.language.catalog import Catalog, RelationInfo, TimeKind
from causeway.streaming_tables.language.cursor import Cursor
from causeway.streaming_tables.language.reading.durations import SECOND, read_duration
from causeway.streaming_tables.language.reading.extensions import read_query
from causeway.streaming_tables.language.statements import CreateIndex, CreateStreamingTable, CreateView, Drop
from causeway.streaming_tables.language.tokens import Kind, identifier_value

__all__ = ["read_create_index", "read_create_table", "read_create_view", "read_drop", "table_of"]

_TYPE_NAMES: Final = {
    "integer": "int",
    "long": "bigint",
    "short": "smallint",
    "byte": "tinyint",
    "real": "float",
    "numeric": "decimal",
    "dec": "decimal",
    "timestamp_ltz": "timestamp",
}
_TIME_KINDS: Final[dict[str, TimeKind]] = {"bigint": "seconds", "timestamp": "timestamp"}
_TABLE_CLAUSES: Final = ("RANGE", "SLACK", "COMPARTMENT")
_UNBOUNDED: Final = ("UNBOUNDED", "UNLIMITED")


def table_of(cursor: Cursor, catalog: Catalog) -> RelationInfo | None:
    """The streaming table whose plain name comes next; nothing (and nothing read) if none does."""
    token = cursor.peek()
    if not token.is_name or cursor.peek(1).symbol() == ".":
        return None
    info = catalog.relation(identifier_value(token))
    if info is not None:
        cursor.next()
    return info


def _if_not_exists(cursor: Cursor) -> bool:
    return cursor.accept("IF", "NOT", "EXISTS")


def _read_range(cursor: Cursor) -> int | None:
    cursor.expect("RANGE")
    if cursor.peek().word() in _UNBOUNDED:
        cursor.next()
        return None
    return _interval(cursor, "RANGE", at_least=1)


def _interval(cursor: Cursor, clause: str, *, at_least: int) -> int:
    position = cursor.position
    if not cursor.words("INTERVAL"):
        more = " (or RANGE UNBOUNDED)" if clause == "RANGE" else ""
        raise cursor.unexpected(f"an interval after {clause}, such as INTERVAL '5' MINUTE{more}")
    length = read_duration(cursor)
    if length < at_least:
        raise cursor.error(f"{clause} needs {'a longer' if at_least else 'no negative'} interval", position)
    return length


def read_create_table(cursor: Cursor, catalog: Catalog) -> CreateStreamingTable | None:
    """`CREATE STREAMING TABLE name (columns) RANGE …`. Without our clauses it is Spark's own form."""
    if not cursor.accept("CREATE", "STREAMING", "TABLE"):
        return None
    if_not_exists = _if_not_exists(cursor)
    name_position = cursor.position
    if not cursor.peek().is_name:
        return None
    name = identifier_value(cursor.next())
    if cursor.peek().symbol() == ".":
        if any(token.word() == "RANGE" for token in cursor.tokens[cursor.position : cursor.end]):
            raise cursor.error("a streaming table has a plain name, without a dot")
        return None
    opened = cursor.position
    closing = cursor.closing() if cursor.peek().symbol() == "(" else None
    clauses = cursor.at(opened if closing is None else closing + 1)
    if not (clauses.peek().word() in _TABLE_CLAUSES or clauses.words("TIMESTAMP", "BY")):
        return None
    if closing is None:
        raise cursor.unexpected("the columns, in parentheses")
    columns, positions = _columns(cursor.at(opened + 1, closing))
    cursor.position = closing + 1
    time_name, time_kind, time_position = "T", None, name_position
    lengths: dict[str, int | None] = {}
    length_positions: dict[str, int] = {}
    while not cursor.done:
        position, clause = cursor.position, cursor.peek().word()
        if clause in lengths or (clause == "TIMESTAMP" and time_position != name_position):
            raise cursor.error(f"{clause} is given twice")
        if cursor.accept("TIMESTAMP", "BY"):
            time_position = cursor.position
            time_name = cursor.expect_name("the name of the time column")
            if cursor.peek().word().lower() in _TIME_KINDS and not cursor.words("TIMESTAMP", "BY"):
                time_kind = _TIME_KINDS[cursor.next().text.lower()]
        elif clause == "RANGE":
            lengths[clause] = _read_range(cursor)
        elif clause in _TABLE_CLAUSES:
            cursor.next()
            lengths[clause] = _interval(cursor, clause, at_least=0 if clause == "SLACK" else 1)
        else:
            raise cursor.unexpected("RANGE, SLACK, COMPARTMENT, TIMESTAMP BY or the end of the statement")
        length_positions[clause] = position
    if "RANGE" not in lengths:
        raise cursor.error(
            "a streaming table needs RANGE: how long its rows stay, such as RANGE INTERVAL '2' WEEK"
        )
    explicit = time_position != name_position
    own = next(
        (number for number, (column, _) in enumerate(columns) if column.lower() == time_name.lower()), None
    )
    if own is not None:
        declared = columns[own][1]
        if not explicit:
            raise cursor.error(
                f"{columns[own][0]} is the table's own time; leave it out, or name another with TIMESTAMP BY",
                positions[own],
            )
        if declared not in _TIME_KINDS or time_kind not in {None, _TIME_KINDS[declared]}:
            raise cursor.error(
                f"the time column {time_name} is BIGINT (seconds) or TIMESTAMP", positions[own]
            )
        time_name, time_kind = columns[own][0], _TIME_KINDS[declared]
        columns.pop(own)
    kind = time_kind or "seconds"
    if kind == "seconds":
        for clause, length in lengths.items():
            if length is not None and length % SECOND:
                raise cursor.error(
                    f"the time of {name} is in whole seconds; {clause} has a fraction",
                    length_positions[clause],
                )
    slack = lengths.get("SLACK")
    return CreateStreamingTable(
        name,
        tuple(columns),
        time_name,
        kind,
        lengths["RANGE"],
        slack if slack is not None else 0,
        lengths.get("COMPARTMENT"),
        if_not_exists,
    )


def _columns(cursor: Cursor) -> tuple[list[tuple[str, str]], list[int]]:
    """Read `name type, …`; the columns and where each stands."""
    columns: list[tuple[str, str]] = []
    positions = []
    while not cursor.done or columns:
        positions.append(cursor.position)
        name = cursor.expect_name("the name of a column")
        if any(name.lower() == other.lower() for other, _ in columns):
            raise cursor.error(f"two columns are called {name}", positions[-1])
        columns.append((name, _type(cursor, name)))
        if cursor.done:
            return columns, positions
        cursor.expect_symbol(",")
    raise cursor.unexpected("the name of a column")


def _type(cursor: Cursor, column: str) -> str:
    """Read a type up to the next comma outside all brackets; in Spark's short form, lower case."""
    first = cursor.position
    depth = 0
    brackets: list[bool] = []  # of those that are open, which ones are a struct's
    parts: list[str] = []
    while not cursor.done and not (depth == 0 and cursor.peek().symbol() == ","):
        token = cursor.peek()
        symbol = token.symbol()
        depth += (symbol in {"(", "<"}) - (symbol in {")", ">"})
        if (
            depth == 0
            and cursor.position > first
            and token.word() in {"NOT", "COMMENT", "DEFAULT", "GENERATED"}
        ):
            raise cursor.error(
                f"a column of a streaming table has a name and a type only, found {token.text}"
            )
        separate = (
            parts
            and token.kind is not Kind.SYMBOL
            and cursor.tokens[cursor.position - 1].kind is not Kind.SYMBOL
        )
        # Names of fields inside a type keep their case.
        before = cursor.tokens[cursor.position - 1]
        field = bool(brackets and brackets[-1] and before.symbol() in {"<", ","})
        if symbol in {"(", "<"}:
            brackets.append(before.word() == "STRUCT")
        elif symbol in {")", ">"} and brackets:
            brackets.pop()
        word = token.text if field or token.kind is Kind.QUOTED else token.text.lower()
        parts.append((" " if separate else "") + (word if field else _TYPE_NAMES.get(word, word)))
        cursor.next()
    if not parts or cursor.tokens[first].kind is not Kind.WORD:
        cursor.position = first
        raise cursor.unexpected(f"the type of the column {column}")
    written = "".join(parts)
    return "decimal(10,0)" if written == "decimal" else written


def read_create_index(cursor: Cursor, catalog: Catalog) -> CreateIndex | None:
    """`CREATE INDEX [IF NOT EXISTS] name ON [TABLE] table (column)` on a streaming table."""
    if not cursor.accept("CREATE", "INDEX"):
        return None
    if_not_exists = _if_not_exists(cursor)
    name_token = cursor.next()
    if not name_token.is_name or not cursor.accept("ON"):
        return None
    if cursor.words("TABLE") and cursor.peek(1).is_name:
        cursor.next()
    info = table_of(cursor, catalog)
    if info is None:
        return None
    cursor.expect_symbol("(")
    position = cursor.position
    column = cursor.expect_name("the column that is indexed")
    if column.lower() == info.time.lower():
        raise cursor.error(f"{info.time} is the time of {info.name}, which is indexed always", position)
    known = info.column(column)
    if known is None:
        raise cursor.error(f"{info.name} has no column {column}; it has {', '.join(info.columns)}", position)
    if cursor.peek().symbol() == ",":
        raise cursor.error("an index is on one column; make one for each")
    cursor.expect_symbol(")")
    cursor.expect_end()
    return CreateIndex(identifier_value(name_token), info.name, known, if_not_exists)


def read_create_view(cursor: Cursor, catalog: Catalog) -> CreateView | None:
    """`CREATE VIEW name [(columns)] RANGE … AS (… SAMPLE …)`. Without RANGE it is Spark's own view."""
    cursor.expect("CREATE")
    or_replace = cursor.accept("OR", "REPLACE")
    temporary = cursor.position
    is_temporary = cursor.accept("GLOBAL", "TEMPORARY") or cursor.accept("TEMPORARY") or cursor.accept("TEMP")
    if not cursor.accept("VIEW"):
        return None
    if_not_exists = _if_not_exists(cursor)
    if not cursor.peek().is_name:
        return None
    name_position = cursor.position
    name = identifier_value(cursor.next())
    dotted = cursor.peek().symbol() == "."
    while cursor.symbol("."):
        cursor.next()
    columns_position = cursor.position
    if cursor.peek().symbol() == "(" and (closing := cursor.closing()) is not None:
        cursor.position = closing + 1
    if not cursor.words("RANGE"):
        _refuse_extensions(cursor, catalog)
        return None
    if is_temporary:
        raise cursor.error("a view with RANGE keeps its rows, so it cannot be temporary", temporary)
    if dotted:
        raise cursor.error("a view with RANGE has a plain name, without a dot", name_position)
    columns = _view_columns(
        cursor.at(columns_position + 1, cursor.position - 1), cursor.position > columns_position
    )
    range_position = cursor.position
    length = _read_range(cursor)
    cursor.expect("AS")
    if cursor.done:
        raise cursor.unexpected("a query")
    end = cursor.end
    while cursor.peek().symbol() == "(" and cursor.at(cursor.position, end).closing() == end - 1:
        cursor.next()
        end -= 1
    query = read_query(cursor.at(cursor.position, end), catalog)
    if query.sample is None:
        raise cursor.error(
            "a view with RANGE needs SAMPLE at the end of its query: SAMPLE REALTIME or SAMPLE INTERVAL …",
            end,
        )
    infos = [piece.info for piece in query.windows] + [piece.info for piece in query.tables]
    for length_us, position in ((length, range_position + 1), (query.sample.interval_us, end - 1)):
        if length_us and length_us % SECOND and any(info.kind == "seconds" for info in infos):
            raise cursor.error(
                "the time of the tables is in whole seconds; this interval has a fraction", position
            )
    return CreateView(name, columns, length, query, or_replace, if_not_exists)


def _view_columns(cursor: Cursor, has_list: bool) -> tuple[str, ...] | None:
    if not has_list:
        return None
    columns: list[str] = []
    while not columns or cursor.symbol(","):
        position = cursor.position
        name = cursor.expect_name("the name of a column")
        if name.lower() in {column.lower() for column in columns}:
            raise cursor.error(f"two columns are called {name}", position)
        columns.append(name)
    cursor.expect_end()
    return tuple(columns)


def _refuse_extensions(cursor: Cursor, catalog: Catalog) -> None:
    """Spark's own view cannot have a window or SAMPLE."""
    start = next((at for at in range(cursor.position, cursor.end) if cursor.tokens[at].word() == "AS"), None)
    if start is None or start + 1 >= cursor.end:
        return
    body = cursor.at(start + 1)
    end = cursor.end
    while body.peek().symbol() == "(" and body.at(body.position, end).closing() == end - 1:
        body.next()
        end -= 1
    query = read_query(body.at(body.position, end), catalog)
    if query.sample is not None or query.windows:
        raise cursor.error(
            "a view of a window needs RANGE before AS: how long its rows stay, such as INTERVAL '5' MINUTE"
        )


def read_drop(cursor: Cursor, catalog: Catalog) -> Drop | None:
    """`DROP TABLE | VIEW | INDEX [IF EXISTS] name` of ours."""
    cursor.expect("DROP")
    what = cursor.next().word()
    if what not in {"TABLE", "VIEW", "INDEX"}:
        return None
    if_exists = cursor.accept("IF", "EXISTS")
    position = cursor.position
    if what == "INDEX":
        return _read_drop_index(cursor, catalog, if_exists)
    info = table_of(cursor, catalog)
    if info is None:
        return None
    cursor.accept("PURGE")
    cursor.expect_end()
    if info.is_view != (what == "VIEW"):
        is_what = "a view; write DROP VIEW" if info.is_view else "a table; write DROP TABLE"
        raise cursor.error(f"{info.name} is {is_what}", position)
    return Drop("view" if info.is_view else "table", info.name, if_exists)


def _read_drop_index(cursor: Cursor, catalog: Catalog, if_exists: bool) -> Drop | None:
    name = cursor.expect_name("the name of an index")
    if not cursor.accept("ON"):
        cursor.expect_end()
        return Drop("index", name, if_exists)
    if cursor.words("TABLE") and cursor.peek(1).is_name:
        cursor.next()
    info = table_of(cursor, catalog)
    if info is None:
        return None
    cursor.expect_end()
    return Drop("index", name, if_exists, info.name)
