"""Statements of one shape: what is filled in is what Spark's own plan of the statement gives."""

from __future__ import annotations

from random import Random

import pytest
from tests.streaming_tables.engine.conditions import COLUMNS, condition
from tests.streaming_tables.engine.reading import ask, tuples

from causeway.streaming_tables.engine.connection import Connection
from causeway.streaming_tables.engine.plans.scans import Scan
from causeway.streaming_tables.engine.reads.one_time import OneTimeReader
from causeway.streaming_tables.engine.reads.shapes import Shape, ShapeCache, shape_of

SEED = 20261118
WHOLE = [0, 1, 7, 127, 128, 32_767, 32_768, 2**31 - 1]
LONG = [2**31, 2**53 - 1, 2**53, 2**53 + 1, 2**62, 2**63 - 1]
TEXT = ["", "a", "A", "ä", "1", "2026-01-01", "true", "%", " ", "\U0001f600", "NaN", "--", "/*"]

STATEMENTS = [
    "SELECT * FROM {} WHERE T BETWEEN 5 AND 9 AND i BETWEEN 3 AND 8",
    "SELECT k, s FROM {} WHERE s = 'a' AND T >= 5",
    "SELECT k FROM {} WHERE l = 5 AND l > 5000000000 AND l < 6L",
    "SELECT k FROM {} WHERE d > 5 OR d = 50 OR i IN (1, 2, 3)",
    "SELECT k FROM {} WHERE i NOT IN (1, 2) LIMIT 7",
    "(SELECT k FROM {} WHERE i = 3 LIMIT 5) LIMIT 3",
    "SELECT k FROM {} WHERE i = -5 AND l >= -5",
    "SELECT k FROM {} WHERE i = 5000000000 OR i = 5L",
    "SELECT k FROM {} WHERE i BETWEEN 5 AND 5000000000",
    "SELECT k FROM {} WHERE h = 5 OR h BETWEEN 4 AND 6 OR h IN (4, 5)",
    "SELECT k FROM {} WHERE d BETWEEN 5 AND 5000000000 OR d = 5L",
    "SELECT k FROM {} WHERE dc = 5 OR dc = 5.5 OR dc < '3'",
    "SELECT k FROM {} WHERE i = '5' OR d < '5' OR s = 5",
    "SELECT k FROM {} WHERE s = 'a' 'b' OR s = \"a\" OR s = r'a'",
    "SELECT k FROM {} WHERE dt = DATE'2026-01-01' OR ts > TIMESTAMP'2026-01-01 00:00:00'",
    "SELECT k FROM {} WHERE dt = '2026-01-01' OR ts > '2026-01-01 00:00:00'",
    "SELECT k FROM {} WHERE i = CAST(5 AS INT) OR l = CAST(5 AS BIGINT) OR dc = CAST(5 AS DECIMAL(10, 2))",
    "SELECT k FROM {} WHERE i + 1 = 5 OR T - 3 > 5 OR i % 2 = 1",
    "SELECT k FROM {} WHERE 5 < i AND 1 = 1",
    "SELECT k, 1 AS one FROM {} WHERE i = 5",
    "SELECT k FROM {} ORDER BY 1 LIMIT 3",
    "SELECT k FROM {} WHERE i = 5 LIMIT 3 OFFSET 2",
    "SELECT k FROM {} TABLESAMPLE (50 PERCENT) WHERE i = 5",
    "SELECT k FROM {} WHERE ts > ts - INTERVAL 5 DAY AND i = 3",
    "SELECT k FROM {} WHERE s LIKE 'a%' OR substring(s, 1, 2) = 'ab'",
    "SELECT k AS `5`, i AS k FROM {} x WHERE x.i = 5 -- 5\n AND x.l = 5",
    "SELECT k FROM {} WHERE i>5 AND i<5 AND l=5",
]


@pytest.fixture(scope="module")
def stub(db: Connection) -> str:
    """The empty relation that statements on a table with columns of all kinds are planned with."""
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    db.sql(f"CREATE STREAMING TABLE shaped (k BIGINT, {columns}) RANGE UNLIMITED")
    return db._relations.stub("shaped", db.warehouse.require("shaped").definition.arrow_schema())


def reader(db: Connection) -> OneTimeReader:
    return db._runner._reader


def redrawn(shape: Shape, random: Random) -> str:
    """A statement of the same shape with other constants."""
    text = shape.parts[0]
    for kind, after in zip(shape.types, shape.parts[1:], strict=True):
        if kind == "s":
            constant = f"'{random.choice(TEXT)}'"
        else:
            number = random.choice({"i": WHOLE, "l": LONG}.get(kind, WHOLE + LONG))
            constant = f"{number}L" if kind == "L" else str(number)
        text += constant + after
    return text


