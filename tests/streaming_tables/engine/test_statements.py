"""Statements that are run once: inserts, changes, housekeeping, and what they say."""

from __future__ import annotations

import logging
import re
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest
from tests.streaming_tables.engine.reading import ask, bag, continuous, pulled, pushed, tuples

import causeway
from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.connection import Connection
from causeway.streaming_tables.language import StatementError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def made(db: Connection, name: str, count: int = 0, clauses: str = "") -> None:
    db.sql(f"CREATE STREAMING TABLE {name} (i INT, s STRING) RANGE INTERVAL '1' DAY {clauses}")
    if count:
        db.append(name, [(number, f"n{number}", number) for number in range(count)])


def facts(db: Connection, name: str) -> dict[str, str]:
    return dict(ask(db, f"DESCRIBE {name}"))


def refused(db: Connection, statement: str) -> str:
    with pytest.raises(UserError) as raised:
        answer = db.sql(statement)
        answer.to_arrow()  # type: ignore[union-attr]
    return str(raised.value)


def placed(db: Connection, statement: str, place: str) -> str:
    """The message of an error whose line and column are those of `place` in the statement."""
    with pytest.raises(StatementError) as raised:
        db.sql(statement)
    before = statement[: statement.index(place)]
    assert (raised.value.line, raised.value.column) == (
        before.count("\n") + 1,
        len(before) - before.rfind("\n"),
    ), str(raised.value)
    return raised.value.message


def test_rows_of_every_kind_can_be_appended(db: Connection, name: str) -> None:
    made(db, name)
    db.append(name, [(1, "a", 1)])
    db.append(name, [{"I": 2, "t": 1}, {"s": "c", "T": 2}])
    db.append(name, pa.table({"T": [3], "s": ["d"], "i": [4]}))
    db.append(name, pd.DataFrame({"i": [5], "s": ["e"], "T": [4]}))
    assert db.append(name, []).accepted == 0
    assert ask(db, f"SELECT * FROM {name} ORDER BY T, i DESC") == [
        (2, None, 1),
        (1, "a", 1),
        (None, "c", 2),
        (4, "d", 3),
        (5, "e", 4),
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(1, "a")], "row 1 has 2 values"),
        ([{"i": 1, "x": 2, "T": 1}], "has no column x"),
        ([{"i": 1}], "has no time: T is null"),
        ([("x", "a", 1)], "column i"),
        (pa.table({"i": [1], "T": [1], "more": [1]}), "s missing; more unknown"),
        (7, "not int"),
    ],
)
def test_rows_that_do_not_fit_are_refused_as_a_whole(
    db: Connection, name: str, rows: Any, message: str
) -> None:
    made(db, name, 2)
    with pytest.raises(UserError, match=message):
        db.append(name, rows)
    assert len(ask(db, f"SELECT * FROM {name}")) == 2


def test_values_a_query_and_named_columns_are_inserted_once(db: Connection, name: str) -> None:
    made(db, name)
    assert ask(db, f"INSERT INTO {name} VALUES (1, 'a', 10), (2, NULL, 11)") == [(2, 0)]
    db.sql(f"INSERT INTO {name} (T, i) VALUES (12, 3)")
    db.sql(f"INSERT INTO {name} SELECT i + 10, upper(s), T + 10 FROM {name} WHERE i = 1")
    db.sql(f"INSERT INTO {name} BY NAME SELECT 30 AS T, 9 AS i")
    db.sql(f"INSERT INTO {name} TABLE {name}__late")
    assert ask(db, f"SELECT * FROM {name} ORDER BY T") == [
        (1, "a", 10),
        (2, None, 11),
        (3, None, 12),
        (11, "A", 20),
        (9, None, 30),
    ]
    assert "has 2 values for 3 columns (i, s, T)" in refused(db, f"INSERT INTO {name} VALUES (1, 2)")
    assert "is null" in refused(db, f"INSERT INTO {name} (i) VALUES (1)")


