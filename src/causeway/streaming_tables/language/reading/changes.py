"""INSERT, DELETE and UPDATE of streaming tables."""

from __future__ import annotations

from causeway.streaming_tables.language.catalog import Catalog, RelationInfo
from causeway.streaming_tables.language.cursor import Cursor
from causeway.streaming_tables.language.errors import NotStreamingTableError
from causeway.streaming_tables.language.query import Query
from causeway.streaming_tables.language.reading.definitions import table_of
from causeway.streaming_tables.language.reading.extensions import read_fragment, read_query
from causeway.streaming_tables.language.reading.options import read_options
from causeway.streaming_tables.language.reading.scopes import Relation
from causeway.streaming_tables.language.statements import (
    Delete,
    InsertFrom,
    InsertOnce,
    InsertSelectStream,
    Update,
)
from causeway.streaming_tables.language.tokens import Kind, identifier_value

__all__ = ["read_delete", "read_insert", "read_update", "refuse_change", "refuse_change_after_query"]


def read_insert(cursor: Cursor, catalog: Catalog) -> InsertFrom | InsertOnce | InsertSelectStream | None:
    """`INSERT INTO table …`, once or from a source that goes on."""
    cursor.expect("INSERT")
    verb = cursor.peek()
    if not (cursor.accept("INTO") or cursor.accept("OVERWRITE")):
        return None
    if cursor.words("TABLE") and cursor.peek(1).is_name:
        cursor.next()
    position = cursor.position
    info = table_of(cursor, catalog)
    if info is None:
        _refuse_source(cursor)
        return None
    if verb.word() == "OVERWRITE":
        raise cursor.error(
            f"{info.name} is a streaming table; use DELETE and INSERT INTO instead of OVERWRITE", 1
        )
    if info.is_view:
        raise cursor.error(f"{info.name} is a view; rows come into it from its query only", position)
    if cursor.accept("VALUES", "FROM"):
        source = cursor.expect_string("a source in quotes, such as 'folder'")
        options = read_options(cursor) if cursor.words("OPTIONS") else {}
        cursor.expect_end()
        return InsertFrom(info.name, source, options)
    if cursor.words("PARTITION") or cursor.words("REPLACE"):
        raise cursor.error(f"{info.name} is a streaming table; {cursor.peek().text} is not for it")
    by_name = cursor.accept("BY", "NAME")
    columns = None if by_name else _columns(cursor, info)
    if cursor.done:
        raise cursor.unexpected("VALUES or a query")
    start = cursor.position
    query = read_query(cursor.at(start), catalog, target=info)
    if query.sample is not None:
        raise cursor.error(
            "INSERT INTO runs once; a continuous query that is kept is CREATE VIEW … RANGE …", start
        )
    if query.streams:
        return InsertSelectStream(info.name, query, query.streams, columns, by_name)
    return InsertOnce(info.name, columns, query.text, query, by_name)


def _refuse_source(cursor: Cursor) -> None:
    """`VALUES FROM 'x'` is ours whatever the table: another one cannot take it."""
    name = cursor.position
    after = cursor.at(name + 1)
    while after.symbol("."):
        after.next()
    if after.accept("VALUES", "FROM") and after.peek().kind is Kind.STRING:
        table = cursor.source(name, after.position - 2)
        raise NotStreamingTableError(
            f"{table} is not a streaming table; VALUES FROM needs one", cursor.text, cursor.offset(name)
        )


def _columns(cursor: Cursor, info: RelationInfo) -> tuple[str, ...] | None:
    """Read `(a, b, …)` before the rows, unless it is a query in parentheses."""
    if (
        cursor.peek().symbol() != "("
        or not cursor.peek(1).is_name
        or cursor.peek(2).symbol() not in {",", ")"}
    ):
        return None
    cursor.next()
    columns: list[str] = []
    while not columns or cursor.symbol(","):
        position = cursor.position
        name = cursor.expect_name("the name of a column")
        known = info.time if name.lower() == info.time.lower() else info.column(name)
        if known is None:
            raise cursor.error(
                f"{info.name} has no column {name}; it has {', '.join((*info.columns, info.time))}", position
            )
        if known in columns:
            raise cursor.error(f"the column {known} is given twice", position)
        columns.append(known)
    cursor.expect_symbol(")")
    return tuple(columns)


def _target(cursor: Cursor, catalog: Catalog) -> tuple[RelationInfo, str | None, Relation] | None:
    """The table that is changed, with its alias."""
    position = cursor.position
    info = table_of(cursor, catalog)
    if info is None:
        return None
    if info.is_view:
        raise cursor.error(f"{info.name} is a view; only its query changes it", position)
    alias = None
    if cursor.accept("AS") or (cursor.peek().is_name and cursor.peek().word() not in {"WHERE", "SET"}):
        if not cursor.peek().is_name:
            raise cursor.unexpected("an alias")
        alias = cursor.next()
    name = alias or cursor.tokens[position]
    relation = Relation(identifier_value(name), name.text, info)
    return info, identifier_value(alias) if alias else None, relation


