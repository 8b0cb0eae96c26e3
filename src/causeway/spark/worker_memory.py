"""Memory that a Python worker keeps from task to task."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Final

import pyarrow as pa

__all__ = ["keep_memory"]

# malloc.h of glibc.
_TRIM_THRESHOLD: Final = -1
_MMAP_MAX: Final = -4
_AT_MOST: Final = (1 << 31) - 1
"""Bytes that are free before any are given back."""


@cache
def keep_memory() -> bool:
    """Keep the memory of arrays that are gone for the next ones, in this process; False where it cannot.

    By default glibc and Arrow give the memory of large arrays back to the system at once, and get it anew,
    page by page, for the next array. A virtual machine may have to ask its host for it: seconds a gigabyte.
    A worker then has the most that it needed in any task, until Spark ends it.
    """
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False  # Another C library than glibc.
    if not (set_option(_MMAP_MAX, 0) and set_option(_TRIM_THRESHOLD, _AT_MOST)):
        return False
    pa.set_memory_pool(pa.system_memory_pool())
    return True
