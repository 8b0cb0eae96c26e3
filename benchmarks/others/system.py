"""What every compared system can do, in its own best way."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from causeway.runtime.cache import user_cache

__all__ = ["Reader", "System", "UnavailableError", "arriving_files", "folder_bytes", "install"]

Reader = Callable[[str], pa.Table]
"""Runs a statement and gives its whole answer in Arrow. For one thread."""


class UnavailableError(Exception):
    """A system can't be had here; the message is one line that says why."""


class System(ABC):
    """A database with the table `posreports`, in a folder of its own."""

    promise: str
    """What is kept after a crash, once an insert is acknowledged."""
    version: str
    unequal: list[str]
    """What is not the same as with the others, in the reader's words."""

    @abstractmethod
    def fill(self, rows: int) -> None:
        """Load the first `rows` reports, with indexes, and let the system tidy up as after a bulk load."""

    @abstractmethod
    def follow(self, spool: Path) -> None:
        """Start to insert every Parquet file that is added to the folder."""

    @abstractmethod
    def stop_following(self) -> None:
        """End what `follow` started. An error that ended it earlier is raised here."""

    @abstractmethod
    def reader(self) -> Reader:
        """A way to ask, with a connection of its own where the system has such."""

    @abstractmethod
    def visible_rows(self, totals: Sequence[int]) -> int:
        """Rows that a new statement sees, in order of arrival; exact at least at each of `totals`."""

    @abstractmethod
    def insert(self, folder: Path) -> None:
        """Insert all files of a folder into a new table with the same indexes; at the end all are visible."""

    @abstractmethod
    def bytes_on_disk(self) -> int:
        """Bytes of the table `posreports` with its indexes and logs."""

    @abstractmethod
    def close(self) -> None:
        """End the system's processes."""


def arriving_files(spool: Path, ended: threading.Event | None = None) -> Iterator[list[Path]]:
    """The files of a spool as they appear, in order: all that are there at once, looked for every 5 ms."""
    number = 0
    while ended is None or not ended.is_set():
        found = []
        while (path := spool / f"{number:09d}.parquet").exists():
            found.append(path)
            number += 1
        if found:
            yield found
        else:
            time.sleep(0.005)


def folder_bytes(folder: Path) -> int:
    """Bytes of all files below a folder; files that vanish meanwhile count as none."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue
    return total


def install(name: str, *packages: str) -> Path:
    """Install packages from PyPI into a folder of their own in the user's cache, once; gives the folder."""
    folder = user_cache() / name
    if (folder / "installed").exists():
        return folder
    print(f"Installing {', '.join(packages)} into {folder}, once.", file=sys.stderr)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target", str(folder)]
    done = subprocess.run([*command, *packages], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["pip said nothing"]
        raise UnavailableError(f"{', '.join(packages)} can't be installed: {lines[-1]}")
    (folder / "installed").touch()
    return folder
