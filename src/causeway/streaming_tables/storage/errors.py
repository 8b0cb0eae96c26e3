"""What can go wrong with a table's files, in the user's words."""

from __future__ import annotations

import errno
from pathlib import Path

from causeway.runtime.errors import UserError

__all__ = ["DamagedTableError", "UnsupportedPredicate", "refusal"]


class DamagedTableError(UserError):
    """A file of the table is missing or does not hold what was written; nothing of it is served."""

    def __init__(
        self, path: Path, what: str, remedy: str = "The table is damaged: restore this file from a backup"
    ) -> None:
        """`what` completes the sentence that begins with the file's name."""
        super().__init__(f"{path} {what}. {remedy}")
        self.path = path


class UnsupportedPredicate(Exception):  # noqa: N818 - it is no fault: the caller filters in another way
    """The storage manager can't evaluate this comparison with Spark's exact meaning."""


def refusal(path: Path, failure: OSError) -> UserError:
    """The error for a write that the operating system refused; what was there before is unchanged."""
    if failure.errno in (errno.ENOSPC, errno.EDQUOT):
        return UserError(f"{path}: no space left on the disk; nothing was stored. Free some space and retry")
    if failure.errno == errno.EFBIG:
        return UserError(f"{path}: no space left, the file may not grow further; nothing was stored")
    return UserError(f"{path} cannot be written: {failure.strerror or failure}; nothing was stored")
