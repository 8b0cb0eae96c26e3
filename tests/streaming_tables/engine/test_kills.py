"""A process that is killed at any moment: nothing is lost or doubled, and inserts and views go on.

Beside each process this one reads the same warehouse.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.streaming_tables.engine.killed_child import ROWS, create
from tests.streaming_tables.engine.reading import ask, bag

import causeway
from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.connection import Connection

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REPOSITORY = Path(__file__).parents[3]


def read_beside(db: Connection, seen: tuple[int, int]) -> tuple[int, int]:
    """Both tables as another process sees them: a prefix each, never one older than `seen`."""
    found = []
    for table, before in zip(("acknowledged", "fed"), seen, strict=True):
        ((count, highest, distinct),) = ask(db, f"SELECT count(*), max(k), count(DISTINCT k) FROM {table}")
        assert count == distinct == (0 if highest is None else highest + 1)
        assert count >= before
        scanned = sorted(k for (k,) in ask(db, f"SELECT k FROM {table}"))
        assert scanned == list(range(len(scanned)))
        assert len(scanned) >= count
        found.append(len(scanned))
    return found[0], found[1]


def run_and_kill(
    warehouse: Path, folder: Path, chance: random.Random, spark: SparkSession, known: int
) -> int:
    """Returns how many rows are there after the kill."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.streaming_tables.engine.killed_child", str(warehouse), str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        start_new_session=True,
    )
    assert child.stdout is not None
    try:
        line = child.stdout.readline()
        word, count = line.split()
        assert (word, int(count)) == ("ready", known)
        with causeway.connect(warehouse, spark=spark) as db:
            seen = (int(count), 0)
            for _ in range(chance.randint(1, 4)):
                acknowledged = int(child.stdout.readline().split()[1])
                seen = read_beside(db, seen)
                assert seen[0] >= acknowledged
            for write in (lambda: db.append("fed", [(1, 10**6)]), lambda: db.sql("DELETE FROM acknowledged")):
                with pytest.raises(UserError, match=rf"process {child.pid} \(causeway streaming tables\)"):
                    write()
            time.sleep(chance.choice([0, 0.01, 0.1, 0.3]))
            if chance.random() < 0.5:
                os.killpg(child.pid, signal.SIGKILL)
            else:
                child.kill()
            for line in child.stdout:
                if line.startswith("acknowledged ") and line.endswith("\n"):
                    acknowledged = int(line.split()[1])
            assert child.wait() == -9
            left = read_beside(db, (acknowledged, seen[1]))[0]
            assert left in (acknowledged, acknowledged + ROWS)
        return left
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()


def kill_many_times(tmp_path: Path, spark: SparkSession, kills: int) -> None:
    chance = random.Random()
    warehouse, folder = tmp_path / "w", tmp_path / "in"
    folder.mkdir()
    with causeway.connect(warehouse, spark=spark) as db:
        create(db, folder)
    known = 0
    for _ in range(kills):
        # Reading beside opened the warehouse in this process, which must have left the writing to the other.
        known = run_and_kill(warehouse, folder, chance, spark, known)
    rows = ROWS * len(list(folder.glob("*.csv")))
    with causeway.connect(warehouse, spark=spark) as db:
        db.sql("WAIT FOR counted")
        db.sql("WAIT FOR linked")
        assert read_beside(db, (known, 0))[1] == rows
        for table in ("acknowledged", "fed"):
            assert ask(db, f"SELECT count(*) FROM {table}__late") == [(0,)]
        # The last second is not over: more rows of it may come.
        closed = (rows - 1) // 5 - 1
        expected = []
        for tick in range(0, closed + 1, 3):
            inside = range(5 * max(tick - 2, 0), 5 * tick + 5)
            expected.append((len(inside), sum(inside), tick))
        assert bag(ask(db, "SELECT * FROM counted")) == bag(expected)
        links = [(5 * tick + 4, 5 * tick + 3, tick) for tick in range(closed + 1)]
        assert bag(ask(db, "SELECT * FROM linked")) == bag(links)
        # Now this process may write.
        db.append("acknowledged", [(10**6, 10**6)])
        assert ask(db, "SELECT k FROM acknowledged WHERE T = 1000000") == [(10**6,)]


@pytest.mark.starts_spark
def test_three_kills(tmp_path: Path, spark: SparkSession) -> None:
    kill_many_times(tmp_path, spark, 3)


@pytest.mark.slow
@pytest.mark.starts_spark
def test_fifty_kills(tmp_path: Path, spark: SparkSession) -> None:
    kill_many_times(tmp_path, spark, 50)