def test_a_window_is_inserted_once_and_written_to_a_standard_table(
    db: Connection, name: str, tmp_path: Path
) -> None:
    made(db, name, 6)
    made(db, f"{name}_b")
    db.sql(f"INSERT INTO {name}_b SELECT * FROM {name} [WINDOW ROWS 2]")
    assert bag(ask(db, f"SELECT * FROM {name}_b")) == bag([(4, "n4", 4), (5, "n5", 5)])
    table = f"standard_{name}"
    db.sql(
        f"CREATE TABLE {table} USING parquet LOCATION '{tmp_path / 'x'}' AS SELECT i FROM {name} [INTERVAL 1]"
    )
    try:
        assert bag(ask(db, f"SELECT * FROM {table}")) == bag([(4,), (5,)])
        links = f"{name} [ROWS 2] a, {name} [ROWS 2] b WHERE b = PREV(a)"
        assert "PREV" in refused(db, f"INSERT INTO {table} SELECT a.i FROM {links}")
    finally:
        db.sql(f"DROP TABLE {table}")


def test_the_rows_of_a_query_are_inserted_in_the_order_of_their_time(db: Connection, name: str) -> None:
    made(db, name)
    query = "SELECT a, 'x', b FROM VALUES (1, 30), (2, 20), (3, 20), (4, 10) AS r (a, b)"
    assert ask(db, f"INSERT INTO {name} {query}") == [(4, 0)]
    # With ORDER BY, and in VALUES, the order is the user's.
    assert ask(db, f"INSERT INTO {name} SELECT a, 'y', b + 30 FROM ({query}) q (a, c, b) ORDER BY a") == [
        (1, 3)
    ]
    assert ask(db, f"INSERT INTO {name} VALUES (9, 'z', 100), (10, 'z', 90)") == [(1, 1)]


def test_late_rows_are_in_a_table_beside(db: Connection, name: str) -> None:
    made(db, name, clauses="SLACK INTERVAL 5")
    done = db.append(name, [(1, "a", 10), (2, "b", 5), (3, "c", 4), (4, "d", 20), (5, "e", 14)])
    assert (done.accepted, done.late) == (3, 2)
    assert bag(ask(db, f"SELECT * FROM {name}__late")) == bag([(3, "c", 4), (5, "e", 14)])
    assert ask(db, f"SELECT count(*) FROM {name} WHERE T IN (SELECT T FROM {name}__late)") == [(0,)]
    assert ask(db, f"INSERT INTO {name} VALUES (6, 'f', 1)") == [(0, 1)]
    assert facts(db, name)["late rows"] == "3"
    db._background.writer(name).flush()
    assert ask(db, f"SELECT i FROM {name}__late ORDER BY i") == [(3,), (5,), (6,)]


def test_deleted_rows_are_gone_from_every_later_read(db: Connection, name: str) -> None:
    made(db, name, 10)
    db._background.writer(name).flush()
    db.append(name, [(number, f"n{number}", number) for number in range(10, 20)])
    query = pulled(db, f"SELECT i FROM {name} [ROWS 3]")
    assert bag(tuples(query.to_arrow())) == bag([(17,), (18,), (19,)])
    assert ask(db, f"DELETE FROM {name} AS x WHERE x.i % 2 = 1 AND T > NOW() - INTERVAL 12") == [(6,)]
    left = [number for number in range(20) if number % 2 == 0 or number <= 7]
    assert sorted(key for (key,) in ask(db, f"SELECT i FROM {name}")) == left
    assert bag(tuples(query.to_arrow())) == bag([(14,), (16,), (18,)])
    assert ask(db, f"DELETE FROM {name} WHERE i IN (SELECT max(i) FROM {name})") == [(1,)]
    assert ask(db, f"DELETE FROM {name}") == [(len(left) - 1,)]
    assert ask(db, f"SELECT * FROM {name}") == []
    db.append(name, [(1, "z", 30)])
    assert ask(db, f"SELECT * FROM {name}") == [(1, "z", 30)]


def test_rows_are_replaced(db: Connection, name: str) -> None:
    made(db, name, 6)
    assert ask(db, f"UPDATE {name} SET s = concat(s, '!'), i = i + 100 WHERE i >= 4") == [(2,)]
    assert ask(db, f"UPDATE {name} x SET s = (SELECT max(s) FROM {name}) WHERE x.i = 0 -- the end") == [(1,)]
    assert ask(db, f"SELECT * FROM {name} ORDER BY T") == [
        (0, "n5!", 0),
        (1, "n1", 1),
        (2, "n2", 2),
        (3, "n3", 3),
        (104, "n4!", 4),
        (105, "n5!", 5),
    ]


