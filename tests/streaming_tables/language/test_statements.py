"""What each statement beside the queries says."""

from __future__ import annotations

import pytest
from tests.streaming_tables.language.facts import query_of, rendered
from tests.streaming_tables.language.made_catalog import CATALOG

from causeway.streaming_tables.language import (
    CreateIndex,
    CreateStreamingTable,
    CreateView,
    Delete,
    Describe,
    Drop,
    Explain,
    InsertFrom,
    InsertOnce,
    InsertSelectStream,
    Kill,
    Passthrough,
    Resume,
    Sample,
    Select,
    SetClock,
    Show,
    Statement,
    Update,
    WaitFor,
    parse,
)

SECOND = 1_000_000
MINUTE = 60 * SECOND


def read(text: str) -> Statement:
    return parse(text, CATALOG)


def table(text: str) -> CreateStreamingTable:
    found = read(text)
    assert isinstance(found, CreateStreamingTable)
    return found


def test_a_table_with_every_clause() -> None:
    assert table(
        "create streaming table if not exists `my table` (a bigint, `b c` Decimal(10, 2))"
        " timestamp by at TIMESTAMP slack interval '5' second range interval '0.5' second"
        " compartment interval '1' hour"
    ) == CreateStreamingTable(
        "my table",
        (("a", "bigint"), ("b c", "decimal(10,2)")),
        "at",
        "timestamp",
        SECOND // 2,
        5 * SECOND,
        60 * MINUTE,
        True,
    )


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("INT", "int"),
        ("INTEGER", "int"),
        ("LONG", "bigint"),
        ("Double", "double"),
        ("REAL", "float"),
        ("DECIMAL", "decimal(10,0)"),
        ("NUMERIC(7 , 3)", "decimal(7,3)"),
        ("VARCHAR(10)", "varchar(10)"),
        ("ARRAY<INTEGER>", "array<int>"),
        ("MAP<STRING, ARRAY<INT>>", "map<string,array<int>>"),
        (
            "STRUCT<xCoord INTEGER, MAP MAP<STRING, DEC(5, 2)>, INT: Int>",
            "struct<xCoord int,MAP map<string,decimal(5,2)>,INT:int>",
        ),
        (
            "STRUCT<Name: STRING, `x y`: INT, z: STRUCT<Q: LONG>>",
            "struct<Name:string,`x y`:int,z:struct<Q:bigint>>",
        ),
        ("INTERVAL DAY TO SECOND", "interval day to second"),
        ("TIMESTAMP /* with a zone */", "timestamp"),
    ],
)
def test_types_come_in_sparks_short_form(written: str, read_as: str) -> None:
    columns = table(f"CREATE STREAMING TABLE x (a {written}, b INT) RANGE INTERVAL 1").columns
    assert columns == (("a", read_as), ("b", "int"))


@pytest.mark.parametrize(
    ("columns", "clause", "name", "kind", "left"),
    [
        ("a INT", "", "T", "seconds", ["a"]),
        ("a INT", "TIMESTAMP BY ts", "ts", "seconds", ["a"]),
        ("a INT", "TIMESTAMP BY ts BIGINT", "ts", "seconds", ["a"]),
        ("a INT", "TIMESTAMP BY ts TIMESTAMP", "ts", "timestamp", ["a"]),
        ("a INT, T INT", "TIMESTAMP BY ts", "ts", "seconds", ["a", "T"]),
        ("ts TIMESTAMP, a INT", "TIMESTAMP BY TS", "ts", "timestamp", ["a"]),
        ("a INT, t BIGINT", "TIMESTAMP BY t", "t", "seconds", ["a"]),
    ],
)
def test_the_time_column(columns: str, clause: str, name: str, kind: str, left: list[str]) -> None:
    for order in (f"{clause} RANGE INTERVAL 5", f"RANGE INTERVAL 5 {clause}"):
        found = table(f"CREATE STREAMING TABLE x ({columns}) {order}")
        assert (found.time_name, found.time_kind) == (name, kind)
        assert [column for column, _ in found.columns] == left


def test_a_table_that_keeps_everything() -> None:
    assert table("CREATE STREAMING TABLE x (a INT) RANGE UNBOUNDED").range_us is None


def test_indexes() -> None:
    assert read("CREATE INDEX IF NOT EXISTS `i x` ON TABLE posreports (Seg)") == CreateIndex(
        "i x", "POSREPORTS", "SEG", True
    )
    assert read("CREATE INDEX i ON segstat (seg)") == CreateIndex("i", "SEGSTAT", "SEG", False)
    assert read("DROP INDEX IF EXISTS i") == Drop("index", "i", True)
    assert read("DROP INDEX i ON posreports") == Drop("index", "i", False, "POSREPORTS")
    assert isinstance(read("CREATE INDEX i ON plain (a)"), Passthrough)
    assert isinstance(read("DROP INDEX i ON plain"), Passthrough)


