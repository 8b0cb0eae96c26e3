from __future__ import annotations

import socket

import pytest

from causeway.runtime.errors import UserError
from causeway.spark import session


def test_settings_are_read() -> None:
    given = ["spark.a=1", " spark.b = x=y ", "spark.driver.memory=800m", "spark.a=2"]
    assert session.parse_settings(given) == {"spark.a": "2", "spark.b": "x=y", "spark.driver.memory": "800m"}


@pytest.mark.parametrize(
    "pair",
    ["spark.driver.memory", "=8g", "driver.memory=8g", "spark.driver.memory=lots", "spark.executor.memory="],
)
def test_what_is_no_setting_is_told(pair: str) -> None:
    with pytest.raises(UserError, match="--conf"):
        session.parse_settings([pair])


def test_the_users_collector_is_the_only_one() -> None:
    options = "spark.driver.defaultJavaOptions"
    assert "-XX:+UseParallelGC" in session._all_settings("local[2]", {}, "OFF")[options]
    assert "-XX:+UseParallelGC" not in session._all_settings("spark://host:7077", {}, "OFF")[options]
    for name in (options, "spark.driver.extraJavaOptions"):
        chosen = session._all_settings("local[2]", {name: "-Dx=1 -XX:+UseG1GC"}, "OFF")
        assert "-XX:+UseParallelGC" not in chosen[options]
        assert chosen[name].endswith("-Dx=1 -XX:+UseG1GC")


@pytest.mark.parametrize(
    "master",
    ["local", "local[*]", "local[2]", "local[4, 2]", "local-cluster[2,1,1024]", "k8s://https://host:443"],
)
def test_masters_of_spark_are_taken(master: str) -> None:
    session.check_master(master)


@pytest.mark.parametrize("master", ["", "nonsense", "local[0]", "local[", "spark://host", "sc://host:15002"])
def test_other_masters_are_refused(master: str) -> None:
    with pytest.raises(UserError, match="expected local"):
        session.check_master(master)


def test_a_standalone_master_must_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        session.check_master(f"spark://nowhere.invalid:1,127.0.0.1:{port}")
    with pytest.raises(UserError, match=f"no Spark master answers at 127.0.0.1:{port}"):
        session.check_master(f"spark://127.0.0.1:{port}")


def test_yarn_needs_its_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    with pytest.raises(UserError, match="HADOOP_CONF_DIR"):
        session.check_master("yarn")


def test_the_user_has_the_last_word() -> None:
    given = {"spark.sql.shuffle.partitions": "7", "spark.driver.defaultJavaOptions": "-Dmine=1"}
    chosen = session._all_settings("local[2]", given, "OFF")
    assert chosen["spark.sql.shuffle.partitions"] == "7"
    assert chosen["spark.driver.defaultJavaOptions"].endswith("-Dcauseway.log.level=OFF -Dmine=1")
    assert "spark.driver.extraJavaOptions" not in chosen


def test_a_cluster_is_left_with_its_own_memory_and_addresses() -> None:
    chosen = session._all_settings("spark://host:7077", {}, "OFF")
    assert not chosen.keys() & {"spark.driver.memory", "spark.driver.host", "spark.sql.shuffle.partitions"}


@pytest.mark.parametrize(
    ("trace", "told"),
    [
        ("[JAVA_GATEWAY_EXITED] Java gateway process exited", "its Java ended at once, for the reason above"),
        (
            "An error occurred while calling o1.x.\n: org.apache.spark.SparkException: Aborted\n\tat a.b(C)\n"
            'Caused by: java.lang.NumberFormatException: For input string: "abc"\n\tat d.e(F)\n\t... 3 more',
            'NumberFormatException: For input string: "abc"',
        ),
        (
            ": org.apache.spark.SparkException: Job aborted: Traceback (most recent call last):\n"
            '  File "worker.py", line 1, in main\n    write()\nOSError: [Errno 28] No space left on device\n'
            "\n\tat org.apache.spark.X\nCaused by: org.apache.spark.PythonException: Y",
            "OSError: [Errno 28] No space left on device",
        ),
        ("plain words\nand more", "RuntimeError: plain words"),
        ("", "RuntimeError: no message"),
    ],
)
def test_a_stack_trace_is_told_in_a_line(trace: str, told: str) -> None:
    assert session.explain(RuntimeError(trace)) == told
