"""Precedence of other processes over an embedded Spark that would otherwise use every core.

Without special rights a process can lower its priority but not raise it. So the processes that must be
punctual keep theirs, and Spark's Java and its Python workers get a lower one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["give_way", "lower_priority"]

_NICENESS: Final = 5
"""Added to the niceness of Spark's threads: where cores are short, others get three times their share."""

_PASSES: Final = 5


def give_way(spark: SparkSession) -> None:
    """Let other processes of this machine come before an embedded Spark; without effect on other masters."""
    process = getattr(spark.sparkContext._gateway, "proc", None)
    if process is not None and str(spark.sparkContext.master).startswith("local"):
        lower_priority(process.pid, _NICENESS)


def lower_priority(process: int, niceness: int) -> None:
    """Make all threads of `process` and of its descendants nicer than this process, by `niceness`.

    Linux keeps a priority for each thread. Threads and processes that are started later inherit that of the
    thread that starts them. A second call changes nothing.
    """
    target = os.getpriority(os.PRIO_PROCESS, 0) + niceness
    # A thread that was not yet reached may start another one meanwhile; each pass has fewer of them.
    for _ in range(_PASSES):
        reached = [thread for thread in _threads(process) if _set_niceness(thread, target)]
        if not reached:
            return


def _set_niceness(thread: int, target: int) -> bool:
    """Set a thread's niceness unless it has that or more; whether it was changed."""
    # It may have ended meanwhile.
    with suppress(OSError):
        if os.getpriority(os.PRIO_PROCESS, thread) < target:
            os.setpriority(os.PRIO_PROCESS, thread, target)
            return True
    return False


def _threads(process: int) -> Iterator[int]:
    """The threads of a process and its descendants; the process alone on systems without /proc."""
    tasks = Path(f"/proc/{process}/task")
    if not tasks.is_dir():
        yield process
        return
    with suppress(OSError):
        for task in list(tasks.iterdir()):
            yield int(task.name)
            with suppress(OSError):
                for child in (task / "children").read_text().split():
                    yield from _threads(int(child))
