r"""BerlinMOD beside DuckDB with its spatial extension, and single operators beside PyMEOS: times and answers.

    python benchmarks/berlinmod_vs_others.py DIR [--runs 3] [--queries q1,q6] [--only duckdb|pymeos]

DIR is a data set of `causeway berlinmod generate`. Each system answers the same queries of BerlinMOD/R on the
same data with the same two or more cores; the first run of a query and the median are both printed, and every
answer is compared with ours (`causeway.berlinmod.judge.compare`: 1 mm, 2 ms).

ours        both representations, on a warm Spark; reads the data set's Parquet files each time
DuckDB      `benchmarks/berlinmod_duckdb`: tables in memory, loaded before (that time is printed apart), flat
            columns in the order of vehicle and time, an R-tree over the trips, the squares that each unit
            touches for meetings, ASOF joins over prefix sums for lengths. It has no moving points: positions,
            distances in time and meetings are arithmetic in the statements. Q10 gives intervals
            instead of a moving point, which are compared as such. It comes from PyPI with the extension, into
            a folder of its own in the user's cache.
PyMEOS      MobilityDB's library, a trip at a time from Python, on one core: single operators, beside our
            kernels on columns of Arrow on one core.

What can't be had is said. MobilityDB needs packages for PostgreSQL that Debian does not have; MobilityDuck is
a community extension of DuckDB, which is not on PyPI.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from causeway import berlinmod
from causeway.berlinmod.dataset import TRIPS, Dataset
from causeway.berlinmod.judge.compare import Checked, compare
from causeway.berlinmod.runner.results import RunResult
from causeway.runtime.machine import local_cores
from others.system import UnavailableError, install

_DUCKDB: Final = "1.5.5"
"""The newest whose spatial extension PyPI has."""
_QUERIES: Final = Path(__file__).resolve().parent / "berlinmod_duckdb"
_TRIPS: Final = 2000
"""Trips of each operator: PyMEOS is called a trip at a time."""
_SHORTEST_MS: Final = 2.0
"""Intervals of Q10 that are shorter are not compared, and gaps that are shorter do not count."""


@dataclass(frozen=True)
class Peer:
    """DuckDB's times, by query, and where its answers are."""

    version: str
    load_seconds: float
    seconds: dict[str, list[float]]
    folder: Path
    failures: dict[str, str]

    def table(self, query: str) -> pa.Table:
        """The answer of a query."""
        return pq.read_table(self.folder / f"{query}.parquet")


def main() -> int:
    """Print both tables; the exit code is 1 if an answer differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("dataset", type=Path, metavar="DIR")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--queries", default="r")
    parser.add_argument("--only", choices=("duckdb", "pymeos"))
    parser.add_argument("--duckdb-answers", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.duckdb_answers is not None:
        _answer_with_duckdb(arguments.dataset, arguments.duckdb_answers, arguments.queries, arguments.runs)
        return 0
    console = Console()
    dataset = Dataset.load(arguments.dataset)
    same = True
    if arguments.only != "pymeos":
        with tempfile.TemporaryDirectory() as scratch:
            same = _beside_duckdb(console, dataset, Path(scratch), arguments.queries, arguments.runs)
    if arguments.only != "duckdb":
        same = _beside_pymeos(console, dataset, arguments.runs) and same
    return 0 if same else 1


def _beside_duckdb(console: Console, dataset: Dataset, scratch: Path, queries: str, runs: int) -> bool:
    try:
        peer = _run_duckdb(dataset, scratch / "duckdb", queries, runs)
    except UnavailableError as failure:
        console.print(f"DuckDB is left out: {failure}")
        return True
    ours = berlinmod.run(dataset, scratch / "run", queries=queries, runs=runs)
    table = Table(title=f"{dataset.counts['units']:,} units, {local_cores()} cores, seconds: median (first)")
    columns = ("query", "answers", "ours, OBA", "ours, TBA", f"DuckDB {peer.version}", "same answer")
    for column in columns:
        table.add_column(column, justify="right")
    totals = {"oba": 0.0, "tba": 0.0, "duckdb": 0.0}
    same = True
    for query in sorted({one.query for one in ours.queries}, key=lambda name: int(name[1:])):
        mine = {name: ours[query, name] for name in ("oba", "tba")}
        for name, one in mine.items():
            totals[name] += one.seconds
        times = [f"{one.seconds:.2f} ({one.first_seconds:.2f})" for one in mine.values()]
        if query in peer.failures:
            table.add_row(query, f"{mine['tba'].answers:,}", *times, "failed", peer.failures[query])
            continue
        taken = peer.seconds[query]
        totals["duckdb"] += statistics.median(taken)
        checked = _compared(query, ours, peer)
        same = same and checked.passed
        words = "yes" if checked.passed else f"{checked.missing} missing, {checked.extra} more"
        table.add_row(
            query,
            f"{mine['tba'].answers:,}",
            *times,
            f"{statistics.median(taken):.2f} ({taken[0]:.2f})",
            words,
        )
        for difference in checked.differences[:2]:
            console.print(f"{query}: {difference}")
    table.add_section()
    table.add_row("all", "", *(f"{seconds:.1f}" for seconds in totals.values()), "")
    console.print(table)
    console.print(
        f"DuckDB loaded and indexed its tables in {peer.load_seconds:.1f} s; ours needs no such step."
    )
    return same


def _compared(query: str, ours: RunResult, peer: Peer) -> Checked:
    """DuckDB's answer against ours; both as intervals where ours is a moving point."""
    mine, theirs = ours[query, "tba"].table(), peer.table(query)
    if query != "q10":
        return compare(query, theirs.cast(_plain_types(mine.schema, theirs)), mine)
    return compare(query, _joined(theirs.to_pylist()), _joined(_intervals_of(mine.to_pylist())))


