"""A standalone cluster: workers without the package are refused, and a killed executor costs no answer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.command_process import CommandProcess
from tests.spark.standalone_cluster import standalone_cluster

pytestmark = pytest.mark.slow

_SMALL = ["--conf", "spark.executor.memory=600m", "--conf", "spark.driver.host=127.0.0.1"]
_WITHOUT = "raise ModuleNotFoundError(\"No module named 'causeway'\")\n"


@pytest.fixture(autouse=True)
def _workers_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.delenv("SPARK_HOME", raising=False)


def _causeway(*arguments: object) -> subprocess.CompletedProcess[str]:
    program = "from causeway.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env=os.environ | {"COLUMNS": "10000"},
    )


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (_WITHOUT, "cannot import causeway (No module named 'causeway')"),
        ('__version__ = "0.0.1"\n', "has causeway 0.0.1, not"),
    ],
)
def test_workers_without_the_package_are_refused(tmp_path: Path, module: str, message: str) -> None:
    package = tmp_path / "path" / "causeway"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(module)
    environment = {"PYTHONPATH": str(package.parent)}
    with standalone_cluster(tmp_path / "cluster", workers=1, environment=environment) as cluster:
        ran = _causeway(
            *("linear-road", "generate", "--out", tmp_path / "w", "--minutes", 1, "--master", cluster.master),
            *_SMALL,
        )
    assert ran.returncode == 2, ran.stderr
    assert message in ran.stderr
    assert "docs/cluster.md" in ran.stderr
    assert not (tmp_path / "w").exists()


def test_a_killed_executor_costs_no_answer(tmp_path: Path) -> None:
    workload, run = tmp_path / "w", tmp_path / "r"
    for command in (["generate", "--out", workload, "--minutes", 8], ["history", workload]):
        ran = _causeway("linear-road", *command, "--master", "local[2]", "--conf", "spark.driver.memory=1g")
        assert ran.returncode == 0, ran.stderr
    with standalone_cluster(tmp_path / "cluster") as cluster:
        command = ("linear-road", "run", workload, "--out", run, "--speed", 8, "--master", cluster.master)
        with CommandProcess(run, *command, *_SMALL) as process:
            process.wait_for(lambda: len(list((run / "batches").glob("batch-*.json"))) >= 3)
            victim, *others = cluster.executors()
            assert others, "both executors should be at work"
            os.kill(victim, signal.SIGKILL)
            assert process.end() in (0, 1), process.output  # 1: an answer was late, which a crash may cost
    judged = _causeway("linear-road", "validate", workload, run, "--conf", "spark.driver.memory=1g")
    assert judged.returncode in (0, 1), judged.stderr
    validation = json.loads((run / "validation.json").read_text())
    faults = ("missing", "extra", "doubled", "wrong")
    found = {kind["name"]: [kind[fault] for fault in faults] for kind in validation["types"]}
    assert found == {name: [0, 0, 0, 0] for name in found}, judged.stdout
    assert validation["types"][0]["expected"] > 100
