"""What tests of several modules share: one Spark session a process, and how tests are dealt to processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from tests.browser import Browser, open_browser

from causeway.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# A first call may compile a kernel or start a job; how long that takes is for benchmarks to say.
settings.register_profile("causeway", deadline=None)
settings.load_profile("causeway")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a file in one process, and let files that start Spark go first.

    A module's fixtures are then made once. `make test` deals groups of tests to its processes in this order,
    so the short ones, which come last, even out what the processes have to do.
    """
    for item in items:
        if not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    groups_with_spark = {_group(item) for item in items if _uses_spark(item)}
    items.sort(key=lambda item: _group(item) not in groups_with_spark)


def _group(item: pytest.Item) -> str:
    marker = item.get_closest_marker("xdist_group")
    assert marker is not None
    return str(marker.args[0] if marker.args else marker.kwargs["name"])


def _uses_spark(item: pytest.Item) -> bool:
    return "spark" in getattr(item, "fixturenames", ()) or item.get_closest_marker("starts_spark") is not None


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    settings = {
        "spark.driver.memory": "2g",
        # Small jobs, each but once: Java's thorough compiler would take longer than it saves.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }
    with spark_session("tests", master="local[2]", settings=settings) as session:
        yield session


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser
