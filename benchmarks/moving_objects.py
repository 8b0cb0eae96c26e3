"""What the functions of moving objects cost per unit, next to the floor: the kernels over arrays in memory.

    python benchmarks/moving_objects.py [--trips 20000] [--units 200] [--runs 3]

Trips are random walks in a square of 20 km, in a Parquet file. "kernel" is the kernel alone, on one core.
"Arrow" is the function on columns of Arrow, which reads, checks and writes them, without Spark. "Spark" is a
query that reads the file and calls the function on all trips, on all cores. The last lines compare ways in
which Spark can hand the columns over. Medians, in nanoseconds of elapsed time per unit.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

import causeway.moving_objects as mo
from causeway.moving_objects.conversions import arrow_values as arrow
from causeway.moving_objects.conversions.meos import encode_meos
from causeway.moving_objects.kernels import distances, lines, places, positions, spans
from causeway.moving_objects.kernels.values import MovingPoints, Points, Shapes, Spans
from causeway.moving_objects.spark import encodings, operators
from causeway.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_POINT = "struct(100D AS x, 100D AS y)"
_PERIOD = "struct(100000L AS begin, 200000L AS end)"
_REGION = "named_struct('x', array(-900D, 900D, 900D, -900D), 'y', array(-900D, -900D, 900D, 900D))"

EXPRESSIONS = {
    "length": "mo_length(Trip)",
    "atinstant": "atinstant(Trip, 150000)",
    "atperiods": f"atperiods(Trip, {_PERIOD})",
    "passes a point": f"passes(Trip, {_POINT})",
    "passes a region": f"passes(Trip, {_REGION})",
    "at a region": f"at(Trip, {_REGION})",
    "distance": "distance(Trip, Other)",
    "sometimes, le, distance": "sometimes(le(distance(Trip, Other), 10))",
    "as_meos": "as_meos(Trip)",
}


def make_trips(path: Path, trips: int, units: int) -> None:
    """Write walks of steps of 20 m and 2 s; `Other` is the next row's trip, a metre aside."""
    random = np.random.default_rng(7)
    count = units + 1
    steps = random.normal(0, 15, (2, trips, count))
    steps[:, :, 0] = random.uniform(-10_000, 10_000, (2, trips))
    x, y = np.cumsum(steps, axis=2)
    t = np.tile(np.arange(count, dtype=np.int64) * 2000, trips)
    offsets = np.arange(trips + 1, dtype=np.int64) * count

    def trip(x: np.ndarray, y: np.ndarray) -> pa.Array:
        lists = {"t": t, "x": x.ravel(), "y": y.ravel()}
        return arrow.struct_array({name: arrow.list_array(offsets, values) for name, values in lists.items()})

    other = trip(np.roll(x, 1, axis=0) + 1, np.roll(y, 1, axis=0))
    table = pa.table({"Trip": trip(x, y), "Other": other})
    pq.write_table(table, path, row_group_size=max(1, trips // 8), compression="none", use_dictionary=False)


def kernel_calls(points: MovingPoints, other: MovingPoints) -> dict[str, Callable[[], Any]]:
    """The kernels alone."""
    rows = len(points)
    every = np.arange(rows + 1, dtype=np.int64)
    closed = np.ones(rows, np.bool_)
    place = Points(np.full(rows, 100.0), np.full(rows, 100.0))
    near = np.full(rows, 0.01)
    period = Spans(every, np.full(rows, 100_000.0), np.full(rows, 200_000.0), closed, closed)
    corner_x, corner_y = (
        np.tile(np.array(values), rows) for values in ([-900.0, 900, 900, -900], [-900.0, -900, 900, 900])
    )
    region = Shapes(every, every * 4, corner_x, corner_y)
    instant = np.full(rows, 150_000.0)

    def meets() -> Any:
        apart = distances.distance(points, other)
        return spans.sometimes(distances.compare(apart, "le", np.full(rows, 10.0)))

    return {
        "length": lambda: lines.length(points),
        "atinstant": lambda: positions.at_instant(points, instant),
        "atperiods": lambda: spans.restrict(points, period),
        "passes a point": lambda: places.passes_point(points, place, near),
        "passes a region": lambda: places.passes_region(points, region),
        "at a region": lambda: spans.restrict(points, places.at_region(points, region)),
        "distance": lambda: distances.distance(points, other),
        "sometimes, le, distance": meets,
        "as_meos": lambda: encode_meos(points),
    }


def arrow_calls(trip: pa.Array, other: pa.Array) -> dict[str, Callable[[], Any]]:
    """The functions that Spark calls, without Spark."""
    rows = len(trip)
    place = arrow.struct_array({"x": np.full(rows, 100.0), "y": np.full(rows, 100.0)})
    period = arrow.struct_array({"begin": np.full(rows, 100_000), "end": np.full(rows, 200_000)})
    corners = np.arange(rows + 1, dtype=np.int64) * 4
    sides = {"x": [-900.0, 900, 900, -900], "y": [-900.0, -900, 900, 900]}
    region = arrow.struct_array(
        {name: arrow.list_array(corners, np.tile(np.array(values), rows)) for name, values in sides.items()}
    )
    instant, limit = pa.array(np.full(rows, 150_000)), pa.array(np.full(rows, 10.0))
    at_most = operators.comparison("le")
    return {
        "length": lambda: operators.length(trip),
        "atinstant": lambda: operators.atinstant(trip, instant),
        "atperiods": lambda: operators.atperiods(trip, period),
        "passes a point": lambda: operators.passes(trip, place),
        "passes a region": lambda: operators.passes(trip, region),
        "at a region": lambda: operators.at(trip, region),
        "distance": lambda: operators.distance(trip, other),
        "sometimes, le, distance": lambda: operators.sometimes(
            at_most(operators.distance(trip, other), limit)
        ),
        "as_meos": lambda: encodings.as_meos(trip),
    }


def nanoseconds(call: Callable[[], Any], units: int, runs: int) -> float:
    """Median of elapsed time per unit; a first call, which may compile, does not count."""
    call()
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds) * 1e9 / units


def spark_call(spark: SparkSession, path: Path, expression: str) -> Callable[[], Any]:
    """A query over the whole file; its answers are dropped in the JVM."""
    frame = spark.read.parquet(str(path)).selectExpr(f"{expression} AS answer")
    return lambda: frame.write.format("noop").mode("overwrite").save()


def ways_of_handing_over(spark: SparkSession, path: Path) -> dict[str, Callable[[], Any]]:
    """`length` by an Arrow function, by `mapInArrow`, and with the arrays read in the task, not the JVM."""
    trips = spark.read.parquet(str(path)).select("Trip")

    def map_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_arrays([operators.length(batch.column(0))], ["answer"])

    file, groups = str(path), pq.read_metadata(path).num_row_groups

    def read_in_task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for group in batch.column(0).to_pylist():
                table = pq.ParquetFile(file).read_row_group(group, columns=["Trip"], use_threads=False)
                trip = table.column("Trip").combine_chunks()
                answers = operators.length(trip.chunk(0) if isinstance(trip, pa.ChunkedArray) else trip)
                yield pa.RecordBatch.from_arrays([answers], ["answer"])

    def saved(frame: Any) -> Callable[[], Any]:
        return lambda: frame.write.format("noop").mode("overwrite").save()

    return {
        "length by an Arrow function": saved(trips.select(mo.length("Trip"))),
        "length by mapInArrow": saved(trips.mapInArrow(map_batches, "answer double")),
        "length, arrays read in the task": saved(
            spark.range(groups).mapInArrow(read_in_task, "answer double")
        ),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trips", type=int, default=20_000)
    parser.add_argument("--units", type=int, default=200)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    total = given.trips * given.units
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trips.parquet"
        make_trips(path, given.trips, given.units)
        table = pq.read_table(path)
        trip, other = (table.column(name).combine_chunks() for name in ("Trip", "Other"))
        trip, other = (one.chunk(0) if isinstance(one, pa.ChunkedArray) else one for one in (trip, other))
        kernels = kernel_calls(arrow.read_moving_points(trip), arrow.read_moving_points(other))
        functions = arrow_calls(trip, other)
        shown = Table(
            title=f"ns per unit; {given.trips:,} trips of {given.units} units, median of {given.runs}"
        )
        for heading in ("", "kernel", "Arrow", "Spark"):
            shown.add_column(heading, justify="left" if not heading else "right")
        with spark_session("benchmark of moving objects") as spark:
            mo.register(spark)
            for name, expression in EXPRESSIONS.items():
                calls = (kernels[name], functions[name], spark_call(spark, path, expression))
                shown.add_row(name, *(f"{nanoseconds(call, total, given.runs):.1f}" for call in calls))
            for name, call in ways_of_handing_over(spark, path).items():
                shown.add_row(name, "", "", f"{nanoseconds(call, total, given.runs):.1f}")
        console.print(shown)


if __name__ == "__main__":
    main()
