"""A folder lock excludes a second holder, names the first, and is gone with its process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from causeway.runtime.errors import UserError
from causeway.runtime.lock import LOCK_FILE, FolderLock
from causeway.runtime.output_folder import prepare_folder

_HOLDER = """
import sys
from pathlib import Path
from causeway.runtime.lock import FolderLock
from causeway.runtime.output_folder import prepare_folder
with FolderLock(Path(sys.argv[1]), "linear-road run"):
    print("locked", flush=True)
    sys.stdin.read()
"""


def _holder(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "locked\n"
    return process


def test_second_process_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    holder = _holder(tmp_path)
    try:
        with pytest.raises(UserError) as refused, FolderLock(tmp_path, "linear-road validate"):
            pass
        assert FolderLock(tmp_path, "a reader").is_held()
        message = str(refused.value)
        assert f"process {holder.pid} (linear-road run) since 20" in message
        assert str(tmp_path) in message
    finally:
        holder.communicate()
    with FolderLock(tmp_path, "linear-road validate"):
        pass


def test_lock_is_gone_with_a_killed_process(tmp_path: Path) -> None:
    holder = _holder(tmp_path)
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    assert not FolderLock(tmp_path, "b").is_held()
    assert (tmp_path / LOCK_FILE).exists()  # it says who died, and locks nothing
    with FolderLock(tmp_path, "b"):
        assert f'"pid": {os.getpid()}' in (tmp_path / LOCK_FILE).read_text()


def test_two_objects_in_one_process_exclude_each_other(tmp_path: Path) -> None:
    with FolderLock(tmp_path, "first"):
        with pytest.raises(UserError, match=rf"process {os.getpid()} \(first\)"):
            FolderLock(tmp_path, "second").acquire()
        assert (tmp_path / LOCK_FILE).exists()  # the refused one removed nothing
    assert not (tmp_path / LOCK_FILE).exists()


def test_only_one_of_many_threads_is_inside(tmp_path: Path) -> None:
    inside, overlaps, entered = [0], [0], [0]
    begin = threading.Barrier(8)

    def try_often() -> None:
        begin.wait()
        for _ in range(200):
            lock = FolderLock(tmp_path, "thread")
            try:
                lock.acquire()
            except UserError:
                continue
            inside[0] += 1
            overlaps[0] += inside[0] > 1
            entered[0] += 1
            inside[0] -= 1
            lock.release()

    threads = [threading.Thread(target=try_often) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert entered[0] > 0
    assert overlaps[0] == 0


def test_lock_makes_the_folder_and_takes_another_file(tmp_path: Path) -> None:
    lock_file = tmp_path / "beside.lock"
    with FolderLock(tmp_path / "run", "a", lock_file=lock_file):
        assert lock_file.exists()
    with FolderLock(tmp_path / "deep" / "run", "a"):
        assert (tmp_path / "deep" / "run" / LOCK_FILE).exists()


def test_folder_that_cannot_be_locked_is_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="cannot be locked"):
        FolderLock(tmp_path / "file", "a").acquire()


def test_unreadable_lock_file_still_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("causeway.runtime.lock._READ_ATTEMPTS", 1)
    with FolderLock(tmp_path, "a"):
        (tmp_path / LOCK_FILE).write_text("")
        with pytest.raises(UserError, match="in use by another process"):
            FolderLock(tmp_path, "b").acquire()


def test_locked_folder_counts_as_empty(tmp_path: Path) -> None:
    with FolderLock(tmp_path, "a"):
        prepare_folder(tmp_path)
