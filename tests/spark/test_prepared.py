"""Self-tests of statements that are planned once; they lean on Spark's internals."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from causeway.spark.prepared import prepare

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LEFT = pa.schema([pa.field("A", pa.int32()), pa.field("B", pa.string()), pa.field("T", pa.int64())])
_RIGHT = pa.schema([pa.field("A", pa.int32()), pa.field("C", pa.float64())])
_CHANGED = "Spark keeps the rows of a relation elsewhere; see spark/prepared.py"


def _left(*rows: tuple[int | None, str | None, int]) -> pa.Table:
    return pa.Table.from_pylist([{"A": a, "B": b, "T": t} for a, b, t in rows], schema=_LEFT)


def _right(*rows: tuple[int, float]) -> pa.Table:
    return pa.Table.from_pylist([{"A": a, "C": c} for a, c in rows], schema=_RIGHT)


def test_every_run_sees_its_own_rows(spark: SparkSession) -> None:
    statement = prepare(
        spark,
        "SELECT L.A, MAX(L.B), SUM(R.C), COUNT(*) FROM lefts L LEFT JOIN rights R ON L.A = R.A GROUP BY L.A",
        {"lefts": _LEFT, "rights": _RIGHT},
    )
    assert statement is not None, "Spark plans an exchange where both relations are one partition"
    first = statement.run({"lefts": _left((1, "a", 1), (2, "b", 1)), "rights": _right((1, 0.5), (1, 2.0))})
    assert sorted(map(tuple, (row.values() for row in first.to_pylist()))) == [
        (1, "a", 2.5, 2),
        (2, "b", None, 1),
    ]
    again = statement.run({"lefts": _left((3, None, 1)), "rights": _right((3, 1.5))})
    assert [tuple(row.values()) for row in again.to_pylist()] == [(3, None, 1.5, 1)], _CHANGED
    nothing = statement.run({"lefts": _left(), "rights": _right((3, 1.5))})
    assert nothing.num_rows == 0, _CHANGED
    assert nothing.schema == again.schema


def test_many_rows_go_by_file(spark: SparkSession) -> None:
    statement = prepare(spark, "SELECT SUM(T), COUNT(DISTINCT A), MIN(T) FROM lefts", {"lefts": _LEFT})
    assert statement is not None
    for count in (100_000, 3, 50_000):
        numbers = list(range(count))
        rows = pa.table({"A": numbers, "B": ["text"] * count, "T": numbers}).cast(_LEFT)
        (answer,) = statement.run({"lefts": rows}).to_pylist()
        assert list(answer.values()) == [sum(numbers), count, 0], _CHANGED


def test_many_answers_come_by_file(spark: SparkSession) -> None:
    statement = prepare(spark, "SELECT T, B FROM lefts WHERE A >= 0", {"lefts": _LEFT})
    assert statement is not None
    for first, count in ((0, 100_000), (0, 3), (50_000, 50_000), (60_000, 0)):
        numbers = list(range(first, first + count)) or [-1] * 100_000
        rows = pa.table({"A": numbers, "B": [f"text {n}" for n in numbers], "T": numbers}).cast(_LEFT)
        expected = rows.select(["T", "B"]).slice(0, count)
        assert statement.run({"lefts": rows}).to_pydict() == expected.to_pydict(), _CHANGED


@pytest.mark.parametrize(
    "text",
    [
        "SELECT A, current_timestamp() FROM lefts",
        "SELECT A, current_date() FROM lefts",
        "SELECT A, rand() FROM lefts",
        "SELECT A FROM lefts WHERE T = (SELECT MAX(T) FROM lefts)",
        "SELECT L.A FROM lefts L LEFT JOIN rights R ON L.A < R.A",
        "SELECT L.A FROM lefts L JOIN prepared_other R ON L.A = R.A",
    ],
)
def test_what_is_settled_in_planning_is_not_prepared(spark: SparkSession, text: str) -> None:
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW prepared_other AS VALUES (1), (2) AS o(A)")
    assert prepare(spark, text, {"lefts": _LEFT, "rights": _RIGHT}) is None


def test_unions_values_and_cross_joins_stay_in_one_task(spark: SparkSession) -> None:
    statement = prepare(
        spark,
        """SELECT A, COUNT(*) FROM (
             SELECT A FROM lefts UNION ALL SELECT A + d FROM rights CROSS JOIN (VALUES (0), (1)) AS v(d))
           GROUP BY A""",
        {"lefts": _LEFT, "rights": _RIGHT},
    )
    assert statement is not None
    answer = statement.run({"lefts": _left((1, "a", 1)), "rights": _right((1, 0.0), (2, 0.0))})
    assert sorted(tuple(row.values()) for row in answer.to_pylist()) == [(1, 2), (2, 2), (3, 1)]


def test_settings_are_those_of_the_session(spark: SparkSession) -> None:
    text = "SELECT CAST(T AS INT) FROM lefts"
    before = spark.conf.get("spark.sql.ansi.enabled")
    try:
        spark.conf.set("spark.sql.ansi.enabled", "false")
        statement = prepare(spark, text, {"lefts": _LEFT})
        assert statement is not None
        assert statement.is_valid()
        answer = statement.run({"lefts": _left((1, "a", 2**32 + 1))})
        assert [tuple(row.values()) for row in answer.to_pylist()] == [(1,)]
        spark.conf.set("spark.sql.ansi.enabled", "true")
        assert not statement.is_valid()
        strict = prepare(spark, text, {"lefts": _LEFT})
        assert strict is not None
        with pytest.raises(Exception, match="CAST_OVERFLOW"):
            strict.run({"lefts": _left((1, "a", 2**32 + 1))})
        answer = strict.run({"lefts": _left((1, "a", 7))})
        assert [tuple(row.values()) for row in answer.to_pylist()] == [(7,)]
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)


def test_a_join_of_joins_is_one_task(spark: SparkSession) -> None:
    """Spark plans shuffles here, since it takes the result of a join for more than one partition."""
    statement = prepare(
        spark,
        """SELECT L.T, J.A, J.N FROM lefts L JOIN (
             SELECT L1.A, L2.T, COUNT(*) AS N
             FROM lefts L1 JOIN lefts L2 ON L1.A = L2.A JOIN rights R ON R.A = L2.A
             GROUP BY L1.A, L2.T) J ON J.T = L.T""",
        {"lefts": _LEFT, "rights": _RIGHT},
    )
    assert statement is not None, "Spark plans a step that is not taken out; see _without_shuffles"
    first = statement.run({"lefts": _left((1, "a", 7), (2, "b", 8)), "rights": _right((1, 0.5), (1, 2.0))})
    assert [tuple(row.values()) for row in first.to_pylist()] == [(7, 1, 2)]
    again = statement.run({"lefts": _left((1, "a", 7), (1, "c", 8)), "rights": _right((1, 0.5))})
    assert sorted(tuple(row.values()) for row in again.to_pylist()) == [(7, 1, 2), (8, 1, 2)], _CHANGED
    nothing = statement.run({"lefts": _left((1, "a", 7)), "rights": _right()})
    assert nothing.num_rows == 0, _CHANGED


def test_a_thread_of_its_own_prepares(spark: SparkSession) -> None:
    """No session is active in a new thread, and a step of a plan without a session cannot be run."""
    with ThreadPoolExecutor(1) as thread:
        statement = thread.submit(
            prepare,
            spark,
            """SELECT L.T, COUNT(*) AS N FROM lefts L JOIN rights R ON R.A = L.A JOIN lefts M ON M.A = R.A
               GROUP BY L.T""",
            {"lefts": _LEFT, "rights": _RIGHT},
        ).result()
        assert statement is not None
        rows = {"lefts": _left((1, "a", 7)), "rights": _right((1, 0.5))}
        answer = thread.submit(statement.run, rows).result()
    assert [tuple(row.values()) for row in answer.to_pylist()] == [(7, 1)]


def test_an_order_over_all_rows_stays(spark: SparkSession) -> None:
    """A global sort shuffles by ranges; without the shuffle its one task still sorts."""
    statement = prepare(
        spark,
        "SELECT L.A, R.C FROM lefts L JOIN rights R ON L.A = R.A ORDER BY R.C DESC",
        {"lefts": _LEFT, "rights": _RIGHT},
    )
    assert statement is not None
    for values in ([1.0, 3.0, 2.0], [5.0, 4.0, 6.0, 0.5]):
        answer = statement.run({"lefts": _left((1, "a", 1)), "rights": _right(*((1, v) for v in values))})
        assert answer.column("C").to_pylist() == sorted(values, reverse=True), _CHANGED
