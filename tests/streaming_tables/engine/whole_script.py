"""A whole script on a warehouse with a Spark of its own: prints each answer as a line of JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

import causeway
from causeway.streaming_tables import PullQuery, PushQuery

SCRIPT = """
CREATE STREAMING TABLE reports (vid INT, spd INT, seg INT) RANGE INTERVAL '2' WEEK COMPARTMENT INTERVAL 100
CREATE INDEX by_vid ON reports (vid)
CREATE VIEW counted (seg, n) RANGE INTERVAL 500 AS
    (SELECT seg, count(*) FROM reports [WINDOW INTERVAL 50] GROUP BY seg SAMPLE INTERVAL 100)
CREATE VIEW slower RANGE INTERVAL '1' HOUR AS
    (SELECT a.vid, b.spd - a.spd AS less FROM reports [vid ROWS 2] a, reports [vid ROWS 2] b
    WHERE b = PREV(a) AND a.spd < b.spd AND a.T = NOW() SAMPLE REALTIME)
INSERT INTO reports VALUES FROM '{folder}' OPTIONS (once = true)
WAIT FOR counted
WAIT FOR slower
SELECT count(*), sum(spd), max(T) FROM reports
SELECT spd, T FROM reports WHERE vid = 7 AND T < 100
SELECT * FROM counted
SELECT count(*), sum(less), max(T) FROM slower
SELECT a.vid, b.spd FROM reports [vid ROWS 2] a, reports [vid ROWS 2] b WHERE b = PREV(a) AND a.seg = 3
CREATE TABLE segments AS SELECT * FROM VALUES (1, 'a'), (3, 'c') AS s (seg, name)
SELECT name, count(*) FROM reports JOIN segments USING (seg) GROUP BY name
SELECT s.name, c.n FROM counted c [WINDOW INTERVAL 0], segments s WHERE c.seg = s.seg
    ORDER BY s.name SAMPLE INTERVAL 100
SELECT vid, size(TRJ(*)) FROM reports P WHERE NEAR(vid, 10, 2)
    AND VALID(P) OVERLAPS (NOW() - INTERVAL '1' MINUTE, NOW()) GROUP BY vid
DELETE FROM reports WHERE vid = 7
SELECT count(*), sum(spd) FROM reports
UPDATE reports SET spd = spd + 1 WHERE vid < 7
SELECT sum(spd) FROM reports
CREATE STREAMING TABLE copy (vid INT, spd INT) TIMESTAMP BY at TIMESTAMP RANGE UNBOUNDED
    SLACK INTERVAL '1' DAY
INSERT INTO copy SELECT vid, spd, timestamp_seconds(T) FROM reports WHERE seg = 3
SELECT count(*), sum(spd), unix_seconds(max(at)) FROM copy [INTERVAL '1' MINUTE]
INSERT INTO copy SELECT vid, spd DIV (seg - 4), timestamp_seconds(T) FROM STREAM '{folder}'
    OPTIONS (once = true) x JOIN segments USING (seg) WHERE T > 989
WAIT FOR copy
SELECT count(*) FROM copy
EXPLAIN SELECT spd FROM reports WHERE vid = 9
SHOW INDEXES
SHOW TABLES
DROP VIEW slower
DROP TABLE copy
SHOW VIEWS
"""


def answers(found: Any) -> list[Any]:
    """The rows of an answer, or of all answers of a pushed query with their ticks."""
    if isinstance(found, PushQuery):
        return [[tick, rows_of(rows)] for tick, rows in found]
    return rows_of(found.resume().to_arrow() if isinstance(found, PullQuery) else found.to_arrow())


def rows_of(rows: pa.Table) -> list[list[Any]]:
    columns = [column.to_pylist() for column in rows.columns]
    return [list(row) for row in zip(*columns, strict=True)] if columns else []


def main(master: str, warehouse: Path, folder: Path) -> None:
    statements = SCRIPT.strip().replace("\n    ", " ").splitlines()
    settings = {"spark.driver.memory": "1g"}
    with causeway.connect(warehouse, master=master, settings=settings) as db:
        for statement in statements:
            found = answers(db.sql(statement.format(folder=folder)))
            print(json.dumps({"statement": statement, "rows": found}), flush=True)
            if statement == "WAIT FOR slower":
                # The rest is read from data files, which the executors read.
                db._background.writer("reports").flush()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
