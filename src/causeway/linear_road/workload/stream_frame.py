"""A workload's tuples as a DataFrame."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from causeway.linear_road.model.tuples import INPUT_DDL
from causeway.linear_road.workload.workload import Workload

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["literal_path", "read_stream"]


def literal_path(path: Path) -> str:
    """A path for Spark to read, which takes it for a pattern: brackets and the like are escaped."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", str(path.resolve()))


def read_stream(spark: SparkSession, workload: Workload, *, tolerant: bool = False) -> DataFrame:
    """The tuples of all parts, in no particular order.

    A field of a CSV part that is no integer fails the job, or is null where `tolerant`.
    """
    paths = [literal_path(part) for part in workload.parts]
    if workload.format == "csv":
        return spark.read.csv(paths, schema=INPUT_DDL, mode="PERMISSIVE" if tolerant else "FAILFAST")
    return spark.read.schema(INPUT_DDL).parquet(*paths)
