"""A file system of a few megabytes, for tests of a disk that is full."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["ballast", "small_disk"]


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A folder on a file system of that size; the test is skipped where none can be mounted."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no file system can be mounted here (this needs root)")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def ballast(disk: Path, left: int) -> Path:
    """A file that leaves so many bytes free."""
    file = disk / "ballast"
    found = os.statvfs(disk)
    file.write_bytes(bytes(max(0, found.f_bavail * found.f_frsize - left)))
    return file
