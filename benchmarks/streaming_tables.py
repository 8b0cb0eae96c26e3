r"""Streaming tables as a user meets them, in SQL on Spark, beside the floor and the paper's figures.

    python benchmarks/streaming_tables.py [--rows 20000000] [--seconds 60] \
        [--only reads,load,insert,open,curve]

Reads ask for position reports by time and vehicle, each time with other constants, and count from the call
of `sql` to the last row in Arrow. The floors: Spark over the same Parquet files named by hand, with the same
statement; NumPy over the same columns in memory. Under load, a process of its own adds 33,000 rows a second
to a folder that a continuous insert reads, and 200 statements a minute arrive at random. The paper's figures
are those of Table V (L2++, high load), on four cores of 2009.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from causeway.spark.session import spark_session
from causeway.streaming_tables import Connection, connect

PER_SECOND = 33_000
VEHICLES = 30 * PER_SECOND
"""Each vehicle reports every 30 seconds."""
ANSWERS = (10_000, 30_000, 60_000)
PAPER = {10_000: "60", 30_000: "185", 60_000: "338"}
CREATE = (
    "CREATE STREAMING TABLE posreports (VID INT, SPD INT, XWAY INT, LANE INT, DIR INT, SEG INT, POS INT) "
    "RANGE INTERVAL '2' WEEK"
)
SPAN = 120
"""Seconds of the time predicate: a vehicle has four reports in it."""


def reports(first: int, rows: int) -> pa.Table:
    """Position reports in time order, from the `first` of all on."""
    number = np.arange(first, first + rows)
    chance = np.random.default_rng(first)
    vid = (number % VEHICLES).astype(np.int32)
    return pa.table(
        {
            "VID": vid,
            "SPD": chance.integers(0, 100, rows, np.int32),
            "XWAY": vid % np.int32(10),
            "LANE": chance.integers(0, 5, rows, np.int32),
            "DIR": vid % np.int32(2),
            "SEG": (vid // np.int32(100)) % np.int32(100),
            "POS": chance.integers(0, 528_000, rows, np.int32),
            "T": (number // PER_SECOND).astype(np.int64),
        }
    )


def batches(rows: int, size: int = 330_000) -> Iterator[pa.Table]:
    """The first `rows` reports, in parts."""
    for first in range(0, rows, size):
        yield reports(first, min(size, rows - first))


def statement(chance: np.random.Generator, answer: int, newest: int) -> str:
    """A statement with constants of its own whose answer has about that many rows."""
    begin = int(chance.integers(0, max(1, newest - SPAN)))
    wanted = answer // 4
    first = int(chance.integers(0, VEHICLES - wanted))
    return (
        f"SELECT * FROM posreports WHERE T BETWEEN {begin} AND {begin + SPAN - 1} "
        f"AND VID BETWEEN {first} AND {first + wanted - 1}"
    )


def fill(connection: Connection, rows: int) -> None:
    """Make the table with an index on the vehicle, and fill it."""
    connection.sql(CREATE)
    connection.sql("CREATE INDEX idx_vid ON posreports (VID)")
    for part in batches(rows):
        connection.append("posreports", part)


def timed(connection: Connection, text: str) -> tuple[float, int]:
    """Milliseconds and rows of a statement."""
    began = time.perf_counter()
    rows = connection.sql(text).to_arrow().num_rows  # type: ignore[union-attr]
    return 1000 * (time.perf_counter() - began), rows


def print_row(what: str, *figures: str) -> None:
    """A line of a table."""
    print(f"{what:<44}" + "".join(f"{figure:>20}" for figure in figures), flush=True)


def summary(taken: list[float]) -> str:
    """Mean and worst."""
    return f"{statistics.mean(taken):.0f} / {max(taken):.0f}"


def data_files(connection: Connection) -> list[str]:
    """The Parquet files of the table's past."""
    return [
        str(path) for path in (connection.warehouse.folder / "tables/posreports/past").glob("*/*.parquet")
    ]


