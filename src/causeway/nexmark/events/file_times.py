"""Modification times of slices, by which Spark's file source takes files: the oldest first."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

__all__ = ["are_in_order", "set_times_in_order"]

_FIRST: Final = 1_000_000_000
"""Seconds since 1970; only the order counts."""


def set_times_in_order(files: Sequence[Sequence[Path]]) -> None:
    """Give the files of each slice the same time, a second after those of the slice before."""
    for number, of_slice in enumerate(files):
        for path in of_slice:
            os.utime(path, (_FIRST + number, _FIRST + number))


def are_in_order(files: Sequence[Sequence[Path]]) -> bool:
    """Whether all files of a slice are older than those of the next, in the milliseconds that Spark sees."""
    newest = -1
    for of_slice in files:
        times = [path.stat().st_mtime_ns // 1_000_000 for path in of_slice]
        if min(times) <= newest:
            return False
        newest = max(times)
    return True
