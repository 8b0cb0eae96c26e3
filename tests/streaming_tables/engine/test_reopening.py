"""A warehouse that is closed and opened again goes on where it was."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.streaming_tables.engine.reading import ask, bag
from tests.streaming_tables.engine.test_inserts import put

import causeway
from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_tables_inserts_and_views_go_on(tmp_path: Path, spark: SparkSession) -> None:
    folder = tmp_path / "in"
    for number in range(8):
        lines = "".join(f"{k},{k}\n" for k in range(10 * number, 10 * number + 10))
        put(folder, f"{number}.csv", f"k,T\n{lines}")
        with causeway.connect(tmp_path / "w", spark=spark) as db:
            if number == 0:
                db.sql("CREATE STREAMING TABLE t (k INT) RANGE UNLIMITED COMPARTMENT INTERVAL 20")
                db.sql("CREATE INDEX by_k ON t (k)")
                db.sql(f"INSERT INTO t VALUES FROM '{folder}'")
                db.sql(
                    "CREATE VIEW v (n, most) RANGE INTERVAL 1000 AS "
                    "(SELECT count(*), max(k) FROM t [INTERVAL 9] SAMPLE INTERVAL 5)"
                )
                db.sql(
                    "CREATE VIEW w RANGE INTERVAL 1000 AS (SELECT a.most, b.most AS older FROM v [ROWS 2] a, "
                    "v [ROWS 2] b WHERE b = PREV(a) SAMPLE REALTIME)"
                )
            # Every other time it is closed in the middle of its work.
            if number % 2 == 0:
                db.sql("WAIT FOR w")
            if number == 4:
                db._background.writer("t").flush()
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        db.sql("WAIT FOR w")
        assert bag(ask(db, "SELECT k FROM t")) == bag((k,) for k in range(80))
        assert ask(db, "SELECT T FROM t WHERE k = 33") == [(33,)]
        ticks = range(0, 79, 5)
        assert bag(ask(db, "SELECT * FROM v")) == bag((min(tick + 1, 10), tick, tick) for tick in ticks)
        assert bag(ask(db, "SELECT * FROM w")) == bag((tick, tick - 5, tick) for tick in ticks[1:])
        assert [row[0] for row in ask(db, "SHOW VIEWS") if row[1] == "streaming view"] == ["v", "w"]


def test_a_finished_insert_is_not_done_again(tmp_path: Path, spark: SparkSession) -> None:
    put(tmp_path, "in.csv", "k,T\n1,1\n2,2\n")
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        db.sql("CREATE STREAMING TABLE t (k INT) RANGE UNLIMITED")
        db.sql(f"INSERT INTO t VALUES FROM '{tmp_path / 'in.csv'}'")
        db.sql("WAIT FOR t")
    (tmp_path / "in.csv").unlink()
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        db.sql("WAIT FOR t")
        assert bag(ask(db, "SELECT k FROM t")) == bag([(1,), (2,)])


def test_an_insert_whose_source_is_gone_says_so(tmp_path: Path, spark: SparkSession) -> None:
    folder = tmp_path / "in"
    put(folder, "1.csv", "k,T\n1,1\n")
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        db.sql("CREATE STREAMING TABLE t (k INT) RANGE UNLIMITED")
        db.sql(f"INSERT INTO t VALUES FROM '{folder}'")
        db.sql("WAIT FOR t")
    folder.rename(tmp_path / "elsewhere")
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        assert ask(db, "SELECT k FROM t") == [(1,)]
        with pytest.raises(UserError, match=r"waits: .*no such file or folder"):
            db.sql("WAIT FOR t")
    # When the source is back, the insert goes on where it was.
    (tmp_path / "elsewhere").rename(folder)
    put(folder, "2.csv", "k,T\n2,2\n")
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        db.sql("WAIT FOR t")
        assert bag(ask(db, "SELECT k FROM t")) == bag([(1,), (2,)])


def test_another_connection_waits_for_inserts_and_views(tmp_path: Path, spark: SparkSession) -> None:
    folder = tmp_path / "in"
    put(folder, "1.csv", "k,T\n1,1\n2,2\n")
    with causeway.connect(tmp_path / "w", spark=spark) as first:
        first.sql("CREATE STREAMING TABLE t (k INT) RANGE UNLIMITED")
        first.sql("CREATE VIEW v RANGE INTERVAL 1000 AS (SELECT k FROM t [ROWS 1] SAMPLE REALTIME)")
        first.sql(f"INSERT INTO t VALUES FROM '{folder}'")
        # This one cannot write, so it stands for another process.
        with causeway.connect(tmp_path / "w", spark=spark) as second:
            second.sql("WAIT FOR v")
            assert bag(ask(second, "SELECT k FROM t")) == bag([(1,), (2,)])
            assert ask(second, "SELECT k FROM v") == [(1,)]
            put(folder, "2.csv", "k,T\n3,3\n4,4\n")
            second.sql("WAIT FOR t")
            assert ask(second, "SELECT count(*) FROM t") == [(4,)]
            second.sql("WAIT FOR v")
            assert bag(ask(second, "SELECT k FROM v")) == bag([(1,), (2,), (3,)])
            put(tmp_path, "last.csv", "k,T\n5,5\n")
            first.sql(f"INSERT INTO t VALUES FROM '{tmp_path / 'last.csv'}'")
            second.sql("WAIT FOR t")
            assert ask(second, "SELECT count(*) FROM t") == [(5,)]
