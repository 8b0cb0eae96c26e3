"""A random workload, and a run of it that nobody broke off."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from tests.linear_road.pipeline.random_workload import Answer, expected_of, make_random_workload

from causeway import linear_road
from causeway.linear_road.workload.workload import Workload

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Asked:
    """A workload, and the answers that the literal reading expects."""

    workload: Workload
    expected: Counter[Answer]

    @property
    def tuples(self) -> int:
        return sum(pq.read_metadata(part).num_rows for part in self.workload.parts)


@pytest.fixture(scope="session")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    workload, streams = make_random_workload(tmp_path_factory.mktemp("random") / "workload")
    return Asked(workload, expected_of(streams))


@pytest.fixture(scope="session")
def answered(asked: Asked, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that answered it."""
    out = tmp_path_factory.mktemp("answered") / "run"
    linear_road.run(asked.workload, out, speed="max", spark=spark)
    return out
