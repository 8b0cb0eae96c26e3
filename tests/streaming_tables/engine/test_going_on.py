"""Inserts and views that failed, or whose sources were away, go on: nothing is lost, nothing comes twice."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from deltalake import DeltaTable
from tests.streaming_tables.engine.reading import ask, bag, unused
from tests.streaming_tables.engine.test_inserts import insert_state, made, put, refused
from tests.streaming_tables.small_disk import ballast, small_disk

import causeway
from causeway.streaming_tables.engine import background
from causeway.streaming_tables.storage import COMPARTMENT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from causeway.streaming_tables.engine.connection import Connection


def made_words(name: str, place: Path) -> str:
    return f"CREATE TABLE {name} USING parquet LOCATION '{place}' AS SELECT 1 AS n, 'a' AS w"


def failed_insert(db: Connection, folder: Path, words: str) -> int:
    """An insert into `t` with one good batch, and one that failed because a table was dropped meanwhile."""
    made(db, "t")
    db.sql(
        f"CREATE TABLE {words} USING parquet LOCATION '{folder.parent / words}' AS SELECT 1 AS n, 'a' AS w"
    )
    put(folder, "1.csv", "n,T\n1,1\n2,2\n")
    ((number,),) = ask(
        db, f"INSERT INTO t SELECT x.n, w, x.T FROM STREAM '{folder}' x LEFT JOIN {words} y ON x.n = y.n"
    )
    db.sql("WAIT FOR t")
    db.sql(f"DROP TABLE {words}")
    put(folder, "2.csv", "n,T\n1,3\n3,4\n")
    assert words in refused(db, "WAIT FOR t")
    assert "failed" in insert_state(db, "t")[0]
    return int(number)


PATIENCE = 300.0
"""Seconds for something that must happen; a test that passes waits for a moment."""

ALL_ROWS = [(1, "a", 1), (2, None, 2), (1, "a", 3), (3, None, 4)]


def test_a_failed_insert_is_resumed(tmp_path: Path, spark: SparkSession) -> None:
    words = unused("words")
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        number = failed_insert(db, tmp_path / "in", words)
        # The cause is still there.
        assert words in refused(db, f"RESUME INSERT {number}")
        db.sql(
            f"CREATE TABLE {words} USING parquet LOCATION '{tmp_path / 'words'}' AS SELECT 1 AS n, 'a' AS w"
        )
        try:
            db.sql(f"RESUME INSERT {number}")
            db.sql("WAIT FOR t")
            assert bag(ask(db, "SELECT * FROM t")) == bag(ALL_ROWS)
            assert "has not failed" in refused(db, f"RESUME INSERT {number}")
            db.sql(f"KILL INSERT {number}")
            assert "stopped: killed" in insert_state(db, "t")[0]
            put(tmp_path / "in", "3.csv", "n,T\n1,5\n")
            db.sql("WAIT FOR t")
            assert bag(ask(db, "SELECT * FROM t")) == bag(ALL_ROWS)
            assert "is over" in refused(db, f"RESUME INSERT {number}")
            assert "is over" in refused(db, f"KILL INSERT {number}")
            assert "there is no insert 77" in refused(db, "KILL INSERT 77")
        finally:
            spark.sql(f"DROP TABLE IF EXISTS {words}")


def test_a_failed_insert_is_tried_again_when_the_warehouse_is_opened(
    tmp_path: Path, spark: SparkSession
) -> None:
    words = unused("words")
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        failed_insert(db, tmp_path / "in", words)
    spark.sql(
        f"CREATE TABLE {words} USING parquet LOCATION '{tmp_path / 'words'}' AS SELECT 1 AS n, 'a' AS w"
    )
    try:
        with causeway.connect(tmp_path / "w", spark=spark) as db:
            db.sql("WAIT FOR t")
            assert bag(ask(db, "SELECT * FROM t")) == bag(ALL_ROWS)
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {words}")


@pytest.mark.parametrize("by_itself", [False, True])
def test_an_insert_goes_on_when_its_source_is_back(
    tmp_path: Path, spark: SparkSession, by_itself: bool
) -> None:
    folder = tmp_path / "in"
    put(folder, "1.csv", "i,s,T\n1,a,1\n")
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        made(db, "t")
        db.sql(f"INSERT INTO t VALUES FROM '{folder}'")
        db.sql("WAIT FOR t")
    folder.rename(tmp_path / "elsewhere")
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        assert "waits: " in refused(db, "WAIT FOR t")
        assert "waits: " in insert_state(db, "t")[0]
        (tmp_path / "elsewhere").rename(folder)
        put(folder, "2.csv", "i,s,T\n2,b,2\n")
        deadline = time.monotonic() + PATIENCE
        while by_itself and "waits: " in insert_state(db, "t")[0]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        db.sql("WAIT FOR t")
        assert bag(ask(db, "SELECT i FROM t")) == bag([(1,), (2,)])


def test_a_failed_view_is_resumed(db: Connection, name: str) -> None:
    view = f"{name}_v"
    made(db, name)
    db.sql(
        f"CREATE VIEW {view} (x) RANGE INTERVAL 1000 AS "
        f"(SELECT sum(10 / i) FROM {name} [INTERVAL 0] SAMPLE INTERVAL 1)"
    )
    db.append(name, [(1, "a", 1), (2, "b", 2), (0, "c", 3), (5, "d", 4), (5, "e", 5)])
    message = refused(db, f"WAIT FOR {view}")
    assert f"view {view} failed: line 1, column" in message and "Division by zero" in message
    assert [row[2] for row in ask(db, "SHOW QUERIES") if row[0] == view] == ["failed"]
    # A query over the view ends in a script: nothing comes to the view by itself any more.
    assert db.is_quiet((view,))
    db.sql(f"UPDATE {name} SET i = 10 WHERE i = 0")
    db.sql(f"RESUME VIEW {view}")
    db.sql(f"WAIT FOR {view}")
    assert bag(ask(db, f"SELECT x, T FROM {view}")) == bag([(10.0, 1), (5.0, 2), (1.0, 3), (2.0, 4)])
    assert "has not failed" in refused(db, f"RESUME VIEW {view}")
    assert "there is no streaming view nope" in refused(db, "RESUME VIEW nope")


def test_a_view_that_cannot_be_planned_when_the_warehouse_is_opened(
    tmp_path: Path, spark: SparkSession
) -> None:
    words = unused("words")
    make = f"CREATE TABLE {words} USING parquet LOCATION '{tmp_path / words}' AS SELECT 1 AS i"
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        made(db, "t")
        db.sql(make)
        db.sql(
            f"CREATE VIEW v RANGE INTERVAL 1000 AS (SELECT t.i FROM t [ROWS 1], {words} w "
            "WHERE t.i = w.i SAMPLE REALTIME)"
        )
    spark.sql(f"DROP TABLE {words}")
    try:
        with causeway.connect(tmp_path / "w", spark=spark) as db:
            db.append("t", [(1, "a", 1), (1, "b", 2)])
            assert words in refused(db, "WAIT FOR v")
            db.sql(make.replace(f"'{tmp_path / words}'", f"'{tmp_path / 'again'}'"))
            db.sql("RESUME VIEW v")
            db.sql("WAIT FOR v")
            assert ask(db, "SELECT * FROM v") == [(1, 1)]
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {words}")


def test_an_insert_that_filled_the_disk_goes_on_when_there_is_space(
    tmp_path: Path, spark: SparkSession
) -> None:
    folder = tmp_path / "in"
    lines = "".join(f"{k},{'x' * 500},{k}\n" for k in range(20_000))
    with small_disk(tmp_path / "disk", 32) as disk, causeway.connect(disk / "w", spark=spark) as db:
        made(db, "t")
        weight = ballast(disk, 4_000_000)
        put(folder, "1.csv", f"i,s,T\n{lines}")
        ((number,),) = ask(db, f"INSERT INTO t VALUES FROM '{folder}' OPTIONS (batch_rows = 1000)")
        message = refused(db, "WAIT FOR t").lower()
        assert "no space left" in message
        ((count, distinct),) = ask(db, "SELECT count(*), count(DISTINCT i) FROM t")
        assert count == distinct < 20_000
        weight.unlink()
        db.sql(f"RESUME INSERT {number}")
        db.sql("WAIT FOR t")
        assert ask(db, "SELECT count(*), count(DISTINCT i), max(i) FROM t") == [(20_000, 20_000, 19_999)]


def test_compartments_fall_by_themselves(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "_UPKEEP_SECONDS", 0.05)
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        db.sql("CREATE STREAMING TABLE t (k INT) RANGE INTERVAL 100 COMPARTMENT INTERVAL 10")
        db.sql("CREATE VIEW v (m) RANGE INTERVAL 50 AS (SELECT max(k) FROM t [ROWS 1] SAMPLE INTERVAL 10)")
        past = db.warehouse.require("t").folder / "past"
        for first in range(0, 1000, 100):
            db.append("t", [(k, k) for k in range(first, first + 100)])
            db._background.writer("t").flush()
            assert [row[0] for row in ask(db, "SELECT min(k) FROM t")] == [max(first - 1, 0)]
        db.sql("WAIT FOR v")
        # All compartments that end before second 899 go, in the Delta table, too.
        deadline = time.monotonic() + PATIENCE
        while min(int(one[COMPARTMENT]) for one in DeltaTable(past).partitions()) < 890:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert ask(db, "SELECT min(k), count(*) FROM t") == [(899, 101)]
        assert bag(ask(db, "SELECT * FROM v")) == bag((tick, tick) for tick in range(950, 1000, 10))
