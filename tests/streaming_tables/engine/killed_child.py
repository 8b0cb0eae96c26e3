"""A process with a warehouse of its own Spark, which writes until it is killed and tells what it has done."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tests.quick_spark import QUICK_SPARK

import causeway
from causeway.streaming_tables.engine.connection import Connection

ROWS = 25
SETTINGS = {**QUICK_SPARK, "spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "1"}


def say(*words: object) -> None:
    print(*words, flush=True)


def create(db: Connection, folder: Path) -> None:
    """Everything that is there before the first process is killed."""
    db.sql("CREATE STREAMING TABLE acknowledged (k INT) RANGE UNLIMITED COMPARTMENT INTERVAL 20")
    db.sql("CREATE STREAMING TABLE fed (k INT) RANGE UNLIMITED COMPARTMENT INTERVAL 20")
    db.sql("CREATE INDEX by_k ON fed (k)")
    db.sql(
        "CREATE VIEW counted (n, total) RANGE INTERVAL 1000000 AS "
        "(SELECT count(*), sum(k) FROM fed [INTERVAL 2] SAMPLE INTERVAL 3)"
    )
    db.sql(
        "CREATE VIEW linked RANGE INTERVAL 1000000 AS (SELECT a.k, b.k AS older FROM fed [ROWS 2] a, "
        "fed [ROWS 2] b WHERE b = PREV(a) SAMPLE REALTIME)"
    )
    db.sql(f"INSERT INTO fed VALUES FROM '{folder}' OPTIONS (batch_rows = 60)")


def put(folder: Path, number: int) -> None:
    """A file of the feed: rows number `number * ROWS` and after, five to a second."""
    rows = "".join(f"{k},{k // 5}\n" for k in range(number * ROWS, (number + 1) * ROWS))
    part = folder / f".{number}.part"
    part.write_text(f"k,T\n{rows}")
    part.rename(folder / f"{number:06d}.csv")


def main(warehouse: Path, folder: Path) -> None:
    with causeway.connect(warehouse, master="local[1]", settings=SETTINGS) as db:
        count = db.warehouse.require("acknowledged").snapshot().describe().rows
        say("ready", count)
        files = len(list(folder.glob("*.csv")))
        while True:
            put(folder, files)
            files += 1
            db.append("acknowledged", [(k, k // 10) for k in range(count, count + ROWS)])
            count += ROWS
            say("acknowledged", count)
            # Files wait to be read, but not for minutes.
            time.sleep(0.2)
            if files % 3 == 0:
                for table in ("acknowledged", "fed", "counted"):
                    db._background.writer(table).flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
