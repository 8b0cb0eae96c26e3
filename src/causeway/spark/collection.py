"""Python's garbage collection in Spark's workers, which would take longer than a small task."""

from __future__ import annotations

import gc
from typing import Final

__all__ = ["leave_little_to_collect"]

_FEW: Final = 20_000
"""Objects that are collected in a few milliseconds."""


def leave_little_to_collect() -> None:
    """Collect garbage at the end of a task, and exempt what a worker keeps from later collections.

    Spark makes a worker collect after each task. numba and pyarrow leave half a million objects in it that
    stay until it exits: to look through them takes 0.1 s, for a task of a few milliseconds.
    """
    if len(gc.get_objects()) > _FEW:
        gc.collect()
        gc.freeze()
