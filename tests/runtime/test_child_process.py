"""A child process logs to its file, says why it failed, can be stopped, and ends with its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from causeway.runtime.child_process import ChildProcess

_MODULE = "tests.runtime.child_of_tests"
_REPOSITORY = Path(__file__).parents[2]
_PARENT = """
import json, sys, time
from pathlib import Path
from causeway.runtime.child_process import ChildProcess
ChildProcess(sys.argv[1], {"started": sys.argv[2]}, Path(sys.argv[3]), name="the child")
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def _module_path(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [str(_REPOSITORY), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in paths if path))


def _child(folder: Path, **arguments: Any) -> ChildProcess:
    return ChildProcess(_MODULE, arguments, folder / "logs" / "child.log", name="the child")


def _wait_for(path: Path) -> str:
    deadline = time.monotonic() + 300
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.01)
    return path.read_text()


def test_output_goes_to_the_log(tmp_path: Path) -> None:
    child = _child(tmp_path)
    assert child.wait(60)
    assert child.ended
    assert child.failure() is None
    assert (tmp_path / "logs" / "child.log").read_text() == "hello from the child\n"


def test_failure_names_the_reason_and_the_log(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "child.log"
    log.parent.mkdir()
    log.write_text("failed: of an earlier child\n")
    child = _child(tmp_path, error="the disk\nis full")
    child.wait(60)
    assert child.failure() == f"the child ended with exit code 1: the disk is full (its log is {log})"
    assert "Traceback" in log.read_text()


def test_earlier_words_in_the_log_are_not_the_reason(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "child.log"
    log.parent.mkdir()
    log.write_text("failed: of an earlier child\n")
    child = _child(tmp_path, code=7)
    child.wait(60)
    assert child.failure() == f"the child ended with exit code 7: hello from the child (its log is {log})"


def test_failure_names_the_signal(tmp_path: Path) -> None:
    child = _child(tmp_path, signal=int(signal.SIGKILL))
    child.wait(60)
    assert "the child was killed by SIGKILL" in str(child.failure())


@pytest.mark.parametrize("ignore_sigterm", [False, True])
def test_stop_ends_it_and_is_no_failure(tmp_path: Path, ignore_sigterm: bool) -> None:
    started = tmp_path / "started"
    child = _child(tmp_path, started=str(started), ignore_sigterm=ignore_sigterm)
    assert _wait_for(started) == str(child.pid)
    assert not child.ended
    assert not child.wait(0)
    child.stop(grace=0.2 if ignore_sigterm else 60)
    assert child.ended
    assert child.failure() is None
    child.stop()


def test_child_ends_when_its_parent_was_killed(tmp_path: Path) -> None:
    started = tmp_path / "started"
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, _MODULE, str(started), str(tmp_path / "child.log")]
    )
    child = int(_wait_for(started))
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 300
    while _runs(child):
        assert time.monotonic() < deadline, "the child outlived its parent"
        time.sleep(0.02)


def _runs(pid: int) -> bool:
    """Whether the process is there; a zombie that nobody waits for has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