def test_views() -> None:
    found = read(
        "CREATE OR REPLACE VIEW IF NOT EXISTS v RANGE INTERVAL '5' MINUTE AS"
        " SELECT count(*) AS n FROM posreports [INTERVAL '1' MINUTE] SAMPLE INTERVAL '1' MINUTE"
    )
    assert isinstance(found, CreateView)
    assert (found.name, found.columns, found.range_us) == ("v", None, 5 * MINUTE)
    assert (found.or_replace, found.if_not_exists) == (True, True)
    assert found.query.sample == Sample(MINUTE)
    wrapped = read("CREATE VIEW v (a) RANGE UNBOUNDED AS ((SELECT 1 FROM posreports) SAMPLE REALTIME)")
    assert isinstance(wrapped, CreateView)
    assert (wrapped.columns, wrapped.range_us) == (("a",), None)
    assert rendered(wrapped.query) == "(SELECT 1 FROM table_0 AS posreports) "


def test_continuous_inserts() -> None:
    assert read(
        "insert into table posreports values from \"a\\tb\" options (Once = true, 'max.Rows' = '5', n = -3)"
    ) == (InsertFrom("POSREPORTS", "a\tb", {"once": "true", "max.rows": "5", "n": "-3"}))
    found = read(
        "INSERT INTO posreports (vid, t) SELECT s.car, s.time FROM STREAM 'x' OPTIONS (a.b = c) s"
        " JOIN plain p ON s.a[0] = p.a, STREAM 'y' WHERE NEAR(s.seg, 3)"
    )
    assert isinstance(found, InsertSelectStream)
    assert (found.table, found.columns, found.by_name) == ("POSREPORTS", ("VID", "T"), False)
    assert [(piece.source, piece.options, piece.alias) for piece in found.streams] == [
        ("x", {"a.b": "c"}, "s"),
        ("y", {}, None),
    ]
    assert rendered(found.query).startswith(
        "SELECT s.car, s.time FROM stream_0 s JOIN plain p ON s.a[0] = p.a, stream_1 WHERE (abs("
    )


@pytest.mark.parametrize(
    ("text", "columns", "body", "by_name"),
    [
        ("INSERT INTO posreports VALUES (1, 2), (3, 4)", None, "VALUES (1, 2), (3, 4)", False),
        ("INSERT INTO posreports (VID, T) VALUES (1, 2)", ("VID", "T"), "VALUES (1, 2)", False),
        ("INSERT INTO posreports SELECT 1 -- x\n, 2", None, "SELECT 1 -- x\n, 2", False),
        ("INSERT INTO posreports BY NAME SELECT 1 AS vid", None, "SELECT 1 AS vid", True),
        ("INSERT INTO posreports (SELECT 1)", None, "(SELECT 1)", False),
        ("INSERT INTO posreports (vid) (SELECT 1)", ("VID",), "(SELECT 1)", False),
        ("INSERT INTO posreports WITH x AS (SELECT 1) SELECT * FROM x", None, None, False),
        ("INSERT INTO posreports TABLE plain", None, "TABLE plain", False),
        ("INSERT INTO posreports VALUES ('VALUES FROM ''x''')", None, "VALUES ('VALUES FROM ''x''')", False),
    ],
)
def test_inserts_that_run_once(
    text: str, columns: tuple[str, ...] | None, body: str | None, by_name: bool
) -> None:
    found = read(text)
    assert isinstance(found, InsertOnce)
    assert (found.table, found.columns, found.by_name) == ("POSREPORTS", columns, by_name)
    assert found.body_text == (body or "WITH x AS (SELECT 1) SELECT * FROM x")


def test_an_insert_that_reads_a_window() -> None:
    found = read("INSERT INTO posreports SELECT * FROM posreports [ROWS 3] WHERE t < NOW()")
    assert isinstance(found, InsertOnce)
    assert rendered(found.query) == "SELECT * FROM window_0 AS posreports WHERE t < now[0]"


def test_now_in_an_insert_is_the_time_of_its_table() -> None:
    found = read("INSERT INTO posreports (vid, t) VALUES (1, NOW() + INTERVAL 1 MINUTE)")
    assert isinstance(found, InsertOnce)
    assert rendered(found.query) == "VALUES (1, now[60])"


