"""Answers out of what Spark gives: without the columns that the engine adds, and cut into ticks."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.streaming_tables.engine.windows.window_state import TICK, as_times

__all__ = ["TickAnswer", "by_tick", "visible", "with_hidden", "without_hidden"]

TickAnswer = tuple[int, pa.Table]
"""A tick, in the tables' own unit of time, and the rows of its answer."""

_LINKS: Final = ("__row", "__previous")
_HIDDEN: Final = (*_LINKS, TICK)


def with_hidden(schema: pa.Schema, kind: str, *, links: bool) -> pa.Schema:
    """The columns of a window's rows for many ticks; with `links`, those that PREV compares."""
    for name in _LINKS if links else ():
        schema = schema.append(pa.field(name, pa.int64()))
    return schema.append(pa.field(TICK, pa.int64() if kind == "seconds" else pa.timestamp("us", "UTC")))


def visible(schema: pa.Schema) -> pa.Schema:
    """The columns of an answer."""
    return pa.schema([field for field in schema if field.name not in _HIDDEN])


def without_hidden(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """An answer's own columns, in the types of `schema`. Names may be there twice, so they go by position."""
    kept = [position for position, name in enumerate(rows.schema.names) if name not in _HIDDEN]
    columns = [rows.column(position).cast(field.type) for position, field in zip(kept, schema, strict=True)]
    return pa.Table.from_arrays(columns, schema=schema)


def by_tick(rows: pa.Table, ticks: NDArray[np.int64], schema: pa.Schema) -> list[TickAnswer]:
    """The answers of all ticks out of one table, whose first column is the tick."""
    stamps = as_times(rows.column(0))
    order = np.argsort(stamps, kind="stable")
    stamps = stamps[order]
    answers = without_hidden(rows.take(pa.array(order)), schema)
    bounds = np.searchsorted(stamps, np.append(ticks, ticks[-1] + 1))
    return [
        (int(tick), answers.slice(begin, end - begin))
        for tick, begin, end in zip(ticks, bounds[:-1], bounds[1:], strict=True)
    ]
