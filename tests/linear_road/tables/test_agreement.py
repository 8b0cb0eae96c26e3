"""Linear Road in SQL gives the answers of the columnar engine, to the letter, however it is broken off."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.command_process import CommandProcess
from tests.linear_road.pipeline.conftest import Asked
from tests.linear_road.pipeline.random_workload import answers_of

from causeway import linear_road
from causeway.linear_road.report.city import read_city

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def run(asked: Asked, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tables") / "run"
    linear_road.run(asked.workload, out, speed="max", engine="tables", spark=spark)
    return out


def test_the_answers_are_the_literal_readings(asked: Asked, run: Path) -> None:
    found = answers_of(run)
    assert found - asked.expected == Counter()
    assert asked.expected - found == Counter()
    assert not (run / "spool").exists()


def test_the_page_shows_the_city(run: Path) -> None:
    notes: list[str] = []
    city = read_city(run, notes)
    assert city is not None
    assert notes == []
    rows = _segments(run)
    assert int(city.cars.sum()) == sum(row[4] for row in rows) > 0
    assert "No minute of traffic" not in (run / "report.html").read_text()


@pytest.mark.slow
def test_the_segments_are_those_of_the_columnar_engine(run: Path, answered: Path) -> None:
    found, expected = _segments(run), _segments(answered)
    # The columnar engine does not write the minute that is not over at the end.
    last = max(row[0] for row in expected)
    assert {row for row in found if row[0] <= last} == expected


def _segments(folder: Path) -> set[tuple[int, ...]]:
    rows = pa.concat_tables([pq.read_table(path) for path in (folder / "segments").glob("*.parquet")])
    return set(zip(*(column.to_pylist() for column in rows.columns), strict=True))


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on(asked: Asked, tmp_path: Path) -> None:
    folder = tmp_path / "run"

    def batches() -> int:
        return len(list((folder / "batches").glob("batch-*.json")))

    real_time = ("--engine", "tables", "--speed", 10, "--from-minute", 4)
    for number in range(5):
        options = ("--resume",) if number else real_time
        command = ("linear-road", "run", asked.workload.folder, "--out", folder, "--master", "local[2]")
        with CommandProcess(folder, *command, *options) as attempt:
            before = batches()
            if number == 0:
                attempt.wait_for((folder / "warehouse" / "inserts").exists)
            elif number == 4:
                assert attempt.end() == 0, attempt.output
                break
            else:
                attempt.wait_for(lambda before=before: batches() > before)  # type: ignore[misc]
            attempt.kill(0.5 * number)
    facts = json.loads((folder / "run.json").read_text())
    assert (facts["state"], facts["attempts"], facts["engine"]) == ("finished", 5, "tables")
    assert facts["counts"]["tuples"] == asked.tuples
    found = answers_of(folder)
    assert found - asked.expected == Counter()
    assert asked.expected - found == Counter()
