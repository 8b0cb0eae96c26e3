"""A whole script on a warehouse with a Spark of its own: prints each answer as a line of JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import causeway
from causeway.streaming_tables.engine.answers import Answer

SCRIPT = """
CREATE STREAMING TABLE reports (vid INT, spd INT, seg INT) RANGE INTERVAL '2' WEEK COMPARTMENT INTERVAL 100
CREATE INDEX by_vid ON reports (vid)
CREATE VIEW counted (seg, n) RANGE INTERVAL 500 AS
    (SELECT seg, count(*) FROM reports [WINDOW INTERVAL 50] GROUP BY seg SAMPLE INTERVAL 100)
INSERT INTO reports VALUES FROM '{folder}' OPTIONS (once = true)
WAIT FOR counted
SELECT count(*), sum(spd), max(T) FROM reports
SELECT spd, T FROM reports WHERE vid = 7 AND T < 100
SELECT * FROM counted
SELECT a.vid, b.spd FROM reports [vid ROWS 2] a, reports [vid ROWS 2] b WHERE b = PREV(a) AND a.seg = 3
CREATE TABLE segments AS SELECT * FROM VALUES (1, 'a'), (3, 'c') AS s (seg, name)
SELECT name, count(*) FROM reports JOIN segments USING (seg) GROUP BY name
DELETE FROM reports WHERE vid = 7
SELECT count(*), sum(spd) FROM reports
"""


def main(master: str, warehouse: Path, folder: Path) -> None:
    statements = SCRIPT.strip().replace("AS\n    ", "AS ").splitlines()
    settings = {"spark.driver.memory": "1g"}
    with causeway.connect(warehouse, master=master, settings=settings) as db:
        for statement in statements:
            answer = db.sql(statement.format(folder=folder))
            rows = answer.to_arrow() if isinstance(answer, Answer) else answer.resume().to_arrow()  # type: ignore[union-attr]
            columns = [column.to_pylist() for column in rows.columns]
            print(
                json.dumps([list(row) for row in zip(*columns, strict=True)] if columns else []), flush=True
            )
            if statement.startswith("WAIT"):
                # The rest is read from data files, which the executors read.
                db._background.writer("reports").flush()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
