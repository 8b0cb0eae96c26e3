"""What tests of several modules share: one Spark session a process, and how tests are dealt to processes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import settings
from tests.browser import Browser, open_browser
from tests.quick_spark import QUICK_SPARK

from causeway.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A first call may compile a kernel or start a job; how long that takes is for benchmarks to say.
settings.register_profile("causeway", deadline=None)
settings.load_profile("causeway")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the files that take longest go first.

    `make test` deals whole files to its processes in this order, so that a module's fixtures are made once.
    The short ones, which come last, even out what the processes have to do.
    """
    ranks: dict[str, int] = {}
    for item in items:
        ranks[_file(item)] = min(_rank(item), ranks.get(_file(item), _rank(item)))
    items.sort(key=lambda item: ranks[_file(item)])


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def _rank(item: pytest.Item) -> int:
    """0 for a test that starts a Spark of its own, 1 for one on the tests' own Spark, 2 for the others."""
    if item.get_closest_marker("starts_spark"):
        return 0
    return 1 if "spark" in getattr(item, "fixturenames", ()) else 2


_SETTINGS: Final = {
    **QUICK_SPARK,
    "spark.driver.memory": "2g",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}


@pytest.fixture(autouse=True)
def _logging_is_on() -> Iterator[None]:
    """Turn logging on again: a command line turns it off for its whole process, which later tests share."""
    logging.disable(logging.NOTSET)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    # Tables of a run that was killed would otherwise be in the way of the next one.
    warehouse = {"spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("spark-warehouse"))}
    with spark_session("tests", master="local[2]", settings=_SETTINGS | warehouse) as session:
        yield session


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser
