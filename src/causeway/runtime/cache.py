"""Where things are kept from one run to the next: the user's cache folder, or none."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["user_cache"]


def user_cache() -> Path:
    """A folder that this user can write to and nobody else reads from us.

    Where there is no home, or none to write to (as in some containers), it is a fresh one for this process:
    a fixed name in a folder shared by all could have been put there by somebody else.
    """
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "causeway"
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except (OSError, RuntimeError):
        pass
    return Path(tempfile.mkdtemp(prefix="causeway-"))
