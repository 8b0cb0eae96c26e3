"""Tables as folders: made, opened, written by one, dropped, explained."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from tests.streaming_tables.storage.oracle import arrow_rows, plain_rows, table_definition
from tests.streaming_tables.storage.small_tables import (
    make_numbered,
    numbered_definition,
    numbered_rows,
    numbers_in,
)

from causeway.runtime.errors import UserError
from causeway.streaming_tables.storage import (
    SEQ,
    ColumnDefinition,
    Comparison,
    IndexDefinition,
    Predicate,
    TableDefinition,
    TableStore,
    TimeDefinition,
    maintenance,
)
from causeway.streaming_tables.storage.past import rewriting
from causeway.streaming_tables.storage.past.column_reader import ColumnCache, FileColumn


def test_a_table_that_exists_is_not_made_again(tmp_path: Path) -> None:
    make_numbered(tmp_path / "t", 10)
    with pytest.raises(UserError, match="exists already"):
        TableStore.create(tmp_path / "t", numbered_definition())
    (tmp_path / "other").mkdir()
    (tmp_path / "other/file").write_text("mine")
    with pytest.raises(UserError, match="in the way"):
        TableStore.create(tmp_path / "other", numbered_definition())
    with pytest.raises(UserError, match="no streaming table"):
        TableStore.open(tmp_path / "nothing")


def test_a_second_writer_is_told_who_writes(tmp_path: Path) -> None:
    store = make_numbered(tmp_path / "t", 10)
    other = TableStore.open(tmp_path / "t")
    assert other.writer_description() is None
    with store.writer("INSERT INTO t"):
        with pytest.raises(UserError, match=rf"process {os.getpid()} \(INSERT INTO t\)"):
            other.writer("another")
        description = other.writer_description()
        assert description is not None and "INSERT INTO t" in description
    assert other.writer_description() is None
    with other.writer("another") as writer:
        writer.append(numbered_rows(10, 10))
    assert numbers_in(store.snapshot().scan()) == list(range(20))
    with pytest.raises(UserError, match="closed"):
        writer.append(numbered_rows(20, 10))


def test_a_dropped_table_is_gone_for_all(tmp_path: Path) -> None:
    store = make_numbered(tmp_path / "t", 10)
    other = TableStore.open(tmp_path / "t")
    other.snapshot()
    with store.writer("x"), pytest.raises(UserError, match="in use"):
        other.drop()
    store.drop()
    assert not (tmp_path / "t").exists()
    for one in (store, other):
        with pytest.raises(UserError, match="dropped"):
            one.snapshot()
    assert make_numbered(tmp_path / "t").snapshot().scan().num_rows == 0


def test_rows_that_do_not_fit(tmp_path: Path) -> None:
    with make_numbered(tmp_path / "t").writer("x") as writer:
        with pytest.raises(UserError, match="need the columns VID int32"):
            writer.append(pa.table({"VID": [1]}))
        rows = numbered_rows(0, 2).set_column(3, "T", pa.array([1, None], pa.int64()))
        with pytest.raises(UserError, match="has no T"):
            writer.append(rows)
        assert writer.store.snapshot().rows_total == 0


def test_replaced_rows_keep_their_time(tmp_path: Path) -> None:
    store = make_numbered(tmp_path / "t", 100)
    rows = store.snapshot().scan(with_seq=True)
    with store.writer("x") as writer:
        with pytest.raises(UserError, match="time T of a row can't be changed"):
            writer.replace(rows.set_column(3, "T", pa.array([5] * 100)))
        with pytest.raises(UserError, match="name a row twice"):
            writer.replace(pa.concat_tables([rows, rows]))
        with pytest.raises(UserError, match="need the columns"):
            writer.replace(rows.drop_columns(["NAME"]))
    assert numbers_in(store.snapshot().scan()) == list(range(100))
    assert len(list((tmp_path / "t").glob("past/*/causeway-*"))) == len(store.snapshot().candidates().files)


def test_deleted_rows_are_gone_from_all_files(tmp_path: Path) -> None:
    """Also from files that a merge took out a moment ago and that are kept for reads under way."""
    store = make_numbered(tmp_path / "t")
    with store.writer("x") as writer:
        for first in range(0, 600, 50):
            writer.append(numbered_rows(first, 50))
            writer.flush()
        assert len(list((tmp_path / "t").glob("past/*/causeway-*"))) > len(
            store.snapshot().candidates().files
        )
        writer.append(numbered_rows(600, 50))
        assert writer.delete(np.array([123, 620])) == 2
        needles = [b"row 123", b"row 620"]
        for path in (tmp_path / "t").rglob("*"):
            if path.suffix == ".parquet" and "_delta_log" not in str(path):
                import pyarrow.parquet as pq

                names = pq.read_table(path, columns=["NAME"]).column("NAME").to_pylist()
                assert "row 123" not in names and "row 620" not in names
            elif path.is_file():
                assert not any(needle in path.read_bytes() for needle in needles)
    assert numbers_in(store.snapshot().scan()) == [n for n in range(650) if n not in (123, 620)]


def test_small_files_of_closed_compartments_are_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewriting, "MERGED_ROWS", 150)
    store = make_numbered(tmp_path / "t")
    with store.writer("x") as writer:
        for first in range(0, 1000, 20):
            writer.append(numbered_rows(first, 20))
            writer.flush()
        files = store.snapshot()._view.past.files
        per_compartment: dict[int, list[int]] = {}
        for file in files:
            per_compartment.setdefault(file.compartment, []).append(file.rows)
        # A compartment has 200 rows; merged files have up to 150.
        closed = [rows for begin, rows in per_compartment.items() if begin + 20 <= 99]
        assert closed and all(len(rows) == 2 and max(rows) <= 150 for rows in closed)
    assert numbers_in(store.snapshot().scan(with_seq=True)) == list(range(1000))


def test_expired_compartments_are_dropped_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "OLD_FILES_KEPT", 0.0)
    store = make_numbered(tmp_path / "t", range=30)
    with store.writer("x") as writer:
        writer.append(numbered_rows(0, 1000))
        writer.flush()
        assert numbers_in(store.snapshot().scan()) == list(range(690, 1000))
        assert writer.drop_expired(keep_from=25) == 1
        assert numbers_in(store.snapshot().scan(as_of=60)) == list(range(300, 610))
        assert writer.drop_expired() == 2
        assert store.snapshot().describe().compartments == 2
        assert writer.drop_expired() == 0
        assert numbers_in(store.snapshot().scan()) == list(range(690, 1000))
    assert not list((tmp_path / "t/past/__compartment=0").glob("*.parquet"))


def test_files_written_by_tasks_elsewhere(tmp_path: Path) -> None:
    """`run` gets functions that travel to other processes, and they need only the table's folder."""
    calls: list[int] = []

    def run(function: Callable[[int], Any], count: int) -> list[Any]:
        travelled = pickle.loads(pickle.dumps(function))
        assert len(pickle.dumps(function)) < 5000
        calls.append(count)
        return [travelled(number) for number in range(count)]

    store = make_numbered(tmp_path / "t", 500)
    with store.writer("x") as writer:
        writer.append(numbered_rows(500, 100))
        writer.flush(run)
        assert calls == [3]
        writer.add_index(IndexDefinition("by_name", "NAME"), run)
        assert calls == [3, 3]
        assert numbers_in(store.snapshot().scan(with_seq=True)) == list(range(600))
        found = store.snapshot().scan(None, Predicate.all_of(Comparison("NAME", "=", "row 77")))
        assert numbers_in(found) == [77]


