"""Whether a stream's final answer is that of the batch statement, which was written separately."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from causeway.nexmark.judge.batch import batch_answer
from causeway.nexmark.model import ARRIVAL, MODELS
from causeway.nexmark.operators.source import RowSource
from causeway.nexmark.queries import Query, batch_file, errors_in, register_static_views
from causeway.nexmark.queries.answers import final_answer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Checked", "check_answers", "register_tables"]

_SHOWN: Final = 5
_BY_CLOCK: Final = "q12"
"""Depends on when bids arrived; only a bidder's bids in all do not, and must be the same."""


@dataclass(frozen=True)
class Checked:
    """The outcome of a comparison."""

    rows: int
    missing: int
    extra: int
    differences: tuple[str, ...]
    """The first of both, in words."""

    @property
    def passed(self) -> bool:
        return not self.missing and not self.extra


def register_tables(spark: SparkSession, model: str, folder: Path, *, arrival: bool = True) -> None:
    """All events of a folder as views, named as the streams, for batch statements; with their `arrival`."""
    spark.dataSource.register(RowSource)
    register_static_views(spark, model, folder)
    for stream, schema in MODELS[model].streams.items():
        spark.read.format(RowSource.name()).options(
            folder=str(folder.resolve()),
            model=model,
            stream=stream,
            columns=json.dumps([*schema.names, ARRIVAL] if arrival else schema.names),
            tasks=2 * spark.sparkContext.defaultParallelism,
        ).load().createOrReplaceTempView(stream)


def check_answers(spark: SparkSession, query: Query, source: Path, answers: Path) -> Checked:
    """Compare the answers of a run over `source` with the batch statement over the same events."""
    if query.batch is not None:
        register_tables(spark, query.model, source, arrival=False)
        with errors_in(batch_file(query.file) if query.file else None):
            expected = spark.sql(query.batch)
    else:
        register_tables(spark, query.model, source)
        expected = batch_answer(spark, query.model, query.name, query.rules)
    found = final_answer(spark, query, answers)
    if found is None:
        found = expected.limit(0)
    if query.name == _BY_CLOCK:
        found = found.groupBy("bidder").agg({"bid_count": "sum"}).toDF("bidder", "bid_count")
    names = expected.columns
    if sorted(names) != sorted(found.columns):
        difference = f"columns {', '.join(found.columns)} instead of {', '.join(names)}"
        return Checked(0, 0, 1, (difference,))
    found = found.selectExpr(*(f"CAST(`{name}` AS {kind}) AS `{name}`" for name, kind in expected.dtypes))
    expected.createOrReplaceTempView("expected_answer")
    found.createOrReplaceTempView("found_answer")
    columns = ", ".join(f"`{name}`" for name in names)
    counted = spark.sql(
        f"SELECT {columns}, sum(side) AS side, count(*) AS many FROM ("
        f"SELECT {columns}, 1 AS side FROM found_answer UNION ALL "
        f"SELECT {columns}, -1 AS side FROM expected_answer) GROUP BY {columns}"
    ).localCheckpoint()
    totals = counted.selectExpr(
        "coalesce(sum(many + side) DIV 2, 0) AS rows",
        "coalesce(sum(greatest(-side, 0)), 0) AS missing",
        "coalesce(sum(greatest(side, 0)), 0) AS extra",
    ).first()
    assert totals is not None
    return Checked(
        rows=int(totals["rows"]),
        missing=int(totals["missing"]),
        extra=int(totals["extra"]),
        differences=tuple(_words(counted.where("side <> 0").limit(_SHOWN))),
    )


def _words(rows: DataFrame) -> list[str]:
    differences = []
    for row in rows.collect():
        values = row.asDict()
        side = values.pop("side")
        del values["many"]
        shown = ", ".join(f"{name} {str(value)[:40]}" for name, value in values.items())
        differences.append(f"{'missing' if side < 0 else 'not expected'}: {shown}")
    return differences
