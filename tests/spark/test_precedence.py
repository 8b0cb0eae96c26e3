from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from causeway.spark.precedence import give_way, lower_priority

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads priorities from /proc")

_PARENT = """
import subprocess, sys, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
child = subprocess.Popen([sys.executable, "-c", "print(flush=True); import sys; sys.stdin.read()"],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
sys.stdin.readline()
later = threading.Thread(target=threading.Event().wait, daemon=True)
later.start()
print(later.native_id, flush=True)
sys.stdin.readline()
child.kill()
"""


@pytest.fixture
def parent() -> Iterator[subprocess.Popen[str]]:
    """A process with a second thread and a child."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.communicate("\n\n", timeout=300)


def niceness(process: int) -> set[int]:
    threads = [int(path.name) for path in Path(f"/proc/{process}/task").iterdir()]
    return {os.getpriority(os.PRIO_PROCESS, thread) for thread in threads}


def test_all_threads_and_children_give_way_and_later_ones_too(parent: subprocess.Popen[str]) -> None:
    assert parent.stdout is not None
    assert parent.stdin is not None
    child = int(parent.stdout.readline())
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert niceness(parent.pid) == niceness(child) == {own}
    for _ in range(2):
        lower_priority(parent.pid, 3)
        assert niceness(parent.pid) == niceness(child) == {own + 3}
    assert os.getpriority(os.PRIO_PROCESS, 0) == own
    parent.stdin.write("\n")
    parent.stdin.flush()
    later = int(parent.stdout.readline())
    assert os.getpriority(os.PRIO_PROCESS, later) == own + 3


def test_a_process_that_is_gone_is_no_error() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    lower_priority(process.pid, 3)


def test_an_embedded_spark_gives_way(spark: SparkSession) -> None:
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    give_way(spark)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert niceness(gateway.proc.pid) == {own + 5}
