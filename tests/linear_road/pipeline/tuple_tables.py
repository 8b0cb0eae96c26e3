"""Input tuples as the tables that the source reads."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from causeway.linear_road.model.tuples import INPUT_COLUMNS, INPUT_SCHEMA

__all__ = ["table"]


def table(tuples: Sequence[Sequence[int]]) -> pa.Table:
    columns = zip(*tuples, strict=True) if tuples else [[]] * len(INPUT_COLUMNS)
    return pa.table([pa.array(column, pa.int32()) for column in columns], schema=INPUT_SCHEMA)
