"""Plain Spark SQL comes through byte for byte. Spark's parser takes it, and what is made of our queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.streaming_tables.language.made_catalog import CATALOG, MadeCatalog
from tests.streaming_tables.language.spark_corpus import STATEMENTS
from tests.streaming_tables.language.table_one import REPAIRED

from causeway.streaming_tables.language import Explain, Passthrough, Query, parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXTENDED = (
    *REPAIRED.values(),
    "SELECT * FROM `posreports` [ROWS 3] TABLESAMPLE (5 ROWS) JOIN plain ON true",
    "SELECT * FROM posreports [ROWS 3] WINDOW w AS (ORDER BY t)",
    "SELECT * FROM posreports [ROWS 3] window, segstat AS sample [INTERVAL 5] WHERE a[0] = 1",
    "SELECT * FROM posreports AS p [ROWS 3] LEFT JOIN plain q ON near(p.seg, q.seg, 2) SAMPLE REALTIME --",
    "SELECT TRJ(b.*) FROM posreports a, readings b WHERE VALID(a) OVERLAPS (NOW(), 5 -- x\n) GROUP BY 1",
    "FROM f(TABLE(posreports), TABLE(segstat [ROWS 1])) |> WHERE x - NOW() - INTERVAL 5 > 0",
    "WITH p AS (TABLE posreports [ROWS 9]) SELECT * FROM p UNION ALL (SELECT * FROM posreports (a, b))",
    "EXPLAIN FORMATTED SELECT * FROM (posreports [ROWS 2] a JOIN posreports [ROWS 2] b ON b = PREV(a)) c",
    "CREATE TABLE x AS SELECT /*+ BROADCAST(p) */ * FROM posreports [ROWS 1] p PIVOT (sum(a) FOR b IN (1))",
    "MERGE INTO plain p USING posreports [ROWS 1] q ON p.a = q.vid WHEN MATCHED THEN UPDATE SET b = NOW()",
)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_of_spark_passes_byte_for_byte(statement: str) -> None:
    assert parse(statement, CATALOG) == Passthrough(statement)
    assert parse(statement, MadeCatalog()) == Passthrough(statement)


def _spark_sql(text: str) -> str | None:
    found = parse(text, CATALOG)
    query = getattr(found.inner if isinstance(found, Explain) else found, "query", None)
    if not isinstance(query, Query):
        return None
    return query.render(lambda _: "w", lambda _: "12L", table_name=lambda _: "r")


def test_sparks_parser_takes_all_of_it(spark: SparkSession) -> None:
    parser = spark._jsparkSession.sessionState().sqlParser()
    made = [sql for text in EXTENDED if (sql := _spark_sql(text)) is not None]
    assert len(made) == len(EXTENDED) - 3
    for sql in (*STATEMENTS, *made):
        parser.parsePlan(sql)
