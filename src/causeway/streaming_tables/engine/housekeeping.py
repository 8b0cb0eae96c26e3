"""What a warehouse says of itself: SHOW, DESCRIBE and EXPLAIN."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from causeway.streaming_tables.engine.catalog.moments import time_text
from causeway.streaming_tables.engine.catalog.side_tables import SideTable
from causeway.streaming_tables.engine.catalog.warehouse import Warehouse
from causeway.streaming_tables.engine.continuous.query import ContinuousQuery
from causeway.streaming_tables.engine.reads.answers import Answer
from causeway.streaming_tables.engine.reads.one_time import OneTimePlan
from causeway.streaming_tables.engine.reads.relations import predicate_of
from causeway.streaming_tables.language import Query
from causeway.streaming_tables.sources import sql_type
from causeway.streaming_tables.storage import Snapshot, TableStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "describe",
    "describe_side_table",
    "explain_continuous",
    "explain_one_time",
    "lines",
    "show_indexes",
    "show_tables",
    "show_views",
    "table_of",
]


def table_of(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Answer:
    """An answer of text rows."""
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    arrays = [
        pa.array([None if value is None else str(value) for value in column], pa.string())
        for column in columns
    ]
    return Answer(rows=pa.Table.from_arrays(arrays, names))


def lines(text: Iterable[str]) -> Answer:
    """An answer that is a text to read."""
    return table_of(["plan"], [(line,) for line in text])


def show_tables(spark: SparkSession, warehouse: Warehouse, pattern: str | None) -> Answer:
    """All tables and views: streaming ones, and Spark's own."""
    found = [
        (store.definition.name, "streaming view" if store.definition.kind == "view" else "streaming table")
        for store in warehouse.stores()
    ]
    for table in spark.catalog.listTables():
        if not table.name.startswith("__causeway_"):
            temporary = "temporary view" if table.isTemporary else "view"
            found.append(
                (table.name, temporary if "VIEW" in table.tableType or table.isTemporary else "table")
            )
    return table_of(["name", "kind"], sorted(row for row in found if _matches(row[0], pattern)))


def show_views(spark: SparkSession, warehouse: Warehouse, pattern: str | None) -> Answer:
    """Streaming views with their statements, and Spark's own views."""
    found: list[tuple[str, str, str | None]] = [
        (view.name, "streaming view", view.text) for view in warehouse.views()
    ]
    for table in spark.catalog.listTables():
        is_view = table.isTemporary or "VIEW" in table.tableType
        if is_view and not table.name.startswith("__causeway_"):
            found.append((table.name, "temporary view" if table.isTemporary else "view", None))
    return table_of(["name", "kind", "statement"], [row for row in found if _matches(row[0], pattern)])


def show_indexes(warehouse: Warehouse, table: str | None) -> Answer:
    """Value indexes. The interval index on the time is always there."""
    stores = list(warehouse.stores()) if table is None else [warehouse.require(table)]
    return table_of(
        ["name", "table", "column"],
        [
            (index.name, store.definition.name, index.column)
            for store in stores
            for index in store.definition.indexes
        ],
    )


def describe(store: TableStore, inserts: Sequence[tuple[int, str]], statement: str | None) -> Answer:
    """A streaming table: its columns, what it holds, and its inserts by number, with their states."""
    definition = store.definition
    facts = store.snapshot().describe()
    kind, unit = definition.time.kind, definition.time.second
    # A view's period does not include its beginning (Definition 4), a table's does.
    period = (
        definition.range if definition.kind == "table" or definition.range is None else definition.range + 1
    )
    rows: list[tuple[str, Any]] = [(column.name, column.type) for column in definition.columns]
    rows.append((definition.time.name, "bigint (seconds)" if kind == "seconds" else "timestamp"))
    rows += [
        ("", ""),
        ("kind", "streaming view" if definition.kind == "view" else "streaming table"),
        ("historical period", "unlimited" if period is None else _seconds(period, unit)),
        ("slack", _seconds(definition.slack, unit)),
        ("compartment", _seconds(definition.compartment, unit)),
        ("rows", facts.rows),
        ("bytes", facts.bytes),
        ("oldest", time_text(facts.oldest, kind)),
        ("newest", time_text(facts.newest, kind)),
        ("no more rows up to", time_text(facts.closed, kind)),
        ("late rows", facts.late),
        ("rejected rows", facts.rejected),
        ("compartments", facts.compartments),
        ("files", facts.files),
        ("rows in the log", facts.log_rows),
        ("indexes", ", ".join(f"{index.name} ({index.column})" for index in definition.indexes) or "none"),
        ("writer", store.writer_description() or "none"),
    ]
    if statement is not None:
        rows.append(("statement", statement))
    rows += [(f"insert {number}", state) for number, state in inserts]
    return table_of(["name", "value"], rows)


