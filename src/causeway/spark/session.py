"""The one place that makes the Spark session: embedded by default, on any master on request."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from causeway.runtime.cache import remove_stale_entries
from causeway.runtime.errors import CausewayError, UserError
from causeway.runtime.machine import local_cores
from causeway.runtime.process_folder import process_folder
from causeway.spark.errors import explain
from causeway.spark.home import ensure_spark_home
from causeway.spark.internals import CHECKPOINT_FILE_MANAGER
from causeway.spark.java import ensure_java
from causeway.spark.java_output import JavaOutput
from causeway.spark.master import check_master, is_local
from causeway.spark.settings import OWN_SETTINGS, check_settings
from causeway.spark.workers import check_workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["explain", "spark_session"]

_EVERYWHERE: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Any lower, and Spark adds up the size of the batch so far before each of its rows.
    "spark.sql.execution.arrow.maxBytesPerBatch": "2147483647",
    # The default manager asks the local file system for things that fork some 35 processes a batch.
    "spark.sql.streaming.checkpointFileManagerClass": CHECKPOINT_FILE_MANAGER,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.noDataMicroBatches.enabled": "true",
}

_EMBEDDED: Final = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "4g",
    "spark.python.unix.domain.socket.enabled": "true",
}

# Spark puts these in front of the options of the same name with `extra`, which stay the user's.
_JAVA_OPTIONS: Final = "spark.driver.defaultJavaOptions"
_EXECUTOR_JAVA_OPTIONS: Final = "spark.executor.defaultJavaOptions"
# Arrow checks the bounds and the owner of its memory at every value; Spark asks it for no row that is not
# there, and looks for nulls itself.
_ARROW_UNCHECKED: Final = "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"
# Java's default collector works beside the program, on cores that are busy, and takes longer by its barriers.
_COLLECTOR: Final = "-XX:+UseParallelGC"
_ANY_COLLECTOR: Final = re.compile(r"-XX:\+Use\w+GC\b")
_LONGEST_TEMPORARY_PATH: Final = 50
"""Characters: Spark makes sockets in Java's temporary folder, whose whole path may have about 100."""

_java_output: Final = JavaOutput()


@contextmanager
def spark_session(
    application: str,
    master: str = "local[*]",
    settings: Mapping[str, str] | None = None,
    *,
    log_file: Path | None = None,
    log_level: str = "OFF",
) -> Iterator[SparkSession]:
    """A session that is stopped at the end; one at a time in a process, since Spark would share it.

    The user's `settings` win over every default here. With `log_file`, Spark's warnings and whatever Java and
    its Python workers write to their error output are appended to that file, and an exception that leaves
    the block names it. Without it Spark is silent, unless `log_level` asks for its log on the terminal.
    """
    users = dict(settings or {})
    check_master(master)
    check_settings(users)
    ensure_java()
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark import SparkConf
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    level = "WARN" if log_file is not None and log_level == "OFF" else log_level
    _java_output.lead_to(log_file, shown=log_level != "OFF")
    if is_local(master):
        # Python workers must find what this process finds: the same interpreter, the same packages.
        os.environ["PYSPARK_PYTHON"] = sys.executable
        ensure_spark_home()
        # Spark would otherwise look for an address that other machines see.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    remove_stale_entries()
    chosen = _all_settings(master, users, level, _temporary_folder(master, users))
    own = {key: value for key, value in chosen.items() if key not in users}
    chosen |= {"spark.app.name": f"causeway {application}", "spark.master": master}
    chosen[OWN_SETTINGS] = json.dumps(own)
    try:
        started = _java_output.launch(SparkConf().setAll(list(chosen.items())))
        builder = SparkSession.builder
        for key, value in chosen.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        if not started:
            spark.sparkContext.setLogLevel(level)
        # Settings under spark.sql are looked at on first use; a bad one must be reported now.
        spark.conf.get("spark.sql.session.timeZone")
    except (PySparkException, Py4JError, OSError, RuntimeError) as failure:
        with_settings = "".join(f", {key}={value}" for key, value in users.items())
        message = f"Spark did not start with master {master}{with_settings}: {explain(failure)}"
        if "JAVA_GATEWAY_EXITED" in str(failure):
            message += f"\n{_java_output.last_words()}"
        raise UserError(message) from failure
    try:
        if not is_local(master):
            check_workers(spark)
        yield spark
    except CausewayError:
        raise
    except Exception as failure:
        if log_file is not None and str(log_file) not in str(failure):
            failure.add_note(f"Spark's log is {log_file}")
        raise
    finally:
        spark.stop()


def _temporary_folder(master: str, users: Mapping[str, str]) -> Path | None:
    """A folder for Spark's temporary files, removed even if Spark is killed; `None`: Spark's choice.

    A cluster's workers have folders of their own, and the user's choice stands.
    """
    if not is_local(master) or "spark.local.dir" in users or os.environ.get("SPARK_LOCAL_DIRS"):
        return None
    return process_folder("spark")


def _all_settings(
    master: str, users: Mapping[str, str], log_level: str, temporary: Path | None = None
) -> dict[str, str]:
    log = Path(__file__).with_name("log4j2.properties").as_uri()
    chosen = dict(_EVERYWHERE)
    if is_local(master):
        chosen |= _EMBEDDED
        chosen["spark.sql.shuffle.partitions"] = str(max(2, local_cores()))
    if temporary is not None:
        chosen["spark.local.dir"] = str(temporary)
    chosen |= users
    users_java = " ".join(users.get(name, "") for name in (_JAVA_OPTIONS, "spark.driver.extraJavaOptions"))
    options = [_ARROW_UNCHECKED, f"-Dlog4j2.configurationFile={log}", f"-Dcauseway.log.level={log_level}"]
    # Java refuses to start with two collectors.
    if is_local(master) and not _ANY_COLLECTOR.search(users_java):
        options.insert(0, _COLLECTOR)
    # Java keeps the libraries that it unpacks there, and leaves them when it is killed.
    if temporary is not None and " " not in str(temporary) and len(str(temporary)) <= _LONGEST_TEMPORARY_PATH:
        options.append(f"-Djava.io.tmpdir={temporary}")
    chosen[_JAVA_OPTIONS] = " ".join([*options, users.get(_JAVA_OPTIONS, "")]).rstrip()
    chosen[_EXECUTOR_JAVA_OPTIONS] = f"{_ARROW_UNCHECKED} {users.get(_EXECUTOR_JAVA_OPTIONS, '')}".rstrip()
    return chosen
