"""Garbage collection at moments when nobody waits, in Python and in Java."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["collect_garbage", "leave_little_to_collect"]

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


def collect_garbage(spark: SparkSession) -> None:
    """Collect garbage in this process and its Java, before work whose time matters.

    After much work Java's heap is full of what outlived the young generation. Java would collect it when the
    heap is full, and stand still for seconds.
    """
    gc.collect()
    jvm: Any = spark._jvm
    jvm.java.lang.System.gc()
