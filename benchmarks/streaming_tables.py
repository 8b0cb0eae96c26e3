r"""Streaming tables as a user meets them, in SQL on Spark, beside the floor and the paper's figures.

    python benchmarks/streaming_tables.py [--rows 20000000] [--seconds 60] \
        [--only reads,load,insert,open,ticks,curve] \
        [--sizes 1000000,10000000,100000000] [--folder FOLDER]

Reads ask for position reports by time and vehicle, each time with other constants, and count from the call
of `sql` to the last row in Arrow. The floors: Spark over the same Parquet files named by hand, with the same
statement; NumPy over the same columns in memory. "Without an index" is measured in two ways: by the storage
manager, over the same rows in a table that has no index for the predicate (no value index, and the seconds in
a column that is not the table's time); and by Spark, which reads all rows, as the conditions are on
expressions of the columns. Under load, a process of its own adds 33,000 rows a second to a folder that a
continuous insert reads, and 200 statements a minute arrive at random. Ticks are those of continuous queries
over a table that gets 33,000 rows for each second. The paper's figures are those of Table V (L2++, high
load), on four cores of 2009.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from causeway.spark.session import spark_session
from causeway.streaming_tables import Connection, PushQuery, connect
from position_reports import (
    ANSWERS,
    CREATE,
    PER_SECOND,
    batches,
    deliver,
    fill,
    reports,
    statement,
)

PAPER = {10_000: "60", 30_000: "185", 60_000: "338"}


def timed(connection: Connection, text: str) -> tuple[float, int]:
    """Milliseconds and rows of a statement."""
    began = time.perf_counter()
    rows = connection.sql(text).to_arrow().num_rows  # type: ignore[union-attr]
    return 1000 * (time.perf_counter() - began), rows


def print_row(what: str, *figures: str) -> None:
    """A line of a table."""
    print(f"{what:<44}" + "".join(f"{figure:>17}" for figure in figures), flush=True)


def summary(taken: list[float]) -> str:
    """Mean and worst."""
    return f"{statistics.mean(taken):.1f} / {max(taken):.0f}"


def data_files(connection: Connection) -> list[str]:
    """The Parquet files of the table's past."""
    return [str(path) for path in connection.warehouse.require("posreports").snapshot().candidates().files]


def fill_unindexed(connection: Connection, rows: int) -> None:
    """The same rows where no index serves the statements: the seconds are a column like others."""
    connection.sql(CREATE.replace("posreports", "unindexed").replace("POS INT", "POS INT, SEC BIGINT"))
    for part in batches(rows):
        connection.append("unindexed", part.append_column("SEC", part.column("T")))


def measure_reads(connection: Connection, spark: SparkSession, rows: int, repeats: int = 30) -> None:
    """One-time reads with nothing else running."""
    newest = rows // PER_SECOND
    chance = np.random.default_rng(7)
    fill_unindexed(connection, rows)
    for number in range(100):
        text = statement(chance, ANSWERS[number % 3], newest)
        timed(connection, text)
        if number % 10 == 0:
            timed(connection, _unindexed(text))
            timed(connection, _blind(text))
    schema = connection.table("posreports").schema
    by_hand = spark.read.schema(schema).option("recursiveFileLookup", "true").parquet(*data_files(connection))
    by_hand.createOrReplaceTempView("by_hand")
    columns = {name: column.to_numpy() for name, column in _columns(rows).items()}
    print(f"\nOne-time reads out of {rows:,} rows, mean / worst in ms ({repeats} statements each)")
    heads = [
        "ours",
        "Spark by hand",
        "NumPy",
        "no index",
        "no index, Spark",
        "unseen shape",
        "paper (loaded)",
    ]
    print_row("rows of the answer", *heads)
    for answer in ANSWERS:
        taken: dict[str, list[float]] = {name: [] for name in heads}
        plan = 0.0
        for number in range(repeats):
            text = statement(chance, answer, newest)
            began = time.perf_counter()
            result = connection.sql(text)
            plan += 1000 * (time.perf_counter() - began) / repeats
            found = result.to_arrow().num_rows  # type: ignore[union-attr]
            taken["ours"].append(1000 * (time.perf_counter() - began))
            assert 0.5 * answer <= found <= 1.5 * answer, found
            if number % 3 == 0:
                began = time.perf_counter()
                spark.sql(text.replace("posreports", "by_hand")).toArrow()
                taken["Spark by hand"].append(1000 * (time.perf_counter() - began))
                taken["NumPy"].append(_numpy_floor(columns, text))
                figures = [timed(connection, other) for other in (_unindexed(text), _blind(text))]
                taken["no index"].append(figures[0][0])
                taken["no index, Spark"].append(figures[1][0])
                assert found == figures[0][1] == figures[1][1], (text, found, figures)
                # Another alias: Spark has to analyze it.
                unseen = text.replace("posreports", f"posreports AS p{answer + number}")
                taken["unseen shape"].append(timed(connection, unseen)[0])
        print_row(f"{answer:,}", *(summary(taken[name]) for name in heads[:-1]), PAPER[answer])
        ours = statistics.mean(taken["ours"])
        ratios = (f"{statistics.mean(taken[name]) / ours:.0f} x" for name in ("no index", "no index, Spark"))
        print_row("", f"plan {plan:.1f}", "", "", *ratios)


