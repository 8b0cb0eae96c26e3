"""Position reports for the benchmarks of streaming tables: rows, their table, and statements on it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.streaming_tables import Connection

__all__ = [
    "ANSWERS",
    "CREATE",
    "PER_SECOND",
    "SPAN",
    "VEHICLES",
    "batches",
    "deliver",
    "fill",
    "reports",
    "statement",
]

PER_SECOND = 33_000
VEHICLES = 30 * PER_SECOND
"""Each vehicle reports every 30 seconds."""
ANSWERS = (10_000, 30_000, 60_000)
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


def statement(chance: np.random.Generator, answer: int, newest: int, shift: int = 0) -> str:
    """A statement with constants of its own whose answer has about that many rows; `shift` moves vehicles."""
    begin = int(chance.integers(0, max(1, newest - SPAN)))
    wanted = answer // 4
    first = int(chance.integers(0, VEHICLES - wanted)) + shift
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
