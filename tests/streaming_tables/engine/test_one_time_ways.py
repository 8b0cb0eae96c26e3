"""A plain scan is answered by the storage manager, and Spark would answer the same.

Both are compared with plain Python, over rows that are partly in the log and partly in data files.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from tests.streaming_tables.engine.conditions import COLUMNS, condition, random_row
from tests.streaming_tables.engine.reading import ask, bag, tuples

from causeway.streaming_tables.engine.connection import Connection
from causeway.streaming_tables.engine.reads.answers import Answer

SEED = 20261116


@pytest.fixture(scope="module")
def rows(db: Connection) -> list[dict[str, Any]]:
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    db.sql(f"CREATE STREAMING TABLE v (k BIGINT, {columns}) RANGE INTERVAL '2' WEEK COMPARTMENT INTERVAL 30")
    db.sql("CREATE INDEX by_i ON v (i)")
    db.sql("CREATE INDEX by_s ON v (s)")
    random = Random(SEED)
    made = [{"k": k, **random_row(random), "T": k // 3} for k in range(240)]
    db.append("v", made[:100])
    writer = db._background.writer("v")
    writer.flush()
    db.append("v", made[100:170])
    writer.flush()
    db.append("v", made[170:])
    db.sql("CREATE INDEX by_d ON v (d)")
    return made


def scanned(answer: Any) -> bool:
    assert isinstance(answer, Answer)
    return answer._scan is not None


def test_random_conditions_mean_the_same_in_both_ways(db: Connection, rows: list[dict[str, Any]]) -> None:
    random = Random(SEED + 1)
    expressions = [condition(random) for _ in range(110)]
    # One Spark job says what each condition is for each row.
    listed = ", ".join(f"({one.sql}) AS c{number}" for number, one in enumerate(expressions))
    truths = db.sql(f"SELECT k, {listed} FROM v").df.toArrow().sort_by("k")  # type: ignore[union-attr]
    assert truths.column("k").to_pylist() == [row["k"] for row in rows]
    by_storage = 0
    for number, one in enumerate(expressions):
        expected = [one.of(row) for row in rows]
        assert truths.column(f"c{number}").to_pylist() == expected, one.sql
        answer = db.sql(f"SELECT k FROM v WHERE {one.sql}")
        by_storage += scanned(answer)
        found = sorted(key for (key,) in tuples(answer.to_arrow()))  # type: ignore[union-attr]
        assert found == [row["k"] for row, truth in zip(rows, expected, strict=True) if truth], one.sql
    # Most of these are for the storage manager; FLOAT columns and NULL constants are not.
    assert by_storage > 45


def test_what_spark_is_given_leaves_out_nothing_that_matches(
    db: Connection, rows: list[dict[str, Any]]
) -> None:
    random = Random(SEED + 2)
    for _ in range(25):
        one = condition(random)
        matching = [row["k"] for row in rows if one.of(row)]
        (found,) = ask(db, f"SELECT count(*), sum(k) FROM v WHERE {one.sql}")
        assert found == (len(matching), sum(matching) if matching else None), one.sql


def _i_in(rows: list[dict[str, Any]], values: set[int]) -> list[int]:
    return [row["k"] for row in rows if row["i"] in values]


def test_a_self_join_needs_what_either_side_needs(db: Connection, rows: list[dict[str, Any]]) -> None:
    found = ask(db, "SELECT a.k, b.k FROM v a JOIN v b ON a.k = b.k + 1 WHERE a.i = 1 AND b.i = 2")
    by_key = {row["k"]: row["i"] for row in rows}
    assert bag(found) == bag((k, k - 1) for k, i in by_key.items() if i == 1 and by_key.get(k - 1) == 2)


def test_a_table_expression_used_twice_needs_what_either_use_needs(
    db: Connection, rows: list[dict[str, Any]]
) -> None:
    found = ask(
        db,
        "WITH c AS (SELECT k, i, d FROM v WHERE k >= 0) "
        "SELECT k FROM c WHERE i = 1 UNION ALL SELECT k FROM c WHERE i = 3",
    )
    assert sorted(key for (key,) in found) == sorted(_i_in(rows, {1, 3}))


def test_a_list_that_spark_copies_to_another_column_is_not_taken_for_that_columns_own(db: Connection) -> None:
    ones, others = range(12), [3, *range(100, 112)]
    rows = [(number, number % 7, number) for number in range(20)]
    for table in ("lists_a", "lists_b"):
        db.sql(f"CREATE STREAMING TABLE {table} (i INT, h INT) RANGE UNLIMITED")
        db.append(table, rows)
    one, other = (", ".join(map(str, values)) for values in (ones, others))
    # The join makes a.i and b.i equal: Spark demands of b.i what is demanded of a.i.
    found = ask(
        db,
        f"SELECT a.i FROM lists_a a JOIN lists_b b ON a.i = b.i "
        f"WHERE a.i IN ({one}) AND (b.i IN ({other}) OR b.h = 5)",
    )
    assert bag(found) == bag([(3,), (5,)])
    found = ask(
        db,
        f"SELECT a.i FROM lists_a a JOIN lists_b b ON a.i = b.i "
        f"WHERE a.i NOT IN ({one}) AND b.i NOT IN (12, 13, {other})",
    )
    assert bag(found) == bag([(number,) for number in range(14, 20)])


def test_long_lists_are_used_to_leave_out_rows(db: Connection, rows: list[dict[str, Any]]) -> None:
    plan = "\n".join(
        line
        for (line,) in ask(
            db, f"EXPLAIN SELECT count(*) FROM v WHERE i IN ({', '.join(map(str, range(50, 70)))})"
        )
    )
    assert "reads 0 of" in plan


def test_subqueries_read_all_that_they_need(db: Connection, rows: list[dict[str, Any]]) -> None:
    found = ask(
        db,
        "SELECT k FROM v a WHERE i = 1 AND EXISTS (SELECT 1 FROM v b WHERE b.i = 2 AND b.h = a.h) "
        "AND k > (SELECT min(k) FROM v WHERE i = 3) AND k NOT IN (SELECT k FROM v WHERE b)",
    )
    shapes = {row["h"] for row in rows if row["i"] == 2 and row["h"] is not None}
    lowest = min(row["k"] for row in rows if row["i"] == 3)
    assert sorted(key for (key,) in found) == [
        row["k"]
        for row in rows
        if row["i"] == 1 and row["h"] in shapes and row["k"] > lowest and row["b"] is not True
    ]


def test_an_outer_join_keeps_rows_without_a_partner(db: Connection, rows: list[dict[str, Any]]) -> None:
    found = ask(db, "SELECT a.k, b.k FROM v a LEFT JOIN v b ON a.k = b.k AND b.i = 1 WHERE a.k < 50")
    assert bag(found) == bag((row["k"], row["k"] if row["i"] == 1 else None) for row in rows[:50])


def test_a_join_with_a_standard_table(db: Connection, rows: list[dict[str, Any]]) -> None:
    db.spark.createDataFrame([(1, "one"), (2, "two")], "n INT, word STRING").createOrReplaceTempView("words")
    found = ask(db, "SELECT k, word FROM v JOIN words ON i = n")
    assert bag(found) == bag((row["k"], {1: "one", 2: "two"}[row["i"]]) for row in rows if row["i"] in (1, 2))


def test_a_limit_is_met_with_rows_of_the_answer(db: Connection, rows: list[dict[str, Any]]) -> None:
    matching = set(_i_in(rows, {1, 2, 3}))
    for limit in (0, 1, 7, len(matching), 10_000):
        answer = db.sql(f"SELECT k FROM v WHERE i IN (1, 2, 3) LIMIT {limit}")
        found = [key for (key,) in tuples(answer.to_arrow())]  # type: ignore[union-attr]
        assert scanned(answer)
        assert len(found) == min(limit, len(matching))
        assert set(found) <= matching and len(set(found)) == len(found)
    assert len(ask(db, "SELECT k FROM v WHERE i IN (1, 2, 3) LIMIT 5 OFFSET 3")) == 5


def test_names_of_columns_are_the_users(db: Connection, rows: list[dict[str, Any]]) -> None:
    answer = db.sql("SELECT T AS when_, K, s AS S, k k2, `i` FROM V WHERE k = 3")
    assert scanned(answer)
    assert answer.to_arrow().schema.names == answer.df.toArrow().schema.names  # type: ignore[union-attr]
    assert bag(tuples(answer.to_arrow())) == bag(tuples(answer.df.toArrow()))  # type: ignore[union-attr]


def test_types_are_the_same_in_both_ways(db: Connection, rows: list[dict[str, Any]]) -> None:
    answer = db.sql("SELECT * FROM v WHERE k < 100")
    assert scanned(answer)
    assert isinstance(answer, Answer)
    by_storage, by_spark = answer.to_arrow(), answer.df.toArrow()
    assert by_storage.schema.types == by_spark.schema.types
    assert bag(tuples(by_storage)) == bag(tuples(by_spark))


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Kolkata"])
def test_times_mean_the_same_in_every_time_zone(
    db: Connection, rows: list[dict[str, Any]], zone: str
) -> None:
    before = db.spark.conf.get("spark.sql.session.timeZone")
    db.spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        for one in sorted({row["ts"] for row in rows if row["ts"] is not None}):
            text = f"TIMESTAMP'{one.strftime('%Y-%m-%d %H:%M:%S.%f')}+00:00'"
            for operator in ("=", "<", ">="):
                answer = db.sql(f"SELECT k FROM v WHERE ts {operator} {text}")
                found = {key for (key,) in tuples(answer.to_arrow())}  # type: ignore[union-attr]
                expected = {
                    row["k"]
                    for row in rows
                    if row["ts"] is not None
                    and {"=": row["ts"] == one, "<": row["ts"] < one, ">=": row["ts"] >= one}[operator]
                }
                assert found == expected, (zone, operator, one)
    finally:
        db.spark.conf.set("spark.sql.session.timeZone", str(before))


def test_statements_that_are_no_scans_go_to_spark(db: Connection, rows: list[dict[str, Any]]) -> None:
    for statement in (
        "SELECT DISTINCT i FROM v",
        "SELECT k FROM v ORDER BY k",
        "SELECT k + 1 FROM v",
        "SELECT k FROM v WHERE k % 2 = 0",
        "SELECT k FROM v WHERE s LIKE 'a%'",
        "SELECT a.k FROM v a, v b WHERE a.k = b.k",
        "SELECT k FROM v WHERE i = 1.5",
    ):
        assert not scanned(db.sql(statement)), statement
