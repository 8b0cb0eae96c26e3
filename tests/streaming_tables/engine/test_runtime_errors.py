"""Errors that come while rows are read: in the user's words, at their place in the user's text."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.streaming_tables.engine.reading import ask, pushed

from causeway.runtime.errors import UserError
from causeway.streaming_tables import PushQuery, StatementError, split_script
from causeway.streaming_tables.engine.connection import Connection
from causeway.streaming_tables.language import SourceStatement


def failure(db: Connection, statement: str | SourceStatement) -> StatementError:
    with pytest.raises(StatementError) as raised:
        answer = db.sql(statement)
        if isinstance(answer, PushQuery):
            next(answer)
        else:
            answer.to_arrow()
    return raised.value


@pytest.mark.parametrize(
    ("statement", "marked", "message"),
    [
        ("SELECT 'é',\n  10 / 0", "10 / 0", "Division by zero"),
        ("SELECT 1,\n  10 / i FROM {t}", "10 / i", "Division by zero"),
        ("SELECT * FROM {t} WHERE\n CAST(s AS INT) = 1", "CAST(s", "'a' of the type"),
        # Spark's optimizer finds these, before any row is read.
        ("SELECT i FROM {t} WHERE\n i = 'x'", "i = 'x'", "'x' of the type"),
        ("SELECT a.i FROM {t} [ROWS 5] a WHERE i = 'x'", "i = 'x'", "'x' of the type"),
        (
            "SELECT a.i FROM {t} [INTERVAL 5] a\nWHERE a.T = NOW() AND i = 'x' SAMPLE INTERVAL 1",
            "i = 'x'",
            "'x' of the type",
        ),
        ("DELETE FROM {t} WHERE i = 'x'", "i = 'x'", "'x' of the type"),
        ("SELECT i + 2147483647 FROM {t} WHERE i = 1", "i + 2", "overflow"),
        ("SELECT '😀' AS x, 10 / i FROM {t} [ROWS 5] w", "10 / i", "Division by zero"),
        ("SELECT NOW(), 10 / i FROM {t} [ROWS 5] SAMPLE INTERVAL 1", "10 / i", "Division by zero"),
        ("SELECT 10 / i FROM {t} [ROWS 5] ORDER BY 1 SAMPLE INTERVAL 1", "10 / i", "Division by zero"),
        (
            "SELECT a.i,\n 10 / b.i FROM {t} [ROWS 5] a, {t} [ROWS 5] b WHERE b = PREV(a) SAMPLE REALTIME",
            "10 / b.i",
            "Division by zero",
        ),
        ("DELETE FROM {t} WHERE NOW() > 0 AND\n 10 / i > 3", "10 / i", "Division by zero"),
        ("UPDATE {t} SET s = 'x', i = 10 / i", "10 / i", "Division by zero"),
        (
            "INSERT INTO {t} SELECT i, element_at(array(1), i), T + 9 FROM {t} WHERE i < 2",
            "element_at",
            "index 0",
        ),
        ("CREATE TABLE {t}_copy AS SELECT 10 / i FROM {t}", "10 / i", "Division by zero"),
    ],
)
def test_the_place_of_what_failed(
    db: Connection, name: str, statement: str, marked: str, message: str
) -> None:
    db.sql(f"CREATE STREAMING TABLE {name} (i INT, s STRING) RANGE UNLIMITED")
    db.append(name, [(1, "1", 1), (0, "a", 2), (2, "2", 3), (3, "3", 4)])
    text = statement.format(t=name)
    error = failure(db, text)
    assert message in error.message
    assert text[error.offset :].startswith(marked)
    assert (error.line, error.column) == (
        text.count("\n", 0, error.offset) + 1,
        error.offset - text.rfind("\n", 0, error.offset),
    )
    # The connection and the table are as before.
    assert len(ask(db, f"SELECT * FROM {name}")) == 4


EAGER = [
    ("SELECT nothing FROM {t}", "nothing"),
    ("SELECT NOW(), nothing FROM {t} [ROWS 5] w", "nothing"),
    ("SELECT i FROM {t} [ROWS none]", "none]"),
    ("SHOW PARTITIONS no_such_table", "no_such_table"),
    ("SELEC 1", "SELEC"),
    ("DELETE FROM {t} WHERE 10 / i > 3", "10 / i"),
    ("INSERT INTO {t} SELECT x.none, 's', x.T FROM STREAM '{source}' OPTIONS (format = 'csv') x", "x.none"),
    ("CREATE VIEW {t}_v RANGE INTERVAL 9 AS (SELECT nothing FROM {t} [ROWS 5] SAMPLE INTERVAL 1)", "nothing"),
    ("KILL 4711", "4711"),
]
"""Statements that fail when they are given."""
LAZY = [
    ("SELECT 10 / 0", "10 / 0"),
    ("SELECT 's', 10 / i FROM {t}", "10 / i"),
    ("SELECT 's', 10 / i FROM {t} [ROWS 5] w", "10 / i"),
    ("SELECT 10 / i FROM {t} [ROWS 5] ORDER BY 1 SAMPLE INTERVAL 1", "10 / i"),
    ("SELECT NOW(), sum(10 / i) FROM {t} [INTERVAL 2] SAMPLE INTERVAL 1", "10 / i"),
    (
        "SELECT 10 / b.i FROM {t} [ROWS 5] a, {t} [ROWS 5] b WHERE b = PREV(a) SAMPLE REALTIME",
        "10 / b.i",
    ),
]
"""Statements that fail when their rows are fetched."""


@pytest.mark.parametrize(("statement", "marked"), EAGER + LAZY)
def test_places_count_from_the_users_own_first_line(
    db: Connection, name: str, tmp_path: Path, statement: str, marked: str
) -> None:
    db.sql(f"CREATE STREAMING TABLE {name} (i INT, s STRING) RANGE UNLIMITED")
    db.append(name, [(1, "1", 1), (0, "a", 2), (2, "2", 3), (3, "3", 4)])
    source = tmp_path / "source.csv"
    source.write_text("i,s,T\n1,a,2\n")
    text = statement.format(t=name, source=source)
    alone = f"\n\n  \t{text}\n  "
    script = f"  -- 10 / i, nothing\nSELECT 1 ;\n\n  SELECT 2; {text} ;\n SELECT 3"
    third = split_script(script)[2]
    for given, whole in ((alone, alone), (third, script)):
        error = failure(db, given)
        place = whole.index(text) + text.index(marked)
        assert error.text == whole
        assert error.offset == place, error
        assert (error.line, error.column) == (
            whole.count("\n", 0, place) + 1,
            place - whole.rfind("\n", 0, place),
        )


def test_a_view_fails_at_its_place_in_the_users_text(db: Connection, name: str) -> None:
    db.sql(f"CREATE STREAMING TABLE {name} (i INT) RANGE UNLIMITED")
    db.sql(
        f"\n\n CREATE VIEW {name}_v RANGE INTERVAL 9 AS (SELECT\n 10 / i AS x "
        f"FROM {name} [ROWS 1] SAMPLE REALTIME)"
    )
    db.append(name, [(0, 1), (1, 2)])
    with pytest.raises(UserError, match=r"line 4, column 2: .*Division by zero"):
        db.sql(f"WAIT FOR {name}_v")


def test_a_pushed_query_that_failed_goes_on_when_the_rows_are_mended(db: Connection, name: str) -> None:
    db.sql(f"CREATE STREAMING TABLE {name} (i INT) RANGE UNLIMITED")
    query = pushed(db, f"SELECT sum(10 / i) AS x FROM {name} [INTERVAL 0] SAMPLE REALTIME")
    db.append(name, [(0, 1), (1, 2)])
    with pytest.raises(UserError, match="Division by zero"):
        next(query)
    db.sql(f"UPDATE {name} SET i = 5 WHERE i = 0")
    tick, rows = next(query)
    assert (tick, rows.to_pylist()) == (1, [{"x": 2.0}])


def test_errors_without_a_place_of_their_own_are_at_what_they_are_about(db: Connection, name: str) -> None:
    db.sql(f"CREATE STREAMING TABLE {name} (i INT) RANGE UNLIMITED")
    for statement, marked in [
        (f"INSERT INTO {name}\n VALUES FROM 'not/there.csv'", "'not/there.csv'"),
        (f"INSERT INTO {name}\n SELECT i, T FROM STREAM 'not/there.csv' x", "'not/there.csv'"),
        (f"INSERT INTO {name}\n VALUES (1, 2, 3)", name),
        (f"CREATE STREAMING TABLE\n {name} (i INT) RANGE UNLIMITED", name),
        (f"CREATE STREAMING TABLE\n {name}_x (i FOO) RANGE UNLIMITED", f"{name}_x"),
        ("  KILL 4711", "4711"),
    ]:
        error = failure(db, statement)
        assert statement[error.offset :].startswith(marked), error


@pytest.mark.parametrize(
    "query",
    [
        "SELECT i FROM {t} [ROWS 1] SAMPLE INTERVAL '1.5' SECOND",
        "SELECT i FROM {t} WHERE T > NOW() - INTERVAL '0.5' SECOND",
    ],
)
def test_fractions_of_seconds_where_seconds_are_counted(db: Connection, name: str, query: str) -> None:
    db.sql(f"CREATE STREAMING TABLE {name} (i INT) RANGE UNLIMITED")
    db.append(name, [(1, 1), (2, 2)])
    assert "whole seconds" in failure(db, query.format(t=name)).message