def test_explain_tells_what_is_passed_over(tmp_path: Path) -> None:
    store = make_numbered(tmp_path / "t", range=None)
    with store.writer("x") as writer:
        writer.append(numbered_rows(0, 1000))
        writer.flush()
        writer.append(numbered_rows(1000, 7))
    snapshot = store.snapshot()
    report = snapshot.explain(None, Predicate.all_of(Comparison("VID", "=", 99)), 0, 39)
    assert (report.files, report.files_by_time, report.files_by_value, report.files_read) == (5, 3, 2, 0)
    assert (report.groups, report.groups_read, report.bytes_read) == (5, 0, 0)
    assert (report.log_rows, report.indexes) == (7, ("VID",))
    report = snapshot.explain(None, Predicate.all_of(Comparison("VID", "=", 3)), 10, 39)
    assert (report.files_by_time, report.files_by_value, report.files_read) == (3, 0, 2)
    assert report.indexes == ("VID",)
    assert "reads 2 of 5 files" in str(report)
    assert 0 < snapshot.explain(["VID"]).bytes_read < snapshot.explain().bytes_read < report.bytes
    unselective = snapshot.explain(None, Predicate.all_of(Comparison("VID", ">", 1)))
    assert (unselective.files_read, unselective.indexes) == (5, ())
    later = snapshot.explain(None, Predicate.all_of(Comparison(SEQ, ">=", 900)))
    assert later.files_read == 1


