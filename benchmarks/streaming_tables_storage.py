"""The storage of streaming tables beside its floor: appends, sustained inserts, scans, opening.

    python benchmarks/streaming_tables_storage.py [--rows 20000000] [--no-floor] [--folder FOLDER]

The floor of an append is one write and fdatasync of the same bytes; of a flush, Parquet of the same rows
written by pyarrow; of a scan, NumPy over the same rows in memory, in time order, so that only rows in the
time range are looked at. `--no-floor` leaves that out, as it needs all rows in memory.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.streaming_tables.storage import (
    ColumnDefinition,
    Comparison,
    IndexDefinition,
    Predicate,
    Snapshot,
    TableDefinition,
    TableStore,
    TimeDefinition,
)

COLUMNS = ("VID", "SPD", "XWAY", "LANE", "DIR", "SEG", "POS")
BATCH = 33_000
VEHICLES_PER_SECOND = 1_700


def definition(indexes: tuple[IndexDefinition, ...]) -> TableDefinition:
    """Position reports of Linear Road."""
    columns = tuple(ColumnDefinition(name, "int") for name in COLUMNS)
    return TableDefinition("posreports", columns, TimeDefinition(), 1_209_600, 0, 3600, indexes)


def reports(chance: np.random.Generator, first: int, rows: int, per_second: int) -> pa.Table:
    """Reports in time order: each vehicle reports every 30 seconds."""
    number = np.arange(first, first + rows)
    vehicles = per_second * 30
    vid = (number % vehicles) + number // (vehicles * 60) * (vehicles // 4)
    values: dict[str, Any] = {
        "VID": vid.astype(np.int32),
        "SPD": chance.integers(0, 100, rows, np.int32),
        "XWAY": (vid % 10).astype(np.int32),
        "LANE": chance.integers(0, 5, rows, np.int32),
        "DIR": (vid % 2).astype(np.int32),
        "SEG": ((vid * 7919 + number // vehicles) % 100).astype(np.int32),
        "POS": chance.integers(0, 528_000, rows, np.int32),
        "T": (number // per_second).astype(np.int64),
    }
    return pa.table(values)


def milliseconds(call: Callable[[], object], times: int) -> list[float]:
    """How long each call took."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        taken.append(1000 * (time.perf_counter() - begin))
    return taken


def line(what: str, taken: list[float], floor: list[float] | None = None, unit: str = "ms") -> None:
    """Print a figure beside its floor."""
    text = f"{what:<58} {statistics.median(taken):9.1f} {unit} (worst {max(taken):.1f})"
    if floor:
        ratio = statistics.median(taken) / statistics.median(floor)
        text += f"   floor {statistics.median(floor):.1f} {unit}, {ratio:.1f} times"
    print(text, flush=True)


def appends(folder: Path) -> None:
    """Appends of 33,000 rows, and snapshots in a second store after each."""
    chance = np.random.default_rng(1)
    store = TableStore.create(folder / "appends", definition(()))
    reader = TableStore.open(folder / "appends")
    taken, floor, snapshots = [], [], []
    plain = os.open(folder / "plain", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with store.writer("benchmark") as writer:
        for number in range(30):
            rows = reports(chance, number * BATCH, BATCH, BATCH)
            taken += milliseconds(lambda rows=rows: writer.append(rows), 1)  # type: ignore[misc]
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, rows.schema) as stream:
                stream.write_table(rows)
            content = sink.getvalue()

            def write(content: pa.Buffer = content) -> None:
                os.write(plain, content)
                os.fdatasync(plain)

            floor += milliseconds(write, 1)
            snapshots += milliseconds(reader.snapshot, 1)
    os.close(plain)
    line("append of 33,000 rows", taken, floor)
    line("snapshot in another store, 33,000 new rows each", snapshots)
    line("snapshot, nothing new", milliseconds(reader.snapshot, 50))


def load(folder: Path, total: int) -> TableStore:
    """Sustained appends with flushes and one value index."""
    chance = np.random.default_rng(2)
    store = TableStore.create(folder / "table", definition((IndexDefinition("i", "VID"),)))
    taken = 0.0
    samples: list[pa.Table] = []
    with store.writer("benchmark") as writer:
        for first in range(0, total, 5 * BATCH):
            batch = reports(chance, first, min(5 * BATCH, total - first), VEHICLES_PER_SECOND)
            if len(samples) < 7:
                samples.append(batch)
            begin = time.perf_counter()
            writer.append(batch)
            taken += time.perf_counter() - begin
        appended = taken
        begin = time.perf_counter()
        writer.flush()
        taken += time.perf_counter() - begin
    begin = time.perf_counter()
    sample = pa.concat_tables(samples)
    pq.write_table(sample, folder / "floor.parquet", compression="zstd", compression_level=1)
    floor = sample.num_rows / (time.perf_counter() - begin)
    print(
        f"sustained insert with one value index: {total / taken:,.0f} rows/s to the past "
        f"({total / appended:,.0f} acknowledged); floor {floor:,.0f} rows/s (Parquet by pyarrow)",
        flush=True,
    )
    return store