def test_deletes() -> None:
    assert read("DELETE FROM posreports") == Delete("POSREPORTS", None, None, None)
    found = read(
        "DELETE FROM posreports AS p WHERE p.t < NOW() - INTERVAL '1' MINUTE AND VALID(p) OVERLAPS (1, 2)"
        " AND vid IN (SELECT vid FROM posreports [ROWS 3])"
    )
    assert isinstance(found, Delete) and found.where is not None
    assert found.alias == "p"
    assert found.where_text == found.where.text
    assert rendered(found.where) == (
        "p.t < now[-60] AND (p.`T` BETWEEN (1) AND ( 2)) AND vid IN (SELECT vid FROM window_0 AS posreports)"
    )
    by_table = read("DELETE FROM readings WHERE VALID(readings) OVERLAPS (a, b)")
    assert isinstance(by_table, Delete) and by_table.where is not None
    assert rendered(by_table.where) == "(readings.`at` BETWEEN (a) AND ( b))"


def test_updates() -> None:
    found = read(
        "UPDATE posreports p SET spd = spd + f(1, 2)[0], p.Lane = CASE WHEN p.where THEN 1 END, seg = NOW()"
        " WHERE NEAR(seg, 3)"
    )
    assert isinstance(found, Update) and found.where is not None
    assert found.assignments == (
        ("SPD", "spd + f(1, 2)[0]"),
        ("LANE", "CASE WHEN p.where THEN 1 END"),
        ("SEG", "NOW()"),
    )
    assert [rendered(value) for _, value in found.values][2] == "now[0]"
    assert (found.where_text, rendered(found.where)) == ("NEAR(seg, 3)", "(abs((seg) - ( 3)) <= 1)")
    assert isinstance(read("UPDATE posreports SET spd = 1"), Update)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("RESUME 3", Resume("3")),
        ("resume q_3", Resume("q_3")),
        ("KILL 'query-3';", Kill("query-3")),
        ("RESUME INSERT 3", Resume("3", "insert")),
        ("resume view `a b`", Resume("a b", "view")),
        ("KILL insert 12 ;", Kill("12", "insert")),
        ("SHOW TABLES", Show("tables")),
        ("show views", Show("views")),
        ("SHOW TABLES LIKE 'p*'", Show("tables", pattern="p*")),
        ("SHOW TABLES 'p*'", Show("tables", pattern="p*")),
        ("SHOW INDEXES", Show("indexes")),
        ("SHOW INDEXES ON posreports", Show("indexes", table="POSREPORTS")),
        ("SHOW QUERIES", Show("queries")),
        ("DESCRIBE posreports", Describe("POSREPORTS")),
        ("DESC TABLE EXTENDED segstat", Describe("SEGSTAT")),
        ("DROP TABLE IF EXISTS posreports", Drop("table", "POSREPORTS", True)),
        ("DROP TABLE `POSREPORTS` PURGE", Drop("table", "POSREPORTS", False)),
        ("DROP VIEW segstat", Drop("view", "SEGSTAT", False)),
        ("WAIT FOR posreports", WaitFor("POSREPORTS", None)),
        ("WAIT FOR posreports UNTIL 300", WaitFor("POSREPORTS", 300)),
        ("WAIT FOR readings UNTIL TIMESTAMP '2020-01-01'", WaitFor("readings", "2020-01-01")),
        ("SET causeway.clock = wall", SetClock("wall")),
        ("set Causeway.Clock='stream'", SetClock("stream")),
    ],
)
def test_housekeeping(text: str, statement: Statement) -> None:
    assert read(text) == statement
    assert read(f"-- before\n{text} /* after */") == statement


def test_explain() -> None:
    assert read("EXPLAIN DESCRIBE posreports") == Explain(Describe("POSREPORTS"), "")
    found = read("EXPLAIN formatted SELECT * FROM posreports")
    assert isinstance(found, Explain) and isinstance(found.inner, Select)
    assert found.mode_text == "formatted"
    assert found.inner.query.text == "SELECT * FROM posreports"
    reads = read("EXPLAIN CREATE TABLE x AS SELECT * FROM posreports")
    assert isinstance(reads, Explain)
    assert rendered(query_of(reads.inner)) == "CREATE TABLE x AS SELECT * FROM table_0 AS posreports"


@pytest.mark.parametrize(
    "text", ["", "  ", "-- nothing", ";", "nonsense", "EXPLAIN", "'open", "SELECT 'open", ")]("]
)
def test_what_is_nothing_of_ours_passes(text: str) -> None:
    assert read(text) == Passthrough(text)
