"""What the user hears if a cluster's workers cannot run this package."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from causeway import __version__
from causeway.runtime.errors import UserError
from causeway.spark.workers import WorkerPython, check_workers, refuse_unfit_workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FIT = WorkerPython("one", "/usr/bin/python3", __version__, "")


def test_workers_with_this_version_are_taken(spark: SparkSession) -> None:
    check_workers(spark)
    refuse_unfit_workers([_FIT, _FIT])


def test_a_worker_without_the_package_is_named_with_what_to_do() -> None:
    missing = WorkerPython("two", "/usr/bin/python3", "", "No module named 'causeway'")
    with pytest.raises(UserError) as refused:
        refuse_unfit_workers([_FIT, missing])
    message = str(refused.value)
    assert "/usr/bin/python3 on the worker two cannot import causeway (No module named 'causeway')" in message
    for advice in ("Install causeway", "PYSPARK_PYTHON", "spark.archives", "docs/cluster.md"):
        assert advice in message


def test_a_worker_with_another_version_is_named() -> None:
    with pytest.raises(UserError, match=rf"has causeway 0\.0\.1, not {__version__}"):
        refuse_unfit_workers([_FIT, WorkerPython("two", "/usr/bin/python3", "0.0.1", "")])


class _Stuck:
    """A cluster that never gives an executor."""

    defaultParallelism = 2  # noqa: N815
    master = "spark://host:7077"

    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self.sparkContext = self

    def parallelize(self, *_: Any) -> _Stuck:
        return self

    def mapPartitions(self, _: Any) -> _Stuck:  # noqa: N802
        return self

    def collect(self) -> list[Any]:
        self.cancelled.wait(60)
        return []

    def cancelAllJobs(self) -> None:  # noqa: N802
        self.cancelled.set()


def test_a_cluster_without_free_workers_is_not_waited_for_in_silence() -> None:
    stuck = _Stuck()
    with pytest.raises(UserError, match="gave no executor within 0 s"):
        check_workers(stuck, patience=0.01)  # type: ignore[arg-type]
    assert stuck.cancelled.is_set()
