"""TollHistory and SegmentHistory of a workload, as the judge reads them: only what is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from causeway.linear_road.workload.stream_frame import literal_path
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError
from causeway.runtime.process_folder import temporary_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["require_history", "segment_history_files", "tolls_of_days"]

_TOLL_DDL = "VID INT, Day INT, XWay INT, Tolls INT"
_SEGMENT_DDL = "Day INT, Min INT, XWay INT, Dir INT, Seg INT, Lav INT, Cnt INT, Toll INT"
# So many (vehicle, day, expressway) fit into every task's memory; beyond, both sides are moved.
_BROADCAST_REQUESTS = 1_000_000

_TOLLS = """
SELECT VID, Day, XWay, CAST(sum(Tolls) AS BIGINT) AS Tolls
FROM {history} LEFT SEMI JOIN {requested} USING (VID, Day, XWay)
GROUP BY VID, Day, XWay
"""


def require_history(workload: Workload) -> None:
    """Refuse a workload without history: its requests have no right answers."""
    for table in ("toll_history", "segment_history"):
        if not _flat_file(workload, table).is_file() and not _parts(workload, table, "*"):
            raise UserError(
                f"{workload.folder}: requests ask for history, and there is no {table}; make it with "
                f"`causeway linear-road history {workload.folder}`, the seed being that of the run's"
            )


def tolls_of_days(
    spark: SparkSession, workload: Workload, requested: DataFrame, requests: Mapping[int, int]
) -> DataFrame:
    """The rows of TollHistory for the (VID, Day, XWay) of `requested`; `requests` counts by expressway."""
    flat = _flat_file(workload, "toll_history")
    if requests and flat.is_file():
        history = spark.read.schema(_TOLL_DDL).csv(literal_path(flat))
    else:
        files = [file for xway in requests for file in _parts(workload, "toll_history", f"{xway:05d}")]
        if not files:
            return spark.createDataFrame([], "VID INT, Day INT, XWay INT, Tolls BIGINT")
        history = spark.read.schema(_TOLL_DDL).parquet(*map(literal_path, files))
    requested = requested.select("VID", "Day", "XWay").distinct()
    if sum(requests.values()) <= _BROADCAST_REQUESTS:
        requested = requested.hint("broadcast")
    return spark.sql(_TOLLS, history=history, requested=requested)


@contextmanager
def segment_history_files(
    spark: SparkSession, workload: Workload, xways: Sequence[int]
) -> Iterator[dict[int, list[str]]]:
    """Parquet files with the SegmentHistory of each expressway, by its number.

    A history in the flat file is written as Parquet for as long as the block lasts, once for all expressways.
    """
    flat = _flat_file(workload, "segment_history")
    if not flat.is_file():
        yield {
            xway: [str(file.resolve()) for file in _parts(workload, "segment_history", f"{xway:05d}")]
            for xway in xways
        }
        return
    # In the workload's own folder, which every worker of a cluster sees.
    with temporary_folder(workload.folder.resolve(), ".validation-") as scratch:
        folder = scratch / "segment_history"
        wanted = ", ".join(map(str, xways)) or "NULL"
        rows = spark.read.schema(_SEGMENT_DDL).csv(literal_path(flat)).where(f"XWay IN ({wanted})")
        rows.write.mode("overwrite").partitionBy("XWay").parquet(str(folder))
        yield {xway: [str(file) for file in sorted(folder.glob(f"XWay={xway}/*.parquet"))] for xway in xways}


def _flat_file(workload: Workload, table: str) -> Path:
    return (
        workload.history / {"toll_history": "TollHistory.csv", "segment_history": "SegmentHistory.csv"}[table]
    )


def _parts(workload: Workload, table: str, xway: str) -> list[Path]:
    return sorted((workload.history / table).glob(f"xway-{xway}-*.parquet"))
