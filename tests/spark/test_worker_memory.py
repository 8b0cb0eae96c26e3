"""A worker keeps the memory of arrays that are gone."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_PROGRAM = """
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

from causeway.spark.worker_memory import keep_memory

MIB = 1 << 20


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 // MIB


if sys.argv[1] == "keep":
    assert keep_memory()
    assert pa.default_memory_pool().backend_name == "system"
before = resident()
numbers = np.ones(200 * MIB // 8)
table = pa.array(numbers).take(pa.array(np.arange(len(numbers))))
del numbers, table
print(resident() - before)
"""


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or sys.platform != "linux", reason="keeps memory with glibc only"
)
def test_memory_of_arrays_that_are_gone_stays_with_the_process() -> None:
    kept, given_back = (
        int(subprocess.run([sys.executable, "-c", _PROGRAM, how], capture_output=True, check=True).stdout)
        for how in ("keep", "default")
    )
    assert kept >= 400
    assert given_back <= 300
