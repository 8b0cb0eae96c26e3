"""Everything that leans on an internal of Spark, which a new version may change without notice.

Each item has a self-test in `tests/spark/test_internals.py` that says what changed.
"""

from __future__ import annotations

import itertools
import json
import threading
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

__all__ = [
    "CHECKPOINT_FILE_MANAGER",
    "HEAP_STATE_STORE",
    "HOME_FOLDERS",
    "ROCKSDB_STATE_STORE",
    "SessionSettings",
    "answer_at_once",
    "cancel_job_group",
    "committed_batch",
    "committed_offsets",
    "frame_of_arrow",
    "input_of_jobs",
    "launch_java",
    "planned_files",
    "planned_offsets",
    "task_of_key",
    "without_patterns",
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
_numbers: Final = itertools.count()
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


def planned_files(checkpoint: Path, batch: int) -> list[list[str]]:
    """The files that each of a query's file sources has read when `batch` is done.

    The offset of such a source is {"logOffset": M}. Spark writes `CHECKPOINT/sources/N/M` for the M-th batch
    of files of source N: a version, a JSON object a file. Now and then all so far are put together in
    `M.compact`, and the others are removed later. A stream that a query reads twice has one folder, and two
    offsets, which are equal.
    """
    planned = [one or {"logOffset": -1} for one in planned_offsets(checkpoint, batch)]
    offsets = [int(one["logOffset"]) for one in planned if "logOffset" in one]
    folders = sorted((checkpoint / "sources").glob("[0-9]*"), key=lambda folder: int(folder.name))
    if len(folders) < len(offsets):
        offsets = [max(offsets)] * len(folders)
    return [_logged_files(folder, offset) for folder, offset in zip(folders, offsets, strict=False)]


def _logged_files(folder: Path, offset: int) -> list[str]:
    found: list[str] = []
    for number in range(offset, -1, -1):
        compact = folder / f"{number}.compact"
        path = compact if compact.exists() else folder / str(number)
        if not path.exists():
            continue
        version, *entries = path.read_text().splitlines()
        if version != _LOG_VERSION:
            raise RuntimeError(f"{path} has version {version}; only Spark's {_LOG_VERSION} is known here")
        found += [json.loads(entry)["path"] for entry in entries]
        if compact.exists():
            break
    return found


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


def frame_of_arrow(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """`spark.createDataFrame(rows)` for small tables in half the time, by way of Spark's temporary folder.

    PySpark asks Java some twenty questions first (settings, names of classes, elements of lists), each of
    which is a round trip. The columns must have the types that Spark's own columns have in Arrow, and
    timestamps the time zone UTC.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    session: Any = spark
    if spark.sparkContext._encryption_enabled:
        # Then nothing may be in a file that is not encrypted.
        return spark.createDataFrame(rows)
    schema = from_arrow_schema(rows.schema)
    answer_at_once(spark)
    file = Path(str(spark.sparkContext._temp_dir)) / f"causeway-{next(_numbers)}.arrow"
    try:
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, rows.schema) as stream:
            stream.write_table(rows)
        utilities = _python_utilities(session._jvm)
        batches = utilities.readArrowStreamFromFile(str(file))
        frame = utilities.toDataFrame(batches, schema.json(), session._jsparkSession)
    finally:
        file.unlink(missing_ok=True)
    from pyspark.sql.classic.dataframe import DataFrame

    return DataFrame(frame, spark)


def without_patterns(reader: DataFrameReader) -> DataFrameReader:
    """The reader, which takes paths as they are: brackets and stars in them are no patterns."""
    return reader.option("__globPaths__", "false")


@lru_cache(maxsize=1)
def _python_utilities(jvm: Any) -> Any:
    return jvm.PythonSQLUtils


class SessionSettings:
    """The settings that a session has of its own, read in one call: who remembers a plan compares them."""

    def __init__(self, spark: SparkSession) -> None:
        """Java keeps one map of them for as long as the session lives."""
        self._spark = spark
        session: Any = spark
        self._map = session._jsparkSession.sessionState().conf().settings()

    def text(self) -> str:
        """All of them as they are now; equal texts mean equal settings."""
        answer_at_once(self._spark)
        return str(self._map.toString())


def _field(owner: Any, name: str) -> Any:
    """A private field of a Java object; Spark starts Java with its packages open to this."""
    field = owner.getClass().getDeclaredField(name)
    field.setAccessible(True)
    return field.get(owner)


def cancel_job_group(spark: SparkSession, group: str) -> None:
    """Cancel the jobs of a group, those that are yet to begin included. PySpark's own cancels the others."""
    java: Any = spark.sparkContext._jsc
    java.sc().cancelJobGroupAndFutureJobs(group)


def input_of_jobs(spark: SparkSession, group: str) -> tuple[int, int]:
    """Rows and bytes that the jobs of a group have read from files by Spark's own readers.

    Spark's status store has them for each stage; what Python workers read themselves is not in it.
    """
    from py4j.protocol import Py4JJavaError

    context = spark.sparkContext
    java: Any = context._jsc
    # Tasks' figures come to the store by way of a queue.
    java.sc().listenerBus().waitUntilEmpty()
    store = java.sc().statusStore()
    tracker = context.statusTracker()
    rows = size = 0
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info else ():
            try:
                data = store.lastStageAttempt(int(stage))
            except Py4JJavaError:
                continue  # A stage that was skipped has no attempt.
            rows += int(data.inputRecords())
            size += int(data.inputBytes())
    return rows, size
