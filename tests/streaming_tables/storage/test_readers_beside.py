"""Reads while rows move from the log to the past: each is a prefix, and never an older one than before."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from tests.streaming_tables.storage.small_tables import make_numbered, numbered_rows, numbers_in

from causeway.streaming_tables.storage import SEQ, Comparison, Predicate, TableStore, maintenance

RANGE = 100
BATCH = 30
BATCHES = 70


def _follow(
    store: TableStore, stop: threading.Event, failures: list[BaseException], reads: list[int]
) -> None:
    """Read again and again; rows are numbered, so a prefix has no gaps but those of deletions."""
    seen, gone = 0, -1
    try:
        while True:
            last = stop.is_set()
            snapshot = store.snapshot()
            version = snapshot.past_version
            table = snapshot.scan(with_seq=True)
            numbers = numbers_in(table)
            assert table.column(SEQ).to_pylist() and sorted(table.column(SEQ).to_pylist()) == numbers
            total = numbers[-1] + 1
            assert total == snapshot.rows_total >= seen
            newest = numbers[-1] // 10
            oldest = max(newest - RANGE, 0) * 10
            missing = sorted(set(range(oldest, total)) - set(numbers))
            # Deletions take all numbers that end with 7 up to some row, and all of them at once.
            bound = missing[-1] if missing else -1
            assert missing == [number for number in range(oldest, bound + 1) if number % 10 == 7]
            assert bound >= gone or bound == -1 or oldest > gone
            # The second scan of a snapshot is of the same rows, unless a deletion has come between.
            some = snapshot.scan(["K"], Predicate.all_of(Comparison("VID", "=", 5)), with_seq=True)
            assert sorted(some.column("K").to_pylist()) == [n for n in numbers if n * 7 % 13 == 5] or (
                snapshot.past_version > version
            )
            seen, gone = total, max(gone, bound)
            reads.append(total)
            if last:
                return
            stop.wait(0.005)  # lets the writer get on
    except BaseException as failure:
        failures.append(failure)


@pytest.mark.parametrize("old_files_kept", [0.0, 60.0])
def test_every_read_is_a_prefix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old_files_kept: float
) -> None:
    monkeypatch.setattr(maintenance, "OLD_FILES_KEPT", old_files_kept)
    store = make_numbered(tmp_path / "t", BATCH, range=RANGE)
    stop = threading.Event()
    failures: list[BaseException] = []
    reads: list[int] = []
    stores = [store, TableStore.open(tmp_path / "t"), TableStore.open(tmp_path / "t")]
    readers = [threading.Thread(target=_follow, args=(one, stop, failures, reads)) for one in stores]
    for reader in readers:
        reader.start()
    with store.writer("test", flush_rows=4 * BATCH) as writer:
        for batch in range(1, BATCHES):
            writer.append(numbered_rows(batch * BATCH, BATCH))
            if batch % 11 == 10:
                writer.flush()
            if batch % 13 == 12:
                writer.drop_expired()
            if batch % 17 == 16:
                writer.delete(np.arange(7, batch * BATCH, 10))
            if failures:
                break
        stop.set()
        for reader in readers:
            reader.join()
    if failures:
        raise failures[0]
    assert reads[-1] == BATCH * BATCHES
