"""A lock on a folder, so that two processes never write to the same output."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from causeway.runtime.errors import UserError

__all__ = ["LOCK_FILE", "FolderLock"]

LOCK_FILE: Final = ".lock"
"""Name of the lock file inside a locked folder."""

_READ_ATTEMPTS: Final = 50
_READ_PAUSE: Final = 0.01


class FolderLock:
    """Exclusive use of `folder` for the length of a `with` block; a second holder gets a UserError.

    The kernel holds the lock (`flock`), so it is gone when the process ends, even by `kill -9`: a lock file
    that was left behind locks nothing. Two objects exclude each other in one process too. The folder is made
    if it is missing, and the lock file is removed at the end of the block.
    """

    def __init__(self, folder: Path, command: str, *, lock_file: Path | None = None) -> None:
        """`command` tells a second holder what the first one does. The default file is `folder/.lock`."""
        self._folder = folder
        self._command = command
        self._path = lock_file or folder / LOCK_FILE
        self._descriptor: int | None = None

    def __enter__(self) -> FolderLock:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    def acquire(self) -> None:
        """Take the lock, or raise a UserError that names the process that has it."""
        if self._descriptor is not None:
            raise RuntimeError(f"this lock on {self._folder} is already taken; make another object")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = self._open_locked()
        except BlockingIOError:
            raise UserError(f"{self._folder} is in use by {self._holder()}; wait until it ends") from None
        except OSError as failure:
            raise UserError(f"{self._folder} cannot be locked: {failure.strerror}") from failure
        holder = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "command": self._command,
            "started": datetime.now().astimezone().isoformat(timespec="seconds"),
        }
        content = json.dumps(holder).encode() + b"\n"
        os.pwrite(descriptor, content, 0)
        os.ftruncate(descriptor, len(content))
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the lock back; without effect if it is not held."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        # The file goes before the lock does: who waits at the old file sees that the name is gone.
        if _is_file_at(descriptor, self._path):
            self._path.unlink(missing_ok=True)
        os.close(descriptor)

    def is_held(self) -> bool:
        """Whether a process has the lock: looks without taking it, which could keep another one away."""
        try:
            return _holder_is_alive(json.loads(self._path.read_text()))
        except FileNotFoundError:
            return False
        except (OSError, ValueError, KeyError, TypeError):
            # It is being taken at this moment.
            return True

    def _open_locked(self) -> int:
        while True:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BaseException:
                os.close(descriptor)
                raise
            # The last holder may have removed the file after it was opened here; then it locks nothing.
            if _is_file_at(descriptor, self._path):
                return descriptor
            os.close(descriptor)

    def _holder(self) -> str:
        """The process that has the lock, in words.

        For a moment after it was taken the file is empty, or names an earlier holder that was killed.
        """
        for _ in range(_READ_ATTEMPTS):
            try:
                holder: dict[str, Any] = json.loads(self._path.read_text())
                if _holder_is_alive(holder):
                    here = holder["host"] == socket.gethostname()
                    place = "" if here else f" on {holder['host']}"
                    return f"process {holder['pid']}{place} ({holder['command']}) since {holder['started']}"
            except (OSError, ValueError, KeyError, TypeError):
                pass
            time.sleep(_READ_PAUSE)
        return "another process"


def _is_file_at(descriptor: int, path: Path) -> bool:
    """Whether `path` still names the open file."""
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    opened = os.fstat(descriptor)
    return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)


def _holder_is_alive(holder: dict[str, Any]) -> bool:
    """Whether the process that a lock file names is there; of another machine's nobody here can tell."""
    return holder["host"] != socket.gethostname() or _is_alive(int(holder["pid"]))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