def test_index_names_and_columns(tmp_path: Path) -> None:
    store = make_numbered(tmp_path / "t", 10)
    with store.writer("x") as writer:
        with pytest.raises(UserError, match="has an index BY_VID already"):
            writer.add_index(IndexDefinition("BY_VID", "K"))
        with pytest.raises(UserError, match="no column x"):
            writer.add_index(IndexDefinition("i", "x"))
        with pytest.raises(UserError, match="no index i"):
            writer.drop_index("i")


def test_the_background_moves_a_large_log(tmp_path: Path) -> None:
    store = make_numbered(tmp_path / "t")
    with store.writer("x", flush_rows=300) as writer:
        for first in range(0, 3000, 100):
            writer.append(numbered_rows(first, 100))
    facts = store.snapshot().describe()
    assert facts.files > 0 and facts.log_rows < 3000
    assert numbers_in(store.snapshot().scan(with_seq=True)) == list(range(3000))


def test_many_small_appends_stay_few_chunks(tmp_path: Path) -> None:
    store = make_numbered(tmp_path / "t")
    with store.writer("x") as writer:
        for number in range(300):
            writer.append(numbered_rows(number, 1))
        for one in (store, TableStore.open(tmp_path / "t")):
            view = one.snapshot()._view
            assert len(view.chunks) < 50
            assert numbers_in(one.snapshot().scan(with_seq=True)) == list(range(300))


def test_the_cache_is_bounded() -> None:
    cache = ColumnCache(1000)
    values = pa.array(np.zeros(50, np.int64))
    offsets = np.array([0, 50, 100])
    first = FileColumn()
    cache.put("file", "a", first, 0, values, offsets)
    for name in "bc":
        cache.put("file", name, FileColumn(), 0, values, offsets)
    assert cache.bytes == 800
    assert cache.get("file", "a") is None
    assert cache.get("file", "b") is not None  # now c is the one not used for longest
    cache.put("file", "b", FileColumn(), 1, values, offsets)
    assert cache.get("file", "c") is None
    assert cache.bytes == 800
    # A read that is under way keeps what it has, although the cache let go of it.
    again = cache.put("file", "a", first, 1, values, offsets)
    assert sorted(again.groups) == [0, 1]
    assert cache.bytes == 800
    cache.forget("file")
    assert cache.bytes == 0


def test_a_column_of_a_file_is_one_array_until_a_null_comes() -> None:
    column = FileColumn()
    column.add(1, pa.array([3, 4], pa.int32()), 2, 5)
    column.add(0, pa.array([1, 2], pa.int32()), 0, 5)
    assert column.flat(pa.int32(), 2) is None  # few row groups are read one by one
    flat = column.flat(pa.int32(), 100)
    assert flat is not None and flat[:4].to_pylist() == [1, 2, 3, 4]
    assert column.flat(pa.int32(), 2) is not None
    assert [column.groups[group].to_pylist() for group in range(2)] == [[1, 2], [3, 4]]
    column.add(2, pa.array([None], pa.int32()), 4, 5)
    assert column.flat(pa.int32(), 100) is None
    assert [column.groups[group].to_pylist() for group in range(3)] == [[1, 2], [3, 4], [None]]


