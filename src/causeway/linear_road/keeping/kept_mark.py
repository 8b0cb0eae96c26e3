"""How far the history has got: eight bytes that the keeper writes and the pipeline reads.

The mark is written after the rows are durable and readable, so it may be behind them, and never ahead. A file
that is missing or cut off says 0.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Final

__all__ = ["KeptMark"]

_MARK: Final = struct.Struct("<q")


class KeptMark:
    """The second up to which all reports are in the table, not including it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> int:
        """The mark; 0 where nothing is known."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return 0
        return int(_MARK.unpack(content)[0]) if len(content) == _MARK.size else 0

    def write(self, second: int) -> None:
        """Set the mark, in one system call: a reader sees the old one or the new one."""
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.pwrite(descriptor, _MARK.pack(second), 0)
        finally:
            os.close(descriptor)