def measure_reads(connection: Connection, spark: SparkSession, rows: int, repeats: int = 30) -> None:
    """One-time reads with nothing else running."""
    newest = rows // PER_SECOND
    chance = np.random.default_rng(7)
    for _ in range(40):
        timed(connection, statement(chance, ANSWERS[0], newest))
    schema = connection.table("posreports").schema
    by_hand = spark.read.schema(schema).option("recursiveFileLookup", "true").parquet(*data_files(connection))
    by_hand.createOrReplaceTempView("by_hand")
    columns = {name: column.to_numpy() for name, column in _columns(rows).items()}
    print(f"\nOne-time reads out of {rows:,} rows, mean / worst in ms ({repeats} statements each)")
    print_row("rows of the answer", "ours", "Spark by hand", "NumPy", "no index", "paper (loaded)")
    for answer in ANSWERS:
        ours, spark_floor, numpy_floor, unindexed = [], [], [], []
        for number in range(repeats):
            text = statement(chance, answer, newest)
            taken, found = timed(connection, text)
            ours.append(taken)
            assert 0.5 * answer <= found <= 1.5 * answer, found
            if number % 3 == 0:
                began = time.perf_counter()
                spark.sql(text.replace("posreports", "by_hand")).toArrow()
                spark_floor.append(1000 * (time.perf_counter() - began))
                numpy_floor.append(_numpy_floor(columns, text))
            if number % 10 == 0:
                # Expressions of columns are no use for an index: every row is looked at.
                blind = text.replace("T BETWEEN", "T + 0 BETWEEN").replace("VID BETWEEN", "VID + 0 BETWEEN")
                unindexed.append(timed(connection, blind)[0])
        print_row(
            f"{answer:,}",
            summary(ours),
            summary(spark_floor),
            summary(numpy_floor),
            f"{summary(unindexed)} ({statistics.mean(unindexed) / statistics.mean(ours):.0f} x)",
            PAPER[answer],
        )


def _columns(rows: int) -> dict[str, pa.ChunkedArray]:
    table = pa.concat_tables(batches(rows))
    return {name: table.column(name) for name in table.schema.names}


def _numpy_floor(columns: dict[str, Any], text: str) -> float:
    words = text.replace("AND", " ").split()
    t_low, t_high, v_low, v_high = [int(word) for word in words if word.isdigit()]
    began = time.perf_counter()
    begin, end = np.searchsorted(columns["T"], [t_low, t_high + 1])
    vid = columns["VID"][begin:end]
    found = np.flatnonzero((vid >= v_low) & (vid <= v_high)) + begin
    for values in columns.values():
        values.take(found)
    return 1000 * (time.perf_counter() - began)


def deliver(
    folder: str, first: int, seconds: float, interval: float, log: Any, per_second: int = PER_SECOND
) -> None:
    """Add files at `per_second` rows a second; notes when each could be read, and the rows up to it."""
    per_file = round(per_second * interval)
    began = time.time()
    total = first
    for number in range(round(seconds / interval)):
        part = reports(total, per_file)
        hidden = Path(folder) / f".{number:09d}"
        pq.write_table(part, hidden, compression="lz4")
        time.sleep(max(0.0, began + number * interval - time.time()))
        hidden.rename(Path(folder) / f"{number:09d}.parquet")
        total += per_file
        log.send((time.time(), total))
    log.close()


