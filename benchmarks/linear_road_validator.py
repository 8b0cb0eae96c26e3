"""How many input rows a second the validator judges, against the floor: Spark moving the same rows.

    python benchmarks/linear_road_validator.py [WORKLOAD ANSWERS] [--repeat 3]

ANSWERS is a run's folder, a flat file or a folder of Parquet; without both, those of `make run` are taken.
The floor reads all position reports and all answers to them and deals them out by vehicle, which is the least
that anybody must do who looks at each vehicle's trips. The first turn is that of a Spark that has just
started, as on the command line: its Java is still compiling.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from pyspark.sql import SparkSession

from causeway.linear_road.validation import locate_answers, validate
from causeway.linear_road.validation.answers import read_answers
from causeway.linear_road.workload.stream_frame import read_stream
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.machine import local_cores
from causeway.spark.session import spark_session

REPORT = ("VID", "Time", "Spd", "XWay", "Lane", "Dir", "Seg", "Pos")


def deal_out(spark: SparkSession, workload: Workload, answers: Path) -> None:
    """The floor."""
    reports = read_stream(spark, workload).where("Type = 0").select(*REPORT)
    told = read_answers(spark, answers).of_vehicles
    for rows in (reports, told):
        rows.repartition(12, "VID").write.format("noop").mode("overwrite").save()


def main() -> None:
    """Print a line for each turn of both."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("workload", nargs="?", type=Path, default=Path("demo/workload"))
    arguments.add_argument("answers", nargs="?", type=Path, default=Path("demo/run"))
    arguments.add_argument("--repeat", type=int, default=3)
    given = arguments.parse_args()
    workload, answers = Workload.load(given.workload), locate_answers(given.answers)
    rows = sum(
        count for name, count in workload.counts.items() if name == "reports" or name.startswith("type_")
    )
    print(f"{rows:,} input rows, {answers.answers.name}, {local_cores()} cores")
    print(f"{'':9}  {'turn':>4}  {'seconds':>8}  {'rows/s':>10}  {'load':>5}")
    for name in ("validator", "floor"):
        with spark_session(f"validator benchmark, {name}") as spark:
            for turn in range(1, given.repeat + 1):
                started = time.monotonic()
                if name == "floor":
                    deal_out(spark, workload, answers.answers)
                else:
                    judged = validate(
                        spark,
                        workload,
                        answers.answers,
                        conditions=answers.conditions,
                    )
                    assert judged.reports == workload.counts["reports"]
                took = time.monotonic() - started
                print(f"{name:9}  {turn:4}  {took:8.1f}  {rows / took:10,.0f}  {os.getloadavg()[0]:5.1f}")


if __name__ == "__main__":
    main()
