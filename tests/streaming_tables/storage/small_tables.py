"""A small table whose rows are known by their number: what several tests write and check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from causeway.streaming_tables.storage import (
    SEQ,
    ColumnDefinition,
    IndexDefinition,
    TableDefinition,
    TableStore,
    TimeDefinition,
)

ROWS_PER_TICK = 10
"""Rows of one time."""


def numbered_definition(**others: Any) -> TableDefinition:
    facts: dict[str, Any] = {
        "range": None,
        "slack": 0,
        "compartment": 20,
        "indexes": (IndexDefinition("by_vid", "VID"),),
        **others,
    }
    columns = (
        ColumnDefinition("VID", "int"),
        ColumnDefinition("K", "bigint"),
        ColumnDefinition("NAME", "string"),
    )
    return TableDefinition("numbered", columns, TimeDefinition(), **facts)


def numbered_rows(first: int, count: int) -> pa.Table:
    """Rows number `first` and after; a row's values all follow from its number."""
    numbers = np.arange(first, first + count, dtype=np.int64)
    return pa.table(
        {
            "VID": pa.array((numbers * 7 % 13).astype(np.int32)),
            "K": pa.array(numbers),
            "NAME": pa.array([f"row {number}" for number in numbers.tolist()], pa.string()),
            "T": pa.array(numbers // ROWS_PER_TICK),
        }
    )


def numbers_in(table: pa.Table) -> list[int]:
    """The rows' numbers in order, after a check that their values belong together."""
    table = table.sort_by("K")
    numbers: list[int] = table.column("K").to_pylist()
    if numbers:
        expected = (
            pa.concat_tables([numbered_rows(number, 1) for number in numbers]) if len(numbers) < 50 else None
        )
        if expected is not None:
            assert table.select(expected.column_names).to_pylist() == expected.to_pylist()
        array = np.array(numbers)
        assert (table.column("VID").to_numpy() == array * 7 % 13).all()
        assert (table.column("T").to_numpy() == array // ROWS_PER_TICK).all()
        if SEQ in table.column_names:
            assert len(set(table.column(SEQ).to_pylist())) == len(numbers)
    return numbers


def make_numbered(folder: Path, count: int = 0, **others: Any) -> TableStore:
    store = TableStore.create(folder, numbered_definition(**others))
    if count:
        with store.writer("test") as writer:
            writer.append(numbered_rows(0, count))
    return store
