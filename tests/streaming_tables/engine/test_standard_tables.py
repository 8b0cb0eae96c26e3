"""Spark's own tables: what is in the warehouse is kept, what is elsewhere is left alone."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.streaming_tables.engine.reading import ask, unused

import causeway
from causeway.streaming_tables.engine.catalog.standard_tables import StandardTables
from causeway.streaming_tables.language.tokens import quote_string

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def in_warehouse(standard: Path, name: str) -> str:
    """Where Spark puts a table of a session whose warehouse folder this is."""
    return f"USING parquet LOCATION {quote_string(str(standard / name))}"


def test_tables_are_known_to_a_later_connection(tmp_path: Path, spark: SparkSession) -> None:
    name = unused("kept")
    with causeway.connect(tmp_path / "the user's", spark=spark) as db:
        place = in_warehouse(db.warehouse.standard, name)
        db.sql(f"CREATE TABLE {name} {place} AS SELECT 1 AS a, 'x' AS b")
        db.sql(f"INSERT INTO {name} VALUES (2, 'y')")
    spark.sql(f"DROP TABLE {name}")
    with causeway.connect(tmp_path / "the user's", spark=spark) as db:
        assert sorted(ask(db, f"SELECT * FROM {name}")) == [(1, "x"), (2, "y")]
        db.sql(f"DROP TABLE {name}")
        assert not (db.warehouse.standard / name).exists()
    with causeway.connect(tmp_path / "the user's", spark=spark) as db:
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
    here, there = (
        StandardTables(spark, standard, own_session=False),
        StandardTables(spark, standard, own_session=False),
    )
    try:
        here.load()
        spark.sql(f"CREATE TABLE {other} {in_warehouse(standard, other)} AS SELECT 1 AS a")
        there.save("CREATE")
        # To the session of this process the other's table is unknown.
        spark.sql(f"DROP TABLE {other}")
        spark.sql(f"CREATE TABLE {own} {in_warehouse(standard, own)} AS SELECT 2 AS a")
        here.save("CREATE")
        assert (standard / other).is_dir()
        here.load()
        StandardTables(spark, standard, own_session=False).load()
        assert spark.table(other).collect() == [(1,)]
        assert spark.table(own).collect() == [(2,)]
    finally:
        for name in (other, own):
            spark.sql(f"DROP TABLE IF EXISTS {name}")


@pytest.mark.parametrize("word", ["CREATE", "drop", "Insert"])
def test_statements_that_may_change_tables_are_known_by_their_first_word(
    tmp_path: Path, spark: SparkSession, word: str
) -> None:
    assert StandardTables(spark, tmp_path, own_session=False).may_change(word)
    assert not StandardTables(spark, tmp_path, own_session=False).may_change("SELECT")


def test_databases_views_options_and_partitions_are_kept(tmp_path: Path, spark: SparkSession) -> None:
    base, standard = unused("base"), tmp_path / "standard"
    tables = StandardTables(spark, standard, own_session=True)
    tables.load()

    def forget() -> None:
        """As a new session is: nothing is known, the files of tables are there."""
        spark.sql("USE default")
        files, aside = standard / f"{base}.db", tmp_path / "aside"
        # Spark removes the folder of a database that it drops.
        if files.exists():
            files.rename(aside)
        spark.sql(f"DROP DATABASE IF EXISTS {base} CASCADE")
        if aside.exists():
            shutil.rmtree(files, ignore_errors=True)
            aside.rename(files)

    try:
        spark.sql(f"CREATE DATABASE {base} LOCATION '{standard / base}.db'")
        spark.sql(f"USE {base}")
        for name, clauses in [
            ("lines", "USING csv OPTIONS (header 'true', delimiter ';')"),
            ("parts", "USING parquet PARTITIONED BY (b) COMMENT 'it''s partitioned'"),
        ]:
            place = f"LOCATION '{standard / base}.db/{name}'"
            spark.sql(f"CREATE TABLE {name} (a INT, b STRING) {clauses} {place}")
            spark.sql(f"INSERT INTO {name} VALUES (1, 'x'), (2, 'y;z')")
        spark.sql("CREATE VIEW later AS SELECT 1 AS a")
        spark.sql("CREATE VIEW sums AS SELECT sum(a) AS a FROM parts")
        spark.sql("ALTER VIEW later AS SELECT a + 10 AS a FROM sums")
        spark.sql(
            f"CREATE TABLE elsewhere USING parquet LOCATION '{tmp_path / 'elsewhere'}' AS SELECT 7 AS a"
        )
        tables.save("CREATE")
        for _ in range(2):
            forget()
            tables = StandardTables(spark, standard, own_session=True)
            tables.load()
            for name in ("lines", "parts"):
                assert sorted(spark.table(f"{base}.{name}").collect())[:2] == [(1, "x"), (2, "y;z")]
            assert spark.table(f"{base}.elsewhere").collect() == [(7,)]
            assert spark.table(f"{base}.later").collect()[0][0] in (13, 16)
            spark.sql(f"INSERT INTO {base}.parts VALUES (3, 'new')")
            tables.save("INSERT")
            assert (standard / f"{base}.db" / "parts" / "b=new").is_dir()
        # In a session of somebody else's, what only that one's catalog has is not kept, and nothing is lost.
        forget()
        tables = StandardTables(spark, standard, own_session=False)
        tables.load()
        spark.sql(f"CREATE TABLE {base}.theirs USING csv LOCATION '{tmp_path / 'theirs'}' AS SELECT '1' AS a")
        tables.save("CREATE")
        forget()
        tables = StandardTables(spark, standard, own_session=True)
        tables.load()
        # Spark lists the session's temporary views with every database's tables; other tests may make some.
        listed = spark.sql(f"SHOW TABLES IN {base}").collect()
        names = {row.tableName for row in listed if not row.isTemporary}
        assert names == {"lines", "parts", "sums", "later", "elsewhere"}
        spark.sql(f"ALTER TABLE {base}.lines RENAME TO {base}.rows")
        spark.sql(f"DROP TABLE {base}.parts")
        tables.save("ALTER")
        assert not (standard / f"{base}.db" / "parts").exists()
        assert sorted(spark.table(f"{base}.rows").collect()) == [(1, "x"), (2, "y;z")]
    finally:
        forget()
