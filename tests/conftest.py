"""What tests of several modules share: one Spark session, since starting one takes seconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from causeway.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# A first call may compile a kernel or start a job; how long that takes is for benchmarks to say.
settings.register_profile("causeway", deadline=None)
settings.load_profile("causeway")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    settings = {
        "spark.driver.memory": "2g",
        # Small jobs, each but once: Java's thorough compiler would take longer than it saves.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }
    with spark_session("tests", master="local[2]", settings=settings) as session:
        yield session
