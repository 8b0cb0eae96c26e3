"""What is found in a query, and the Spark SQL that is made of it."""

from __future__ import annotations

import pytest
from tests.streaming_tables.language.facts import query_of, rendered
from tests.streaming_tables.language.made_catalog import CATALOG

from causeway.streaming_tables.language import (
    Passthrough,
    Query,
    Sample,
    Select,
    StatementError,
    Window,
    parse,
    select_end,
)

SECOND = 1_000_000


@pytest.mark.parametrize(
    ("brackets", "window"),
    [
        ("[WINDOW INTERVAL '3' SECOND]", Window(interval_us=3 * SECOND)),
        ("[INTERVAL 3]", Window(interval_us=3 * SECOND)),
        ("[interval '1' minute '30' second]", Window(interval_us=90 * SECOND)),
        ("[INTERVAL '0' SECOND]", Window(interval_us=0)),
        ("[ROWS 3]", Window(rows=3)),
        ("[WINDOW ROWS 3]", Window(rows=3)),
        ("[VID ROWS 1]", Window(rows=1, partition_by=("VID",))),
        ("[WINDOW vid, `dir` ROWS 2]", Window(rows=2, partition_by=("VID", "DIR"))),
        ("[ /* x */ WINDOW -- y\n VID\nROWS\t4 ]", Window(rows=4, partition_by=("VID",))),
    ],
)
def test_windows(brackets: str, window: Window) -> None:
    (piece,) = query_of(f"SELECT * FROM posreports {brackets} p").windows
    assert (piece.table, piece.alias, piece.window, piece.index) == ("POSREPORTS", "p", window, 0)


def test_columns_named_like_the_words_of_a_window() -> None:
    for brackets, columns in [
        ("[rows ROWS 2]", ("rows",)),
        ("[window, rows ROWS 2]", ("window", "rows")),
        ("[WINDOW window ROWS 2]", ("window",)),
        ("[WINDOW `rows`, `window` ROWS 2]", ("rows", "window")),
    ]:
        (piece,) = query_of(f"SELECT * FROM `odd name` {brackets}").windows
        assert piece.window == Window(rows=2, partition_by=columns)


@pytest.mark.parametrize(
    ("sql", "spark"),
    [
        ("FROM posreports [ROWS 3]", "FROM window_0 AS posreports"),
        ("FROM `posreports`[ROWS 3]", "FROM window_0 AS `posreports`"),
        ("FROM posreports [ROWS 3] AS p", "FROM window_0 AS p"),
        ("FROM posreports AS p [ROWS 3]", "FROM window_0 AS p "),
        ("FROM posreports p [ROWS 3]", "FROM window_0 p "),
        ("FROM posreports [ROWS 3] `my p` (a, b)", "FROM window_0 `my p` (a, b)"),
        ("FROM posreports [ROWS 3] sample", "FROM window_0 sample"),
        ("FROM posreports [ROWS 3] window WHERE a[1] = 2", "FROM window_0 window WHERE a[1] = 2"),
        ("FROM posreports [ROWS 3] WHERE a > 1", "FROM window_0 AS posreports WHERE a > 1"),
        (
            "FROM posreports [ROWS 3] WINDOW w AS (ORDER BY t)",
            "FROM window_0 AS posreports WINDOW w AS (ORDER BY t)",
        ),
        (
            "FROM posreports [ROWS 3] TABLESAMPLE (5 ROWS) JOIN u ON true",
            "FROM window_0 TABLESAMPLE (5 ROWS) AS posreports JOIN u ON true",
        ),
        ("FROM posreports TABLESAMPLE (5 ROWS) p", "FROM table_0 TABLESAMPLE (5 ROWS) p"),
        ("FROM posreports", "FROM table_0 AS posreports"),
        ("FROM posreports version WHERE a", "FROM table_0 version WHERE a"),
        ("FROM posreports for, plain", "FROM table_0 for, plain"),
        ("FROM posreports, plain", "FROM table_0 AS posreports, plain"),
        ("FROM plain JOIN posreports USING (a)", "FROM plain JOIN table_0 AS posreports USING (a)"),
        (
            "FROM plain p JOIN other o ON p.a[0] = o.b[1], posreports [ROWS 1] q",
            "FROM plain p JOIN other o ON p.a[0] = o.b[1], window_0 q",
        ),
        (
            "FROM (posreports [ROWS 1] a CROSS JOIN segstat b) LEFT JOIN posreports [ROWS 2] c ON true",
            "FROM (window_0 a CROSS JOIN table_0 b) LEFT JOIN window_1 c ON true",
        ),
        ("FROM VALUES (1), (2) AS v (x), posreports", "FROM VALUES (1), (2) AS v (x), table_0 AS posreports"),
        ("FROM plain, LATERAL (SELECT * FROM posreports [ROWS 1])", None),
        ("FROM plain WHERE a IN (SELECT vid FROM posreports[ROWS 1])", None),
        (
            "FROM plain UNION ALL TABLE plain UNION ALL SELECT * FROM posreports p",
            "FROM plain UNION ALL TABLE plain UNION ALL SELECT * FROM table_0 p",
        ),
        ("FROM f(TABLE posreports [ROWS 2])", "FROM f(TABLE window_0)"),
        ("FROM plain UNION ALL TABLE posreports", "FROM plain UNION ALL TABLE table_0"),
        ("FROM f(TABLE(posreports), 1)", "FROM f(TABLE(table_0), 1)"),
        (
            "FROM plain PIVOT (sum(a) FOR b IN (1)), posreports",
            "FROM plain PIVOT (sum(a) FOR b IN (1)), posreports",
        ),
    ],
)
def test_relations(sql: str, spark: str | None) -> None:
    statement = parse(f"SELECT * {sql}", CATALOG)
    if spark is not None and "table_" not in spark and "window_" not in spark:
        assert statement == Passthrough(f"SELECT * {sql}")
        return
    expected = spark or sql.replace("posreports [ROWS 1]", "window_0 AS posreports").replace(
        "posreports[ROWS 1]", "window_0 AS posreports"
    )
    assert rendered(query_of(statement)) == f"SELECT * {expected}"