def describe_side_table(content: Snapshot | SideTable) -> Answer:
    """A table beside a streaming table: its columns, and how many rows it has."""
    assert isinstance(content, SideTable)
    rows: list[tuple[str, Any]] = [(field.name, sql_type(field.type)) for field in content.schema]
    rows += [("", ""), ("kind", "rows beside a streaming table"), ("rows", content.rows.num_rows)]
    return table_of(["name", "value"], rows)


def explain_one_time(plan: OneTimePlan, mode: str) -> Answer:
    """How a one-time statement is read: which way, and which files by which index."""
    scan = plan.scan
    found: list[str] = []
    if scan is not None and not isinstance(plan.content_of(scan), SideTable):
        content = plan.content_of(scan)
        assert not isinstance(content, SideTable)
        found.append("way: the storage manager answers it, without a Spark job")
        report = content.explain([column for column, _ in scan.columns], predicate_of(scan.conditions))
        found.append(f"scan of {content.definition.name}: {report}")
        return lines(found)
    found.append("way: Spark, over what the storage manager leaves of each table")
    for table, content in plan.contents.items():
        if isinstance(content, SideTable):
            found.append(f"scan of {content.name}: {content.rows.num_rows} rows")
        else:
            report = content.explain(None, predicate_of(plan.needs[table]))
            found.append(f"scan of {content.definition.name}: {report}")
    found += ["", *_spark_plan(plan, mode)]
    return lines(found)


def explain_continuous(query: Query, planned: ContinuousQuery) -> Answer:
    """How a continuous query is answered, and what its state is bounded by."""
    ways = {
        "chain": "chain: each chain of rows is judged once, when its newest row arrives",
        "arrivals": "arrivals: one plain Spark statement for the rows of all ticks that are due",
        "together": "together: one Spark statement for all ticks that are due",
        "each tick": "each tick: the statement is run once for each tick",
    }
    sample = query.sample
    found = []
    if sample is None:
        found.append("ticks: none (pull query: the statement is run at each RESUME)")
    elif sample.interval_us is None:
        found += ["ticks: every time at which rows arrived", f"way: {ways[planned.way]}"]
    else:
        found += [
            f"ticks: every {sample.interval_us / 1e6:g} s of the table's time",
            f"way: {ways[planned.way]}",
        ]
    found += [f"state: {sentence}" for sentence in planned.bounded_by()]
    return lines(found)


def _spark_plan(plan: OneTimePlan, mode: str) -> list[str]:
    """What Spark's own EXPLAIN says of the statement."""
    execution = plan.frame()._jdf.queryExecution()
    jvm = plan.relations.spark._jvm
    assert jvm is not None
    mode = mode.strip().lower() or "simple"
    chosen = jvm.org.apache.spark.sql.execution.ExplainMode.fromString(mode)
    return [line for line in str(execution.explainString(chosen)).splitlines() if line.strip()]


def _seconds(duration: int, unit: int) -> str:
    return f"{duration / unit:,.6f}".rstrip("0").rstrip(".") + " s"


def _matches(name: str, pattern: str | None) -> bool:
    return pattern is None or any(fnmatch(name.lower(), part.strip().lower()) for part in pattern.split("|"))
