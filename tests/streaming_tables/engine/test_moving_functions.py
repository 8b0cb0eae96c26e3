"""Functions of moving objects in statements: there when they are called, and never in place of the user's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.streaming_tables.engine.reading import ask

import causeway.moving_objects as mo
from causeway.streaming_tables import PushQuery
from causeway.streaming_tables.engine.connection import Connection
from causeway.streaming_tables.engine.reads.moving_functions import provide_functions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def bare(spark: SparkSession) -> Iterator[SparkSession]:
    """Spark without any of the functions."""
    for name in mo.sql_names():
        spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {name}")
    yield spark
    mo.register(spark)


def known(spark: SparkSession) -> set[str]:
    return {name for name in mo.sql_names() if spark.catalog.functionExists(name)}


def test_only_what_is_called_is_registered(bare: SparkSession) -> None:
    provide_functions(
        bare, "SELECT 'passes(a, b)' AS initial, t.at(1) -- distance(a, b)\nFROM t WHERE le = 1"
    )
    assert known(bare) == set()
    provide_functions(bare, "SELECT PASSES (a, b), `initial`(c) FROM t")
    assert known(bare) == {"passes", "initial"}


def test_a_function_of_the_users_goes_first(bare: SparkSession, db: Connection, name: str) -> None:
    bare.sql("CREATE TEMPORARY FUNCTION initial(text STRING) RETURNS STRING RETURN left(text, 1)")
    db.sql(f"CREATE STREAMING TABLE {name} (who STRING) RANGE UNLIMITED")
    db.append(name, [("Ada", 1)])
    assert ask(db, f"SELECT initial(who) FROM {name}") == [("A",)]
    bare.sql("DROP TEMPORARY FUNCTION initial")


def test_a_pushed_query_over_live_rows(bare: SparkSession, db: Connection, name: str) -> None:
    """A repeated row counts once, and a time that is a timestamp is one."""
    db.sql(f"CREATE STREAMING TABLE {name} (x INT) TIMESTAMP BY at TIMESTAMP RANGE UNLIMITED")
    second = 1_000_000
    db.append(name, [(0, 0), (30, 10 * second), (30, 10 * second), (30, 20 * second)])
    query = db.sql(
        f"SELECT mo_length(trip) AS metres, atinstant(trip, 5000).x AS x "
        f"FROM (SELECT moving_point(TRJ(*), 'X', 4) AS trip FROM {name} [WINDOW INTERVAL '1' HOUR]) "
        "SAMPLE INTERVAL '10' SECOND"
    )
    assert isinstance(query, PushQuery)
    _, rows = next(query)
    query.kill()
    assert rows.to_pylist() == [{"metres": 30.0, "x": 15.0}]