def scans(folder: Path, total: int, *, with_floor: bool) -> None:
    """Scans by time and value, with new constants every time, beside NumPy over the same rows."""
    begin = time.perf_counter()
    store = TableStore.open(folder / "table")
    store.snapshot()
    print(f"open a table of {total:,} rows: {1000 * (time.perf_counter() - begin):.0f} ms", flush=True)
    snapshot = store.snapshot()
    arrays: dict[str, Any] = {}
    if with_floor:
        everything = snapshot.scan()
        order = np.argsort(everything.column("T").to_numpy(), kind="stable")
        arrays = {name: everything.column(name).to_numpy()[order] for name in (*COLUMNS, "T")}
        del everything, order
    chance = np.random.default_rng(3)
    last = snapshot.newest or 0
    vehicles = VEHICLES_PER_SECOND * 30
    print(snapshot.describe())
    for wanted in (10_000, 30_000, 60_000):
        count = 500
        seconds = wanted * 30 // count
        _compare(
            f"VID IN (500 values) AND T BETWEEN, about {wanted:,} rows",
            snapshot,
            arrays,
            partial(_some_vehicles, chance, last, seconds, vehicles),
        )
        seconds = wanted * 100 // (VEHICLES_PER_SECOND * 10)
        _compare(
            f"SEG BETWEEN (10 of 100) AND T BETWEEN, about {wanted:,} rows",
            snapshot,
            arrays,
            partial(_some_segments, chance, last, seconds, None),
        )
        seconds = wanted * 1000 // (VEHICLES_PER_SECOND * 10)
        if seconds < last:
            _compare(
                f"SEG BETWEEN AND XWAY = x AND T BETWEEN, about {wanted:,} rows",
                snapshot,
                arrays,
                partial(_some_segments, chance, last, seconds, int(chance.integers(0, 10))),
            )
    one = milliseconds(
        lambda: snapshot.scan(None, Predicate.all_of(Comparison("VID", "=", int(chance.integers(0, 10**5))))),
        20,
    )
    floor = None
    if with_floor:
        vids = arrays["VID"]
        floor = milliseconds(lambda: np.flatnonzero(vids == int(chance.integers(0, 10**5))), 5)
    line("VID = x, all times", one, floor)
    print(snapshot.explain(None, Predicate.all_of(Comparison("VID", "=", int(chance.integers(0, 10**5))))))
    line("[ROWS 100]", milliseconds(lambda: snapshot.last_rows(100), 5))
    line("[VID ROWS 4], all vehicles", milliseconds(lambda: snapshot.last_rows(4, ["VID"], ["VID", "T"]), 1))


def _some_vehicles(
    chance: np.random.Generator, last: int, seconds: int, vehicles: int
) -> tuple[int, int, list[Comparison]]:
    begin = int(chance.integers(0, last - seconds))
    # The vehicles that are on the road at that time.
    oldest = begin // 1800 * (vehicles // 4)
    values = (oldest + chance.choice(vehicles, 500, replace=False)).tolist()
    return begin, begin + seconds - 1, [Comparison("VID", "in", values)]


def _some_segments(
    chance: np.random.Generator, last: int, seconds: int, xway: int | None
) -> tuple[int, int, list[Comparison]]:
    begin = int(chance.integers(0, last - seconds))
    low = int(chance.integers(0, 90))
    comparisons = [Comparison("SEG", ">=", low), Comparison("SEG", "<=", low + 9)]
    if xway is not None:
        comparisons.append(Comparison("XWAY", "=", xway))
    return begin, begin + seconds - 1, comparisons


def _compare(
    what: str,
    snapshot: Snapshot,
    arrays: dict[str, Any],
    question: Callable[[], tuple[int, int, list[Comparison]]],
) -> None:
    taken, floor, rows = [], [], []
    for _ in range(20):
        low, high, comparisons = question()
        begin = time.perf_counter()
        found = snapshot.scan(None, Predicate.all_of(*comparisons), time_from=low, time_to=high)
        taken.append(1000 * (time.perf_counter() - begin))
        rows.append(found.num_rows)
        if not arrays:
            continue
        begin = time.perf_counter()
        first, end = np.searchsorted(arrays["T"], (low, high + 1))
        mask = np.ones(end - first, np.bool_)
        for one in comparisons:
            values = arrays[one.column][first:end]
            if one.op == "in":
                mask &= np.isin(values, one.value)
            elif one.op == ">=":
                mask &= values >= one.value
            elif one.op == "<=":
                mask &= values <= one.value
            else:
                mask &= values == one.value
        chosen = np.flatnonzero(mask)
        expected = {name: values[first:end][chosen] for name, values in arrays.items()}
        floor.append(1000 * (time.perf_counter() - begin))
        assert found.num_rows == len(chosen) == len(expected["T"])
    line(f"{what} ({statistics.median(rows):,.0f})", taken, floor)


def main() -> None:
    """Run all of it."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, default=20_000_000)
    arguments.add_argument("--no-floor", action="store_true")
    arguments.add_argument("--folder", type=Path)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="causeway-storage-") as temporary:
        folder = chosen.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        appends(folder)
        load(folder, chosen.rows)
        scans(folder, chosen.rows, with_floor=not chosen.no_floor)


if __name__ == "__main__":
    main()