@pytest.mark.parametrize(
    ("sql", "spark"),
    [
        ("FROM posreports[ROWS 2]a,posreports[ROWS 2]b", "FROM window_0 a,window_1 b"),
        ("FROM`posreports`[ROWS 2]WHERE x", "FROM window_0 AS `posreports` WHERE x"),
        ("FROM posreports p[ROWS 2]WHERE x", "FROM window_0 p WHERE x"),
        (
            "FROM posreports WHERE(x)AND NEAR(a,b)OR y",
            "FROM table_0 AS posreports WHERE(x)AND (abs((a) - (b)) <= 1)OR y",
        ),
        ("FROM`posreports`SAMPLE REALTIME", "FROM table_0 AS `posreports`"),
    ],
)
def test_what_stands_close_together_does_not_run_together(sql: str, spark: str) -> None:
    assert rendered(query_of(f"SELECT *{sql}")).rstrip() == f"SELECT *{spark}"


def test_a_time_below_zero_makes_no_comment() -> None:
    query = query_of("SELECT 5 -NOW() FROM posreports")
    assert query.render(lambda piece: "w", lambda offset: "-3L") == "SELECT 5 - -3L FROM posreports"


def test_windows_at_any_depth() -> None:
    query = query_of(
        "WITH recent AS (SELECT * FROM posreports [ROWS 5])"
        " SELECT (SELECT max(t) FROM posreports [INTERVAL 9] x) FROM recent"
        " WHERE EXISTS (SELECT 1 FROM (SELECT * FROM segstat [ROWS 1] s) q)"
        " UNION ALL (SELECT 1 FROM posreports [vid ROWS 2] y)"
    )
    assert [(piece.alias, piece.index) for piece in query.windows] == [
        ("posreports", 0),
        ("x", 1),
        ("s", 2),
        ("y", 3),
    ]
    assert query.relations == ("POSREPORTS", "SEGSTAT")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM posreports",
        "-- why\nSELECT p.vid[0], /*+ no */ m['x'] FROM POSREPORTS p WHERE p.spd > 0 -- end",
        "WITH x AS (SELECT * FROM posreports) SELECT * FROM x",
        "WITH posreports AS (SELECT * FROM posreports) SELECT * FROM posreports",
        "FROM posreports |> WHERE vid = 1 |> SELECT spd",
        "FROM plain |> JOIN posreports USING (vid) |> LIMIT 3",
        "TABLE posreports",
        "SELECT 1 UNION TABLE posreports",
        "SELECT vid FROM plain UNION SELECT vid FROM posreports",
        "SELECT * EXCEPT (vid) FROM posreports",
        "SELECT set, values FROM posreports",
        "(SELECT * FROM posreports)",
        "SELECT a IS DISTINCT FROM b FROM posreports",
        "SELECT EXTRACT(YEAR FROM d) FROM posreports",
    ],
)
def test_a_query_without_extensions_stays_as_it_is(sql: str) -> None:
    query = query_of(sql)
    assert query.relations == ("POSREPORTS",)
    assert not query.extended
    unchanged = query.render(lambda piece: "window", lambda offset: "now")
    assert unchanged == query.text == sql


