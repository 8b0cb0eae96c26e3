"""A disk that refuses: a clear error, nothing half written, and all goes on when there is space again."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.streaming_tables.small_disk import ballast, small_disk
from tests.streaming_tables.storage.small_tables import make_numbered, numbered_rows, numbers_in

from causeway.runtime.errors import UserError
from causeway.streaming_tables.storage import TableStore

REPOSITORY = Path(__file__).parents[3]


@pytest.mark.parametrize("call", ["writev", "fdatasync"])
def test_an_append_that_the_disk_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    store = make_numbered(tmp_path / "t", 100)
    reader = TableStore.open(tmp_path / "t")
    with store.writer("test") as writer:
        real = getattr(os, call)

        def full(descriptor: int, *buffers: Any) -> int:
            if call == "writev":
                real(descriptor, [buffers[0][0], buffers[0][1][:10]])
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, call, full)
        for _ in range(2):
            with pytest.raises(UserError, match="no space left"):
                writer.append(numbered_rows(100, 100), source="s", batch=1)
        assert writer.last_batch("s") is None
        assert numbers_in(reader.snapshot().scan()) == list(range(100))
        monkeypatch.undo()
        assert not writer.append(numbered_rows(100, 100), source="s", batch=1).repeated
        assert numbers_in(reader.snapshot().scan()) == list(range(200))
    assert numbers_in(TableStore.open(tmp_path / "t").snapshot().scan()) == list(range(200))


LIMITED = """
import resource, sys
from pathlib import Path
from tests.streaming_tables.storage.small_tables import make_numbered, numbered_rows, numbers_in
from causeway.runtime.errors import UserError
from causeway.streaming_tables.storage import TableStore
folder = Path(sys.argv[1])
store = make_numbered(folder, compartment=100_000)
free = resource.getrlimit(resource.RLIMIT_FSIZE)
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, free[1]))
def refused(act):
    try:
        act()
    except UserError as error:
        assert "no space left" in str(error), error
        return True
    return False
with store.writer("limited") as writer:
    rows = 0
    limit(100_000)
    while not refused(lambda: writer.append(numbered_rows(rows, 1000))):
        rows += 1000
    assert rows > 0
    assert numbers_in(TableStore.open(folder).snapshot().scan()) == list(range(rows))
    limit(free[0])
    writer.append(numbered_rows(rows, 1000))
    rows += 1000
    for size in (0, 10, 1_000, 5_000):
        limit(size)
        assert refused(writer.flush), size
        assert refused(lambda: writer.append(numbered_rows(rows, 1000))), size
        limit(free[0])
        assert numbers_in(store.snapshot().scan()) == list(range(rows))
        assert numbers_in(TableStore.open(folder).snapshot().scan()) == list(range(rows))
    writer.append(numbered_rows(rows, 1000))
    writer.flush()
    assert not [path for path in folder.glob("past/*/*.new")]
assert numbers_in(TableStore.open(folder).snapshot().scan()) == list(range(rows + 1000))
print("all went on")
"""


def test_files_that_may_not_grow(tmp_path: Path) -> None:
    """A real refusal by the system: a limit on the size of files, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "t")],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.stderr, done.stdout) == ("", "all went on\n")


def test_a_file_system_that_is_full(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 8) as disk:
        store = make_numbered(disk / "t", compartment=100_000)
        with store.writer("full") as writer:
            rows = 0
            for left in (3_000_000, 1_000_000, 200_000, 20_000, 0):
                weight = ballast(disk, left)
                with pytest.raises(UserError, match="no space left"):
                    while True:
                        writer.append(numbered_rows(rows, 1000))
                        rows += 1000
                        if rows % 20_000 == 0:
                            writer.flush()
                assert numbers_in(TableStore.open(disk / "t").snapshot().scan()) == list(range(rows))
                weight.unlink()
                # There is space again: nothing is lost, doubled, or has to be repaired.
                writer.append(numbered_rows(rows, 1000))
                rows += 1000
                writer.flush()
                assert numbers_in(store.snapshot().scan()) == list(range(rows))
        assert numbers_in(TableStore.open(disk / "t").snapshot().scan()) == list(range(rows))
