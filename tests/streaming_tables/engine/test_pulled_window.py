"""A window that is kept between two pulls has the rows that a new one has."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from causeway.streaming_tables.engine.windows.pulled_window import PulledWindow
from causeway.streaming_tables.engine.windows.window_state import window_now
from causeway.streaming_tables.language import Window
from causeway.streaming_tables.storage import (
    SEQ,
    ColumnDefinition,
    IndexDefinition,
    TableDefinition,
    TableStore,
    TimeDefinition,
)

WINDOWS = [
    Window(rows=1),
    Window(rows=5),
    Window(rows=2, partition_by=("A",)),
    Window(rows=3, partition_by=("a", "b")),
    Window(interval_us=4_000_000),
]


def table(folder: Path, random: Random) -> TableStore:
    definition = TableDefinition(
        name="t",
        columns=(ColumnDefinition("a", "int"), ColumnDefinition("b", "INT")),
        time=TimeDefinition("T", "seconds"),
        range=random.choice([None, 12, 1000]),
        slack=random.choice([0, 0, 3]),
        compartment=random.choice([5, 100]),
        indexes=tuple(random.choice([[IndexDefinition("by_a", "a")], []])),
    )
    return TableStore.create(folder, definition)


@pytest.mark.parametrize("seed", range(3))
def test_pulls_while_rows_arrive(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    store = table(tmp_path / "t", random)
    pulled = [PulledWindow(window) for window in WINDOWS]
    second = 0
    with store.writer("test") as writer:
        for _ in range(30):
            rows = []
            for _ in range(random.randint(1, 12)):
                second += random.choice([0, 0, 1])
                time = max(0, second - random.choice([0, 0, store.definition.slack]))
                rows.append((random.choice([None, 1, 2, 3, 4]), random.randint(0, 1), time))
            schema = store.definition.arrow_schema()
            values = dict(zip(schema.names, zip(*rows, strict=True), strict=True))
            writer.append(pa.table(values, schema=schema))
            if random.random() < 0.3:
                writer.flush()
            if random.random() < 0.1:
                alive = store.snapshot().scan(with_seq=True).column(SEQ).to_pylist()
                writer.delete(np.array(sorted(random.sample(alive, min(3, len(alive)))), np.int64))
            if random.random() < 0.6:
                snapshot = store.snapshot()
                newest = snapshot.newest
                assert newest is not None
                # Also earlier and later moments, as the wall clock gives them.
                now = max(0, newest + random.choice([0, 0, 0, 0, -2, 5]))
                for window, kept in zip(WINDOWS, pulled, strict=True):
                    expected = window_now(window, snapshot, now)
                    assert kept.rows(snapshot, now).drop_columns([SEQ]).equals(expected), (window, now)
