"""Whether Flink's answers are those of our batch statements, over the events and with the cores measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from causeway.nexmark.judge.batch import batch_answer
from causeway.nexmark.judge.check import register_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["COMPARED", "compare"]

COMPARED: Final = {
    # Two readers decide which of two equal bids comes first: what the statement says without it is compared.
    "q9": ("id", "price", "bid_dateTime"),
    "q18": ("auction", "bidder", "dateTime"),
    "q19": ("auction", "price", "rank_number"),
    # The windows are the clock's.
    "q12": ("bidder", "bid_count"),
}
"""The columns of which two runs have the same, where others depend on which event was read first."""
_AS_TEXT: Final = {"timestamp": "date_format(`{0}`, 'yyyy-MM-dd HH:mm:ss.SSS')"}
_SHOWN: Final = 5


def compare(spark: SparkSession, folder: Path, query: str, rules: str, printed: Path) -> dict[str, Any]:
    """Flink's printed changelog against the batch statement over the events in `folder`."""
    register_tables(spark, "modern", folder)
    expected = batch_answer(spark, "modern", query, rules)
    kinds = dict(expected.dtypes)
    names = sorted(COMPARED.get(query, expected.columns))
    texts = [_AS_TEXT.get(kinds[name], "CAST(`{0}` AS STRING)").format(name) for name in names]
    ours = expected.selectExpr(*(f"{text} AS `{name}`" for text, name in zip(texts, names, strict=True)))
    ours = ours.selectExpr("*", "-1 AS times")
    found = _left(spark, printed, names, query)
    grouped = found.unionByName(ours).groupBy(*(f"`{name}`" for name in names))
    counted = grouped.agg({"times": "sum", "*": "count"}).withColumnRenamed("sum(times)", "side")
    differing = counted.where("side <> 0").localCheckpoint()
    totals = differing.selectExpr(
        "coalesce(sum(greatest(-side, 0)), 0) AS missing", "coalesce(sum(greatest(side, 0)), 0) AS extra"
    ).first()
    assert totals is not None
    rows = ours.count()
    missing, extra = int(totals["missing"]), int(totals["extra"])
    return {
        "passed": not missing and not extra,
        "rows": rows - missing,
        "missing": missing,
        "extra": extra,
        "columns": names,
        "differences": [_words(row.asDict()) for row in differing.limit(_SHOWN).collect()],
    }


def _left(spark: SparkSession, printed: Path, names: list[str], query: str) -> DataFrame:
    """The rows that a changelog leaves, with how often: its lines are `2> +U[{…}]`."""
    line = r"^(?:\\d+> )?([-+])[IUD]\\[(.*)\\]$"
    rows = spark.read.text(str(printed)).selectExpr(
        f"from_json(regexp_extract(value, '{line}', 2), 'MAP<STRING, STRING>') AS row",
        f"IF(regexp_extract(value, '{line}', 1) = '-', -1, 1) AS times",
    )
    found = rows.selectExpr(*(f"row['{name}'] AS `{name}`" for name in names), "times")
    if query == "q12":
        found = found.groupBy("bidder").agg({"bid_count": "sum"}).toDF("bidder", "bid_count")
        found = found.selectExpr(
            "bidder", "CAST(CAST(bid_count AS BIGINT) AS STRING) AS bid_count", "1 AS times"
        )
    return found


def _words(values: dict[str, Any]) -> str:
    side = values.pop("side")
    values.pop("count(1)")
    shown = json.dumps({name: str(value)[:30] for name, value in values.items()})
    return f"{'missing' if side < 0 else 'not expected'}: {shown}"
