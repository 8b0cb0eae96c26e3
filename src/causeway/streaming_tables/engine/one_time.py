"""One-time reads: a statement over one snapshot of every streaming table in it (Definition 3)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.answers import Answer
from causeway.streaming_tables.engine.conditions import Disjunction
from causeway.streaming_tables.engine.plan_scans import ALWAYS, Scan, needs_of_relations, plain_scan
from causeway.streaming_tables.engine.plan_tree import PlanNode, analyzed_plan, optimized_plan
from causeway.streaming_tables.engine.relations import Relations, predicate_of
from causeway.streaming_tables.engine.side_tables import SideTable
from causeway.streaming_tables.engine.spark_errors import in_users_text
from causeway.streaming_tables.engine.warehouse import Warehouse
from causeway.streaming_tables.language import Query, Rendered, TrjPiece, WindowPiece
from causeway.streaming_tables.storage import Snapshot

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Moment", "OneTimePlan", "OneTimeReader", "moment_of", "named_trajectories", "time_literal"]


_TRAJECTORY: Final = "transform(array_sort(collect_list(struct("
"""Begins the name that Spark gives to the expression of TRJ(*)."""


@dataclass(frozen=True)
class Moment:
    """A point of a table's time: what NOW() is in a statement. None: the table is empty."""

    value: int | None
    kind: str

    def literal(self, offset: int = 0) -> str:
        """The moment, moved by `offset` microseconds, in Spark SQL."""
        if self.value is None:
            return f"CAST(NULL AS {'BIGINT' if self.kind == 'seconds' else 'TIMESTAMP'})"
        return time_literal(
            self.value + (offset // 1_000_000 if self.kind == "seconds" else offset), self.kind
        )


def time_literal(moment: int, kind: str) -> str:
    """A time in Spark SQL, as one literal, which Spark's analyzer leaves as it is."""
    if kind == "seconds":
        return f"{moment}L" if moment >= 0 else f"(-{-moment}L)"
    seconds, micros = divmod(moment, 1_000_000)
    text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    return f"TIMESTAMP'{text}.{micros:06d}+00:00'"


def moment_of(contents: Mapping[str, Snapshot | SideTable], clock: str) -> Moment:
    """What NOW() is: the newest time of the statement's streaming tables, or the wall clock's."""
    snapshots = {name: one for name, one in contents.items() if isinstance(one, Snapshot)}
    kinds = {snapshot.definition.time.kind for snapshot in snapshots.values()}
    if len(kinds) > 1:
        raise UserError(
            "NOW() has no meaning here: one of the tables counts seconds, another one has timestamps"
        )
    kind = kinds.pop() if kinds else "timestamp"
    if clock == "wall":
        return Moment(int(time.time() * (1 if kind == "seconds" else 1_000_000)), kind)
    newest = [snapshot.newest for snapshot in snapshots.values() if snapshot.newest is not None]
    return Moment(max(newest, default=None), kind)


class OneTimeReader:
    """Answers statements without windows."""

    def __init__(self, warehouse: Warehouse, relations: Relations) -> None:
        self._warehouse = warehouse
        self._relations = relations

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
        scan = plan.scan
        if scan is None:
            return Answer(plan.frame())
        content = plan.content_of(scan)
        if isinstance(content, SideTable):
            return Answer(plan.frame())
        return Answer(plan.frame, scan=lambda: run_scan(content, scan))

    def plan(self, query: Query, clock: str, target: str | None = None) -> OneTimePlan:
        """Plan a statement over one snapshot of each of its tables."""
        contents = self.contents(query)
        timed = contents if contents or target is None else {target: self._warehouse.content(target)}
        now = moment_of(timed, clock)
        stubs = {name: self._relations.stub(name, _schema(one)) for name, one in contents.items()}
        rendered = _rendered(query, now, stubs)
        with in_users_text(rendered):
            planned = self._relations.spark.sql(rendered.text)
        return OneTimePlan(self._relations, query, now, contents, stubs, planned)


@dataclass(frozen=True)
class OneTimePlan:
    """A statement that has been analyzed over empty relations of its tables (`stubs`, by table)."""

    relations: Relations
    query: Query
    now: Moment
    contents: Mapping[str, Snapshot | SideTable]
    stubs: Mapping[str, str]
    planned: DataFrame

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
        found = needs_of_relations(self.analyzed, optimized_plan(self.planned), self.relations.time_zone)
        return {table: found.get(stub, ALWAYS) for table, stub in self.stubs.items()}

    def content_of(self, scan: Scan) -> Snapshot | SideTable:
        """What a scan reads."""
        return next(self.contents[table] for table, stub in self.stubs.items() if stub == scan.relation)

    def frame(self) -> DataFrame:
        """The statement over the tables' real rows."""
        names = {table: self.relations.unused_name(table) for table in self.contents}
        rendered = _rendered(self.query, self.now, names)
        frames = {
            names[table]: self.relations.content(content, self.needs[table])
            for table, content in self.contents.items()
        }
        with in_users_text(rendered), self.relations.named(frames):
            return named_trajectories(self.query, self.relations.spark.sql(rendered.text))


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
