"""The disk as a killed writer leaves it, at every step of every change: nothing is lost, nothing doubled.

`kill -9` leaves the files as they are at that moment. So a copy of the table's folder, made at a step, is
what the next process would find.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.streaming_tables.storage.small_tables import make_numbered, numbered_rows, numbers_in

from causeway.streaming_tables.storage import (
    REJECTED_SCHEMA,
    SEQ,
    IndexDefinition,
    TableStore,
    TableWriter,
    maintenance,
)
from causeway.streaming_tables.storage.log import arrival_log
from causeway.streaming_tables.storage.past import data_files, delta_table

STEPS: list[tuple[str, Callable[[TableWriter], object]]] = [
    ("flush", lambda writer: writer.flush()),
    ("merge", lambda writer: (writer.append(numbered_rows(2000, 10)), writer.flush())),
    ("delete", lambda writer: writer.delete(np.arange(0, 1000, 3))),
    ("replace", lambda writer: writer.replace(_renamed(writer.store))),
    ("drop_expired", lambda writer: writer.drop_expired()),
    ("add_index", lambda writer: writer.add_index(IndexDefinition("by_name", "NAME"))),
    ("drop_index", lambda writer: writer.drop_index("by_vid")),
    ("append", lambda writer: writer.append(numbered_rows(3000, 40), source="s", batch=5)),
    ("close_time", lambda writer: writer.close_time()),
]


def _renamed(store: TableStore) -> pa.Table:
    rows = store.snapshot().scan(with_seq=True, limit=100)
    return rows.set_column(2, "NAME", pa.array(["other"] * rows.num_rows))


def _content(store: TableStore) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = store.snapshot().scan(with_seq=True).sort_by(SEQ).to_pylist()
    return rows


def _prepared(folder: Path) -> TableStore:
    """A table with rows in the past, in small files, in the log, late and rejected."""
    store = make_numbered(folder, range=60)
    with store.writer("test") as writer:
        for first in range(0, 700, 350):
            writer.append(numbered_rows(first, 350))
            writer.flush()
        writer.append(numbered_rows(0, 7))
        refused = pa.table(
            {"source": ["x"], "line": [1], "reason": ["r"], "text": ["t"]}, schema=REJECTED_SCHEMA
        )
        writer.append(numbered_rows(700, 300), rejected=refused, source="s", batch=4)
    return store


@pytest.mark.parametrize(("change", "act"), STEPS, ids=[name for name, _ in STEPS])
def test_a_kill_at_every_step(
    change: str,
    act: Callable[[TableWriter], object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = _prepared(tmp_path / "t")
    before = _content(store)
    copies: list[Path] = []

    seen: set[int] = set()

    def copy(*_: object) -> None:
        """Copy the folder, unless a copy is the same already."""
        files = sorted(path for path in (tmp_path / "t").rglob("*") if path.is_file())
        digest = hash(tuple((path, path.read_bytes()) for path in files))
        if digest not in seen:
            seen.add(digest)
            copies.append(tmp_path / f"copy-{len(copies)}")
            shutil.copytree(tmp_path / "t", copies[-1])

    def copied_before(module: object, name: str) -> None:
        original = getattr(module, name)

        def call(*arguments: object, **named: object) -> object:
            copy()
            return original(*arguments, **named)

        monkeypatch.setattr(module, name, call)

    with store.writer("test") as writer:
        monkeypatch.setattr(maintenance, "reached", copy)
        copied_before(data_files, "write_index")
        copied_before(data_files, "sync_folder")
        copied_before(arrival_log, "sync_folder")
        copied_before(delta_table, "_sync_file")
        copied_before(TableWriter, "tell_state")
        act(writer)
        copy()
        monkeypatch.undo()
        after = _content(store)
    assert len(copies) >= 2
    for folder in copies:
        reader = TableStore.open(folder)
        found = _content(reader)
        assert found in (before, after), folder.name
        assert (reader.snapshot().late_total, reader.snapshot().late().num_rows) == (7, 7)
        assert reader.snapshot().rejected().num_rows == 1
        with TableStore.open(folder).writer("the next") as writer:
            _no_leftovers(folder, writer.store)
            recovered = _content(writer.store)
            # Who saw after the crash that a row is not there may append it again.
            assert recovered == found
            assert _content(reader) == recovered
            repeated = writer.append(numbered_rows(3000, 40), source="s", batch=5).repeated
            assert repeated == (change == "append" and recovered == after)
            final = _content(reader)
            writer.flush()
            assert _content(reader) == final
            assert len(numbers_in(writer.store.snapshot().late())) == 7
            assert reader.snapshot().rejected().num_rows == 1


def _no_leftovers(folder: Path, store: TableStore) -> None:
    """A new writer has removed all files that nothing names."""
    columns = store.definition.indexed_columns
    named = {Path(file.path).name for file in store.snapshot()._view.past.files}
    assert {path.name for path in folder.glob("past/*/causeway-*")} == named
    sidecars = {(path.parent.name, path.stem) for path in folder.glob("index/*/*")}
    assert sidecars == {(column, Path(name).stem) for column in columns for name in named}
    assert not list(folder.glob("log/*.new"))


def test_a_failed_flush_keeps_everything_and_the_next_one_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = _prepared(tmp_path / "t")
    expected = _content(store)
    steps: list[str] = []
    with store.writer("test") as writer:
        monkeypatch.setattr(maintenance, "reached", steps.append)
        writer.append(numbered_rows(1000, 20))
        writer.flush()
        expected = _content(store)
        for step in dict.fromkeys(steps):

            def fail(reached: str, step: str = step) -> None:
                if reached == step:
                    raise RuntimeError(f"broken at {step}")

            first = store.snapshot().rows_total
            writer.append(numbered_rows(first, 20))
            expected = _content(store)
            monkeypatch.setattr(maintenance, "reached", fail)
            if step not in ("write late", "commit late", "write rejected", "commit rejected", "merge"):
                with pytest.raises(RuntimeError, match="broken at"):
                    writer.flush()
            assert _content(store) == expected
            monkeypatch.setattr(maintenance, "reached", lambda step: None)
            writer.flush()
            assert _content(store) == expected == _content(TableStore.open(tmp_path / "t"))
    with store.writer("the next"):
        _no_leftovers(tmp_path / "t", store)
