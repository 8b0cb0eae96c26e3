"""A random workload, and a run of it that nobody broke off."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.linear_road.pipeline.random_workload import Answer, expected_of, make_random_workload

from causeway.linear_road.run import RunSettings, begin_run, run
from causeway.linear_road.workload import Workload

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Answered:
    """A workload, what the literal reading expects, and where a run's answers are."""

    workload: Workload
    expected: Counter[Answer]
    run: Path


@pytest.fixture(scope="session")
def random_workload(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workload, Counter[Answer]]:
    workload, streams = make_random_workload(tmp_path_factory.mktemp("random") / "workload")
    return workload, expected_of(streams)


@pytest.fixture(scope="session")
def answered(
    random_workload: tuple[Workload, Counter[Answer]],
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
) -> Answered:
    workload, expected = random_workload
    out = tmp_path_factory.mktemp("answered") / "run"
    settings = begin_run(workload, out, RunSettings(speed=None), resume=False)
    before = dict(spark.conf.getAll)
    try:
        run(spark, workload, out, settings)
    finally:
        for key in set(spark.conf.getAll) - set(before):
            spark.conf.unset(key)
        for key in ("spark.sql.shuffle.partitions", "spark.sql.streaming.noDataMicroBatches.enabled"):
            spark.conf.set(key, before[key])
    return Answered(workload, expected, out)
