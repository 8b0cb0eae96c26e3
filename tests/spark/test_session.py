from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.quick_spark import QUICK_JAVA

from causeway.spark import session


def test_the_users_collector_is_the_only_one() -> None:
    options = "spark.driver.defaultJavaOptions"
    assert "-XX:+UseParallelGC" in session._all_settings("local[2]", {}, "OFF")[options]
    assert "-XX:+UseParallelGC" not in session._all_settings("spark://host:7077", {}, "OFF")[options]
    for name in (options, "spark.driver.extraJavaOptions"):
        chosen = session._all_settings("local[2]", {name: "-Dx=1 -XX:+UseG1GC"}, "OFF")
        assert "-XX:+UseParallelGC" not in chosen[options]
        assert chosen[name].endswith("-Dx=1 -XX:+UseG1GC")


def test_the_user_has_the_last_word() -> None:
    given = {"spark.sql.shuffle.partitions": "7", "spark.driver.defaultJavaOptions": "-Dmine=1"}
    chosen = session._all_settings("local[2]", given, "OFF")
    assert chosen["spark.sql.shuffle.partitions"] == "7"
    assert chosen["spark.driver.defaultJavaOptions"].endswith("-Dcauseway.log.level=OFF -Dmine=1")
    assert "spark.driver.extraJavaOptions" not in chosen


def test_sparks_temporary_files_are_in_a_folder_of_this_process(tmp_path: Path) -> None:
    assert session._temporary_folder("spark://host:7077", {}) is None
    assert session._temporary_folder("local[2]", {"spark.local.dir": str(tmp_path)}) is None
    folder = session._temporary_folder("local[2]", {})
    assert folder is not None and folder.is_dir()
    chosen = session._all_settings("local[2]", {}, "OFF", folder)
    assert chosen["spark.local.dir"] == str(folder)
    assert f"-Djava.io.tmpdir={folder}" in chosen["spark.driver.defaultJavaOptions"]


def test_a_cluster_is_left_with_its_own_memory_and_addresses() -> None:
    chosen = session._all_settings("spark://host:7077", {}, "OFF")
    assert not chosen.keys() & {"spark.driver.memory", "spark.driver.host", "spark.sql.shuffle.partitions"}


_TWO_SESSIONS = """
import sys
from pathlib import Path
from causeway.runtime.errors import UserError
from causeway.spark.errors import explain
from causeway.spark.session import spark_session

def fail(batches):
    print("a worker's words", file=sys.stderr, flush=True)
    raise ValueError("the worker failed")

def work(spark):
    spark.range(2).mapInArrow(fail, "id BIGINT").collect()

settings = {"spark.driver.memory": "1g", "spark.driver.extraJavaOptions": sys.argv[1]}
for number, log in enumerate([Path("first.log"), None, Path("folder/third.log")]):
    try:
        with spark_session("test", "local[1]", settings, log_file=log) as spark:
            print(Path(spark.conf.get("spark.local.dir")), flush=True)
            work(spark)
    except Exception as failure:
        print(explain(failure), flush=True)
"""


@pytest.mark.starts_spark
def test_a_log_file_has_sparks_warnings_and_the_workers_words(tmp_path: Path) -> None:
    """Each session of a process has its own log; without one nothing is written anywhere."""
    ran = subprocess.run(
        [sys.executable, "-c", _TWO_SESSIONS, QUICK_JAVA],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    local, first, _, second, _, third = ran.stdout.splitlines()
    assert first == "ValueError: the worker failed; Spark's log is first.log"
    assert second == "ValueError: the worker failed"
    assert third == "ValueError: the worker failed; Spark's log is folder/third.log"
    for log in ("first.log", "folder/third.log"):
        text = (tmp_path / log).read_text()
        assert text.count("a worker's words") == 1, text
        assert "ERROR TaskSetManager" in text or "WARN TaskSetManager" in text
    assert not Path(local).exists()


def test_java_that_does_not_start_is_reported_with_its_words(tmp_path: Path) -> None:
    program = (
        "from causeway.spark.session import spark_session\n"
        "with spark_session('test', 'local[1]', {'spark.driver.extraJavaOptions': '-Xms64g'}): pass"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=180, check=False
    )
    message = ran.stderr.rpartition("UserError: ")[2]
    assert message.startswith(
        "Spark did not start with master local[1], spark.driver.extraJavaOptions=-Xms64g: "
        "its Java ended at once"
    )
    assert "larger value than the maximum heap size" in message
