"""One-time writes: rows that are appended, deleted or replaced."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.catalog.moments import moment_of
from causeway.streaming_tables.engine.catalog.side_tables import SideTable
from causeway.streaming_tables.engine.catalog.warehouse import Warehouse
from causeway.streaming_tables.engine.plans.spark_errors import in_users_text
from causeway.streaming_tables.engine.reads.relations import Relations
from causeway.streaming_tables.engine.windows.window_state import as_times
from causeway.streaming_tables.language import Delete, Query, Rendered, Update
from causeway.streaming_tables.language.tokens import quote_identifier
from causeway.streaming_tables.storage import SEQ, Snapshot, TableDefinition, TableWriter, refuse_far_times

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Changes", "rows_of", "to_table", "with_nulls"]


def rows_of(data: Any, definition: TableDefinition) -> pa.Table:
    """Rows that a user gives, as Arrow: an Arrow table or batch, pandas, or rows as mappings or sequences.

    Mappings are read by name; a sequence has all columns in the table's order, the time last.
    """
    import pandas as pd

    names = definition.arrow_schema().names
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, pd.DataFrame):
        return pa.Table.from_pandas(data, preserve_index=False)
    if not isinstance(data, Iterable) or isinstance(data, str | bytes | Mapping):
        raise UserError(
            f"rows for {definition.name} are an Arrow table, a pandas DataFrame or a list of rows, "
            f"not {type(data).__name__}"
        )
    rows = list(data)
    if all(isinstance(row, Mapping) for row in rows):
        known = {str(key).lower() for row in rows for key in row}
        lower = [{str(key).lower(): value for key, value in row.items()} for row in rows]
        unknown = known - {name.lower() for name in names}
        if unknown:
            raise UserError(f"{definition.name} has no column {', '.join(sorted(unknown))}")
        columns: list[list[Any]] = [[row.get(name.lower()) for row in lower] for name in names]
    elif all(isinstance(row, Sequence) and not isinstance(row, str | bytes) for row in rows):
        for number, row in enumerate(rows, 1):
            if len(row) != len(names):
                raise UserError(
                    f"row {number} has {len(row)} values; {definition.name} has {len(names)} columns "
                    f"({', '.join(names)})"
                )
        columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]
    else:
        raise UserError(f"rows for {definition.name} are all mappings, or all sequences")
    arrays = [
        _array(values, field, definition)
        for values, field in zip(columns, definition.arrow_schema(), strict=True)
    ]
    return pa.Table.from_arrays(arrays, names)


def to_table(rows: pa.Table, definition: TableDefinition) -> pa.Table:
    """Rows with the table's columns, by name in any case, in its order and types."""
    schema = definition.arrow_schema()
    found = {name.lower(): name for name in rows.schema.names}
    missing = [name for name in schema.names if name.lower() not in found]
    extra = [name for name in rows.schema.names if name.lower() not in {one.lower() for one in schema.names}]
    if missing or extra:
        parts = [
            f"{', '.join(missing)} missing" if missing else "",
            f"{', '.join(extra)} unknown" if extra else "",
        ]
        raise UserError(
            f"the columns do not match {definition.name} ({', '.join(schema.names)}): "
            f"{'; '.join(part for part in parts if part)}"
        )
    columns = []
    for field in schema:
        column = rows.column(found[field.name.lower()])
        if pa.types.is_temporal(column.type) and pa.types.is_integer(field.type):
            raise UserError(
                f"column {field.name} of {definition.name} has whole numbers; got {column.type}, which would "
                "lose its unit"
            )
        try:
            columns.append(column.cast(field.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as refused:
            raise UserError(f"column {field.name} of {definition.name}: {refused}") from refused
    time = columns[-1]
    if time.null_count:
        raise UserError(f"a row for {definition.name} has no time: {definition.time.name} is null")
    if definition.time.kind == "seconds" and len(time) and pc.min(time).as_py() < 0:
        raise UserError(f"a row for {definition.name} is before second 0: {pc.min(time).as_py()}")
    refuse_far_times(as_times(time), definition)
    return pa.Table.from_arrays(columns, schema=schema)


def with_nulls(rows: pa.Table, definition: TableDefinition) -> pa.Table:
    """Columns of the table that a statement does not name are NULL."""
    known = {name.lower() for name in rows.schema.names}
    for field in definition.arrow_schema():
        if field.name.lower() not in known:
            rows = rows.append_column(field, pa.nulls(rows.num_rows, field.type))
    return rows


def _array(values: list[Any], field: pa.Field, definition: TableDefinition) -> pa.Array:
    try:
        return pa.array(values, field.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as refused:
        raise UserError(f"column {field.name} of {definition.name}: {refused}") from refused


class Changes:
    """Deletes and replaces rows of streaming tables, by conditions in Spark SQL."""

    def __init__(self, warehouse: Warehouse, relations: Relations) -> None:
        self._warehouse = warehouse
        self._relations = relations
        self._one_at_a_time = threading.Lock()

    def delete(self, statement: Delete, writer: TableWriter, clock: str) -> int:
        """Delete rows; returns how many."""
        with self._one_at_a_time:
            snapshot = writer.store.snapshot()
            where = [] if statement.where is None else [statement.where]
            found = self._select([SEQ], where, statement.table, statement.alias, snapshot, clock)
            return writer.delete(np.asarray(found.column(0).to_numpy(), np.int64))

    def update(self, statement: Update, writer: TableWriter, clock: str) -> int:
        """Replace values of rows; returns how many rows."""
        # A second statement must find the values that the first one has left.
        with self._one_at_a_time:
            return self._update(statement, writer, clock)

    def _update(self, statement: Update, writer: TableWriter, clock: str) -> int:
        snapshot = writer.store.snapshot()
        definition = snapshot.definition
        values = {column.lower(): expression for column, expression in statement.values}
        if definition.time.name.lower() in values:
            raise UserError(
                f"{definition.time.name} is the time of a row of {definition.name} and stays; "
                "delete the row and insert another"
            )
        columns: list[str | _Value] = [
            _Value(values[name.lower()], name, _type_of(definition, name))
            if name.lower() in values
            else f"{quote_identifier(statement.alias or definition.name)}.{quote_identifier(name)}"
            for name in definition.arrow_schema().names
        ]
        where = [] if statement.where is None else [statement.where]
        found = self._select([*columns, SEQ], where, statement.table, statement.alias, snapshot, clock)
        return writer.replace(found.cast(definition.file_schema()))

    def _select(
        self,
        columns: Sequence[str | _Value],
        where: Sequence[Query],
        table: str,
        alias: str | None,
        snapshot: Snapshot,
        clock: str,
    ) -> pa.Table:
        """Columns and expressions of the user's, for all rows that meet the user's condition, if any."""
        queries = [column.expression for column in columns if isinstance(column, _Value)] + [*where]
        name = self._relations.unused_name(table)
        frames: dict[str, DataFrame] = {name: self._relations.snapshot(snapshot, with_seq=True)}
        contents: dict[str, Snapshot | SideTable] = {table.lower(): snapshot}
        names = {}
        for other in dict.fromkeys(piece.table.lower() for query in queries for piece in query.tables):
            names[other] = self._relations.unused_name(other)
            contents[other] = contents.get(other) or self._warehouse.content(other)
            frames[names[other]] = self._relations.content(contents[other])
        now = moment_of(contents, clock)
        text = "SELECT "
        parts: list[tuple[int, Rendered]] = []

        def add(query: Query) -> None:
            # On lines of its own: it may end with a comment, and Spark's errors lead back to it by the line.
            nonlocal text
            rendered = query.rendered(
                lambda piece: _no_window(piece.table),
                now.literal,
                table_name=lambda piece: names[piece.table.lower()],
            )
            text += "\n"
            parts.append((text.count("\n") + 1, rendered))
            text += f"{rendered.text}\n"

        for number, column in enumerate(columns):
            text += ", " if number else ""
            if isinstance(column, _Value):
                text += "CAST("
                add(column.expression)
                text += f"AS {column.kind}) AS {quote_identifier(column.name)}"
            else:
                text += column
        text += f" FROM {name} AS {quote_identifier(alias or table)}"
        for condition in where:
            text += " WHERE"
            add(condition)
        with in_users_text(parts), self._relations.named(frames):
            return self._relations.spark.sql(text).toArrow()


@dataclass(frozen=True)
class _Value:
    """The new value of a column."""

    expression: Query
    name: str
    kind: str


def _no_window(table: str) -> str:
    raise UserError(f"a window on {table} has no place in a condition of DELETE or UPDATE")


def _type_of(definition: TableDefinition, name: str) -> str:
    return next(column.type for column in definition.columns if column.name.lower() == name.lower())
