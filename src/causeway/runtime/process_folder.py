"""Temporary folders that belong to a process: removed at its end, or by the next one if it was killed."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from causeway.runtime.errors import UserError
from causeway.runtime.lock import LOCK_FILE, FolderLock

__all__ = ["process_folder"]

_PREFIX: Final = "causeway"
_folders: dict[tuple[str, Path, int], tuple[Path, FolderLock]] = {}


def process_folder(kind: str) -> Path:
    """A temporary folder of that kind that belongs to this process; the same at each call.

    It is private to the user and removed when the process ends. Folders whose process was killed are removed
    here; those of other users and of processes at work are left.
    """
    parent = Path(tempfile.gettempdir())
    key = kind, parent, os.getpid()
    if key not in _folders:
        _remove_abandoned(parent, kind)
        folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}-{kind}-{os.getpid()}-", dir=parent))
        lock = FolderLock(folder, f"temporary files of process {os.getpid()}")
        lock.acquire()
        _folders[key] = folder, lock
        atexit.register(_remove_own, folder, lock, os.getpid())
    return _folders[key][0]


def _remove_own(folder: Path, lock: FolderLock, owner: int) -> None:
    # A forked process runs the same exit functions.
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()


def _remove_abandoned(parent: Path, kind: str) -> None:
    for folder in parent.glob(f"{_PREFIX}-{kind}-*"):
        with suppress(OSError, UserError):
            # Between its making and its locking a folder is empty: that one is left, too.
            ours = folder.lstat().st_uid == os.getuid() and not folder.is_symlink()
            if ours and (folder / LOCK_FILE).is_file():
                with FolderLock(folder, "removing temporary files of a process that was killed"):
                    shutil.rmtree(folder, ignore_errors=True)
