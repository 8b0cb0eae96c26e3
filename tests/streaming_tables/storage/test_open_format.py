"""The past is a Delta table: other engines read the same rows."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest
from deltalake import DeltaTable
from tests.streaming_tables.storage.oracle import (
    Oracle,
    arrow_rows,
    comparable,
    plain_rows,
    random_values,
    table_definition,
)
from tests.streaming_tables.storage.small_tables import make_numbered, numbered_rows, numbers_in

from causeway.streaming_tables.storage import COMPARTMENT, SEQ, IndexDefinition, TableStore


def test_deltalake_and_duckdb_read_the_same_rows(tmp_path: Path) -> None:
    store = make_numbered(tmp_path / "t", range=100)
    with store.writer("test") as writer:
        for first in range(0, 2000, 250):
            writer.append(numbered_rows(first, 250))
            writer.flush()
        writer.drop_expired()
        writer.delete(np.arange(1500, 1600))
        own = writer.store.snapshot().scan(with_seq=True).sort_by(SEQ)
    delta = DeltaTable(tmp_path / "t/past")
    read = delta.to_pyarrow_table(filters=[("T", ">=", 99)]).sort_by(SEQ)
    assert read.select(own.column_names).to_pylist() == own.to_pylist()
    assert numbers_in(read.select(own.column_names)) == [*range(990, 1500), *range(1600, 2000)]
    # DuckDB's own Delta reader is an extension to be downloaded; its Parquet reader gets the file list.
    files = delta.file_uris()
    duck = duckdb.connect()
    rows = duck.execute(
        "SELECT VID, K, NAME, T, __seq FROM read_parquet($files, hive_partitioning = true)"
        " WHERE T >= 99 ORDER BY __seq",
        {"files": files},
    ).to_arrow_table()
    assert rows.to_pylist() == own.to_pylist()
    compartments = duck.execute(
        "SELECT count(*) FROM read_parquet($files, hive_partitioning = true)"
        f" WHERE T // 20 * 20 <> {COMPARTMENT}",
        {"files": files},
    ).fetchall()
    assert compartments == [(0,)]
    assert delta.transaction_version("causeway-log") == store.snapshot()._view.past.log_mark


@pytest.mark.parametrize("kind", ["seconds", "timestamp"])
def test_all_types_and_late_rows(tmp_path: Path, kind: str) -> None:
    import random

    chance = random.Random(5)
    definition = table_definition(kind, range=None)
    unit = definition.time.second
    oracle = Oracle(definition)
    rows = [
        {**random_values(chance), "T": number * unit + chance.randint(0, unit - 1)} for number in range(200)
    ]
    late = [{**random_values(chance), "T": 3 * unit}]
    oracle.append(rows + late)
    store = TableStore.create(tmp_path / "t", definition)
    with store.writer("test") as writer:
        for column in definition.columns:
            writer.add_index(IndexDefinition(column.name, column.name))
        writer.append(arrow_rows(rows + late, definition), source="s", batch=8)
        writer.flush()
    delta = DeltaTable(tmp_path / "t/past")
    names = definition.file_schema().names
    found = delta.to_pyarrow_table().select(names)
    assert comparable(plain_rows(found, definition)) == comparable(oracle.rows)
    assert delta.transaction_version("causeway-source-s") == 8
    stored = DeltaTable(tmp_path / "t/late").to_pyarrow_table()
    assert comparable(plain_rows(stored, definition)) == comparable(oracle.late)