def test_a_name_of_the_with_clause_hides_a_table() -> None:
    inside = query_of("WITH posreports AS (SELECT * FROM posreports [ROWS 2]) SELECT * FROM posreports")
    assert (
        rendered(inside)
        == "WITH posreports AS (SELECT * FROM window_0 AS posreports) SELECT * FROM posreports"
    )
    nested = query_of(
        "SELECT * FROM (WITH posreports AS (SELECT 1 a) SELECT * FROM posreports) q, posreports [ROWS 1]"
    )
    assert rendered(nested).endswith("SELECT * FROM posreports) q, window_0 AS posreports")


def test_statements_of_spark_that_read_streaming_tables() -> None:
    for text, spark in [
        (
            "CREATE TABLE x AS SELECT * FROM posreports [ROWS 3]",
            "CREATE TABLE x AS SELECT * FROM window_0 AS posreports",
        ),
        ("INSERT INTO plain SELECT vid FROM posreports p", "INSERT INTO plain SELECT vid FROM table_0 p"),
        ("CACHE TABLE c AS SELECT * FROM segstat", "CACHE TABLE c AS SELECT * FROM table_0 AS segstat"),
        (
            "DELETE FROM plain WHERE a IN (SELECT vid FROM posreports WHERE t > NOW() - INTERVAL 5)",
            "DELETE FROM plain WHERE a IN (SELECT vid FROM table_0 AS posreports WHERE t > now[-5])",
        ),
        (
            "MERGE INTO plain p USING segstat s ON p.a = s.seg WHEN MATCHED THEN UPDATE SET a = 1, b = 2",
            "MERGE INTO plain p USING table_0 s ON p.a = s.seg WHEN MATCHED THEN UPDATE SET a = 1, b = 2",
        ),
        ("DESCRIBE QUERY SELECT * FROM posreports", "DESCRIBE QUERY SELECT * FROM table_0 AS posreports"),
        ("CREATE VIEW v AS SELECT * FROM posreports", "CREATE VIEW v AS SELECT * FROM table_0 AS posreports"),
    ]:
        statement = parse(text, CATALOG)
        assert isinstance(statement, Passthrough)
        assert statement.text == text
        assert rendered(query_of(statement)) == spark


@pytest.mark.parametrize(
    ("sql", "spark"),
    [
        ("NOW()", "now[0]"),
        ("now ( )", "now[0]"),
        ("NOW() - INTERVAL '15' MINUTE", "now[-900]"),
        ("NOW() + INTERVAL '15' SECOND - INTERVAL 1 HOUR", "now[-3585]"),
        ("t - NOW() - INTERVAL '1' MINUTE", "t - now[60]"),
        ("t + NOW() - INTERVAL '1' MINUTE", "t + now[-60]"),
        ("t > (NOW() - INTERVAL '1' MINUTE)", "t > (now[-60])"),
        ("INTERVAL '1' MINUTE + NOW()", "now[60]"),
        ("INTERVAL '1' MINUTE + NOW() - INTERVAL 1 SECOND", "now[59]"),
        ("t * NOW() - INTERVAL '1' MINUTE", "t * now[0] - INTERVAL '1' MINUTE"),
        ("NOW() - INTERVAL '1' MINUTE * 2", "now[0] - INTERVAL '1' MINUTE * 2"),
        ("NOW() - INTERVAL '1' MINUTE - INTERVAL '2' SECOND * 3", "now[-60] - INTERVAL '2' SECOND * 3"),
        ("NOW() - interval", "now[0] - interval"),
        ("NOW() - t", "now[0] - t"),
        ("`now`()", "`now`()"),
        ("s.now()", "s.now()"),
        ("'NOW()'", "'NOW()'"),
        ("NEAR(seg, 5)", "(abs((seg) - ( 5)) <= 1)"),
        ("NOT near(seg, f(a, b)[0], 3)", "NOT (abs((seg) - ( f(a, b)[0])) <= ( 3))"),
        ("NEAR(NEAR(a, b), NOW())", "(abs(((abs((a) - ( b)) <= 1)) - ( now[0])) <= 1)"),
        ("VALID(posreports) OVERLAPS (1, 2)", "(posreports.`T` BETWEEN (1) AND ( 2))"),
        ("VALID(PosReports) OVERLAPS (f(1, 2), NOW())", "(PosReports.`T` BETWEEN (f(1, 2)) AND ( now[0]))"),
        ("valid(t)", "valid(t)"),
        ("`near`(a, b) OR `prev`(c)", "`near`(a, b) OR `prev`(c)"),
    ],
)
def test_functions(sql: str, spark: str) -> None:
    query = query_of(f"SELECT * FROM posreports WHERE {sql}")
    assert rendered(query) == f"SELECT * FROM table_0 AS posreports WHERE {spark}"


