"""The cache is private, has a fall-back that does not leak, and forgets what nobody uses."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from causeway.runtime import cache, process_folder
from causeway.runtime.cache import cache_entry, remove_stale_entries, user_cache

_DAY = 24 * 3600
_FALL_BACK = """
import subprocess, sys
from causeway.runtime.cache import user_cache
print(user_cache(), user_cache(), flush=True)
child = "from causeway.runtime.cache import user_cache; print(user_cache(), flush=True)"
subprocess.run([sys.executable, "-c", child], check=True)
print(user_cache().is_dir(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("CAUSEWAY_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_the_cache_is_the_users_alone(home: Path) -> None:
    assert user_cache() == home / "causeway"
    assert stat.S_IMODE((home / "causeway").stat().st_mode) == 0o700
    (home / "causeway").chmod(0o755)
    user_cache()
    assert stat.S_IMODE((home / "causeway").stat().st_mode) == 0o700


def test_somebody_elses_cache_is_not_used(
    home: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_cache()
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert user_cache().parent == temporary


def _start(home: Path, temporary: Path) -> subprocess.Popen[str]:
    home.touch()  # no folder can be made there
    environment = os.environ | {"TMPDIR": str(temporary), "XDG_CACHE_HOME": str(home)}
    return subprocess.Popen(
        [sys.executable, "-c", _FALL_BACK],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _reported(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout is not None
    return " ".join(process.stdout.readline() for _ in range(3)).split()


def test_the_fall_back_is_shared_with_children_and_removed_at_the_end(home: Path, temporary: Path) -> None:
    process = _start(home, temporary)
    first, second, childs, still_there = _reported(process)
    assert first == second == childs
    assert Path(first).parent == temporary
    assert stat.S_IMODE(Path(first).stat().st_mode) == 0o700
    assert still_there == "True"
    process.communicate()
    assert list(temporary.iterdir()) == []


def test_the_fall_back_of_a_killed_process_is_removed_by_the_next(home: Path, temporary: Path) -> None:
    process = _start(home, temporary)
    abandoned = Path(_reported(process)[0])
    alive = _start(home, temporary)
    in_use = Path(_reported(alive)[0])
    process.send_signal(signal.SIGKILL)
    process.communicate()
    not_ours = temporary / "causeway-cache-notes"
    not_ours.mkdir()
    assert abandoned.is_dir()
    process_folder._remove_abandoned(temporary, "causeway-cache-")
    assert sorted(temporary.iterdir()) == sorted([in_use, not_ours])
    alive.communicate()


def test_entries_that_nobody_uses_go(home: Path) -> None:
    used, old = cache_entry("compiled/used"), cache_entry("compiled/old")
    java, spark = cache_entry("causeway-java-17-x"), cache_entry("causeway-spark-4.3.0-x")
    not_ours = user_cache() / "notes"
    not_ours.mkdir()
    (old / "kernel.nbc").touch()
    for entry in (old, java, not_ours):
        os.utime(entry, (time.time() - 31 * _DAY,) * 2)
    (spark / "jars").symlink_to(home / "uninstalled")
    remove_stale_entries()
    assert used.is_dir() and not_ours.is_dir()
    assert not old.exists() and not java.exists() and not spark.exists()


def test_use_keeps_an_entry(home: Path) -> None:
    entry = cache_entry("compiled/used")
    os.utime(entry, (time.time() - 31 * _DAY,) * 2)
    cache_entry("compiled/used")
    remove_stale_entries()
    assert entry.is_dir()
    remove_stale_entries(time.time() + cache._KEPT_SECONDS + _DAY)
    assert not entry.exists()
