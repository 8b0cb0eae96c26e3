"""How fast the history of one expressway is made, against the floor: Spark writing rows of the same keys.

    python benchmarks/linear_road_history.py [--vehicles 150000] [--expressways 1] [--format parquet]

The floor counts up the same number of rows in the same order, its keys by division and its measures by one
remainder each, and writes them as Spark's own writer does. It reads no stream.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from causeway.linear_road.history.generate import generate_history
from causeway.linear_road.model.calendar import HISTORY_DAYS, MINUTES_PER_DAY
from causeway.linear_road.model.expressway import SEGMENTS
from causeway.linear_road.model.tuples import INPUT_COLUMNS, INPUT_SCHEMA
from causeway.linear_road.workload.workload import Workload
from causeway.spark.session import spark_session


def synthetic_workload(folder: Path, vehicles: int, expressways: int) -> Workload:
    """One position report for each vehicle, a part for each expressway, in no order of VID."""
    (folder / "stream").mkdir(parents=True)
    shuffled = np.random.default_rng(1)
    for xway in range(expressways):
        columns = {name: np.zeros(vehicles, np.int32) for name in INPUT_COLUMNS}
        columns["VID"] = shuffled.permutation(vehicles).astype(np.int32) + xway * vehicles
        columns["XWay"] += xway
        part = folder / "stream" / f"part-{xway:05d}.parquet"
        pq.write_table(pa.table(columns, schema=INPUT_SCHEMA), part)
    workload = Workload(folder, "generated", "parquet", expressways, minutes=180, seed=1)
    workload.save()
    return workload


def floor_tables(spark: SparkSession, vehicles: int, expressways: int) -> list[DataFrame]:
    """The two tables' row counts and columns, with nothing worked out."""
    per_day = MINUTES_PER_DAY * 2 * SEGMENTS
    tolls = spark.range(0, expressways * vehicles * HISTORY_DAYS, 1, 4 * expressways).selectExpr(
        f"CAST(id div {HISTORY_DAYS} AS INT) AS VID",
        f"CAST(1 + id % {HISTORY_DAYS} AS INT) AS Day",
        f"CAST(id div {vehicles * HISTORY_DAYS} AS INT) AS XWay",
        "CAST(id % 4001 AS INT) AS Tolls",
    )
    segments = spark.range(0, expressways * HISTORY_DAYS * per_day, 1, 10 * expressways).selectExpr(
        f"CAST(1 + id div {per_day} % {HISTORY_DAYS} AS INT) AS Day",
        f"CAST(1 + id % {per_day} div {2 * SEGMENTS} AS INT) AS Min",
        f"CAST(id div {HISTORY_DAYS * per_day} AS INT) AS XWay",
        f"CAST(id div {SEGMENTS} % 2 AS INT) AS Dir",
        f"CAST(id % {SEGMENTS} AS INT) AS Seg",
        "CAST(id % 59 AS INT) AS Lav",
        "CAST(id % 251 AS INT) AS Cnt",
        "CAST(id % 127 AS INT) AS Toll",
    )
    return [tolls, segments]


def main() -> None:
    """Print one line for the floor and one for the history."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--vehicles", type=int, default=150_000, help="for each expressway")
    arguments.add_argument("--expressways", type=int, default=1)
    arguments.add_argument("--format", choices=["parquet", "csv"], default="parquet")
    arguments.add_argument("--repeat", type=int, default=2, help="the best of so many runs counts")
    given = arguments.parse_args()
    rows = given.expressways * HISTORY_DAYS * (given.vehicles + MINUTES_PER_DAY * 2 * SEGMENTS)
    with (
        tempfile.TemporaryDirectory(prefix="causeway-history-") as scratch,
        spark_session("history benchmark") as spark,
    ):
        folder = Path(scratch)
        workload = synthetic_workload(folder / "workload", given.vehicles, given.expressways)
        seconds: dict[str, list[float]] = {"floor": [], "history": []}
        for _ in range(given.repeat):
            started = time.monotonic()
            for number, table in enumerate(floor_tables(spark, given.vehicles, given.expressways)):
                writer = table.write.format(given.format)
                writer.save(str(folder / "floor" / str(number)))
            seconds["floor"].append(time.monotonic() - started)
            shutil.rmtree(folder / "floor")
            counts = generate_history(spark, workload, output_format=given.format)
            seconds["history"].append(counts.seconds)
            assert counts.toll_history + counts.segment_history == rows
        size = sum(file.stat().st_size for file in workload.history.rglob("*") if file.is_file())
    best = {name: min(runs) for name, runs in seconds.items()}
    print(f"{rows:,} rows as {given.format}, {size / 1e6:,.0f} MB, best of {given.repeat}")
    print(f"{'':8}  {'seconds':>8}  {'rows/s':>12}  {'to floor':>8}")
    for name, taken in best.items():
        print(f"{name:8}  {taken:8.1f}  {rows / taken:12,.0f}  {taken / best['floor']:8.2f}")


if __name__ == "__main__":
    main()
