"""Every statement of the paper's Table I is understood as it is printed."""

from __future__ import annotations

import pytest
from tests.streaming_tables.language.facts import facts, query_of, rendered
from tests.streaming_tables.language.made_catalog import CATALOG
from tests.streaming_tables.language.table_one import AS_PRINTED, REPAIRED

from causeway.streaming_tables.language import (
    CreateIndex,
    CreateStreamingTable,
    CreateView,
    Explain,
    InsertFrom,
    Sample,
    Select,
    Window,
    parse,
)
from causeway.streaming_tables.language.tokens import tokenize

SECOND = 1_000_000
MINUTE = 60 * SECOND
KEYWORDS = {"CREATE", "STREAMING", "TABLE", "RANGE", "INTERVAL", "WEEK", "MINUTE", "INDEX", "ON", "INSERT"}
KEYWORDS |= {
    "INTO",
    "VALUES",
    "FROM",
    "SELECT",
    "WINDOW",
    "ROWS",
    "WHERE",
    "AND",
    "PREV",
    "SAMPLE",
    "REALTIME",
}
KEYWORDS |= {"VIEW", "AS", "TRJ", "VALID", "NEAR", "OVERLAPS", "NOW", "ORDER", "GROUP", "BY", "DESC", "INT"}


def test_a_streaming_table() -> None:
    columns = tuple((name, "int") for name in ("VID", "SPD", "XWAY", "LANE", "DIR", "SEG", "POS"))
    assert parse(AS_PRINTED["a1"], CATALOG) == CreateStreamingTable(
        "POSREPORTS", columns, "T", "seconds", 14 * 24 * 60 * MINUTE, 0, None, False
    )
    assert parse(AS_PRINTED["a2"], CATALOG) == CreateIndex("IDX_VID", "POSREPORTS", "VID", False)


def test_b_continuous_insert() -> None:
    assert parse(AS_PRINTED["b"], CATALOG) == InsertFrom("POSREPORTS", "LINEARROAD.STR", {})


def test_c_stopped_cars() -> None:
    query = query_of(AS_PRINTED["c"])
    assert [(piece.table, piece.alias, piece.window) for piece in query.windows] == [
        ("POSREPORTS", alias, Window(rows=4, partition_by=("VID",))) for alias in ("P1", "P2", "P3", "P4")
    ]
    assert query.prev_links == (("P1", "P2"), ("P2", "P3"), ("P3", "P4"))
    assert query.sample == Sample() and query.sample.realtime
    assert query.relations == ("POSREPORTS",)
    assert rendered(query) == (
        "SELECT P1.VID, P1.XWAY, P1.LANE, P1.DIR, P1.POS FROM window_0 P1, window_1 P2, window_2 P3,"
        " window_3 P4 WHERE P1.VID = P2.VID AND P2.VID = P3.VID AND P3.VID = P4.VID"
        " AND (P2.`__row` = P1.`__previous`) AND (P3.`__row` = P2.`__previous`)"
        " AND (P4.`__row` = P3.`__previous`) AND P1.SPD = 0 AND P2.SPD = 0 AND P3.SPD = 0 AND P4.SPD = 0 "
    )


def test_d_segment_statistics() -> None:
    statement = parse(AS_PRINTED["d"], CATALOG)
    assert isinstance(statement, CreateView)
    assert statement.name == "SEGSTAT"
    assert statement.columns == ("XWAY", "DIR", "SEG", "CNT", "AVGSPEED")
    assert statement.range_us == 5 * MINUTE
    query = statement.query
    assert [(piece.alias, piece.window) for piece in query.windows] == [
        ("POSREPORTS", Window(interval_us=MINUTE))
    ]
    assert query.sample == Sample(MINUTE)
    assert rendered(query_of(REPAIRED["d"])) == (
        "SELECT XWAY, DIR, SEG, COUNT(*), AVG(SPD) FROM window_0 AS POSREPORTS GROUP BY XWAY, DIR, SEG "
    )


def test_e_segment_crossings() -> None:
    query = query_of(AS_PRINTED["e"])
    assert query.prev_links == (("P1", "P2"),)
    assert rendered(query) == (
        "SELECT P1.VID, P1.XWAY, P1.DIR, P1.SEG FROM window_0 P1, window_1 P2 WHERE P1.VID = P2.VID"
        " AND (P2.`__row` = P1.`__previous`) AND P1.SEG != P2.SEG "
    )


def test_f_trajectories() -> None:
    query = query_of(REPAIRED["f"])
    assert query.uses_now and query.sample is None and not query.windows
    assert [piece.alias for piece in query.tables] == ["P1"]
    names = ("VID", "SPD", "XWAY", "LANE", "DIR", "SEG", "POS", "T")
    fields = ", ".join(f"'{name}', `P1`.`{name}`" for name in names)
    assert rendered(query) == (
        "SELECT P1.VID, transform(array_sort(collect_list(named_struct('k', `P1`.`T`, 'r', "
        f"named_struct({fields})))), x -> x.r) FROM table_0 P1, INVOLVEDVIDS IV WHERE P1.VID = IV.VID"
        " AND (P1.`T` BETWEEN (now[-900]) AND ( now[-600])) GROUP BY P1.VID"
    )


def test_g_witnesses() -> None:
    assert rendered(query_of(AS_PRINTED["g"])) == (
        "SELECT XWAY, DIR, SEG, VID, POS FROM table_0 P1 WHERE (abs((SEG) - ( XX)) <= 1)"
        " AND (P1.`T` BETWEEN (now[-1200]) AND ( now[-600]))"
    )


def test_h_critical_segments() -> None:
    query = query_of(AS_PRINTED["h"])
    assert [(piece.table, piece.alias, piece.window) for piece in query.windows] == [
        ("SEGSTAT", "S", Window(interval_us=2 * MINUTE))
    ]
    assert query.has_order_by and not query.has_limit
    assert query.sample == Sample(MINUTE)
    assert rendered(query) == (
        "SELECT * FROM window_0 S , CRITICALSEGS CS WHERE S.SEG = CS.SEG ORDER BY S.CNT, AVGSPEED DESC "
    )


@pytest.mark.parametrize("name", AS_PRINTED)
def test_keywords_in_lower_case_mean_the_same(name: str) -> None:
    printed = AS_PRINTED[name]
    lowered = "".join(
        token.text.lower() if token.word() in KEYWORDS else token.text for token in tokenize(printed)
    )
    assert lowered != printed
    assert facts(parse(lowered, CATALOG)) == facts(parse(printed, CATALOG))


@pytest.mark.parametrize("name", [name for name in REPAIRED if name not in {"a1", "a2", "b", "d"}])
def test_a_query_explains(name: str) -> None:
    for mode in ("", "EXTENDED ", "formatted ", "COST ", "CODEGEN "):
        explained = parse(f"EXPLAIN {mode}{REPAIRED[name]}", CATALOG)
        plain = parse(REPAIRED[name], CATALOG)
        assert isinstance(plain, Select)
        assert isinstance(explained, Explain)
        assert facts(explained.inner) == facts(plain)
        assert explained.mode_text == mode.strip()