def test_months_are_left_to_spark_where_time_is_a_timestamp() -> None:
    query = query_of("SELECT * FROM readings WHERE at > NOW() - INTERVAL '1' MONTH")
    assert rendered(query).endswith("WHERE at > now[0] - INTERVAL '1' MONTH")
    with pytest.raises(StatementError, match="a month has no fixed length"):
        parse("SELECT * FROM posreports WHERE t > NOW() - INTERVAL '1' MONTH", CATALOG)


def test_the_time_column_of_the_table_is_used() -> None:
    query = query_of("SELECT TRJ(*) FROM readings r WHERE VALID(r) OVERLAPS (a, b)")
    assert rendered(query) == (
        "SELECT transform(array_sort(collect_list(named_struct('k', `r`.`at`, 'r', named_struct('sensor',"
        " `r`.`sensor`, 'value', `r`.`value`, 'at', `r`.`at`)))), x -> x.r)"
        " FROM table_0 r WHERE (r.`at` BETWEEN (a) AND ( b))"
    )
    other = query.render(lambda piece: "w", lambda offset: "n", lambda table: f"time of {table}")
    assert "r.`time of readings` BETWEEN" in other


def test_trj_of_one_of_several() -> None:
    query = query_of("SELECT TRJ(b.*) FROM posreports a, readings b")
    assert "`b`.`sensor`" in rendered(query) and "`a`." not in rendered(query)


def test_trj_belongs_to_its_own_from_clause() -> None:
    query = query_of("SELECT (SELECT TRJ(*) FROM readings) FROM posreports p")
    assert "`readings`.`sensor`" in rendered(query)


@pytest.mark.parametrize(
    ("condition", "spark"),
    [
        ("b = PREV(a)", "(b.`__row` = a.`__previous`)"),
        ("PREV(a) = b", "(b.`__row` = a.`__previous`)"),
        ("B == prev ( A ) AND x", "(B.`__row` = A.`__previous`) AND x"),
    ],
)
def test_prev(condition: str, spark: str) -> None:
    for place in (" WHERE ", " "):
        join = "," if place.strip() else " JOIN"
        on = "" if place.strip() else "ON "
        query = query_of(
            f"SELECT * FROM posreports [vid ROWS 2] a{join} posreports [VID ROWS 2] b{place}{on}{condition}"
        )
        assert query.prev_links in {(("a", "b"),)}
        assert rendered(query).endswith(spark)


def test_prev_of_a_window_outside() -> None:
    query = query_of(
        "SELECT * FROM posreports [ROWS 2] a"
        " WHERE EXISTS (SELECT 1 FROM posreports [ROWS 2] b WHERE b = PREV(a))"
    )
    assert query.prev_links == (("a", "b"),)


