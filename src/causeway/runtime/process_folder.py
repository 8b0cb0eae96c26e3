"""Temporary folders that belong to a process: removed at its end, or by the next one if it was killed."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from causeway.runtime.errors import UserError
from causeway.runtime.lock import LOCK_FILE, FolderLock

__all__ = ["process_folder", "temporary_folder"]

_folders: dict[tuple[str, Path, int], Path] = {}


def process_folder(kind: str) -> Path:
    """A temporary folder of that kind for the whole process; the same at each call.

    It is in the system's folder for temporary files, private to the user, and removed when the process ends.
    """
    parent = Path(tempfile.gettempdir())
    key = kind, parent, os.getpid()
    if key not in _folders:
        folder, lock = _make(parent, f"causeway-{kind}-")
        _folders[key] = folder
        atexit.register(_remove_own, folder, lock, os.getpid())
    return _folders[key]


@contextmanager
def temporary_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A folder in `parent`, private to the user, for the length of a block; each process has its own."""
    folder, lock = _make(parent, prefix)
    try:
        yield folder
    finally:
        _remove_own(folder, lock, os.getpid())


def _make(parent: Path, prefix: str) -> tuple[Path, FolderLock]:
    _remove_abandoned(parent, prefix)
    folder = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=parent))
    lock = FolderLock(folder, f"temporary files of process {os.getpid()}")
    lock.acquire()
    return folder, lock


def _remove_own(folder: Path, lock: FolderLock, owner: int) -> None:
    # A forked process runs the same exit functions.
    if os.getpid() == owner:
        _remove(folder)
        lock.release()
        shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(parent: Path, prefix: str) -> None:
    """Remove the folders of processes that were killed; those of other users and of living ones stay.

    Only what was made here has a lock file. Between its making and its locking a folder has none, and stays.
    """
    for folder in parent.glob(f"{prefix}[0-9]*-*"):
        with suppress(OSError, UserError):
            ours = folder.lstat().st_uid == os.getuid() and not folder.is_symlink()
            if ours and (folder / LOCK_FILE).is_file():
                with FolderLock(folder, "removing temporary files of a process that was killed"):
                    _remove(folder)
                shutil.rmtree(folder, ignore_errors=True)


def _remove(folder: Path) -> None:
    """Remove all but the lock file, without which nobody would know whose the rest is."""
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name != LOCK_FILE:
            with suppress(OSError):
                entry.unlink()
