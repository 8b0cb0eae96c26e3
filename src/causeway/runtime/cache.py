"""The user's cache folder: compiled kernels and links that are worth keeping from one run to the next."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from causeway.runtime.process_folder import process_folder

__all__ = ["cache_entry", "remove_stale_entries", "user_cache"]

_CHILDRENS_CACHE: Final = "CAUSEWAY_CACHE"
"""Environment variable that tells child processes which temporary cache their parent uses."""
_KEPT_SECONDS: Final = 30 * 24 * 3600
_MADE_HERE: Final = ("compiled/*", "causeway-java-*", "causeway-spark-*")
"""The entries that this package makes, and removes when they were not used for long."""


def user_cache() -> Path:
    """A folder that this user can write to and nobody else can read: `~/.cache/causeway`, mode 0700.

    Where there is no home, no right to write to it (as in some containers), or the folder is somebody
    else's, it is a temporary one, which child processes share and which is removed with this process: a fixed
    name in a folder shared by all could have been put there by somebody else.
    """
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "causeway"
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        if _is_private(folder):
            return folder
    except (OSError, RuntimeError):
        pass
    inherited = Path(os.environ.get(_CHILDRENS_CACHE, ""))
    with suppress(OSError):
        if inherited.is_absolute() and _is_private(inherited):
            return inherited
    folder = process_folder("cache")
    os.environ[_CHILDRENS_CACHE] = str(folder)
    return folder


def cache_entry(name: str) -> Path:
    """The folder `name` in the cache, made if it is missing, and marked as used today."""
    folder = user_cache() / name
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
    return folder


def remove_stale_entries(now: float | None = None) -> None:
    """Remove what was not used for 30 days, and homes of a Spark that was uninstalled; nothing else."""
    oldest = (time.time() if now is None else now) - _KEPT_SECONDS
    cache = user_cache()
    for pattern in _MADE_HERE:
        for entry in cache.glob(pattern):
            with suppress(OSError):
                if entry.is_dir() and not entry.is_symlink() and _is_stale(entry, oldest):
                    shutil.rmtree(entry, ignore_errors=True)


def _is_stale(entry: Path, oldest: float) -> bool:
    dangling = any(link.is_symlink() and not link.exists() for link in entry.iterdir())
    return dangling or entry.stat().st_mtime < oldest


def _is_private(folder: Path) -> bool:
    """Whether the folder is this user's own and can be written to; takes everybody else's rights away."""
    status = folder.stat()
    if status.st_uid != os.getuid():
        return False
    if status.st_mode & 0o077:
        folder.chmod(0o700)
    return os.access(folder, os.W_OK | os.X_OK)
