"""NEXMark as a library: typed results, nothing printed, and imports that do not wait for Spark."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from causeway import nexmark
from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_notebook_generates_and_runs(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    dataset = nexmark.generate(tmp_path / "events", events=3_000, rate=100, seed=4, spark=spark)
    assert isinstance(dataset, nexmark.Dataset)
    assert dict(dataset.counts) == {"person": 60, "auction": 180, "bid": 2_760}
    result = nexmark.run(
        str(tmp_path / "run"), source=tmp_path / "events", queries=["q2", "q3"], check=True, spark=spark
    )
    assert isinstance(result, nexmark.RunResult)
    assert [one.query for one in result.queries] == ["q2", "q3"]
    assert result.passed
    assert (result.model, result.rules, result.folder) == ("modern", "ours", tmp_path / "run")
    one = result["q3"]
    assert one.check == nexmark.Check(True, one.facts["check"]["rows"], 0, 0, ())
    assert (one.events, one.malformed, one.late, one.latency, one.resumed) == (240, 0, 0, None, False)
    assert list(one.answers.glob("batch-*.parquet"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.events = 0  # type: ignore[misc]
    assert capfd.readouterr() == ("", "")
    assert spark.range(3).count() == 3, "the session is the caller's, and stays"


def test_mistakes_are_reported_before_spark_starts(tmp_path: Path) -> None:
    def started(log: Path | None) -> Any:
        pytest.fail("Spark was to be started")

    (tmp_path / "mine").touch()
    for call, reason in (
        (lambda: nexmark.generate(tmp_path, open_session=started), "not empty"),
        (lambda: nexmark.generate(tmp_path / "new", rate=-1, open_session=started), "the rate is"),
        (lambda: nexmark.run(tmp_path, open_session=started), "not empty"),
        (lambda: nexmark.run(tmp_path / "new", queries="q5,q77", open_session=started), "no query 'q77'"),
    ):
        with pytest.raises(UserError, match=reason) as refused:
            call()
        assert "--" not in str(refused.value)
    assert not (tmp_path / "new").exists()


def test_importing_the_package_does_not_import_spark() -> None:
    program = (
        "import sys, causeway, causeway.nexmark as nexmark\n"
        "assert 'numpy' not in sys.modules and 'pyarrow' not in sys.modules\n"
        "assert callable(nexmark.run) and callable(nexmark.generate) and 'run' in dir(nexmark)\n"
        "assert 'pyspark' not in sys.modules\n"
        "try: nexmark.nothing\n"
        "except AttributeError: pass\n"
        "else: raise SystemExit('there is no such name')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
