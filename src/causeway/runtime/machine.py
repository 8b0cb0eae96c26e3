"""The machine and the versions that a result was measured with, for the record of every run."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from causeway import __version__

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["hardware", "local_cores", "versions"]


def local_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def hardware() -> dict[str, Any]:
    """The machine that this process is on."""
    processor = platform.processor() or platform.machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        processor = found[1] if found else processor
    except OSError:
        pass
    return {
        "processor": processor,
        "cores": local_cores(),
        "memory_gib": round(memory / 2**30, 1),
        "system": platform.platform(),
    }


def versions(spark: SparkSession) -> dict[str, str]:
    """What the answers were made with."""
    import numpy
    import pyarrow

    return {
        "causeway": __version__,
        "python": platform.python_version(),
        "pyspark": spark.version,
        "java": str(spark.sparkContext._jvm.java.lang.System.getProperty("java.version")),  # type: ignore[union-attr]
        "numpy": numpy.__version__,
        "pyarrow": pyarrow.__version__,
    }
