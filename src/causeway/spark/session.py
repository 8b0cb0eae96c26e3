"""The one place that makes the Spark session: embedded by default, any `--master` on request."""

from __future__ import annotations

import os
import re
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from causeway.runtime.errors import UserError
from causeway.runtime.machine import local_cores
from causeway.spark.home import ensure_spark_home
from causeway.spark.java import ensure_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["check_master", "explain", "parse_settings", "spark_session"]

_EVERYWHERE = {
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Any lower, and Spark adds up the size of the batch so far before each of its rows.
    "spark.sql.execution.arrow.maxBytesPerBatch": "2147483647",
    # The default manager asks the local file system for things that fork some 35 processes a batch.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.noDataMicroBatches.enabled": "true",
}

_EMBEDDED = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "4g",
    "spark.python.unix.domain.socket.enabled": "true",
}

# Spark puts these in front of the options of the same name with `extra`, which stay the user's.
_JAVA_OPTIONS = "spark.driver.defaultJavaOptions"
_EXECUTOR_JAVA_OPTIONS = "spark.executor.defaultJavaOptions"
# Arrow checks the bounds and the owner of its memory at every value; Spark asks it for no row that is not
# there, and looks for nulls itself.
_ARROW_UNCHECKED = "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"
# Java's default collector works beside the program, on cores that are busy, and takes longer by its barriers.
_COLLECTOR = "-XX:+UseParallelGC"
_ANY_COLLECTOR = re.compile(r"-XX:\+Use\w+GC\b")

_MASTERS = re.compile(
    r"local(\[(\*|[1-9]\d*)(\s*,\s*[1-9]\d*)?\])?"
    r"|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]"
    r"|spark://[^\s,/]+:\d+(,[^\s,/]+:\d+)*"
    r"|k8s://\S+"
    r"|yarn"
)
_CONNECT_SECONDS = 5

# Java's own option for the memory of a process takes no other form.
_MEMORY = re.compile(r"[1-9]\d*[kmgt]", re.IGNORECASE)
_MEMORY_SETTINGS = ("spark.driver.memory", "spark.executor.memory")

_PYTHON_ERROR = re.compile(r"^([A-Za-z_][\w.]*): (.*)", re.MULTILINE)
_JAVA_ERROR = re.compile(r"^(?:Caused by: |: )([\w.$]+): (.*)", re.MULTILINE)


def parse_settings(pairs: Sequence[str]) -> dict[str, str]:
    """Read `k=v` pairs as given to --conf; what is no setting of Spark's is the user's mistake.

    Spark itself passes over keys that do not begin with `spark.`, and says so only in its log.
    """
    settings = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        key = key.strip()
        if not equals or not key:
            raise UserError(f"--conf takes key=value, as in spark.driver.memory=8g; got {pair!r}")
        if not key.startswith("spark."):
            raise UserError(
                f"--conf {key}: Spark's settings begin with `spark.`; give Hadoop's as spark.hadoop.…"
            )
        settings[key] = value.strip()
        if key in _MEMORY_SETTINGS and not _MEMORY.fullmatch(settings[key]):
            raise UserError(f"--conf {key} takes a size, as in 800m or 8g; got {settings[key]!r}")
    return settings


def check_master(master: str) -> None:
    """Refuse a master that Spark cannot know, or a standalone one where nobody answers.

    Spark would look for the latter for minutes, and tell of both in a stack trace.
    """
    if not _MASTERS.fullmatch(master):
        raise UserError(
            f"--master {master}: expected local[*], local[N], spark://HOST:PORT, k8s://URL or yarn"
        )
    if master == "yarn" and not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
        raise UserError("--master yarn: set HADOOP_CONF_DIR to the folder of the cluster's configuration")
    if master.startswith("spark://"):
        refused = []
        for address in master.removeprefix("spark://").split(","):
            host, _, port = address.rpartition(":")
            try:
                socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()
                return
            except (OSError, OverflowError, UnicodeError) as failure:
                refused.append(f"{address} ({getattr(failure, 'strerror', None) or failure})")
        raise UserError(f"--master {master}: no Spark master answers at {', '.join(refused)}")