def test_updates_of_two_threads_both_count(
    db: Connection, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.sql(f"CREATE STREAMING TABLE {name} (v INT) RANGE UNLIMITED")
    db.append(name, [(0, 1)])
    changes, meeting = db._runner._changes, threading.Barrier(2)
    select = changes._select

    def at_once(*args: Any) -> pa.Table:
        found = select(*args)
        with suppress(threading.BrokenBarrierError):
            meeting.wait(0.5)
        return found

    monkeypatch.setattr(changes, "_select", at_once)
    threads = [threading.Thread(target=db.sql, args=(f"UPDATE {name} SET v = v + 1",)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ask(db, f"SELECT v FROM {name}") == [(2,)]


def test_errors_in_changes_are_placed_in_the_users_text(db: Connection, name: str) -> None:
    made(db, name, 3)
    assert "`nope`" in placed(db, f"DELETE FROM {name}\nWHERE i = 1\n  AND nope = 2", "nope")
    message = placed(db, f"UPDATE {name} SET i = 1,\n s = concat(s,\n missing) WHERE i = 1", "missing")
    assert "`missing`" in message
    assert "__seq" not in message
    assert "`away`" in placed(db, f"UPDATE {name} SET i = 1 WHERE away = 1", "away")
    assert "cannot be changed" in placed(db, f"UPDATE {name} SET T = 1", "T = 1")


def test_an_expiring_row_leaves_every_read(db: Connection, name: str) -> None:
    db.sql(f"CREATE STREAMING TABLE {name} (i INT) RANGE INTERVAL 10 COMPARTMENT INTERVAL 60")
    db.append(name, [(number, number) for number in range(30)])
    assert sorted(key for (key,) in ask(db, f"SELECT i FROM {name}")) == list(range(19, 30))
    assert ask(db, f"SELECT count(*) FROM {name}") == [(11,)]
    assert db.table(name).count() == 11
    assert tuples(pulled(db, f"SELECT count(*) FROM {name} [ROWS 100]").to_arrow()) == [(11,)]
    db._background.writer(name).flush()
    assert ask(db, f"SELECT count(*), min(i) FROM {name}") == [(11, 19)]


def test_show_and_describe(db: Connection, name: str) -> None:
    made(db, name, 6, clauses="SLACK INTERVAL 2 COMPARTMENT INTERVAL 2")
    db.sql(f"CREATE INDEX x_{name} ON {name} (s)")
    db.sql(
        f"CREATE VIEW w_{name} (n) RANGE INTERVAL 5 AS (SELECT count(*) FROM {name} [ROWS 2] SAMPLE REALTIME)"
    )
    db.spark.createDataFrame([(1,)], "a INT").createOrReplaceTempView(f"temp_{name}")
    shown = ask(db, "SHOW TABLES")
    for row in (
        (name, "streaming table"),
        (f"w_{name}", "streaming view"),
        (f"temp_{name}", "temporary view"),
    ):
        assert row in shown
    assert not [row for row in shown if row[0].startswith("__causeway")]
    assert ask(db, f"SHOW TABLES LIKE 'w_{name}'") == [(f"w_{name}", "streaming view")]
    assert [row[:2] for row in ask(db, "SHOW VIEWS") if row[0] == f"w_{name}"] == [
        (f"w_{name}", "streaming view")
    ]
    assert ask(db, f"SHOW INDEXES ON {name}") == [(f"x_{name}", name, "s")]
    assert (f"x_{name}", name, "s") in ask(db, "SHOW INDEXES")
    db.sql(f"WAIT FOR w_{name}")
    db._background.writer(name).flush()
    recorded = facts(db, name)
    assert recorded["i"] == "int" and recorded["s"] == "string" and recorded["T"].startswith("bigint")
    assert recorded["rows"] == "6" and recorded["rows in the log"] == "0"
    assert (
        recorded["historical period"] == "86,400 s"
        and recorded["slack"] == "2 s"
        and recorded["compartment"] == "2 s"
    )
    assert recorded["oldest"] == "0" and recorded["newest"] == "5" and recorded["no more rows up to"] == "2"
    assert (
        recorded["compartments"] == "3" and recorded["late rows"] == "0" and recorded["rejected rows"] == "0"
    )
    assert int(recorded["bytes"]) > 0
    assert recorded["indexes"] == f"x_{name} (s)"
    assert "causeway streaming tables" in recorded["writer"]
    assert f"CREATE VIEW w_{name}" in facts(db, f"w_{name}")["statement"]
    assert facts(db, f"w_{name}")["newest"] == "2"


def test_describe_shows_times_of_timestamps(db: Connection, name: str) -> None:
    db.sql(f"CREATE STREAMING TABLE {name} (i INT) TIMESTAMP BY at TIMESTAMP RANGE INTERVAL '1' DAY")
    db.append(name, [(1, datetime(2026, 1, 2, 3, 4, 5, 600, tzinfo=UTC))])
    recorded = facts(db, name)
    assert recorded["at"] == "timestamp"
    assert recorded["newest"] == "2026-01-02 03:04:05.000600+00:00"


def test_explain_says_what_is_read_and_which_way(db: Connection, name: str) -> None:
    made(db, name, 300, clauses="COMPARTMENT INTERVAL 60")
    db.sql(f"CREATE INDEX x_{name} ON {name} (i)")
    db._background.writer(name).flush()
    plan = "\n".join(line for (line,) in ask(db, f"EXPLAIN SELECT * FROM {name} WHERE T < 70 AND i = 10"))
    assert "the storage manager answers it" in plan
    assert re.search(r"reads 1 of 5 files \(3 passed over by time, 1 by value\)", plan), plan
    assert "value index on i" in plan
    plan = "\n".join(
        line for (line,) in ask(db, f"EXPLAIN SELECT count(*) FROM {name} WHERE T BETWEEN 60 AND 70")
    )
    assert "way: Spark" in plan and "reads 1 of 5 files" in plan and "Aggregate" in plan
    chain = f"SELECT a.i FROM {name} [i ROWS 2] a, {name} [i ROWS 2] b WHERE b = PREV(a) SAMPLE REALTIME"
    plan = "\n".join(line for (line,) in ask(db, f"EXPLAIN {chain}"))
    assert "way: chain" in plan and "2 rows for each value of i" in plan
    plan = "\n".join(
        line
        for (line,) in ask(
            db, f"EXPLAIN SELECT count(*) FROM {name} [INTERVAL '2' MINUTE] SAMPLE INTERVAL 60"
        )
    )
    assert "way: together" in plan and "rows of the last 120 s" in plan and "every 60 s" in plan
    plan = "\n".join(
        line for (line,) in ask(db, f"EXPLAIN SELECT i FROM {name} [ROWS 2] ORDER BY i SAMPLE REALTIME")
    )
    assert "way: each tick" in plan
    assert "pull query" in "\n".join(line for (line,) in ask(db, f"EXPLAIN SELECT i FROM {name} [ROWS 2]"))


def test_indexes_are_made_used_and_dropped(db: Connection, name: str) -> None:
    made(db, name, 10)
    db.sql(f"CREATE INDEX one_{name} ON {name} (I)")
    db.sql(f"CREATE INDEX IF NOT EXISTS one_{name} ON {name} (i)")
    assert "already" in refused(db, f"CREATE INDEX one_{name} ON {name} (s)")
    assert "no column nope; it has i, s" in refused(db, f"CREATE INDEX two ON {name} (nope)")
    assert "which is indexed always" in refused(db, f"CREATE INDEX two ON {name} (t)")
    assert ask(db, f"SELECT s FROM {name} WHERE i = 4") == [("n4",)]
    db.sql(f"DROP INDEX one_{name} ON {name}")
    assert ask(db, f"SHOW INDEXES ON {name}") == []
    assert "there is no index" in refused(db, f"DROP INDEX one_{name} ON {name}")
    db.sql(f"DROP INDEX IF EXISTS one_{name} ON {name}")
    assert ask(db, f"SELECT s FROM {name} WHERE i = 4") == [("n4",)]


def test_dropped_tables_and_views_are_gone(db: Connection, name: str) -> None:
    made(db, name, 3)
    db.sql(f"CREATE VIEW w_{name} RANGE INTERVAL 5 AS (SELECT i FROM {name} [ROWS 1] SAMPLE REALTIME)")
    folder = db.warehouse.folder / "tables" / name
    assert f"read by the view w_{name}" in refused(db, f"DROP TABLE {name}")
    assert "write DROP VIEW" in refused(db, f"DROP TABLE w_{name}")
    assert "write DROP TABLE" in refused(db, f"DROP VIEW {name}")
    db.sql(f"DROP VIEW w_{name}")
    db.sql(f"DROP TABLE {name}")
    assert not folder.exists()
    assert "cannot be found" in refused(db, f"SELECT * FROM {name}")
    db.sql(f"DROP TABLE IF EXISTS {name}")
    db.sql(f"DROP VIEW IF EXISTS w_{name}")
    made(db, name, 1)
    assert ask(db, f"SELECT * FROM {name}") == [(0, "n0", 0)]


def test_a_name_is_given_once(db: Connection, name: str) -> None:
    made(db, name)
    assert "already" in refused(db, f"CREATE STREAMING TABLE {name.upper()} (i INT) RANGE INTERVAL 5")
    db.sql(f"CREATE STREAMING TABLE IF NOT EXISTS {name} (i INT) RANGE INTERVAL 5")
    view = f"CREATE VIEW {name} RANGE INTERVAL 5 AS (SELECT i FROM {name} [ROWS 1] SAMPLE REALTIME)"
    assert "already" in refused(db, view)
    db.spark.createDataFrame([(1,)], "a INT").createOrReplaceTempView(f"other_{name}")
    assert "of Spark's own already" in refused(
        db, f"CREATE STREAMING TABLE other_{name} (i INT) RANGE INTERVAL 5"
    )


def test_now_is_the_tables_time_or_the_wall_clocks(db: Connection, name: str) -> None:
    made(db, name)
    assert ask(db, f"SELECT NOW() FROM {name} UNION ALL SELECT NOW() + INTERVAL 1") == [(None,)]
    db.append(name, [(1, "a", 100), (2, "b", 160)])
    assert ask(db, f"SELECT i, NOW() - T FROM {name} WHERE T <= NOW() - INTERVAL '1' MINUTE") == [(1, 60)]
    before = int(datetime.now(UTC).timestamp())
    db.sql("SET causeway.clock = wall")
    try:
        ((now,),) = ask(db, f"SELECT max(NOW()) FROM {name}")
        assert before <= now <= int(datetime.now(UTC).timestamp())
        query = pulled(db, f"SELECT i FROM {name} [INTERVAL 60]")
        assert tuples(query.to_arrow()) == []
        recent = int(datetime.now(UTC).timestamp())
        db.append(name, [(3, "c", recent)])
        assert tuples(query.to_arrow()) == [(3,)]
    finally:
        db.sql("SET causeway.clock = stream")
    assert ask(db, f"SELECT NOW() FROM {name} WHERE i = 3") == [(recent,)]


@pytest.mark.parametrize("kind", ["BIGINT", "TIMESTAMP"])
def test_lengths_and_times_of_any_size(db: Connection, name: str, kind: str) -> None:
    long = "INTERVAL '99999999999999' WEEK"
    db.sql(f"CREATE STREAMING TABLE {name} (i INT) TIMESTAMP BY at {kind} RANGE {long} SLACK {long}")
    last: Any = datetime.max.replace(tzinfo=UTC) if kind == "TIMESTAMP" else 2**61
    first: Any = datetime.min.replace(tzinfo=UTC) if kind == "TIMESTAMP" else 0
    db.append(name, [(1, last), (2, first)])
    assert bag(ask(db, f"SELECT i FROM {name}")) == bag([(1,), (2,)])
    for window in (long, "ROWS 99999999999999999999", "i ROWS 99999999999999999999"):
        assert bag(tuples(pulled(db, f"SELECT i FROM {name} [{window}]").to_arrow())) == bag([(1,), (2,)])
    facts = dict(ask(db, f"DESCRIBE {name}"))
    assert "9999-12-31 23:59:59.999999" in facts["newest"] or facts["newest"] == str(2**61)
    db._background.writer(name).close_time()
    query = continuous(db, f"SELECT i FROM {name} [{long}] SAMPLE {long}")
    assert query is not None and query.answers(query.start())


def test_now_of_several_tables_is_the_newest(db: Connection, name: str) -> None:
    for part, time in (("a", 5), ("b", 9)):
        made(db, f"{name}{part}")
        db.append(f"{name}{part}", [(1, "x", time)])
    assert ask(db, f"SELECT NOW() FROM {name}a JOIN {name}b USING (i)") == [(9,)]
    db.sql(f"CREATE STREAMING TABLE {name}c (i INT) TIMESTAMP BY T TIMESTAMP RANGE INTERVAL '1' DAY")
    assert "counts seconds" in refused(db, f"SELECT NOW() FROM {name}a JOIN {name}c USING (i)")


def test_pull_queries_are_resumed_and_killed(db: Connection, name: str) -> None:
    made(db, name, 3)
    query = pulled(db, f"SELECT i FROM {name} [WINDOW INTERVAL 1]")
    assert bag(ask(db, f"RESUME {query.id}")) == bag([(1,), (2,)])
    db.append(name, [(9, "z", 3)])
    assert bag(ask(db, f"RESUME {query.id}")) == bag([(2,), (9,)])
    assert bag(tuples(query.resume().to_arrow())) == bag([(2,), (9,)])
    assert bag(tuples(query.df.toArrow())) == bag([(2,), (9,)])
    shown = [row for row in ask(db, "SHOW QUERIES") if row[0] == query.id]
    assert [row[1:3] for row in shown] == [("pull", "waiting")]
    db.sql(f"KILL {query.id}")
    assert query.id not in [row[0] for row in ask(db, "SHOW QUERIES")]
    assert f"no query {query.id}" in refused(db, f"RESUME {query.id}")
    with pytest.raises(UserError, match="was killed"):
        query.resume()


def test_an_answer_is_a_dataframe_in_any_thread(db: Connection, name: str) -> None:
    made(db, name, 3)
    found: list[int] = []
    for statement in (
        f"SELECT i FROM {name}",
        f"SELECT count(*) FROM {name}",
        f"DELETE FROM {name} WHERE i = 1",
    ):
        answer = db.sql(statement)
        thread = threading.Thread(target=lambda answer=answer: found.append(answer.df.count()))
        thread.start()
        thread.join()
    assert found == [3, 1, 1]


def test_pushed_queries_answer_each_tick_and_are_killed(db: Connection, name: str) -> None:
    made(db, name, 3)
    query = pushed(db, f"SELECT i FROM {name} [INTERVAL 0] SAMPLE REALTIME")
    # The last tick that is over comes first.
    tick, rows = next(query)
    assert (tick, tuples(rows)) == (1, [(1,)])
    db.append(name, [(8, "y", 2), (9, "z", 4)])
    tick, rows = next(query)
    assert (tick, bag(tuples(rows))) == (2, bag([(2,), (8,)]))
    (shown,) = [row for row in ask(db, "SHOW QUERIES") if row[0] == query.id]
    assert shown[1:3] == ("push", "running") and shown[4] == "2"
    assert "is pushed" in refused(db, f"RESUME {query.id}")
    db.sql(f"KILL {query.id}")
    assert list(query) == []


def test_errors_of_statements_are_placed(db: Connection, name: str) -> None:
    made(db, name, 1)
    db.spark.createDataFrame([(1,)], "a INT").createOrReplaceTempView(f"plain_{name}")
    assert "nowhere" in placed(db, "SELECT *\nFROM nowhere [ROWS 1]", "nowhere")
    assert "not a streaming table" in placed(db, f"SELECT * FROM plain_{name} [ROWS 1]", f"plain_{name}")
    assert "`nope`" in placed(db, f"SELECT i,\n  nope FROM {name}", "nope")
    assert "`nope`" in placed(db, f"SELECT i,\n  nope FROM {name} [ROWS 2]", "nope")
    assert "`nope`" in placed(db, f"SELECT i, nope FROM {name} [ROWS 2] SAMPLE REALTIME", "nope")
    assert "SAMPLE" in refused(db, f"CREATE VIEW w RANGE INTERVAL 5 AS (SELECT i FROM {name} [ROWS 1])")
    assert "RANGE" in refused(db, f"CREATE VIEW w RANGE AS (SELECT i FROM {name} [ROWS 1] SAMPLE REALTIME)")
    assert "RANGE" in refused(db, "CREATE STREAMING TABLE w (i INT) RANGE")
    assert "SAMPLE" in refused(db, "SELECT 1 SAMPLE REALTIME")
    assert "2 statements" in refused(db, "SELECT 1; SELECT 2")
    assert "no statement" in refused(db, " -- nothing")
    assert "names 2 columns (a, b), its query has 1 (i)" in refused(
        db, f"CREATE VIEW w (a, b) RANGE INTERVAL 5 AS (SELECT i FROM {name} [ROWS 1] SAMPLE REALTIME)"
    )
    assert db.warehouse.store("w") is None


def test_an_error_is_told_once_and_not_logged_as_well(db: Connection, name: str) -> None:
    from pyspark.errors import AnalysisException
    from pyspark.logger import PySparkLogger

    made(db, name, 1)
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.addFilter(lambda record: bool(records.append(record)))
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    logger.addHandler(handler)
    try:
        refused(db, f"SELECT nope FROM {name}")
        refused(db, "SELECT nope FROM VALUES (1) AS v (a)")
        refused(db, f"DELETE FROM {name} WHERE nope")
        assert records == []
        # The user's own statements are the user's matter.
        with pytest.raises(AnalysisException):
            db.spark.sql("SELECT nope FROM VALUES (1) AS v (a)")
        assert len(records) == 1
    finally:
        logger.removeHandler(handler)


def test_a_view_takes_no_other_rows(db: Connection, name: str) -> None:
    made(db, name, 1)
    db.sql(f"CREATE VIEW w_{name} RANGE INTERVAL 5 AS (SELECT i FROM {name} [ROWS 1] SAMPLE REALTIME)")
    with pytest.raises(UserError, match="its rows come from its query"):
        db.append(f"w_{name}", [(1, 1)])
    assert "is a view" in refused(db, f"INSERT INTO w_{name} VALUES (1, 1)")
    assert "is a view" in refused(db, f"INSERT INTO w_{name} VALUES FROM '/tmp'")


def test_a_closed_connection_says_so(tmp_path: Path, spark: SparkSession) -> None:
    db = causeway.connect(tmp_path / "w", spark=spark)
    db.close()
    db.close()
    with pytest.raises(UserError, match="the connection is closed"):
        db.sql("SELECT 1")


def test_a_folder_of_something_else_is_refused(tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "letter.txt").write_text("hello")
    with pytest.raises(UserError, match="w"):
        causeway.connect(tmp_path / "w", spark=spark)
    assert (tmp_path / "w" / "letter.txt").read_text() == "hello"


def test_two_connections_of_one_process_do_not_disturb_each_other(
    tmp_path: Path, spark: SparkSession
) -> None:
    first = causeway.connect(tmp_path / "w", spark=spark)
    first.sql("CREATE STREAMING TABLE t (i INT) RANGE UNLIMITED")
    first.append("t", pa.table({"i": pa.array(range(30_000), pa.int32()), "T": range(30_000)}))
    answer = first.sql("SELECT count(*), sum(i) FROM t")
    second = causeway.connect(tmp_path / "w", spark=spark)
    with pytest.raises(UserError, match="causeway streaming tables"):
        second.append("t", [(1, 30_000)])
    assert ask(second, "SELECT count(*) FROM t") == [(30_000,)]
    second.close()
    assert tuples(answer.to_arrow()) == [(30_000, sum(range(30_000)))]  # type: ignore[union-attr]
    assert ask(first, "SELECT count(*) FROM t") == [(30_000,)]
    first.close()
    assert not list((tmp_path / "w" / "scratch").iterdir())
