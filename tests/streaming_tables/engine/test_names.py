"""Names of tables and folders that are no plain identifiers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.streaming_tables.engine.reading import Way, answers, ask, bag, continuous, pulled, tuples

import causeway
from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.connection import Connection
from causeway.streaming_tables.engine.reads.answers import Answer
from causeway.streaming_tables.language.tokens import quote_identifier

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = ["日本語", "Größe", "a b", "_x.%20/y\\", "~7e~", "[1]*{a,b}?", "it`s", "select"]


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Iterator[Connection]:
    """A warehouse in a folder whose name has brackets, a star and letters of another language."""
    with causeway.connect(tmp_path_factory.mktemp("odd") / "w [1] {a,b}*é", spark=spark) as connection:
        yield connection


@pytest.mark.parametrize("name", NAMES)
def test_a_table_can_have_any_name(odd: Connection, name: str) -> None:
    table, column, time = quote_identifier(name), quote_identifier(f"c {name}"), quote_identifier("t`s")
    odd.sql(f"CREATE STREAMING TABLE {table} ({column} INT) TIMESTAMP BY {time} RANGE INTERVAL 100")
    odd.append(name, [(1, 5), (2, 6)])
    odd._background.writer(name).flush()
    odd.append(name, [(3, 200)])
    assert ask(odd, f"SELECT {column} FROM {table}") == [(3,)]
    odd.append(name, [(4, 201)])
    answer = odd.sql(f"SELECT * FROM {table}")
    assert isinstance(answer, Answer)
    assert bag(tuples(answer.df.toArrow())) == bag([(3, 200), (4, 201)])
    window = pulled(odd, f"SELECT {column} FROM {table} [WINDOW {column} ROWS 1] WHERE {time} > 200")
    assert tuples(window.to_arrow()) == [(4,)]
    assert (name, "streaming table") in [row[:2] for row in ask(odd, "SHOW TABLES")]
    odd.sql(f"DROP TABLE {table}")
    assert name not in [row[0] for row in ask(odd, "SHOW TABLES")]


@pytest.mark.parametrize(
    ("way", "query"),
    [
        (
            "chain",
            "SELECT `n``1`.`c d` FROM `i t` [`c d` ROWS 2] `n``1`, `i t` [`c d` ROWS 2] `o 2` "
            "WHERE `o 2` = PREV(`n``1`) AND `n``1`.`t``s` = NOW()",
        ),
        (
            "arrivals",
            "SELECT `n``1`.`c d` FROM `i t` [INTERVAL 3] `n``1`, `i t` [INTERVAL 3] `o 2` "
            "WHERE `n``1`.`t``s` = NOW() AND `o 2`.`c d` = `n``1`.`c d` "
            "AND `o 2`.`t``s` BETWEEN NOW() - INTERVAL 3 SECOND AND NOW() - INTERVAL 1 SECOND",
        ),
    ],
)
def test_continuous_queries_of_any_names(odd: Connection, way: Way, query: str) -> None:
    odd.sql("CREATE STREAMING TABLE `i t` (`c d` INT) TIMESTAMP BY `t``s` RANGE UNLIMITED")
    odd.append("i t", [(1, 1), (2, 2), (1, 3), (3, 4)])
    found = continuous(odd, f"{query} SAMPLE REALTIME", way)
    assert found is not None
    assert answers(found) == [(1, []), (2, []), (3, [(1,)])]
    odd.sql("DROP TABLE `i t`")


def test_spark_reads_files_of_any_path(odd: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("causeway.streaming_tables.engine.reads.relations._LOCAL_ROWS", 1)
    odd.sql("CREATE STREAMING TABLE `m*n` (v INT) TIMESTAMP BY `t``s` RANGE INTERVAL 10")
    odd.append("m*n", [(number, number) for number in range(20)])
    odd._background.writer("m*n").flush()
    odd.append("m*n", [(20, 20), (21, 21)])
    assert odd.table("m*n").count() == 11


@pytest.mark.parametrize(
    ("name", "reason"), [("x" * 300, "too long"), ("t__late", "no name ends with __late")]
)
def test_names_that_no_table_can_have(odd: Connection, name: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        odd.sql(f"CREATE STREAMING TABLE {name} (v INT) RANGE INTERVAL 5")


def test_a_folder_that_delta_cannot_open_is_refused(tmp_path: Path, spark: SparkSession) -> None:
    with pytest.raises(UserError, match="cannot be where a path has"):
        causeway.connect(tmp_path / "a%20b", spark=spark)


def test_fields_of_a_struct_keep_their_names(odd: Connection, tmp_path: Path) -> None:
    odd.sql("CREATE STREAMING TABLE fields (`a b` INT, s STRUCT<xCoord INT, `y z`: STRING>) RANGE UNLIMITED")
    (tmp_path / "in.json").write_text('{"a b": 1, "s": {"xCoord": 2, "y z": "q"}, "T": 1}\n')
    odd.sql(f"INSERT INTO fields VALUES FROM '{tmp_path / 'in.json'}'")
    odd.sql("WAIT FOR fields")
    assert ask(odd, "SELECT s FROM fields") == [({"xCoord": 2, "y z": "q"},)]
    odd.sql(
        "CREATE VIEW paths RANGE INTERVAL 100 AS (SELECT TRJ(*) AS path FROM fields [ROWS 5] SAMPLE REALTIME)"
    )
    odd.sql("WAIT FOR paths")
    path = [{"a b": 1, "s": {"xCoord": 2, "y z": "q"}, "T": 1}]
    assert ask(odd, "SELECT path FROM paths") == [(path,)]
    odd.sql("UPDATE fields SET s = named_struct('xCoord', 5, 'y z', 'u')")
    assert ask(odd, "SELECT s.xCoord, s.`y z` FROM fields") == [(5, "u")]