@contextmanager
def spark_session(
    application: str,
    master: str = "local[*]",
    settings: Mapping[str, str] | None = None,
    log_level: str = "OFF",
) -> Iterator[SparkSession]:
    """A session that is stopped at the end; one at a time in a process, since Spark would share it.

    What the user gives in `settings` wins over every default here. Spark's own log is off: what goes wrong
    comes back as an exception, and once is enough.
    """
    check_master(master)
    ensure_java()
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    if master.startswith("local"):
        # Python workers must find what this process finds: the same interpreter, the same packages.
        os.environ["PYSPARK_PYTHON"] = sys.executable
        ensure_spark_home()
        # Spark would otherwise look for an address that other machines see.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.appName(f"causeway {application}").master(master)
    for key, value in _all_settings(master, settings or {}, log_level).items():
        builder = builder.config(key, value)
    try:
        with _java_errors_aside(shown=log_level != "OFF"):
            spark = builder.getOrCreate()
        # Settings under spark.sql are looked at on first use; a bad one is to be told now.
        spark.conf.get("spark.sql.session.timeZone")
    except (PySparkException, Py4JError, OSError, RuntimeError) as failure:
        given = "".join(f" --conf {key}={value}" for key, value in (settings or {}).items())
        raise UserError(f"Spark did not start with --master {master}{given}: {explain(failure)}") from failure
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def _java_errors_aside(shown: bool) -> Iterator[None]:
    """Start Java, within the block, with an error output that is nobody's terminal.

    Spark's Python workers write there what they do, and tracebacks when their sockets are closed at the end.
    What is written while Java does not start is told.
    """
    if shown:
        yield
        return
    sys.stderr.flush()
    own = os.dup(2)
    with tempfile.TemporaryFile() as aside:
        os.dup2(aside.fileno(), 2)
        try:
            yield
        except BaseException:
            os.dup2(own, 2)
            aside.seek(0)
            sys.stderr.write(aside.read().decode(errors="replace"))
            raise
        finally:
            os.dup2(own, 2)
            os.close(own)


def _all_settings(master: str, given: Mapping[str, str], log_level: str) -> dict[str, str]:
    log = Path(__file__).with_name("log4j2.properties").as_uri()
    chosen = dict(_EVERYWHERE)
    if master.startswith("local"):
        chosen |= _EMBEDDED
        chosen["spark.sql.shuffle.partitions"] = str(max(2, local_cores()))
    chosen |= given
    users = " ".join(given.get(name, "") for name in (_JAVA_OPTIONS, "spark.driver.extraJavaOptions"))
    # Java refuses to start with two collectors.
    ours_to_choose = master.startswith("local") and not _ANY_COLLECTOR.search(users)
    collector = f"{_COLLECTOR} " if ours_to_choose else ""
    ours = f"{collector}{_ARROW_UNCHECKED} -Dlog4j2.configurationFile={log} -Dcauseway.log.level={log_level}"
    chosen[_JAVA_OPTIONS] = f"{ours} {given.get(_JAVA_OPTIONS, '')}".rstrip()
    chosen[_EXECUTOR_JAVA_OPTIONS] = f"{_ARROW_UNCHECKED} {given.get(_EXECUTOR_JAVA_OPTIONS, '')}".rstrip()
    return chosen


def explain(failure: BaseException) -> str:
    """What went wrong, in a line: out of a stack trace of Spark, Java and Python, its innermost cause."""
    trace = f"{failure}\n{getattr(failure, '_stackTrace', '')}".strip()
    if "JAVA_GATEWAY_EXITED" in trace:
        return "its Java ended at once, for the reason above"
    _, in_python, traceback = trace.rpartition("Traceback (most recent call last):")
    found = _PYTHON_ERROR.findall(traceback)[:1] if in_python else _JAVA_ERROR.findall(trace)[-1:]
    if found:
        name, message = found[0]
        return f"{name.rpartition('.')[2]}: {message}"
    return f"{type(failure).__name__}: {trace.splitlines()[0] if trace else 'no message'}"
