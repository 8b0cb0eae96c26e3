"""Work that is a number of separate calls, each run as a Spark task."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["run_tasks"]

_Result = TypeVar("_Result")


def run_tasks(
    spark: SparkSession, count: int, task: Callable[[int], _Result], *, partitions: int | None = None
) -> list[_Result]:
    """Call `task` with 0 to count - 1 on Spark's workers; returns the results in that order.

    Each call is a Spark task of its own, or shares one of `partitions` with others. A UserError or OSError of
    a call is raised here as a UserError with its words; Spark would retry it, and make a stack trace of it.
    """
    if count == 0:
        return []

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pickle

        for batch in batches:
            for number in batch.column(0).to_pylist():
                result, error = b"", ""
                try:
                    result = pickle.dumps(task(number))
                except (UserError, OSError) as failure:
                    error = str(failure) or type(failure).__name__
                yield pa.RecordBatch.from_pydict({"number": [number], "result": [result], "error": [error]})

    import pickle

    numbers = spark.range(0, count, 1, min(count, partitions or count))
    rows = numbers.mapInArrow(run, "number long, result binary, error string").collect()
    rows.sort(key=lambda row: int(row["number"]))
    for row in rows:
        if row["error"]:
            raise UserError(row["error"])
    return [pickle.loads(row["result"]) for row in rows]
