"""BerlinMOD's queries beside the floor: the same scans over arrays in memory, without Spark.

    python benchmarks/berlinmod.py DIR [DIR …] [--queries r] [--runs 3]

Each DIR is a data set of `causeway berlinmod generate`. The last table has the goals (two cores, a warm
Spark, each representation alone), ours, and how the time grows with the units. "floor" is what one core takes
for the kernels of a query over all row groups, read before: visits, positions, lengths. What is above it is
reading, Spark, and the statement.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table

from causeway import berlinmod
from causeway.berlinmod.dataset import HISTORIES, TRIPS, Dataset
from causeway.berlinmod.report.run_table import run_table
from causeway.berlinmod.scans.lengths import length_rows
from causeway.berlinmod.scans.positions import position_rows
from causeway.berlinmod.scans.rows import EVERYTHING, Rows, read_rows
from causeway.berlinmod.scans.source import REPRESENTATIONS, Representation, Source
from causeway.berlinmod.scans.visits import visit_rows
from causeway.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Floor = Callable[[Source, list[Rows]], None]

GOALS = {
    "R": {0.005: 8.0, 0.05: 20.0, 0.2: 60.0, 1.0: 230.0},
    "longest of R": dict.fromkeys((0.005, 0.05, 0.2, 1.0), 60.0),
    "NN": {0.05: 60.0, 1.0: 600.0},
}
"""Seconds for all queries of a set, or for the longest one, by scale."""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("datasets", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--queries", default="all")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    console = Console()
    totals: list[tuple[Dataset, dict[str, float]]] = []
    with spark_session("benchmark") as spark:
        for folder in arguments.datasets:
            dataset = Dataset.load(folder)
            with tempfile.TemporaryDirectory() as scratch:
                result = berlinmod.run(
                    dataset,
                    Path(scratch) / "run",
                    queries=arguments.queries,
                    runs=arguments.runs,
                    spark=spark,
                )
            console.print(run_table(result.facts))
            console.print(floor_table(spark, dataset))
            totals.append((dataset, _totals(result.facts["queries"])))
    console.print(growth_table(totals))


def _totals(queries: list[dict[str, object]]) -> dict[str, float]:
    """Seconds of all of R and of NN, and of the longest query of R, as far as all of them were run."""
    found = {}
    for representation in REPRESENTATIONS:
        mine = {
            int(str(one["query"])[1:]): float(str(one["seconds"]))
            for one in queries
            if one["representation"] == representation
        }
        ranged = [seconds for number, seconds in mine.items() if number <= 17]
        neighbours = [seconds for number, seconds in mine.items() if number > 17]
        if len(ranged) == 17:
            found[f"R, {representation}"] = sum(ranged)
            found[f"longest of R, {representation}"] = max(ranged)
        if len(neighbours) == 9:
            found[f"NN, {representation}"] = sum(neighbours)
    return found


def _visits(relation: str) -> Floor:
    def work(source: Source, groups: list[Rows]) -> None:
        ids, places = source.places(relation)
        for rows in groups:
            visit_rows(rows, ids, places, None)

    return work


def _positions(source: Source, groups: list[Rows]) -> None:
    table = source.table("QueryInstants1")
    ids, instants = table.column("Id").to_numpy(), table.column("Instant").to_numpy()
    for rows in groups:
        position_rows(rows, ids, instants, None)


def _lengths(source: Source, groups: list[Rows]) -> None:
    table = source.table("QueryPeriods")
    periods = np.array([(one["begin"], one["end"]) for one in table.column("Period").to_pylist()], np.int64)
    for rows in groups:
        length_rows(rows, table.column("Id").to_numpy(), periods, None)


FLOORS: dict[str, Floor] = {
    "Q4, Q7, Q17: visits to QueryPoints": _visits("QueryPoints"),
    "Q13: visits to QueryRegions1": _visits("QueryRegions1"),
    "Q11, Q12, Q14, Q18: positions": _positions,
    "Q9: lengths": _lengths,
}


def floor_table(spark: SparkSession, dataset: Dataset) -> Table:
    """Kernels over arrays in memory, one core, median of three; a first call compiles."""
    table = Table(title="floor: kernels over arrays in memory, one core, seconds", title_justify="left")
    table.add_column("scan")
    for name in REPRESENTATIONS:
        table.add_column(name, justify="right")
    seconds: dict[str, list[str]] = {name: [] for name in FLOORS}
    chosen: tuple[Representation, ...] = ("oba", "tba")
    for representation in chosen:
        source = Source(spark, dataset, representation)
        relation = HISTORIES if representation == "oba" else TRIPS
        groups = [
            read_rows(dataset.part(relation, file), group, (*EVERYTHING, "length"))
            for file, numbers in source.groups().items()
            for group in numbers
        ]
        for name, work in FLOORS.items():
            work(source, groups[:1])
            runs = []
            for _ in range(3):
                started = time.perf_counter()
                work(source, groups)
                runs.append(time.perf_counter() - started)
            seconds[name].append(f"{statistics.median(runs):.3f}")
    for name, values in seconds.items():
        table.add_row(name, *values)
    return table


def growth_table(totals: list[tuple[Dataset, dict[str, float]]]) -> Table:
    """Goals and ours by scale, and how many times as long it takes as at the scale before."""
    table = Table(title="goals and ours, seconds, and how it grows", title_justify="left")
    for name in ("scale", "units", "", "goal", "ours", "grows by", "units by"):
        table.add_column(name, justify="left" if not name else "right")
    before: tuple[Dataset, dict[str, float]] | None = None
    for dataset, found in totals:
        scale, units = dataset.parameters.scale, dataset.counts["units"]
        for name, seconds in found.items():
            goal = GOALS[name.split(",")[0]].get(scale) if scale is not None else None
            grows = ("", "")
            if before is not None and name in before[1]:
                grows = (f"{seconds / before[1][name]:.1f}", f"{units / before[0].counts['units']:.1f}")
            table.add_row(
                f"{scale}",
                f"{units:,}",
                name,
                "" if goal is None else f"{goal:.0f}",
                f"{seconds:.1f}",
                *grows,
            )
        table.add_section()
        before = (dataset, found)
    return table


if __name__ == "__main__":
    main()