def _where(cursor: Cursor, catalog: Catalog, relation: Relation) -> tuple[str | None, Query | None]:
    if cursor.done:
        return None, None
    if not cursor.accept("WHERE"):
        raise cursor.unexpected("WHERE or the end of the statement")
    if cursor.done:
        raise cursor.unexpected("a condition")
    where = read_fragment(cursor, catalog, relation)
    return where.text, where


def read_delete(cursor: Cursor, catalog: Catalog) -> Delete | None:
    """`DELETE FROM table [alias] [WHERE …]`."""
    if not cursor.accept("DELETE", "FROM"):
        return None
    target = _target(cursor, catalog)
    if target is None:
        return None
    info, alias, relation = target
    return Delete(info.name, alias, *_where(cursor, catalog, relation))


def read_update(cursor: Cursor, catalog: Catalog) -> Update | None:
    """`UPDATE table [alias] SET column = expression, … [WHERE …]`."""
    cursor.expect("UPDATE")
    target = _target(cursor, catalog)
    if target is None:
        return None
    info, alias, relation = target
    cursor.expect("SET")
    values: list[tuple[str, Query]] = []
    while not values or cursor.symbol(","):
        column = _assigned(cursor, info, relation)
        if column in {name for name, _ in values}:
            raise cursor.error(f"the column {column} is set twice", cursor.position - 1)
        if not (cursor.symbol("=") or cursor.symbol("==")):
            raise cursor.unexpected(f"= after {column}")
        start, end = cursor.position, _expression_end(cursor)
        if start == end:
            raise cursor.unexpected(f"a value for {column}")
        values.append((column, read_fragment(cursor.at(start, end), catalog, relation)))
        cursor.position = end
    where_text, where = _where(cursor, catalog, relation)
    assignments = tuple((column, value.text) for column, value in values)
    return Update(info.name, alias, assignments, where_text, tuple(values), where)


def _assigned(cursor: Cursor, info: RelationInfo, relation: Relation) -> str:
    position = cursor.position
    name = cursor.expect_name("a column to set")
    if name.lower() == relation.alias.lower() and cursor.symbol("."):
        name = cursor.expect_name("a column to set")
    if name.lower() == info.time.lower():
        raise cursor.error(f"{info.time} is the time of {info.name} and cannot be changed", position)
    known = info.column(name)
    if known is None:
        raise cursor.error(f"{info.name} has no column {name}; it has {', '.join(info.columns)}", position)
    return known


def _expression_end(cursor: Cursor) -> int:
    """Where an expression ends: at a comma or WHERE outside all brackets."""
    depth = 0
    for position in range(cursor.position, cursor.end):
        token = cursor.tokens[position]
        symbol = token.symbol()
        depth += (symbol in {"(", "["}) - (symbol in {")", "]"})
        after_dot = cursor.tokens[position - 1].symbol() == "."
        if depth == 0 and (symbol == "," or (token.word() == "WHERE" and not after_dot)):
            return position
    return cursor.end


def refuse_change(cursor: Cursor, catalog: Catalog) -> None:
    """ALTER, TRUNCATE and MERGE are not for streaming tables; a standard table's are Spark's."""
    verb = cursor.next().word()
    if verb == "MERGE":
        cursor.accept("WITH", "SCHEMA", "EVOLUTION")
        if not cursor.accept("INTO"):
            return
    elif not (cursor.accept("TABLE") or cursor.accept("VIEW")):
        return
    position = cursor.position
    info = table_of(cursor, catalog)
    if info is not None:
        raise cursor.error(f"{info.name} is a streaming table; {verb} is not for it", position)


def refuse_change_after_query(cursor: Cursor, catalog: Catalog) -> None:
    """In Spark `WITH …` and `FROM …` can stand before INSERT, DELETE, UPDATE and MERGE; not in ours."""
    depth = 0
    while not cursor.done:
        symbol = cursor.peek().symbol()
        depth += (symbol in {"(", "["}) - (symbol in {")", "]"})
        verb = cursor.next().word()
        if depth == 0 and verb in {"INSERT", "DELETE", "UPDATE", "MERGE"}:
            position = cursor.position - 1
            target = cursor.at(cursor.position)
            named = any(target.accept(word) for word in ("INTO", "OVERWRITE", "FROM")) or verb == "UPDATE"
            target.accept("TABLE")
            info = table_of(target, catalog) if named else None
            if info is not None:
                raise cursor.error(
                    f"{info.name} is a streaming table; the statement must begin with {verb}", position
                )
