"""A writer that is killed at any moment loses no acknowledged row and doubles none."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.streaming_tables.storage.crash_child import BATCH, DELETED
from tests.streaming_tables.storage.small_tables import make_numbered, numbers_in

from causeway.streaming_tables.storage import TableStore

REPOSITORY = Path(__file__).parents[3]


class Killed:
    """What a child that was killed had killed."""

    def __init__(self) -> None:
        self.appended = -1
        self.deleting = -1
        self.deleted = -1


def run_and_kill(folder: Path, killed: Killed, chance: random.Random, reader: TableStore) -> None:
    """Let a child write, read beside it, and kill it after some of its lines and a random pause."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.streaming_tables.storage.crash_child", str(folder), "100000"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
    )
    assert child.stdout is not None
    lines = chance.randint(1, 40)
    for line in child.stdout:
        word, number = line.split()
        if word in ("appended", "deleting", "deleted"):
            setattr(killed, word, int(number))
        if word == "appended":
            # Another process sees an acknowledged row at once.
            assert reader.snapshot().rows_total >= (killed.appended + 1) * BATCH
        lines -= 1
        if lines <= 0:
            break
    time.sleep(chance.choice([0, 0.002, 0.02, 0.05]))
    child.kill()
    for line in child.stdout:
        if len(line.split()) == 2 and line.endswith("\n"):
            word, number = line.split()
            setattr(killed, word, int(number))
    child.stdout.close()
    assert child.wait() == -9


def expected_numbers(batches: int, deleted: int) -> list[int]:
    covered = deleted * BATCH
    return [number for number in range(batches * BATCH) if number >= covered or number % 10 != DELETED]


def check(store: TableStore, killed: Killed) -> tuple[int, int]:
    """The content is all acknowledged batches, perhaps the next, and all of a deletion or nothing of it."""
    snapshot = store.snapshot()
    found = numbers_in(snapshot.scan(with_seq=True))
    batches, rest = divmod(snapshot.rows_total, BATCH)
    assert rest == 0
    assert batches - 1 in (killed.appended, killed.appended + 1)
    for deleted in {killed.deleted, killed.deleting}:
        if found == expected_numbers(batches, deleted):
            return batches, deleted
    raise AssertionError(f"{len(found)} rows of {batches} batches: {killed.__dict__}")


def kill_many_times(folder: Path, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    reader = make_numbered(folder)
    killed = Killed()
    for _ in range(kills):
        run_and_kill(folder, killed, chance, reader)
        batches, deleted = check(reader, killed)
        assert check(TableStore.open(folder), killed) == (batches, deleted)
        killed.deleted = killed.deleting = max(deleted, killed.deleted)
        killed.appended = batches - 1
    with reader.writer("after all") as writer:
        # A frame that was durable and not acknowledged yet is not taken: readers did not see it.
        assert writer.last_batch("child") == batches - 1
        assert check(reader, killed) == (batches, deleted)
        writer.flush()
        assert check(TableStore.open(folder), killed) == (batches, deleted)
    with reader.writer("removes what is left over"):
        named = {path.name for path in reader.snapshot().candidates().files}
    assert {path.name for path in folder.glob("past/*/causeway-*")} == named
    assert len(list(folder.glob("log/*.frames"))) == 1


def test_five_kills(tmp_path: Path) -> None:
    kill_many_times(tmp_path / "t", 5, random.randrange(2**32))


@pytest.mark.slow
def test_fifty_kills(tmp_path: Path) -> None:
    kill_many_times(tmp_path / "t", 50, random.randrange(2**32))