def checked(db: Connection, statements: list[str], random: Random, repeats: int) -> tuple[int, set[str]]:
    """How many scans were filled in, each equal to that of Spark's plan, and of which statements."""
    analyze = reader(db)._analyzed_scan
    cache = ShapeCache(analyze)
    filled, which = 0, set()
    for statement in statements:
        shape = shape_of(statement, "")
        assert shape is not None
        for text in [statement, *(redrawn(shape, random) for _ in range(repeats))]:
            own = shape_of(text, "")
            assert own is not None and own.key == shape.key
            scan = analyze(text)
            known = cache.scan(own)
            if known is not None:
                assert known == scan, text
                filled += 1
                which.add(statement)
            if scan is not None:
                cache.learn(own, scan)
    return filled, which


def test_constants_of_all_kinds_in_all_places(db: Connection, stub: str) -> None:
    statements = [text.format(stub) for text in STATEMENTS]
    filled, which = checked(db, statements, Random(SEED), 6)
    # The first five are what a shape is for; the last two have one, too.
    assert set(statements[:5]) <= which
    assert statements[-1] in which and statements[-2] in which
    # In these, what Spark makes of a constant depends on its value, or it is no constant of a condition.
    assert not which & set(statements[7:24])
    assert filled >= 7 * 5


def test_random_conditions(db: Connection, stub: str) -> None:
    random = Random(SEED + 1)
    statements = [f"SELECT k FROM {stub} WHERE {condition(random).sql}" for _ in range(40)]
    filled, which = checked(db, statements, random, 3)
    assert len(which) > 8 and filled > 16


def test_spark_is_asked_three_times_for_a_shape(db: Connection, stub: str) -> None:
    asked = []

    def analyze(text: str) -> Scan | None:
        asked.append(text)
        return reader(db)._analyzed_scan(text)

    cache = ShapeCache(analyze)
    for number in range(10):
        shape = shape_of(f"SELECT k FROM {stub} WHERE i = {number}", "settings")
        assert shape is not None
        scan = cache.scan(shape)
        if scan is None:
            scan = analyze(f"SELECT k FROM {stub} WHERE i = {number}")
            assert scan is not None
            cache.learn(shape, scan)
        assert scan.conditions[0][0].value == number
    assert len(asked) == 3


def test_other_settings_are_another_shape(db: Connection, stub: str) -> None:
    def count() -> int:
        return len(ask(db, "SELECT k FROM shaped_settings WHERE s = 'x' AND i = 2"))

    db.sql("CREATE STREAMING TABLE shaped_settings (k INT, I INT, s STRING) RANGE UNLIMITED")
    db.append("shaped_settings", [(1, 2, "x", 0)])
    for _ in range(3):
        assert count() == 1
    db.spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        with pytest.raises(Exception, match="cannot be resolved"):
            count()
    finally:
        db.spark.conf.unset("spark.sql.caseSensitive")
    assert count() == 1


def test_a_table_that_is_made_anew_is_read_anew(db: Connection) -> None:
    for columns, row in (
        ("a INT, b INT", (1, 2, 0)),
        ("b INT, a INT", (2, 1, 0)),
        ("a INT, b INT", (1, 3, 0)),
    ):
        db.sql(f"CREATE STREAMING TABLE remade ({columns}) RANGE UNLIMITED")
        db.append("remade", [row])
        for number in range(4):
            found = db.sql(f"SELECT * FROM remade WHERE a = {number}")
            assert tuples(found.to_arrow()) == ([row] if number == 1 else [])  # type: ignore[union-attr]
        db.sql("DROP TABLE remade")


def test_a_limit_around_a_limit(db: Connection) -> None:
    db.sql("CREATE STREAMING TABLE limited (a INT) RANGE UNLIMITED")
    db.append("limited", [(number, number) for number in range(9)])
    for inner, outer in ((5, 3), (3, 5), (2, 2), (0, 4), (8, 1)):
        found = ask(db, f"(SELECT a FROM limited LIMIT {inner}) LIMIT {outer}")
        assert len(found) == min(inner, outer)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT 1", "SELECT 1L"),
        ("SELECT 1", "SELECT 2147483648"),
        ("SELECT 1", "SELECT '1'"),
        ("SELECT -1", "SELECT -2"),
        ("SELECT 1.5", "SELECT 2.5"),
        ("SELECT 'a'", 'SELECT "a"'),
        ("SELECT 'a'", "SELECT 'a\\n'"),
        ("SELECT a >> 1", "SELECT a > > 1"),
        ("SELECT /*+ x(1) */ 1", "SELECT /*+ x(2) */ 1"),
        ("SELECT a -- b\n, c", "SELECT a -- b , c"),
    ],
)
def test_different_shapes(one: str, other: str) -> None:
    first, second = shape_of(one, ""), shape_of(other, "")
    assert first is not None and second is not None
    assert first.key != second.key


def test_text_that_spark_may_change_has_no_shape() -> None:
    assert shape_of("SELECT ${x}", "") is None
    assert shape_of("SELECT '\0'", "") is None
