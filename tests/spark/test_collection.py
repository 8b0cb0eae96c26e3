"""Garbage is collected when it is asked for."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

from causeway.spark.collection import collect_garbage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class _Ring:
    """Refers to itself, so that only the collector ends it."""

    def __init__(self) -> None:
        self.itself = self


def test_garbage_of_python_and_java_is_collected(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    beans = jvm.java.lang.management.ManagementFactory.getGarbageCollectorMXBeans()
    before = sum(int(bean.getCollectionCount()) for bean in beans)
    gc.disable()
    try:
        ring = weakref.ref(_Ring())
        assert ring() is not None
        collect_garbage(spark)
        assert ring() is None
    finally:
        gc.enable()
    assert sum(int(bean.getCollectionCount()) for bean in beans) > before