@pytest.mark.parametrize(
    ("text", "sample"),
    [
        ("SELECT * FROM posreports [ROWS 1] SAMPLE REALTIME", Sample()),
        ("SELECT * FROM posreports [ROWS 1] sample SAMPLE REALTIME", Sample()),
        ("SELECT * FROM posreports [ROWS 1] sample sample interval 5", Sample(5 * SECOND)),
        ("SELECT * FROM posreports SAMPLE INTERVAL '1' MINUTE -- done", Sample(60 * SECOND)),
        (
            "SELECT * FROM posreports WHERE a IN (1) SAMPLE INTERVAL '1:30' MINUTE TO SECOND",
            Sample(90 * SECOND),
        ),
        ("SELECT sample FROM posreports ORDER BY sample SAMPLE REALTIME", Sample()),
        ("FROM posreports SELECT * SAMPLE REALTIME", Sample()),
        ("SELECT sample realtime, interval FROM posreports", None),
        ("SELECT * FROM posreports sample", None),
    ],
)
def test_sample(text: str, sample: Sample | None) -> None:
    query = query_of(text)
    assert query.sample == sample
    if sample is not None:
        assert "REALTIME" not in rendered(query)
        assert "INTERVAL" not in rendered(query)


def test_order_and_limit_of_the_outermost_query_only() -> None:
    def flags(text: str) -> tuple[bool, bool]:
        query = query_of(text)
        return query.has_order_by, query.has_limit

    assert flags("SELECT * FROM posreports ORDER BY vid LIMIT 3") == (True, True)
    assert flags("(SELECT * FROM posreports ORDER BY vid)") == (True, False)
    assert flags("SELECT * FROM posreports OFFSET 3") == (False, True)
    assert flags("FROM posreports |> ORDER BY vid |> LIMIT 3") == (True, True)
    assert flags("SELECT limit, max(a) OVER (ORDER BY b) FROM posreports") == (False, False)
    assert flags("SELECT * FROM (SELECT * FROM posreports ORDER BY vid LIMIT 3) q") == (False, False)


def test_places_in_the_rendered_text_lead_back() -> None:
    text = (
        "SELECT vidd,\n  spd FROM posreports [ROWS 3] p\n"
        "WHERE t > NOW() - INTERVAL '5' MINUTE AND wrong = 1 SAMPLE INTERVAL 3"
    )
    query = query_of(text)
    made = query.rendered(
        lambda piece: "a_rather_long_name", lambda offset: "12345", table_name=lambda piece: "x"
    )
    for word in ("vidd", "spd", "wrong", "WHERE"):
        assert made.original_offset(made.text.index(word)) == text.index(word)
    assert made.original_offset(made.text.index("long_name")) == text.index("posreports")
    assert made.original_offset(made.text.index("12345") + 2) == text.index("NOW()")
    line = made.text.split("\n")[2]
    assert made.original_position(3, line.index("wrong")) == (3, text.split("\n")[2].index("wrong") + 1)
    place = select_end(made.text)
    assert place is not None
    longer = made.with_inserted(place, " `x` AS `y`,")
    assert longer.text == made.text[:place] + " `x` AS `y`," + made.text[place:]
    for word in ("vidd", "spd", "wrong", "WHERE"):
        assert longer.original_offset(longer.text.index(word)) == text.index(word)
    assert longer.original_offset(longer.text.index("`y`")) == place
    error = made.error("no column wrong", 3, line.index("wrong"))
    assert str(error).startswith(
        f"line 3, column {text.split(chr(10))[2].index('wrong') + 1}: no column wrong\n"
    )


def test_places_inside_an_explained_statement_and_a_view() -> None:
    for text in (
        "EXPLAIN EXTENDED SELECT wrong FROM posreports [ROWS 2]",
        "CREATE VIEW v RANGE INTERVAL 5\nAS (SELECT wrong FROM posreports [ROWS 2] SAMPLE REALTIME)",
    ):
        statement = parse(text, CATALOG)
        query = getattr(getattr(statement, "inner", statement), "query", None)
        assert isinstance(query, Query)
        made = query.rendered(lambda piece: "w", lambda offset: "n")
        assert made.original_offset(made.text.index("wrong")) == text.index("wrong")


def test_a_select_is_ours_only_with_a_streaming_table() -> None:
    assert isinstance(parse("SELECT * FROM posreports", CATALOG), Select)
    assert parse("SELECT * FROM plain;", CATALOG) == Passthrough("SELECT * FROM plain;")
    assert query_of("SELECT * FROM posreports ;").text == "SELECT * FROM posreports "
