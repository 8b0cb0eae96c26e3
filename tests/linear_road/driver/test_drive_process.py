from __future__ import annotations

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

from causeway.linear_road.driver.drive_process import DriveProcess, SpoolDelivery
from causeway.linear_road.driver.spool import delivered_until, source_options, spool_files
from causeway.linear_road.workload.workload import Workload
from causeway.streaming.delivery import Delivery, SpoolControl


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
    driver = DriveProcess(
        workload,
        spool,
        speed=speed,
        from_minute=from_minute,
        resume=resume,
        log=spool.with_name("driver.log"),
    )
    try:
        yield driver
    finally:
        driver.stop()


def wait_for(event: Callable[[], object], seconds: float = 60) -> None:
    give_up = time.monotonic() + seconds
    while not event():
        assert time.monotonic() < give_up, "waited in vain"
        time.sleep(0.02)


def times(spool: Path) -> list[int]:
    tables = [pq.read_table(file.path) for file in spool_files(spool)]
    return pa.concat_tables(tables).column("Time").to_pylist() if tables else []


def test_real_time_waits_for_the_start(workload: Workload, spool: Path) -> None:
    with driving(workload, spool, from_minute=5) as driver:
        wait_for(lambda: driver.ready)
        assert not driver.ended
        assert times(spool) == list(range(300))
        assert (SpoolControl(spool).load() or {})["state"] == "starting"
        driver.start()
        outcome = driver.outcome()
        assert driver.failure() is None
        assert driver.finished
    assert outcome["state"] == "finished"
    assert (outcome["tuples"], outcome["from_minute"], outcome["speed"]) == (900, 5, 600.0)
    assert times(spool) == list(range(900))


def test_without_real_time_nothing_is_waited_for(workload: Workload, spool: Path) -> None:
    with driving(workload, spool, speed=None) as driver:
        outcome = driver.outcome()
    assert (outcome["state"], outcome["tuples"], outcome["speed"]) == ("finished", 900, None)


def test_stopped_and_resumed_it_leaves_nothing_out(workload: Workload, spool: Path) -> None:
    with driving(workload, spool, speed=200.0) as driver:
        wait_for(lambda: driver.ready)
        driver.start()
        wait_for(lambda: delivered_until(spool) > 100)
        driver.stop()
        assert driver.ended
        assert not driver.finished
        assert driver.failure() is None
        stopped = driver.outcome()
    assert stopped["state"] == "stopped"
    assert 100 < delivered_until(spool) < 900
    with driving(workload, spool, speed=200.0, resume=True) as driver:
        # Real time has started: nothing is waited for.
        outcome = driver.outcome()
    assert (outcome["state"], outcome["started_at"]) == ("finished", stopped["started_at"])
    assert times(spool) == list(range(900))


def test_killed_while_the_past_is_delivered(workload: Workload, spool: Path) -> None:
    with driving(workload, spool, from_minute=14) as driver:
        wait_for(lambda: spool_files(spool))
        os.kill(driver.pid, signal.SIGKILL)
        wait_for(lambda: driver.ended)
        assert "the data driver was killed by SIGKILL" in (driver.failure() or "")
        assert not driver.finished
    with driving(workload, spool, from_minute=14, resume=True) as driver:
        wait_for(lambda: driver.ready)
        driver.start()
        assert driver.outcome()["state"] == "finished"
    assert times(spool) == list(range(900))


def test_a_failure_is_explained(workload: Workload, spool: Path) -> None:
    workload.parts[0].write_bytes(b"PAR1 no more")
    with driving(workload, spool) as driver:
        outcome = driver.outcome()
        failure = driver.failure() or ""
    assert outcome["state"] == "failed"
    assert "part-00000.parquet cannot be read" in outcome["error"]
    assert "part-00000.parquet cannot be read" in failure
    assert "driver.log" in failure
    assert "Traceback" in spool.with_name("driver.log").read_text()


def test_a_driver_that_somebody_else_stopped_has_failed(workload: Workload, spool: Path) -> None:
    with driving(workload, spool, speed=1.0) as driver:
        wait_for(lambda: driver.ready)
        os.kill(driver.pid, signal.SIGTERM)
        assert driver.outcome()["state"] == "stopped"
        assert "stopped before all was delivered" in (driver.failure() or "")


@pytest.mark.parametrize("state", ["finished", "stopped", "failed"])
def test_the_state_of_an_earlier_driver_says_nothing_about_this_one(
    workload: Workload, spool: Path, state: str
) -> None:
    SpoolControl(spool).save(state, started_at=None, error="an older failure")
    with driving(workload, spool) as driver:
        wait_for(lambda: driver.ended)
        assert not driver.finished
        assert "has been driven into before" in (driver.failure() or "")


def test_as_the_delivery_of_a_run(workload: Workload, spool: Path) -> None:
    with driving(workload, spool, from_minute=5) as driver:
        delivery: Delivery = SpoolDelivery(driver, spool)
        source = ("linear-road-spool", {"path": str(spool.resolve()), "keys": "[3, 8]"})
        assert source_options(spool, [3, 8]) == source
        wait_for(lambda: driver.ready)
        assert (delivery.delivered, delivery.finished, delivery.failure()) == (300, False, None)
        driver.start()
        wait_for(lambda: delivery.finished)
        assert (delivery.delivered, delivery.failure()) == (900, None)
        delivery.stop()
        assert delivery.finished


_PARENT = """
import os, sys
from pathlib import Path
from causeway.linear_road.driver.drive_process import DriveProcess
from causeway.linear_road.workload.workload import Workload
driver = DriveProcess(
    Workload.load(Path(sys.argv[1])),
    Path(sys.argv[2]),
    speed=1.0,
    from_minute=1,
    resume=False,
    log=Path(sys.argv[2]).with_name("driver.log"),
)
print(driver.pid, flush=True)
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
            wait_for((spool / "_ready").exists)
            assert not is_gone(pid)
            parent.kill()
        parent.wait(20)
        wait_for(lambda: is_gone(pid), 20)
    finally:
        parent.kill()
        parent.communicate()
