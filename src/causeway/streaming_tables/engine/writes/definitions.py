"""Definitions of tables, views and indexes, made from statements."""

from __future__ import annotations

import pyarrow as pa

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.writes.views import view_columns
from causeway.streaming_tables.language import CreateIndex, CreateStreamingTable, CreateView
from causeway.streaming_tables.storage import (
    LONGEST,
    ColumnDefinition,
    IndexDefinition,
    TableDefinition,
    TimeDefinition,
    default_compartment,
    type_text,
)

__all__ = ["index_of", "table_definition", "view_definition"]


def table_definition(statement: CreateStreamingTable) -> TableDefinition:
    """The table that a statement creates."""
    time = TimeDefinition(statement.time_name, statement.time_kind)
    period = _in_unit(statement.range_us, time, "RANGE")
    compartment = _in_unit(statement.compartment_us, time, "COMPARTMENT")
    return TableDefinition(
        name=statement.name,
        columns=tuple(ColumnDefinition(name, kind) for name, kind in statement.columns),
        time=time,
        range=period,
        slack=_in_unit(statement.slack_us, time, "SLACK") or 0,
        compartment=compartment or default_compartment(time, period),
    )


def view_definition(statement: CreateView, schema: pa.Schema, kind: str) -> TableDefinition:
    """The table that holds a view's answers."""
    time = TimeDefinition("T", "seconds" if kind == "seconds" else "timestamp")
    columns = view_columns(schema, statement.columns, time.name, statement.name)
    period = _in_unit(statement.range_us, time, "RANGE")
    return TableDefinition(
        name=statement.name,
        columns=tuple(ColumnDefinition(field.name, type_text(field.type)) for field in columns),
        time=time,
        range=None if period is None else max(period - 1, 0),
        slack=0,
        compartment=default_compartment(time, period),
        kind="view",
    )


def index_of(statement: CreateIndex, definition: TableDefinition) -> IndexDefinition:
    """The index that a statement creates."""
    for column in definition.columns:
        if column.name.lower() == statement.column.lower():
            return IndexDefinition(statement.name, column.name)
    if statement.column.lower() == definition.time.name.lower():
        raise UserError(f"{definition.time.name} is the time, which every streaming table has an index on")
    raise UserError(
        f"{definition.name} has no column {statement.column} "
        f"(it has {', '.join(column.name for column in definition.columns)})"
    )


def _in_unit(duration: int | None, time: TimeDefinition, clause: str) -> int | None:
    """A duration in the table's own unit of time."""
    if duration is None or time.kind == "timestamp":
        return None if duration is None else min(duration, LONGEST)
    if duration % 1_000_000:
        raise UserError(f"{clause}: the table counts whole seconds; {duration / 1e6:g} s is none")
    return min(duration // 1_000_000, LONGEST)
