"""A query as a DataFrame: its statement over the relations of a data set and over scans of the movements.

A line `-- view NAME: SCAN(argument, …)` of a statement makes the view NAME of what the module SCAN of
`scans` or of `neighbours` reads. A `kept view` is read once, before the statement, which uses it more than
once; Spark would else read it each time. `Vehicles` has one row a vehicle. Answers are sets of rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from causeway import moving_objects
from causeway.berlinmod.dataset import HISTORIES, TRIPS, relation_names
from causeway.berlinmod.queries.files import query_text
from causeway.berlinmod.scans.source import AT_POINT_METRES, CIRCLE, Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["SETTINGS", "answer", "paper_answer", "registered_relations"]

SETTINGS: Final = {
    # dataMtrip has the columns trip and Trip.
    "spark.sql.caseSensitive": "true",
    # A row of dataScar may have tens of thousands of units.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "256",
}
"""Settings of Spark that statements need or are faster with."""

_VIEW: Final = re.compile(r"^-- (kept )?view (\w+): (\w+)\(([^)]*)\)$", re.MULTILINE)
_ROOMS: Final = ("causeway.berlinmod.scans", "causeway.berlinmod.neighbours")


@contextmanager
def registered_relations(source: Source) -> Iterator[None]:
    """Views of all relations of the data set within the block, and functions of SQL for what statements ask.

    `is_at(position, Pos)`: at a point; `same_place()`: how near two vehicles at one place are, in metres.
    QueryPoints have a column `Place`: what the paper's texts take for `Pos`, a circle in disturbed data.
    All views that are made within the block go at its end: the session may be the user's, and Spark cannot
    list views any more whose names were made with `caseSensitive` and have capitals.
    """
    before = _temporary_views(source)
    try:
        _register(source)
        yield
    finally:
        for name in _temporary_views(source) - before:
            source.spark.catalog.dropTempView(name)
        source.spark.sql("DROP TEMPORARY FUNCTION IF EXISTS same_place")


def _temporary_views(source: Source) -> set[str]:
    return {row.tableName for row in source.spark.sql("SHOW TABLES").collect() if row.isTemporary}


def _register(source: Source) -> None:
    spark, dataset = source.spark, source.dataset
    moving_objects.register(spark)
    radius, corners = CIRCLE
    same = radius if source.is_disturbed else AT_POINT_METRES
    spark.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION same_place() RETURNS double RETURN {same}D")
    for relation in (HISTORIES, TRIPS):
        paths = [str(path.absolute()) for path in dataset.parts(relation)]
        spark.read.parquet(*paths).createOrReplaceTempView(relation)
    for name in relation_names():
        rows = spark.read.parquet(str(dataset.relation(name).absolute()))
        if name.startswith("QueryPoints"):
            place = f"circle(Pos, {radius}, {corners})" if source.is_disturbed else "Pos"
            rows = rows.selectExpr("*", f"{place} AS Place")
        rows.createOrReplaceTempView(name)


def _register_vehicles(source: Source) -> None:
    """Make the view `Vehicles`: the relation of the representation that has one row a vehicle."""
    relation = HISTORIES if source.representation == "oba" else "dataMcar"
    columns = source.spark.table(relation).select("vehicle", "Licence", "Type", "Model")
    columns.createOrReplaceTempView("Vehicles")


def answer(source: Source, query: str, kind: str | None = None) -> DataFrame | None:
    """The answer of a query in the source's representation; the relations are registered.

    `kind` is another text of the query: `places`, for the map of a report. `None` if there is none.
    """
    text = query_text(query, kind or source.representation)
    if text is None:
        return None
    _register_vehicles(source)
    for kept, name, scan, arguments in _VIEW.findall(text):
        values = [one.strip() for one in arguments.split(",") if one.strip()]
        view = _module(scan).scan(source, *values)
        (view.localCheckpoint() if kept else view).createOrReplaceTempView(name)
    return source.spark.sql(_with_places(source, text))


def paper_answer(source: Source, query: str) -> DataFrame | None:
    """The answer by the paper's own text; `None` for the queries of NN, which have none."""
    text = query_text(query, f"paper.{source.representation}")
    return None if text is None else source.spark.sql(_with_places(source, text))


_IS_AT: Final = re.compile(r"\bis_at\(")


def _with_places(source: Source, text: str) -> str:
    """`is_at(p, q)` written out; it is not a function of SQL, since that could not call `inside`."""
    while (found := _IS_AT.search(text)) is not None:
        one, other, end = _arguments(text, found.end())
        if source.is_disturbed:
            condition = f"inside({one}, circle({other}, {CIRCLE[0]}, {CIRCLE[1]}))"
        else:
            near = AT_POINT_METRES
            condition = f"(power({one}.x - {other}.x, 2) + power({one}.y - {other}.y, 2) <= {near * near}D)"
        text = f"{text[: found.start()]}{condition}{text[end:]}"
    return text


def _arguments(text: str, start: int) -> tuple[str, str, int]:
    """Two arguments of a call whose bracket opens before `start`, and where the call ends."""
    depth, comma = 0, start
    for place in range(start, len(text)):
        if text[place] == "(":
            depth += 1
        elif text[place] == ")" and depth == 0:
            return text[start:comma], text[comma + 1 : place].strip(), place + 1
        elif text[place] == ")":
            depth -= 1
        elif text[place] == "," and depth == 0:
            comma = place
    raise ValueError("is_at( is not closed")


def _module(scan: str) -> Any:
    for room in _ROOMS:
        if find_spec(f"{room}.{scan}") is not None:
            return import_module(f"{room}.{scan}")
    raise ValueError(f"there is no scan {scan}")
