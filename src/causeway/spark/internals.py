"""Everything that leans on an internal of Spark, which a new version may change without notice.

Each item has a self-test in `tests/spark/test_internals.py` that says what changed.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

__all__ = [
    "CHECKPOINT_FILE_MANAGER",
    "HEAP_STATE_STORE",
    "HOME_FOLDERS",
    "ROCKSDB_STATE_STORE",
    "answer_at_once",
    "committed_batch",
    "committed_offsets",
    "launch_java",
    "planned_offsets",
    "task_of_key",
]

CHECKPOINT_FILE_MANAGER: Final = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
"""Writes checkpoints by plain file operations."""

ROCKSDB_STATE_STORE: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
"""State in RocksDB, the only store that `transformWithState` works with."""

HEAP_STATE_STORE: Final = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
"""State in Java's memory."""

HOME_FOLDERS: Final = ("bin", "jars", "sbin")
"""What Spark needs of its home. It also takes Python modules from `python/lib/pyspark.zip`, if present."""

_threads: Final = threading.local()
"""The Java whose answers to this thread come at once."""
_LOG_VERSION: Final = "v1"
_NO_OFFSET: Final = "-"


def committed_batch(checkpoint: Path) -> int | None:
    """The newest batch that a query has finished; `None` before the first.

    Spark writes `CHECKPOINT/commits/N` after batch N.
    """
    names = [path.name for path in (checkpoint / "commits").glob("[0-9]*")]
    return max((int(name) for name in names if name.isdigit()), default=None)


def planned_offsets(checkpoint: Path, batch: int) -> list[dict[str, Any] | None]:
    """Where each of a query's sources is when `batch` is done: a data source's own JSON, `None` before any.

    Spark writes `CHECKPOINT/offsets/N` before batch N: a version, the batch's settings, a line a source.
    """
    path = checkpoint / "offsets" / str(batch)
    version, _, *offsets = path.read_text().splitlines()
    if version != _LOG_VERSION:
        raise RuntimeError(f"{path} has version {version}; only Spark's {_LOG_VERSION} is known here")
    return [None if offset == _NO_OFFSET else json.loads(offset) for offset in offsets]


def committed_offsets(checkpoint: Path) -> list[dict[str, Any] | None]:
    """Where each of a query's sources is after its newest finished batch; empty before the first."""
    batch = committed_batch(checkpoint)
    return [] if batch is None else planned_offsets(checkpoint, batch)


def task_of_key(column: str, tasks: int) -> str:
    """SQL for the number of the task, of `tasks`, that Spark's shuffle gives a key of type INT."""
    return f"pmod(hash(CAST({column} AS INT)), {tasks})"


def launch_java(conf: SparkConf, output: int) -> bool:
    """Start the Java of this process with an output of its own; whether it was not running yet.

    All sessions of a process share one Java. `output`, a file descriptor, takes its standard output too: that
    is where it says why it does not start.
    """
    from pyspark import SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:
        return False
    gateway = launch_gateway(conf, {"stdout": output, "stderr": output})  # type: ignore[no-untyped-call]
    SparkContext._ensure_initialized(gateway=gateway)
    return True


def answer_at_once(spark: SparkSession) -> bool:
    """Let Java's long answers to the calling thread come without a pause of 40 ms; whether it worked.

    Py4J writes an answer of more than 8 KB in two parts. The kernel holds the second one back until Python's
    side has acknowledged the first, which it does 40 ms later. TCP_NODELAY on Java's socket ends that. Py4J
    has no way to the socket but the thread that serves this connection.
    """
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]

    jvm: Any = spark._jvm
    if getattr(_threads, "java", None) is jvm:
        return True
    try:
        thread = jvm.java.lang.Thread.currentThread()
        names = [field.getName() for field in thread.getClass().getDeclaredFields()]
        task = _field(thread, "target") if "target" in names else _field(_field(thread, "holder"), "task")
        task.getSocket().setTcpNoDelay(True)
    except (Py4JError, AttributeError, TypeError):
        return False
    _threads.java = jvm
    return True


def _field(owner: Any, name: str) -> Any:
    """A private field of a Java object; Spark starts Java with its packages open to this."""
    field = owner.getClass().getDeclaredField(name)
    field.setAccessible(True)
    return field.get(owner)