def _plain_types(schema: pa.Schema, table: pa.Table) -> pa.Schema:
    """The types of our columns, in the order of the other table."""
    return pa.schema([schema.field(name) for name in table.column_names])


def _intervals_of(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each piece of the moving point `Pos`."""
    found = []
    for row in rows:
        point = row.pop("Pos")
        for first, end in pairwise([*point["first"], len(point["t"])]):
            found.append({**row, "begin": point["t"][first], "end": point["t"][end - 1]})
    return found


def _joined(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Intervals of one key that touch, as one."""
    found: list[dict[str, Any]] = []
    for row in sorted(rows, key=lambda row: (row["QueryLicence"], row["OtherLicence"], row["begin"])):
        before = found[-1] if found else None
        key = ("QueryLicence", "OtherLicence")
        alike = before is not None and all(row[name] == before[name] for name in key)
        if before is not None and alike and row["begin"] - before["end"] <= _SHORTEST_MS:
            before["end"] = max(before["end"], row["end"])
        else:
            found.append(dict(row))
    kinds = [("QueryLicence", pa.string()), ("OtherLicence", pa.string())]
    schema = pa.schema([*kinds, ("begin", pa.float64()), ("end", pa.float64())])
    return pa.Table.from_pylist(found, schema)


def _run_duckdb(dataset: Dataset, folder: Path, queries: str, runs: int) -> Peer:
    """Let DuckDB answer in a process of its own, with the version that its extension is for."""
    packages = [f"{name}=={_DUCKDB}" for name in ("duckdb", "duckdb-extensions", "duckdb-extension-spatial")]
    installed = install(f"duckdb-spatial-{_DUCKDB}", *packages)
    folder.mkdir()
    paths = os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    program = [sys.executable, str(Path(__file__).resolve()), str(dataset.folder.resolve())]
    options = ["--runs", str(runs), "--queries", queries, "--duckdb-answers", str(folder)]
    done = subprocess.run([*program, *options], env={**os.environ, "PYTHONPATH": paths}, check=False)
    if done.returncode:
        raise UnavailableError(f"its process ended with exit code {done.returncode}; its error is above")
    return Peer(folder=folder, **json.loads((folder / "facts.json").read_text()))


def _answer_with_duckdb(dataset: Path, folder: Path, queries: str, runs: int) -> None:
    import duckdb
    import duckdb_extensions  # type: ignore[import-not-found]

    database = duckdb.connect()
    duckdb_extensions.import_extension("spatial", con=database)
    database.execute(f"LOAD spatial; SET threads = {local_cores()}")
    began = time.perf_counter()
    database.execute(
        (_QUERIES / "setup.sql").read_text().replace("$DATASET", str(dataset).replace("'", "''"))
    )
    load_seconds = time.perf_counter() - began
    seconds: dict[str, list[float]] = {}
    failures: dict[str, str] = {}
    for file in sorted(_QUERIES.glob("q*.sql")):
        query = f"q{int(file.stem[1:])}"
        if queries != "r" and query not in queries.split(","):
            continue
        seconds[query] = []
        try:
            for _ in range(runs):
                began = time.perf_counter()
                answer = database.execute(file.read_text()).to_arrow_table()
                seconds[query].append(time.perf_counter() - began)
        except duckdb.Error as failure:
            failures[query] = str(failure).splitlines()[0]
            continue
        pq.write_table(answer, folder / f"{query}.parquet")
    facts = {
        "version": duckdb.__version__,
        "load_seconds": load_seconds,
        "seconds": seconds,
        "failures": failures,
    }
    (folder / "facts.json").write_text(json.dumps(facts))


def _beside_pymeos(console: Console, dataset: Dataset, runs: int) -> bool:
    try:
        import pymeos  # type: ignore[import-untyped]
    except ModuleNotFoundError as failure:
        console.print(f"PyMEOS is left out: {failure}; pip install pymeos")
        return True
    from causeway.moving_objects.conversions import arrow_values
    from causeway.moving_objects.conversions.meos import encode_meos
    from causeway.moving_objects.spark import operators

    pymeos.pymeos_initialize()
    trips = _moving_trips(dataset)
    later = _later(trips, 5000)
    theirs, their_later = (
        _of_pymeos(pymeos, encode_meos(arrow_values.read_moving_points(one))) for one in (trips, later)
    )
    # Whole seconds: value_at_timestamp of PyMEOS drops fractions of a second.
    middle = [
        (one.start_timestamp() + (one.end_timestamp() - one.start_timestamp()) / 2).replace(microsecond=0)
        for one in theirs
    ]
    instants = pa.array([one.timestamp() * 1000 for one in middle])
    places = [one.value_at_timestamp(when) for one, when in zip(theirs, middle, strict=True)]
    places = [*places[1:], places[0]]
    points = pa.StructArray.from_arrays(
        [pa.array([one.x for one in places]), pa.array([one.y for one in places])], ["x", "y"]
    )
    near, metres = pa.array([1000.0] * len(trips)), pa.array([30.0] * len(trips))
    within = operators.comparison("le")
    operations: dict[str, tuple[Callable[[], list[Any]], Callable[[], list[Any]]]] = {
        "length": (
            lambda: operators.length(trips).to_pylist(),
            lambda: [one.length() for one in theirs],
        ),
        "atinstant": (
            lambda: [row["x"] for row in operators.atinstant(trips, instants).to_pylist()],
            lambda: [one.value_at_timestamp(when).x for one, when in zip(theirs, middle, strict=True)],
        ),
        "passes, within 1 km of a point": (
            lambda: operators.passes(trips, points, near).to_pylist(),
            lambda: [one.is_ever_within_distance(at, 1000) for one, at in zip(theirs, places, strict=True)],
        ),
        "sometimes(le(distance, 30)) of two movements": (
            lambda: operators.sometimes(within(operators.distance(trips, later), metres)).to_pylist(),
            lambda: [one.is_ever_within_distance(b, 30) for one, b in zip(theirs, their_later, strict=True)],
        ),
    }
    units = sum(len(one["t"]) - 1 for one in trips.to_pylist())
    table = Table(title=f"{len(trips):,} trips, {units:,} units, one core, milliseconds: median of {runs}")
    for column in ("operator", "ours", "PyMEOS", "same answer"):
        table.add_column(column, justify="right")
    same = True
    for name, (ours, pymeos_call) in operations.items():
        my_answer, mine = _timed(ours, runs)
        their_answer, their_time = _timed(pymeos_call, runs)
        equal = all(abs(a - b) <= 1e-3 for a, b in zip(my_answer, their_answer, strict=True))
        same = same and equal
        table.add_row(name, f"{mine:.1f}", f"{their_time:.1f}", "yes" if equal else "no")
    console.print(table)
    return same


def _moving_trips(dataset: Dataset) -> pa.Array:
    """The first trips of the data set that are no pauses, as plain moving points."""
    files = sorted((dataset.folder / TRIPS).glob("*.parquet"))
    found = pa.concat_tables(pq.read_table(file, columns=["Trip", "moving"]) for file in files[:4])
    moving = found.filter(found.column("moving")).column("Trip").combine_chunks()
    return pa.concat_arrays([moving.slice(0, _TRIPS)])


def _later(trips: pa.Array, ms: int) -> pa.Array:
    """The same movements, some milliseconds later."""
    t = trips.field("t")
    moved = pa.ListArray.from_arrays(t.offsets, pc.add(t.values, ms))
    return pa.StructArray.from_arrays([moved, trips.field("x"), trips.field("y")], ["t", "x", "y"])


def _of_pymeos(pymeos: Any, binary: pa.Array) -> list[Any]:
    return [pymeos.TGeomPointSeq.from_hexwkb(one.hex().upper()) for one in binary.to_pylist()]


def _timed(call: Callable[[], list[Any]], runs: int) -> tuple[list[Any], float]:
    """An answer, and the median time in milliseconds; a first call compiles and is not counted."""
    answer, taken = call(), []
    for _ in range(runs):
        began = time.perf_counter()
        call()
        taken.append(1000 * (time.perf_counter() - began))
    return answer, statistics.median(taken)


if __name__ == "__main__":
    sys.exit(main())
