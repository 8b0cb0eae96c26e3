"""Python on a cluster's workers: it must have this package, in this version."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from causeway import __version__
from causeway.runtime.errors import UserError
from causeway.spark.errors import explain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["WorkerPython", "check_workers", "refuse_unfit_workers"]

_PATIENCE: Final = 300.0
"""Seconds for a cluster to give the first executor."""
_ADVICE: Final = (
    f"Install causeway {__version__} for the Python of every worker, and name that Python in the environment "
    "variable PYSPARK_PYTHON or the setting spark.pyspark.python; or send a packed environment with "
    "the setting spark.archives. docs/cluster.md shows both."
)


class WorkerPython(NamedTuple):
    """What a worker's Python says of itself."""

    host: str
    executable: str
    version: str
    """The version of causeway; empty if it cannot be imported."""
    error: str


def check_workers(spark: SparkSession, patience: float = _PATIENCE) -> None:
    """Raise a UserError that says what to do if the workers cannot run this package's code."""

    def look(_: object) -> list[tuple[str, str, str, str]]:
        # Sent by value, since the module that it stands in may not be there.
        import socket
        import sys

        try:
            import causeway
        except ImportError as missing:
            return [(socket.gethostname(), sys.executable, "", str(missing))]
        return [(socket.gethostname(), sys.executable, causeway.__version__, "")]

    context = spark.sparkContext
    found: list[WorkerPython] = []
    failures: list[Exception] = []

    def ask() -> None:
        try:
            tasks = max(2, context.defaultParallelism)
            answers = context.parallelize(range(tasks), tasks).mapPartitions(look).collect()
            found.extend(WorkerPython(*answer) for answer in answers)
        except Exception as failure:
            failures.append(failure)

    # Spark would wait for ever, in silence, for a cluster that has nothing to give.
    question = threading.Thread(target=ask, name="worker check", daemon=True)
    question.start()
    question.join(patience)
    if question.is_alive():
        context.cancelAllJobs()
        raise UserError(
            f"master {context.master} gave no executor within {patience:.0f} s: it has no worker with enough "
            "free cores and memory (see the settings spark.executor.cores, spark.executor.memory and "
            "spark.cores.max), or its workers cannot reach this machine (see spark.driver.host)"
        )
    if failures:
        reason = explain(failures[0])
        raise UserError(f"the workers' Python does not work: {reason}. {_ADVICE}") from failures[0]
    refuse_unfit_workers(found)


def refuse_unfit_workers(workers: Iterable[WorkerPython]) -> None:
    """Raise a UserError for the first worker without this version of the package."""
    for worker in sorted(set(workers)):
        python = f"{worker.executable} on the worker {worker.host}"
        if worker.error:
            raise UserError(f"{python} cannot import causeway ({worker.error}). {_ADVICE}")
        if worker.version != __version__:
            raise UserError(f"{python} has causeway {worker.version}, not {__version__}. {_ADVICE}")
