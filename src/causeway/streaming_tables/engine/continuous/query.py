"""Continuous reads: the one-time answer over the windows as of each tick (Definition 4).

A tick is answered when no row can come any more that belongs to it, so an answer does not depend on how rows
came in batches. If it does not depend on the rows of the last seconds before the tick (`WHERE T < NOW()`), it
is computed when the others are there, and is at hand when the tick is over.

There are four ways, from the most general to the fastest:

    each tick   the statement is run once for each tick, over relations as of that tick
    together    one statement for many ticks: LATERAL runs the user's for each of them, over windows that have
                a column with the tick
    arrivals    a plain statement for many ticks, where each row of an answer belongs to a row of the tick
    chain       rows that PREV links: each chain is judged once, when its newest row arrives, and belongs to
                the answer for as long as it is in the window
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.catalog.moments import Moment, moment_of
from causeway.streaming_tables.engine.catalog.warehouse import Warehouse
from causeway.streaming_tables.engine.continuous.arrivals import Arrivals, arrivals_of
from causeway.streaming_tables.engine.continuous.chains import PLANNING_NOW, ChainState, chain_of
from causeway.streaming_tables.engine.continuous.each_tick import EachTick
from causeway.streaming_tables.engine.continuous.tick_answers import (
    TickAnswer,
    by_tick,
    visible,
    without_hidden,
)
from causeway.streaming_tables.engine.continuous.ticks import (
    MOST_TICKS,
    Ticks,
    closed_time,
    kind_of_ticks,
    oldest_time,
)
from causeway.streaming_tables.engine.continuous.time_bounds import unneeded_seconds
from causeway.streaming_tables.engine.continuous.together import Together
from causeway.streaming_tables.engine.plans.scans import Scan, plain_scan
from causeway.streaming_tables.engine.plans.spark_errors import in_users_text
from causeway.streaming_tables.engine.plans.tree import PlanNode, analyzed_plan
from causeway.streaming_tables.engine.plans.used_columns import used_columns
from causeway.streaming_tables.engine.reads.one_time import named_trajectories
from causeway.streaming_tables.engine.reads.relations import Relations, predicate_of
from causeway.streaming_tables.engine.windows.query_windows import QueryWindows
from causeway.streaming_tables.language import Query, TablePiece, WindowPiece
from causeway.streaming_tables.storage import CompiledPredicate, Snapshot

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["ContinuousQuery"]

_EXPANDED_ROWS: Final = 500_000
"""How many pairs of a row and a tick one statement should get at most."""


class ContinuousQuery:
    """A query over windows of streaming tables, answered at ticks. Used by one thread at a time."""

    def __init__(self, warehouse: Warehouse, relations: Relations, query: Query) -> None:
        self._warehouse = warehouse
        self._relations = relations
        self._query = query
        self.tables = tuple(dict.fromkeys(name.lower() for name in query.relations))
        self._group = 16
        self._ahead: _Ahead | None = None
        snapshots = self.snapshots()
        self.kind = kind_of_ticks(snapshots)
        """Whether ticks are seconds or timestamps."""
        self._ticks = None if query.sample is None else Ticks(query.sample, self.kind)
        self._windows = QueryWindows(query, snapshots)
        planned, stubs = self._plan(snapshots)
        self.schema = visible(_arrow_schema(planned))
        """The columns of an answer."""
        plan = analyzed_plan(planned)
        self._leave_columns_out(snapshots, plan, stubs)
        chain = chain_of(query, plan)
        self._chain: ChainState | None = None
        if chain is not None:
            columns = self._windows.column_names(self.tables[0], chain.window)
            self._chain = ChainState(relations, query, chain, self.schema, columns)
        self._scan = self._window_scan(plan)
        self._arrivals: Arrivals | None = None
        if self._chain is None and query.sample is not None:
            self._arrivals = arrivals_of(relations, query, snapshots, self.schema, self.columns)
        self._each_tick = EachTick(relations, query, self._windows, self.kind)
        self._together = Together(relations, query, self._windows, self.kind)
        if self._chain is not None:
            self.way = "chain"
        elif self._arrivals is not None:
            self.way = "arrivals"
        elif self._together.works():
            self.way = "together"
        else:
            self.way = "each tick"
        self._unneeded = 0
        """How many of the last seconds up to a tick its answer does not depend on."""
        if query.sample is not None and not query.sample.realtime and self.way in ("together", "each tick"):
            self._unneeded = unneeded_seconds(relations, query, snapshots)

    @property
    def columns(self) -> dict[str, set[str]]:
        """By table, the columns of its windows that Spark gets."""
        return self._windows.columns

    def snapshots(self) -> dict[str, Snapshot]:
        """One snapshot of each table."""
        return {name: self._warehouse.require(name).snapshot() for name in self.tables}

    def bounded_by(self) -> list[str]:
        """What the state is bounded by, a sentence for each window."""
        sentences = []
        for piece in dict.fromkeys((piece.table, piece.window) for piece in self._query.windows):
            table, window = piece
            if window.interval_us is not None:
                sentences.append(f"{table}: rows of the last {window.interval_us / 1e6:g} s")
            elif window.partition_by:
                columns = ", ".join(window.partition_by)
                sentences.append(
                    f"{table}: {window.rows} rows for each value of {columns} in the historical period"
                )
            else:
                sentences.append(f"{table}: {window.rows} rows")
        sentences += [f"{piece.table}: all rows as of the tick" for piece in self._query.tables]
        return list(dict.fromkeys(sentences))

    def start(self) -> int | None:
        """After which tick the answers of a new query begin, so that the last one that is over comes first.

        None: with the first tick of all.
        """
        snapshots = self.snapshots()
        closed = closed_time(snapshots)
        if closed is None:
            return None
        assert self._ticks is not None
        last = self._ticks.newest(snapshots, closed)
        return None if last is None else last - 1

    def first_time(self) -> int | None:
        """The oldest time that any of the tables holds: there are no ticks before it."""
        return oldest_time(self.snapshots())

    def answers(self, after: int | None) -> list[TickAnswer]:
        """The answers of the next ticks after `after` that are over; empty if there are none yet."""
        snapshots = self.snapshots()
        closed = closed_time(snapshots)
        if closed is None or (after is not None and closed <= after):
            return []
        assert self._ticks is not None
        ticks = self._ticks.following(snapshots, after, closed, self._group)
        if not len(ticks):
            return []
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead.tick == ticks[0] and ahead.changes == _changes(snapshots):
            return [(ahead.tick, ahead.rows)]
        if self._chain is not None:
            self._group = MOST_TICKS
            return self._chain.answers(snapshots[self.tables[0]], ticks)
        if self._arrivals is not None:
            found, read = self._arrivals.rows(snapshots, ticks)
            self._group = _next_group(len(ticks), read)
            return by_tick(found, ticks, self.schema)
        if self.way == "together":
            return self._answer_together(snapshots, ticks)
        return [(int(tick), self._answer_at(snapshots, int(tick))) for tick in ticks]

    def look_ahead(self, after: int | None) -> None:
        """Compute the next answer after `after`, if all is there that it depends on, for `answers` to give.

        Called when no tick is left to answer, by who has nothing else to do.
        """
        snapshots = self.snapshots()
        closed = closed_time(snapshots)
        if not self._unneeded or closed is None:
            return
        assert self._ticks is not None
        ticks = self._ticks.following(snapshots, after, closed + self._unneeded, 1)
        if not len(ticks) or ticks[0] <= closed:
            return
        tick = int(ticks[0])
        changes = _changes(snapshots)
        if self._ahead is not None and (self._ahead.tick, self._ahead.changes) == (tick, changes):
            return
        if self.way == "together":
            ((_, rows),) = self._answer_together(snapshots, ticks)
        else:
            rows = self._answer_at(snapshots, tick)
        self._ahead = _Ahead(tick, changes, rows)

    def answer_now(self, clock: str) -> pa.Table:
        """The answer as of now, for a pull query: all rows that are there, whether or not more can come."""
        snapshots = self.snapshots()
        now = moment_of(snapshots, clock)
        self._windows.forget_states()
        if now.value is None:
            return self.schema.empty_table()
        if self._scan is None:
            return self._answer_at(snapshots, now.value, pulled=True)
        piece = self._query.windows[0]
        table = piece.table.lower()
        rows = self._windows.pulled(table, piece.window).rows(snapshots[table], now.value)
        predicate = predicate_of(self._scan.conditions)
        if predicate is not None:
            rows = rows.filter(pa.array(CompiledPredicate(predicate, rows.schema).mask(rows)))
        columns = [rows.column(name) for name, _ in self._scan.columns]
        return pa.Table.from_arrays(
            [column.cast(field.type) for column, field in zip(columns, self.schema, strict=True)],
            schema=self.schema,
        ).slice(0, self._scan.limit)

    def _window_scan(self, plan: PlanNode) -> Scan | None:
        """The scan of one window that the whole statement is, if it is one; it is pulled without Spark."""
        query = self._query
        if len(query.windows) != 1 or query.tables or query.uses_now or query.prev_links:
            return None
        scan = plain_scan(plan, self._relations.time_zone)
        values = [one.value for group in scan.conditions for one in group] if scan is not None else []
        # A timestamp means another moment when the session's time zone is changed.
        return None if any(isinstance(value, datetime | tuple) for value in values) else scan

    def _plan(self, snapshots: Mapping[str, Snapshot]) -> tuple[DataFrame, dict[str, str]]:
        """Analyze the statement over empty relations; mistakes in it are raised here.

        Also the tables of the relations that stand for windows, by the relations' names.
        """
        stubs: dict[str, str] = {}

        def window(piece: WindowPiece) -> str:
            name = piece.table.lower()
            schema = self._windows.schema(name, piece.window)
            stub = self._relations.stub(piece.table, schema, links=self._windows.has_links(piece))
            stubs[stub.lower()] = name
            return stub

        def table(piece: TablePiece) -> str:
            return self._relations.stub(piece.table, snapshots[piece.table.lower()].definition.arrow_schema())

        rendered = self._query.rendered(window, Moment(PLANNING_NOW, self.kind).literal, table_name=table)
        with in_users_text(rendered):
            return named_trajectories(self._query, self._relations.spark.sql(rendered.text)), stubs

    def _leave_columns_out(
        self, snapshots: Mapping[str, Snapshot], plan: PlanNode, stubs: Mapping[str, str]
    ) -> None:
        """Note the columns that are used, if the statement means the same without the others."""
        every, columns = self.columns, {name: set[str]() for name in self.columns}
        for stub, used in used_columns(plan, self._query.text).items():
            if stub in stubs:
                columns[stubs[stub]] |= used & every[stubs[stub]]
        if columns == every:
            return
        self._windows.columns = columns
        try:
            planned, _ = self._plan(snapshots)
            same = visible(_arrow_schema(planned)).equals(self.schema)
        except UserError:
            same = False
        if not same:
            self._windows.columns = every

    def _answer_together(
        self, snapshots: Mapping[str, Snapshot], ticks: NDArray[np.int64]
    ) -> list[TickAnswer]:
        found, expanded = self._together.rows(snapshots, ticks)
        self._group = _next_group(len(ticks), expanded)
        return by_tick(found, ticks, self.schema)

    def _answer_at(self, snapshots: Mapping[str, Snapshot], tick: int, *, pulled: bool = False) -> pa.Table:
        return without_hidden(self._each_tick.rows(snapshots, tick, pulled=pulled), self.schema)


class _Ahead(NamedTuple):
    """The answer of a tick that is not over yet."""

    tick: int
    changes: dict[str, int]
    """How often the rows of each table had been deleted or replaced, as far as the answer knows."""
    rows: pa.Table


def _changes(snapshots: Mapping[str, Snapshot]) -> dict[str, int]:
    return {name: snapshot.changes for name, snapshot in snapshots.items()}


def _next_group(ticks: int, expanded: int) -> int:
    """How many ticks to answer together next time, so that they fit the budget of rows."""
    if expanded == 0:
        return min(MOST_TICKS, 2 * ticks)
    return int(min(MOST_TICKS, 2 * ticks, max(1, ticks * _EXPANDED_ROWS // expanded)))


def _arrow_schema(frame: DataFrame) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(frame.schema, timezone="UTC")