def _unindexed(text: str) -> str:
    names = "VID, SPD, XWAY, LANE, DIR, SEG, POS, SEC"
    return text.replace("*", names).replace("posreports", "unindexed").replace("T BETWEEN", "SEC BETWEEN")


def _blind(text: str) -> str:
    """Expressions of columns are no use for an index: every row is looked at, by Spark."""
    return text.replace("T BETWEEN", "T + 0 BETWEEN").replace("VID BETWEEN", "VID + 0 BETWEEN")


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
        from position_reports import CREATE, batches
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


TICKS = {
    "chain: stopped for four reports": """SELECT P1.VID, P1.XWAY, P1.LANE, P1.DIR, P1.POS
        FROM live [VID ROWS 4] P1, live [VID ROWS 4] P2, live [VID ROWS 4] P3, live [VID ROWS 4] P4
        WHERE P2 = PREV(P1) AND P3 = PREV(P2) AND P4 = PREV(P3)
          AND P1.SPD = 0 AND P2.SPD = 0 AND P3.SPD = 0 AND P4.SPD = 0 SAMPLE REALTIME""",
    "aggregate of the last minute": """SELECT XWAY, DIR, SEG, COUNT(*), AVG(SPD)
        FROM live [WINDOW INTERVAL '1' MINUTE] GROUP BY XWAY, DIR, SEG SAMPLE INTERVAL '1' SECOND""",
    "join with a standard table": """SELECT L.VID, L.SEG, C.WORD
        FROM live [WINDOW INTERVAL '5' SECOND] L, words C
        WHERE L.SEG = C.SEG AND L.SPD = 0 SAMPLE INTERVAL '1' SECOND""",
}


def measure_ticks(connection: Connection, history: int = 130, ticks: int = 15) -> None:
    """What a tick of a continuous query costs, one query at a time, while no rows wait."""
    connection.sql("CREATE OR REPLACE TEMP VIEW words AS SELECT 7 AS SEG, 'seven' AS WORD")
    print(f"\nA tick of a continuous query at {PER_SECOND:,} rows/s, after {history} s ({ticks} ticks)")
    print_row("query", "way", "mean / worst ms")
    for what, text in TICKS.items():
        connection.sql(CREATE.replace("posreports", "live"))
        for part in batches(history * PER_SECOND):
            connection.append("live", part)
        query = connection.sql(text)
        assert isinstance(query, PushQuery)
        next(query)
        taken = []
        for second in range(history, history + ticks + 5):
            # The row of the next second closes this one.
            connection.append("live", reports(second * PER_SECOND, PER_SECOND))
            began = time.perf_counter()
            tick, _ = next(query)
            taken.append(1000 * (time.perf_counter() - began))
            assert tick == second - 1, (tick, second)
        print_row(what, query.way, summary(taken[5:]))
        query.kill()
        connection.sql("DROP TABLE live")


def measure_curve(spark: SparkSession, folder: Path, sizes: list[int]) -> None:
    """Opening tables of growing size, and selective reads of them.

    At first the row groups must be decoded; later statements on the same times find them in memory.
    """
    print("\nStatements with answers of 10,000 rows on tables of growing size")
    print_row("rows", "open s", "decoding, ms", "decoded, ms", "files", "MB")
    for rows in sizes:
        warehouse = folder / f"curve-{rows}"
        with connect(warehouse, spark) as connection:
            fill(connection, rows)
        began = time.perf_counter()
        with connect(warehouse, spark) as connection:
            facts = connection.warehouse.require("posreports").snapshot().describe()
            opened = time.perf_counter() - began
            chance = np.random.default_rng(3)
            for _ in range(5):
                timed(connection, statement(chance, ANSWERS[0], rows // PER_SECOND))
            passes = []
            for shift in (0, 1):
                chance = np.random.default_rng(4)
                passes.append(
                    [
                        timed(connection, statement(chance, ANSWERS[0], rows // PER_SECOND, shift))[0]
                        for _ in range(20)
                    ]
                )
            figures = [*(summary(taken) for taken in passes), str(facts.files), f"{facts.bytes / 1e6:,.0f}"]
            print_row(f"{rows:,}", f"{opened:.2f}", *figures)
        shutil.rmtree(warehouse)


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", default="reads,load,insert,open,ticks,curve")
    parser.add_argument("--sizes", default="1000000,10000000,100000000", help="rows of the curve's tables")
    parser.add_argument("--folder", type=Path, help="where the tables are made; the temporary folder if not")
    arguments = parser.parse_args()
    wanted = arguments.only.split(",")
    with (
        tempfile.TemporaryDirectory(prefix="streaming-tables-", dir=arguments.folder) as temporary,
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
        if "ticks" in wanted:
            with connect(folder / "ticks", spark) as connection:
                measure_ticks(connection)
        if "open" in wanted:
            measure_open(spark, folder)
        if "curve" in wanted:
            measure_curve(spark, folder, [int(size) for size in arguments.sizes.split(",")])


if __name__ == "__main__":
    main()