def test_a_reader_that_was_idle_while_the_delta_log_was_cleaned_up(tmp_path: Path) -> None:
    store = make_numbered(tmp_path / "t", 10)
    idle = TableStore.open(tmp_path / "t")
    assert idle.snapshot().rows_total == 10
    with store.writer("x") as writer:
        for first in range(10, 160, 10):
            writer.append(numbered_rows(first, 10))
            writer.flush()
    log = tmp_path / "t/past/_delta_log"
    checkpoint = max(path.name[:20] for path in log.glob("*.checkpoint.parquet"))
    for path in log.glob("*.json"):
        if path.stem <= checkpoint:
            path.unlink()
    assert numbers_in(idle.snapshot().scan()) == list(range(160))


def test_columns_of_nested_types(tmp_path: Path) -> None:
    columns = (
        ColumnDefinition("a", "array<int>"),
        ColumnDefinition("m", "map<string,double>"),
        ColumnDefinition("s", "struct<x:int,y:array<string>>"),
    )
    definition = TableDefinition("t", columns, TimeDefinition(), None, 0, 60)
    store = TableStore.create(tmp_path / "t", definition)
    values = [
        {"a": [1, None], "m": [("k", 1.5)], "s": {"x": 1, "y": ["p", "q"]}, "T": 1},
        {"a": None, "m": None, "s": None, "T": 2},
        {"a": [], "m": [], "s": {"x": None, "y": None}, "T": 3},
    ]
    rows = pa.Table.from_pylist(values, definition.arrow_schema())
    some = Predicate.all_of(Comparison("s", "is not null"), Comparison("T", ">", 1))
    with store.writer("x") as writer:
        writer.append(rows)
        writer.flush()
        later = rows.set_column(3, "T", pa.array([4, 5, 6]))
        writer.append(later)
        found = store.snapshot().scan(None, None, with_seq=True).sort_by(SEQ).drop_columns([SEQ])
        assert found.to_pylist() == [*rows.to_pylist(), *later.to_pylist()]
        assert sorted(store.snapshot().scan(["T"], some).column("T").to_pylist()) == [3, 4, 6]
        assert writer.delete(np.array([1, 4])) == 2
        assert store.snapshot().scan().num_rows == 4
        with pytest.raises(UserError, match="can't have an index"):
            writer.add_index(IndexDefinition("i", "a"))
    with pytest.raises(UserError, match="can't be partitioned by m"):
        store.snapshot().last_rows(1, ["m"])


@pytest.mark.parametrize("kind", ["seconds", "timestamp"])
def test_times_at_the_limits(tmp_path: Path, kind: str) -> None:
    definition = table_definition(kind, range=None, slack=2**60)
    earliest, latest = definition.time.limits
    rows = [
        {column.name: None for column in definition.columns} | {"T": tick} for tick in (latest, earliest, 0)
    ]
    store = TableStore.create(tmp_path / "t", replace(definition, slack=latest - earliest))
    with store.writer("x") as writer:
        for far in (earliest - 1, latest + 1):
            with pytest.raises(UserError, match="too early or too late"):
                writer.append(arrow_rows([{**rows[0], "T": far}], definition))
        assert writer.append(arrow_rows(rows, definition)).accepted == 3
        for _ in range(2):
            snapshot = store.snapshot()
            assert [row["T"] for row in plain_rows(snapshot.scan(with_seq=True), definition)] == [
                latest,
                earliest,
                0,
            ]
            assert snapshot.scan(time_from=-(2**70), time_to=2**70).num_rows == 3
            assert snapshot.scan(time_from=2**70).num_rows == snapshot.scan(time_to=-(2**70)).num_rows == 0
            assert snapshot.scan(time_from=1, as_of=latest).num_rows == 1
            writer.flush()


def test_a_flush_records_the_batches_that_it_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make_numbered(tmp_path / "t")
    with store.writer("x") as writer:
        writer.append(numbered_rows(0, 10), source="s", batch=3)

        def append_meanwhile(step: str) -> None:
            if step == "write files":
                writer.append(numbered_rows(10, 10), source="s", batch=4)

        monkeypatch.setattr(maintenance, "reached", append_meanwhile)
        writer.flush()
        delta = DeltaTable(tmp_path / "t/past")
        assert delta.transaction_version("causeway-source-s") == 3
        assert delta.to_pyarrow_table().num_rows == 10
        assert writer.last_batch("s") == 4
    assert numbers_in(store.snapshot().scan()) == list(range(20))
