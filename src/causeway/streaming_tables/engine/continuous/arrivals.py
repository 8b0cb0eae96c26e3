"""Queries whose every row belongs to a row that has just arrived: one plain statement for many ticks.

    SELECT … FROM t [WINDOW …] P1 LEFT JOIN t [WINDOW …] P2 ON … AND P2.T = NOW() - INTERVAL '30' SECOND
    WHERE P1.T = NOW()

A row of the answer at a tick has a row P1 of the tick's own time, so that NOW() is P1's time. The windows
need no copy of a row for each tick that it is in: that a row of P2 is in its window at P1's time follows from
the statement's own conditions (`time_bounds`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.streaming_tables.engine.catalog.moments import Moment
from causeway.streaming_tables.engine.continuous.chains import (
    PLANNING_NOW,
    is_at_arrival,
    operators,
)
from causeway.streaming_tables.engine.continuous.tick_statement import TickStatement
from causeway.streaming_tables.engine.continuous.time_bounds import (
    stubbed_text,
    stubs_of_windows,
    time_bounds,
)
from causeway.streaming_tables.engine.plans.spark_errors import unlogged
from causeway.streaming_tables.engine.plans.tree import PlanNode, analyzed_plan
from causeway.streaming_tables.engine.reads.relations import Relations
from causeway.streaming_tables.engine.windows.window_state import (
    TICK,
    as_times,
    window_columns,
    window_length,
)
from causeway.streaming_tables.language import Query, Rendered, WindowPiece, select_end
from causeway.streaming_tables.language.tokens import quote_identifier
from causeway.streaming_tables.storage import Snapshot

__all__ = ["Arrivals", "arrivals_of"]

_ROW_BY_ROW: Final = {"Project", "Filter", "Join", "SubqueryAlias", "View", "LogicalRDD"}
"""Operators of a plan whose every row comes of one row of each relation, or of none."""


def arrivals_of(
    relations: Relations,
    query: Query,
    snapshots: Mapping[str, Snapshot],
    schema: pa.Schema,
    columns: Mapping[str, set[str]],
) -> Arrivals | None:
    """The query in this form, or None if it has another. `columns` are those of each table that it uses."""
    pieces = query.windows
    if query.tables or query.prev_links or query.has_order_by or query.has_limit or not query.uses_now:
        return None
    if any(piece.info.kind != "seconds" or piece.window.interval_us is None for piece in pieces):
        return None
    if select_end(query.text) is None:
        return None
    stubs = stubs_of_windows(relations, query, snapshots)
    frame = relations.spark.sql(stubbed_text(query, stubs, Moment(PLANNING_NOW, "seconds").literal))
    analyzed = analyzed_plan(frame)
    newest = _newest(query, [node.kind for node in operators(analyzed)], analyzed)
    if newest is None:
        return None
    bounds: dict[int, tuple[int, int]] = {}
    for index, (low, high) in time_bounds(relations, query, stubs).items():
        if low is None or high is None:
            return None
        bounds[index] = (low, high)
    if not all(
        _is_inside(piece, bounds[piece.index], snapshots[piece.table.lower()]) for piece in query.windows
    ):
        return None
    arrivals = Arrivals(relations, query, newest, bounds, schema, columns)
    return arrivals if arrivals.is_possible(stubs) else None


@dataclass(frozen=True)
class Arrivals:
    """Answers the query at many ticks. It has no state."""

    relations: Relations
    query: Query
    newest: WindowPiece
    """The relation whose rows have the tick as their time."""
    bounds: Mapping[int, tuple[int, int]]
    """By the number of the window: the first and last time of its rows, relative to NOW()."""
    schema: pa.Schema
    columns: Mapping[str, set[str]]
    """By table, those that the query uses."""

    def is_possible(self, stubs: Mapping[int, str]) -> bool:
        """Whether Spark takes the statement with the newest row's time for NOW()."""
        from pyspark.errors import PySparkException

        try:
            with unlogged():
                self.relations.spark.sql(self._rendered(stubs).text)
        except PySparkException:
            return False
        return True

    def rows(self, snapshots: Mapping[str, Snapshot], ticks: NDArray[np.int64]) -> tuple[pa.Table, int]:
        """The answers at `ticks` in one table, whose first column is the tick; how many rows were read."""
        tables: dict[str, pa.Table] = {}
        rows_read = 0
        for piece in self.query.windows:
            low, high = self.bounds[piece.index]
            snapshot = snapshots[piece.table.lower()]
            used = self.columns[piece.table.lower()]
            rows = snapshot.scan(
                window_columns(piece.window, snapshot.definition, used),
                time_from=int(ticks[0]) + low,
                time_to=int(ticks[-1]) + high,
                keep_expired=True,
            )
            if piece.index == self.newest.index and self.query.sample and not self.query.sample.realtime:
                times = as_times(rows.column(snapshot.definition.time.name))
                rows = rows.filter(pa.array(np.isin(times, ticks)))
            rows_read = max(rows_read, rows.num_rows)
            tables[_key(piece)] = rows
        return self._statement.run(tables), rows_read

    @cached_property
    def _statement(self) -> TickStatement:
        pieces = self.query.windows

        def render(names: Mapping[str, str]) -> tuple[str, Rendered]:
            rendered = self._rendered({piece.index: names[_key(piece)] for piece in pieces})
            return rendered.text, rendered

        return TickStatement(self.relations, [_key(piece) for piece in pieces], render)

    def _rendered(self, names: Mapping[int, str]) -> Rendered:
        time = f"{quote_identifier(self.newest.alias)}.{quote_identifier(self.newest.info.time)}"
        rendered = self.query.rendered(
            lambda piece: names[piece.index], lambda offset: f"({time} + {offset // 1_000_000}L)"
        )
        place = select_end(rendered.text)
        assert place is not None
        return rendered.with_inserted(place, f" {time} AS `{TICK}`,")


def _key(piece: WindowPiece) -> str:
    return f"{piece.table}_{piece.index}"


def _newest(query: Query, kinds: list[str], plan: PlanNode) -> WindowPiece | None:
    """The relation that the statement's own WHERE says to have the tick as its time."""
    if not _ROW_BY_ROW.issuperset(kinds) or kinds.count("Project") != 1 or plan.kind != "Project":
        return None
    if kinds.count("View") != len(query.windows) or any(node.subqueries() for node in operators(plan)):
        return None
    top = plan.children[0]
    if top.kind != "Filter":
        return None
    for piece in query.windows:
        if is_at_arrival(top, piece.alias.lower(), piece.info.time):
            return piece
    return None


def _is_inside(piece: WindowPiece, bounds: tuple[int, int], snapshot: Snapshot) -> bool:
    """Whether rows within the bounds are always in the window."""
    length = window_length(piece.window, "seconds")
    period = snapshot.definition.range
    return -length <= bounds[0] and bounds[1] <= 0 and (period is None or -period <= bounds[0])
