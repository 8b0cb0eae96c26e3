"""A warehouse of which several processes make and drop tables. Two objects of it stand for two processes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.catalog.warehouse import Warehouse
from causeway.streaming_tables.storage import ColumnDefinition, TableDefinition, TimeDefinition


def _table(column: str) -> TableDefinition:
    return TableDefinition("T1", (ColumnDefinition(column, "int"),), TimeDefinition(), 100, 0, 10)


def _append(warehouse: Warehouse, column: str, value: int) -> None:
    with warehouse.require("t1").writer("a test") as writer:
        writer.append(pa.table({column: pa.array([value], pa.int32()), "T": [value]}))


def _rows(warehouse: Warehouse) -> list[dict[str, int]]:
    return warehouse.require("t1").snapshot().scan().to_pylist()


def test_a_table_that_another_process_drops_and_makes_anew_is_the_new_one(tmp_path: Path) -> None:
    first, second = Warehouse(tmp_path / "w"), Warehouse(tmp_path / "w")
    first.create(_table("a"))
    _append(first, "a", 1)
    assert _rows(second) == [{"a": 1, "T": 1}]
    first.drop("t1")
    first.create(_table("b"))
    _append(first, "b", 2)
    assert _rows(second) == [{"b": 2, "T": 2}]
    first.drop("t1")
    assert second.store("t1") is None
    with pytest.raises(UserError, match="no streaming table t1"):
        second.require("t1")


def test_a_table_that_was_made_or_removed_in_part_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse, other = Warehouse(tmp_path / "w"), Warehouse(tmp_path / "w")

    def fail(*_: object) -> None:
        raise OSError(28, "no space left")

    with monkeypatch.context() as patch:
        patch.setattr("causeway.streaming_tables.storage.store.make_segment", fail)
        with pytest.raises(UserError, match="no space left"):
            warehouse.create(_table("a"))
    for one in (warehouse, other):
        assert one.store("t1") is None and list(one.stores()) == []
    warehouse.create(_table("a"))
    _append(warehouse, "a", 1)
    assert _rows(other) == [{"a": 1, "T": 1}]
    with monkeypatch.context() as patch:
        patch.setattr("causeway.streaming_tables.storage.store.remove_unfinished", lambda _: None)
        warehouse.drop("t1")
    for one in (warehouse, other, Warehouse(tmp_path / "w")):
        assert one.store("t1") is None and list(one.stores()) == []
    warehouse.create(_table("b"))
    assert _rows(other) == []
