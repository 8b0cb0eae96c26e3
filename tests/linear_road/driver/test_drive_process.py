from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.linear_road.validation.made_workload import write_workload

from causeway.linear_road.driver.drive_process import DriveProcess
from causeway.linear_road.driver.spool import delivered_until, spool_files
from causeway.linear_road.workload.workload import Workload


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    """Fifteen minutes, a tuple a second."""
    tuples = [(0, time, time, 50, 0, 1, 0, 5, 26_400, *[-1] * 6) for time in range(900)]
    return write_workload(tmp_path / "workload", tuples)


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    folder = tmp_path / "spool"
    folder.mkdir()
    return folder


@contextmanager
def driving(
    workload: Workload,
    spool: Path,
    *,
    speed: float | None = 600.0,
    from_minute: int = 0,
    resume: bool = False,
) -> Iterator[DriveProcess]:
    driver = DriveProcess(workload, spool, speed=speed, from_minute=from_minute, resume=resume)
    try:
        yield driver
    finally:
        driver.stop()


def wait_for(what: Callable[[], object], seconds: float = 60) -> None:
    give_up = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < give_up, "waited in vain"
        time.sleep(0.02)


def times(spool: Path) -> list[int]:
    tables = [pq.read_table(file.path) for file in spool_files(spool)]
    return pa.concat_tables(tables).column("Time").to_pylist() if tables else []


def test_real_time_waits_for_the_word(workload: Workload, spool: Path) -> None:
    with driving(workload, spool, from_minute=5) as driver:
        wait_for(lambda: driver.past_delivered)
        assert not driver.ended
        assert times(spool) == list(range(300))
        time.sleep(0.3)
        assert delivered_until(spool) == 300
        driver.start()
        wait_for(lambda: driver.ended)
        outcome = driver.outcome()
    assert outcome["state"] == "finished"
    assert (outcome["tuples"], outcome["from_minute"], outcome["speed"]) == (900, 5, 600.0)
    assert times(spool) == list(range(900))


def test_without_real_time_nothing_is_waited_for(workload: Workload, spool: Path) -> None:
    with driving(workload, spool, speed=None) as driver:
        wait_for(lambda: driver.ended)
        outcome = driver.outcome()
    assert (outcome["state"], outcome["tuples"], outcome["speed"]) == ("finished", 900, None)


def test_stopped_and_resumed_it_leaves_nothing_out(workload: Workload, spool: Path) -> None:
    with driving(workload, spool, speed=200.0) as driver:
        wait_for(lambda: driver.past_delivered)
        driver.start()
        wait_for(lambda: delivered_until(spool) > 100)
        driver.stop()
        assert driver.ended
        stopped = driver.outcome()
    assert stopped["state"] == "stopped"
    assert 100 < delivered_until(spool) < 900
    with driving(workload, spool, speed=200.0, resume=True) as driver:
        # Real time has started: there is no word to wait for.
        wait_for(lambda: driver.ended)
        outcome = driver.outcome()
    assert (outcome["state"], outcome["started_at"]) == ("finished", stopped["started_at"])
    assert times(spool) == list(range(900))


def test_killed_while_the_past_is_delivered(workload: Workload, spool: Path) -> None:
    with driving(workload, spool, from_minute=14) as driver:
        wait_for(lambda: spool_files(spool))
        os.kill(driver._process.pid, signal.SIGKILL)
        wait_for(lambda: driver.ended)
        assert driver.outcome() == {"state": "failed", "error": "it was killed by signal 9"}
    with driving(workload, spool, from_minute=14, resume=True) as driver:
        wait_for(lambda: driver.past_delivered)
        driver.start()
        wait_for(lambda: driver.ended)
        assert driver.outcome()["state"] == "finished"
    assert times(spool) == list(range(900))


def test_a_failure_is_told(workload: Workload, spool: Path) -> None:
    workload.parts[0].write_bytes(b"PAR1 no more")
    with driving(workload, spool) as driver:
        wait_for(lambda: driver.ended)
        outcome = driver.outcome()
    assert outcome["state"] == "failed"
    assert "part-00000.parquet cannot be read" in outcome["error"]


def test_a_failure_before_the_first_word_is_told_and_no_older_one(workload: Workload, spool: Path) -> None:
    """What an earlier driver has left says nothing about this one."""
    for state in ("finished", "stopped", "failed"):
        facts = {"state": state, "started_at": None, "error": "an older story"}
        (spool / "_drive.json").write_text(json.dumps(facts))
        (spool / "_failure").write_text("an older story")
        with driving(workload, spool) as driver:
            wait_for(lambda driver=driver: driver.ended)
            outcome = driver.outcome()
        assert outcome["state"] == "failed"
        assert "has been driven into before" in outcome["error"]


_PARENT = """
import os, sys
from pathlib import Path
from causeway.linear_road.driver.drive_process import DriveProcess
from causeway.linear_road.workload.workload import Workload
driver = DriveProcess(
    Workload.load(Path(sys.argv[1])), Path(sys.argv[2]), speed=1.0, from_minute=1, resume=False
)
print(driver._process.pid, flush=True)
if sys.argv[3] == "waits":
    sys.stdin.read()
os._exit(1)
"""


def is_gone(pid: int) -> bool:
    """Whether a process has ended; who takes over orphans may leave it a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state in "ZX"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them")
@pytest.mark.parametrize("killed", ["at work", "at once"])
def test_it_ends_with_its_parent(workload: Workload, spool: Path, killed: str) -> None:
    """Also with one that is gone before it has looked who its parent is."""
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, workload.folder, spool, "waits" if killed == "at work" else "ends"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        if killed == "at work":
            wait_for((spool / "_past_delivered").exists)
            assert not is_gone(pid)
            parent.kill()
        parent.wait(20)
        wait_for(lambda: is_gone(pid), 20)
    finally:
        parent.kill()
        parent.communicate()
