"""One-time reads: a statement over one snapshot of every streaming table in it (Definition 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from causeway.spark.internals import SessionSettings
from causeway.streaming_tables.engine.catalog.moments import Moment, moment_of
from causeway.streaming_tables.engine.catalog.side_tables import SideTable
from causeway.streaming_tables.engine.catalog.warehouse import Warehouse
from causeway.streaming_tables.engine.plans.conditions import Disjunction
from causeway.streaming_tables.engine.plans.scans import ALWAYS, Scan, needs_of_relations, plain_scan
from causeway.streaming_tables.engine.plans.spark_errors import in_users_text, unlogged
from causeway.streaming_tables.engine.plans.tree import PlanNode, analyzed_plan, optimized_plan_if_possible
from causeway.streaming_tables.engine.reads.answers import Answer
from causeway.streaming_tables.engine.reads.relations import Relations, predicate_of
from causeway.streaming_tables.engine.reads.shapes import ShapeCache, shape_of
from causeway.streaming_tables.language import Query, Rendered, TrjPiece, WindowPiece
from causeway.streaming_tables.storage import Snapshot

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["OneTimePlan", "OneTimeReader", "named_trajectories"]


_TRAJECTORY: Final = "transform(array_sort(collect_list(named_struct("
"""Begins the name that Spark gives to the expression of TRJ(*)."""


class OneTimeReader:
    """Answers statements without windows."""

    def __init__(self, warehouse: Warehouse, relations: Relations) -> None:
        self._warehouse = warehouse
        self._relations = relations
        self._settings = SessionSettings(relations.spark)
        self._shapes = ShapeCache(self._analyzed_scan)

    def contents(self, query: Query) -> dict[str, Snapshot | SideTable]:
        """One snapshot of each table, by its name in lower case."""
        return {
            name: self._warehouse.content(name) for name in dict.fromkeys(map(str.lower, query.relations))
        }

    def read(self, query: Query, clock: str, *, target: str | None = None) -> Answer:
        """The answer as of now. Mistakes in the statement are raised here, rows are read when asked for.

        NOW() is the time of the tables that are read or, if there are none, of the table `target`.
        """
        plan = self.plan(query, clock, target)
        scan = self._scan_of(plan)
        content = None if scan is None else plan.content_of(scan)
        if scan is None or not isinstance(content, Snapshot):
            frame, rendered = plan.placed_frame()
            return Answer(frame, text=rendered)
        return Answer(plan.frame, scan=lambda: run_scan(content, scan))

    def plan(self, query: Query, clock: str, target: str | None = None) -> OneTimePlan:
        """Plan a statement over one snapshot of each of its tables. Spark is asked when it must be."""
        contents = self.contents(query)
        timed = contents if contents or target is None else {target: self._warehouse.content(target)}
        now = moment_of(timed, clock)
        stubs = {name: self._relations.stub(name, _schema(one)) for name, one in contents.items()}
        return OneTimePlan(self._relations, query, now, contents, stubs, _rendered(query, now, stubs))

    def _scan_of(self, plan: OneTimePlan) -> Scan | None:
        """The scan that the statement is, if it is one: from an earlier statement of its shape, or Spark."""
        if len(plan.contents) != 1:
            return plan.scan
        shape = shape_of(plan.rendered.text, self._settings.text())
        scan = None if shape is None else self._shapes.scan(shape)
        if scan is None and (scan := plan.scan) is not None and shape is not None:
            self._shapes.learn(shape, scan)
        return scan

    def _analyzed_scan(self, text: str) -> Scan | None:
        from pyspark.errors import PySparkException

        try:
            with unlogged():
                planned = self._relations.spark.sql(text)
        except PySparkException:
            return None
        return plain_scan(analyzed_plan(planned), self._relations.time_zone)


@dataclass(frozen=True)
class OneTimePlan:
    """A statement over empty relations of its tables (`stubs`, by table)."""

    relations: Relations
    query: Query
    now: Moment
    contents: Mapping[str, Snapshot | SideTable]
    stubs: Mapping[str, str]
    rendered: Rendered

    @cached_property
    def planned(self) -> DataFrame:
        """As Spark has analyzed it; mistakes in the statement are raised here."""
        with in_users_text(self.rendered):
            return self.relations.spark.sql(self.rendered.text)

    @cached_property
    def analyzed(self) -> PlanNode:
        return analyzed_plan(self.planned)

    @cached_property
    def scan(self) -> Scan | None:
        """The scan that the whole statement is, if it is one."""
        return plain_scan(self.analyzed, self.relations.time_zone)

    @cached_property
    def needs(self) -> dict[str, Disjunction]:
        """By table, what the rows that Spark needs must meet."""
        optimized = optimized_plan_if_possible(self.planned)
        if optimized is None:
            return dict.fromkeys(self.stubs, ALWAYS)
        found = needs_of_relations(self.analyzed, optimized, self.relations.time_zone)
        return {table: found.get(stub, ALWAYS) for table, stub in self.stubs.items()}

    def content_of(self, scan: Scan) -> Snapshot | SideTable:
        """What a scan reads."""
        return next(self.contents[table] for table, stub in self.stubs.items() if stub == scan.relation)

    def frame(self) -> DataFrame:
        """The statement over the tables' real rows."""
        return self.placed_frame()[0]

    def placed_frame(self) -> tuple[DataFrame, Rendered]:
        """The same, with the text that Spark got."""
        names = {table: self.relations.unused_name(table) for table in self.contents}
        rendered = _rendered(self.query, self.now, names)
        frames = {
            names[table]: self.relations.content(content, self.needs[table])
            for table, content in self.contents.items()
        }
        with in_users_text(rendered), self.relations.named(frames):
            return named_trajectories(self.query, self.relations.spark.sql(rendered.text)), rendered


def named_trajectories(query: Query, frame: DataFrame) -> DataFrame:
    """Columns of TRJ(*) without an alias under that name, instead of the whole expression's."""
    if not any(isinstance(piece, TrjPiece) for piece in query.pieces):
        return frame
    return frame.toDF(*("TRJ(*)" if name.startswith(_TRAJECTORY) else name for name in frame.columns))


def _schema(content: Snapshot | SideTable) -> pa.Schema:
    return content.schema if isinstance(content, SideTable) else content.definition.arrow_schema()


def _rendered(query: Query, now: Moment, names: Mapping[str, str]) -> Rendered:
    def refuse(piece: WindowPiece) -> str:
        raise AssertionError(f"{piece.table} has a window: this is no one-time read")

    return query.rendered(refuse, now.literal, table_name=lambda piece: names[piece.table.lower()])


def run_scan(snapshot: Snapshot, scan: Scan) -> pa.Table:
    """The storage manager's answer to a plain scan."""
    rows = snapshot.scan(
        list(dict.fromkeys(column for column, _ in scan.columns)),
        predicate_of(scan.conditions),
        limit=scan.limit,
    )
    columns = [rows.column(column) for column, _ in scan.columns]
    return pa.Table.from_arrays(columns, [name for _, name in scan.columns])
