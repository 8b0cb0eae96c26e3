"""Rows as a table on a terminal."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from rich.table import Table

__all__ = ["cell_text", "text_table"]


def text_table(rows: pa.Table, limit: int | None = None) -> Table:
    """The first rows, numbers to the right; a last line tells if there are more."""
    shown = rows if limit is None else rows.slice(0, limit)
    table = Table(caption=_caption(rows.num_rows, shown.num_rows), caption_justify="left")
    for field in rows.schema:
        number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        table.add_column(field.name, justify="right" if number or pa.types.is_decimal(field.type) else "left")
    columns = [shown.column(position).to_pylist() for position in range(shown.num_columns)]
    for row in zip(*columns, strict=True):
        table.add_row(*(cell_text(value) for value in row))
    return table


def cell_text(value: Any) -> str:
    """A value as Spark SQL would show it."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _caption(rows: int, shown: int) -> str:
    if shown < rows:
        return f"the first {shown:,} of {rows:,} rows"
    return f"{rows:,} row{'' if rows == 1 else 's'}"