def measure_load(connection: Connection, rows: int, seconds: float) -> None:
    """Reads while rows come in, and how soon a row can be read."""
    folder = Path(tempfile.mkdtemp(prefix="spool-", dir=connection.warehouse.folder.parent))
    first = -(-rows // PER_SECOND) * PER_SECOND
    connection.sql(f"INSERT INTO posreports VALUES FROM '{folder}' OPTIONS (format = 'parquet')")
    store = connection.warehouse.require("posreports")
    before = store.snapshot().rows_total - first
    reader, writer = multiprocessing.get_context("spawn").Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(
        target=deliver, args=(str(folder), first, seconds + 15, 0.1, writer), daemon=True
    )
    process.start()
    writer.close()
    released: list[tuple[float, int]] = []
    visible: list[tuple[float, int]] = []
    ended = threading.Event()

    def follow_release() -> None:
        try:
            while True:
                released.append(reader.recv())
        except EOFError:
            ended.set()

    def follow_table() -> None:
        total = -1
        while not ended.is_set():
            found = store.snapshot().rows_total - before
            if found != total:
                visible.append((time.time(), found))
                total = found
            time.sleep(0.005)

    threads = [threading.Thread(target=follow_release), threading.Thread(target=follow_table)]
    for thread in threads:
        thread.start()
    chance = np.random.default_rng(11)
    time.sleep(15)
    taken: dict[int, list[float]] = {answer: [] for answer in ANSWERS}
    due = time.perf_counter()
    end = due + seconds
    while due < end:
        due += float(chance.exponential(0.3))
        time.sleep(max(0.0, due - time.perf_counter()))
        answer = int(chance.choice(ANSWERS))
        connection.sql(statement(chance, answer, rows // PER_SECOND)).to_arrow()  # type: ignore[union-attr]
        taken[answer].append(1000 * (time.perf_counter() - due))
    for thread in threads:
        thread.join()
    times, totals = np.array([moment for moment, _ in visible]), np.array([total for _, total in visible])
    delays = []
    for moment, total in released[150:]:
        position = int(np.searchsorted(totals, total))
        if position < len(times):
            delays.append(1000 * (times[position] - moment))
    print(f"\nThe same with {PER_SECOND:,} rows/s coming in and 200 statements a minute, {seconds:.0f} s")
    print_row("rows of the answer", "mean / worst ms", "paper")
    for answer in ANSWERS:
        print_row(f"{answer:,}", summary(taken[answer]), PAPER[answer])
    p50, p99 = np.percentile(delays, [50, 99]) if delays else (float("nan"), float("nan"))
    print_row(
        "arrival to visible, p50 / p99 / worst ms", f"{p50:.0f} / {p99:.0f} / {max(delays, default=0):.0f}"
    )


def measure_insert(connection: Connection, folder: Path, rows: int) -> None:
    """A continuous insert as fast as it goes, with one value index."""
    source = folder / "bulk"
    source.mkdir()
    for number, part in enumerate(batches(rows, 500_000)):
        pq.write_table(part, source / f"{number:05d}.parquet", compression="lz4")
    connection.sql(CREATE.replace("posreports", "bulk"))
    connection.sql("CREATE INDEX idx_bulk ON bulk (VID)")
    began = time.perf_counter()
    connection.sql(f"INSERT INTO bulk VALUES FROM '{source}' OPTIONS (once = true)")
    connection.sql("WAIT FOR bulk")
    taken = time.perf_counter() - began
    print(f"\nSustained insert of {rows:,} rows with one value index: {rows / taken:,.0f} rows/s")
    connection.sql("DROP TABLE bulk")


def measure_open(spark: SparkSession, folder: Path) -> None:
    """Opening a warehouse whose writer was killed."""
    warehouse = folder / "killed"
    child = textwrap.dedent(
        f"""
        import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
        from streaming_tables import CREATE, batches
        import causeway
        connection = causeway.connect({str(warehouse)!r}, master="local[1]")
        connection.sql(CREATE)
        for part in batches(10**9):
            connection.append("posreports", part)
            print("x", flush=True)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE)
    assert process.stdout is not None
    for _ in range(12):
        process.stdout.readline()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    began = time.perf_counter()
    with connect(warehouse, spark) as connection:
        connection.append("posreports", reports(10**9, 1))
        opened = time.perf_counter() - began
        rows = connection.warehouse.require("posreports").snapshot().rows_total
    print(f"\nOpening after kill -9 and appending a row, {rows:,} rows: {opened:.2f} s beyond Spark's start")


def measure_curve(spark: SparkSession, folder: Path, sizes: list[int]) -> None:
    """A selective read and the opening of tables of growing size."""
    print("\nThe same statement (10,000 rows) on tables of growing size")
    print_row("rows", "open s", "mean / worst ms", "files")
    for rows in sizes:
        warehouse = folder / f"curve-{rows}"
        with connect(warehouse, spark) as connection:
            fill(connection, rows)
        began = time.perf_counter()
        with connect(warehouse, spark) as connection:
            facts = connection.warehouse.require("posreports").snapshot().describe()
            opened = time.perf_counter() - began
            chance = np.random.default_rng(3)
            for _ in range(10):
                timed(connection, statement(chance, ANSWERS[0], rows // PER_SECOND))
            taken = [
                timed(connection, statement(chance, ANSWERS[0], rows // PER_SECOND))[0] for _ in range(20)
            ]
            print_row(f"{rows:,}", f"{opened:.2f}", summary(taken), str(facts.files))


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", default="reads,load,insert,open,curve")
    arguments = parser.parse_args()
    wanted = arguments.only.split(",")
    with (
        tempfile.TemporaryDirectory(prefix="streaming-tables-") as temporary,
        spark_session("benchmark of streaming tables", "local[2]") as spark,
    ):
        folder = Path(temporary)
        if {"reads", "load", "insert"} & set(wanted):
            with connect(folder / "w", spark) as connection:
                if {"reads", "load"} & set(wanted):
                    began = time.perf_counter()
                    fill(connection, arguments.rows)
                    seconds = time.perf_counter() - began
                    print(f"{arguments.rows:,} rows appended at {arguments.rows / seconds:,.0f} rows/s")
                if "reads" in wanted:
                    measure_reads(connection, spark, arguments.rows)
                if "load" in wanted:
                    measure_load(connection, arguments.rows, arguments.seconds)
                if "insert" in wanted:
                    measure_insert(connection, folder, min(arguments.rows, 10_000_000))
        if "open" in wanted:
            measure_open(spark, folder)
        if "curve" in wanted:
            measure_curve(spark, folder, [1_000_000, 10_000_000, 100_000_000])


if __name__ == "__main__":
    main()
