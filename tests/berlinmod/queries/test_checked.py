"""All 26 queries on random cities: both representations against each other and against a second way."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.berlinmod.queries.test_toy_city import TOY
from tests.berlinmod.random_city import random_city

from causeway import berlinmod

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from causeway.berlinmod.runner.results import RunResult

pytestmark = pytest.mark.slow


def _differences(run: RunResult) -> dict[tuple[str, str], tuple[str, ...]]:
    """Of a run with a check."""
    return {(one.query, one.representation): one.differences for one in run.queries if not one.passed}


def test_the_toy_city(spark: SparkSession, tmp_path: Path) -> None:
    run = berlinmod.run(TOY.write(tmp_path / "city"), tmp_path / "run", check=True, runs=1, spark=spark)
    assert _differences(run) == {}


@pytest.mark.parametrize("disturbed", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_random_cities(spark: SparkSession, tmp_path: Path, seed: int, disturbed: bool) -> None:
    city = random_city(seed, disturbed=disturbed)
    dataset = city.write(tmp_path / "city", 5, 2)
    run = berlinmod.run(dataset, tmp_path / "run", check=True, runs=1, spark=spark)
    assert _differences(run) == {}


def test_how_files_are_cut_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    from causeway.berlinmod.judge.compare import compare

    tables = []
    for k, cut in enumerate(((12, 12), (2, 1))):
        dataset = random_city(3).write(tmp_path / f"city-{k}", *cut)
        run = berlinmod.run(dataset, tmp_path / f"run-{k}", runs=1, spark=spark)
        # Without a check, the trip-based answers alone are compared: with the object-based ones.
        assert {one.query for one in run.queries if one.representation == "tba" and one.passed} == {
            f"q{number}" for number in range(1, 27)
        }
        tables.append({(one.query, one.representation): one.table() for one in run.queries})
    for key, table in tables[0].items():
        assert compare(key[0], tables[1][key], table).passed, key


@pytest.mark.parametrize("aggregate", ["min", "max"])
def test_other_aggregates(spark: SparkSession, tmp_path: Path, aggregate: str) -> None:
    dataset = random_city(4).write(tmp_path / "city", 5, 2)
    run = berlinmod.run(
        dataset, tmp_path / "run", queries="q25,q26", check=True, runs=1, aggregate=aggregate, spark=spark
    )
    assert _differences(run) == {}


def test_scale_0_005(spark: SparkSession, tmp_path: Path) -> None:
    """Minutes: the paper's texts compare all with all."""
    dataset = berlinmod.generate(tmp_path / "city", scale=0.005, spark=spark)
    run = berlinmod.run(dataset, tmp_path / "run", check=True, runs=1, spark=spark)
    assert _differences(run) == {}
