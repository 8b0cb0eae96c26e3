"""One connection for the tests of a module, over the tests' own Spark."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

import pytest

import causeway
from causeway.streaming_tables.engine import background
from causeway.streaming_tables.engine.connection import Connection

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NAMES = count()


@pytest.fixture(scope="session", autouse=True)
def _compartments_fall_when_a_test_says_so() -> Iterator[None]:
    """Tests ask continuous queries that no connection knows of, and so does not keep rows for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(background, "_UPKEEP_SECONDS", 3600.0)
        yield


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Iterator[Connection]:
    with causeway.connect(tmp_path_factory.mktemp("warehouse") / "w", spark=spark) as connection:
        yield connection


@pytest.fixture
def name() -> str:
    """A name that no other test has."""
    return f"t{next(_NAMES)}"
