"""Spark's own tables: what is in the warehouse is kept, what is elsewhere is left alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.streaming_tables.engine.reading import ask, unused

import causeway
from causeway.streaming_tables.engine.standard_tables import StandardTables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def in_warehouse(standard: Path, name: str) -> str:
    """Where Spark puts a table of a session whose warehouse folder this is."""
    return f"USING parquet LOCATION '{standard / name}'"


def test_tables_are_known_to_a_later_connection(tmp_path: Path, spark: SparkSession) -> None:
    name = unused("kept")
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        place = in_warehouse(db.warehouse.standard, name)
        db.sql(f"CREATE TABLE {name} {place} AS SELECT 1 AS a, 'x' AS b")
        db.sql(f"INSERT INTO {name} VALUES (2, 'y')")
    spark.sql(f"DROP TABLE {name}")
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        assert sorted(ask(db, f"SELECT * FROM {name}")) == [(1, "x"), (2, "y")]
        db.sql(f"DROP TABLE {name}")
        assert not (db.warehouse.standard / name).exists()
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        assert not spark.catalog.tableExists(name)


def test_tables_of_the_session_that_are_elsewhere_are_left_alone(tmp_path: Path, spark: SparkSession) -> None:
    mine, kept = unused("mine"), unused("kept")
    spark.sql(f"CREATE TABLE {mine} USING parquet LOCATION '{tmp_path / 'mine'}' AS SELECT 7 AS a")
    try:
        with causeway.connect(tmp_path / "w", spark=spark) as db:
            db.sql(f"CREATE TABLE {kept} {in_warehouse(db.warehouse.standard, kept)} AS SELECT 1 AS a")
        spark.sql(f"DROP TABLE {kept}")
        # This connection has not seen `kept`, and the warehouse does not know `mine`.
        with causeway.connect(tmp_path / "w", spark=spark) as db:
            assert ask(db, f"SELECT * FROM {mine}") == [(7,)]
            assert ask(db, f"SELECT * FROM {kept}") == [(1,)]
            db.sql(f"INSERT INTO {mine} VALUES (8)")
            assert sorted(ask(db, f"SELECT * FROM {mine}")) == [(7,), (8,)]
            db.sql(f"DROP TABLE {kept}")
        assert sorted(spark.table(mine).collect()) == [(7,), (8,)]
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {mine}")
        spark.sql(f"DROP TABLE IF EXISTS {kept}")


def test_a_table_that_another_process_made_meanwhile_is_not_removed(
    tmp_path: Path, spark: SparkSession
) -> None:
    other, own = unused("other"), unused("own")
    standard = tmp_path / "standard"
    here, there = StandardTables(spark, standard), StandardTables(spark, standard)
    try:
        here.load()
        spark.sql(f"CREATE TABLE {other} {in_warehouse(standard, other)} AS SELECT 1 AS a")
        there.save()
        # To the session of this process the other's table is unknown.
        spark.sql(f"DROP TABLE {other}")
        spark.sql(f"CREATE TABLE {own} {in_warehouse(standard, own)} AS SELECT 2 AS a")
        here.save()
        assert (standard / other).is_dir()
        here.load()
        StandardTables(spark, standard).load()
        assert spark.table(other).collect() == [(1,)]
        assert spark.table(own).collect() == [(2,)]
    finally:
        for name in (other, own):
            spark.sql(f"DROP TABLE IF EXISTS {name}")


@pytest.mark.parametrize("word", ["CREATE", "drop", "Insert"])
def test_statements_that_may_change_tables_are_known_by_their_first_word(
    tmp_path: Path, spark: SparkSession, word: str
) -> None:
    assert StandardTables(spark, tmp_path).may_change(word)
    assert not StandardTables(spark, tmp_path).may_change("SELECT")
