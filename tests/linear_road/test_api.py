"""Linear Road as a library: typed results, no output, no words of the command line."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.linear_road.made_traffic import balance_request, crowd, report
from tests.linear_road.validation.made_workload import write_workload

from causeway import linear_road
from causeway.linear_road import api
from causeway.linear_road.driver.spool import spool_files
from causeway.runtime import progress
from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGE = Path(linear_road.__file__).parents[1]
TUPLES = [*crowd(1, 51), report(60), report(90, seg=51), balance_request(100)]


def test_what_a_notebook_does(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Commands that other tests run in this process show their progress.
    monkeypatch.setattr(progress, "_shown", False)
    workload = replace(write_workload(tmp_path / "workload", TUPLES), minutes=2)
    workload.save()
    capfd.readouterr()

    delivery = linear_road.drive(workload, tmp_path / "spool", speed=1000)
    assert (delivery.tuples, delivery.last_second) == (len(TUPLES), 100)
    assert spool_files(tmp_path / "spool")

    run = linear_road.run(str(workload.folder), tmp_path / "run", speed="max", spark=spark)
    lines = run.answers_file.read_text().splitlines()
    assert run.tuples == len(TUPLES)
    assert sum(run.answers.values()) == len(lines)
    assert run.answers["toll notification"] == Counter(line[0] for line in lines)["0"]
    assert run.answers["account balance"] == 1
    assert run.kept_promise is None
    assert run.report.exists() and run.log.exists()

    result = linear_road.validate(workload, run.folder, spark=spark)
    assert result.passed and result.validation.passed
    assert result.file == run.folder / "validation.json"
    assert result.report == run.folder / "report.html"
    with pytest.raises(UserError, match="not both"):
        linear_road.validate(workload, run.folder, only_xways=[0], sample=1, spark=spark)
    assert capfd.readouterr() == ("", "")


def test_the_package_offers_the_functions_of_the_api() -> None:
    assert set(linear_road.__all__) == set(api.__all__) <= set(dir(linear_road))
    for name in linear_road.__all__:
        assert getattr(linear_road, name) is getattr(api, name)
        assert inspect.getdoc(getattr(api, name)), f"{name} has no docstring"
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = linear_road.nonsense


def test_importing_it_imports_no_spark() -> None:
    program = (
        "import sys\n"
        "from causeway import linear_road\n"
        "linear_road.generate, linear_road.run, linear_road.rate\n"
        "assert not {'pyspark', 'pandas'} & set(sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("room", ["linear_road", "runtime", "spark", "streaming"])
def test_no_error_of_the_library_names_an_option_of_the_command_line(room: str) -> None:
    found = []
    for file in sorted((PACKAGE / room).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and node.exc is not None:
                texts = [part.value for part in ast.walk(node.exc) if isinstance(part, ast.Constant)]
                found += [
                    f"{file.name}:{node.lineno} {text!r}"
                    for text in texts
                    if isinstance(text, str) and re.search(r"(^|\W)--[a-z]", text)
                ]
    assert found == []
