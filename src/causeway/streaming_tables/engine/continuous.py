"""Continuous reads: the one-time answer over the windows as of each tick (Definition 4).

A tick is answered when no row can come any more that belongs to it, so an answer does not depend on how rows
came in batches. There are three ways, from the most general to the fastest:

    each tick   the statement is run once for each tick, over relations as of that tick
    together    one statement for many ticks: LATERAL runs the user's for each of them, over windows that have
                a column with the tick
    chain       rows that PREV links: each chain is judged once, when its newest row arrives, and belongs to
                the answer for as long as it is in the window
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.chains import PLANNING_NOW, ChainState, chain_of
from causeway.streaming_tables.engine.one_time import Moment, moment_of, named_trajectories
from causeway.streaming_tables.engine.plan_tree import analyzed_plan
from causeway.streaming_tables.engine.relations import Relations
from causeway.streaming_tables.engine.spark_errors import in_users_text, unlogged
from causeway.streaming_tables.engine.warehouse import Warehouse
from causeway.streaming_tables.engine.window_state import TICK, WindowState, as_times
from causeway.streaming_tables.language import Query, Rendered, TablePiece, Window, WindowPiece
from causeway.streaming_tables.storage import Snapshot

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["ContinuousQuery", "TickAnswer", "time_text"]

TickAnswer = tuple[int, pa.Table]
"""A tick, in the tables' own unit of time, and the rows of its answer."""

_MOST_TICKS: Final = 256
"""The most ticks that are answered together."""
_EXPANDED_ROWS: Final = 500_000
"""How many pairs of a row and a tick one statement should get at most."""
_HIDDEN: Final = ("__row", "__previous", TICK)


class ContinuousQuery:
    """A query over windows of streaming tables, answered at ticks. Used by one thread at a time."""

    def __init__(self, warehouse: Warehouse, relations: Relations, query: Query) -> None:
        self._warehouse = warehouse
        self._relations = relations
        self._query = query
        self.tables = tuple(dict.fromkeys(name.lower() for name in query.relations))
        self._states: dict[tuple[str, Window], WindowState] = {}
        self._group = 16
        snapshots = self.snapshots()
        self.kind = _kind(snapshots)
        """Whether ticks are seconds or timestamps."""
        planned, self._rendered = self._plan(snapshots)
        self.schema = _visible(_arrow_schema(planned))
        """The columns of an answer."""
        chain = chain_of(query, analyzed_plan(planned))
        self._chain = None if chain is None else ChainState(relations, query, chain, self.schema)
        if self._chain is not None:
            self.way = "chain"
        elif self._together_works(snapshots):
            self.way = "together"
        else:
            self.way = "each tick"

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
        closed = _closed(snapshots)
        if closed is None:
            return None
        last = self._ticks(snapshots, None, closed, newest_only=True)
        return None if not len(last) else int(last[-1]) - 1

    def first_time(self, snapshots: Mapping[str, Snapshot] | None = None) -> int | None:
        """The oldest time that any of the tables holds: there are no ticks before it."""
        tables = self.snapshots() if snapshots is None else snapshots
        found = [one.oldest for one in tables.values() if one.oldest is not None]
        return min(found, default=None)

    def answers(self, after: int | None) -> list[TickAnswer]:
        """The answers of the next ticks after `after` that are over; empty if there are none yet."""
        snapshots = self.snapshots()
        closed = _closed(snapshots)
        if closed is None or (after is not None and closed <= after):
            return []
        ticks = self._ticks(snapshots, after, closed)[: self._group]
        if not len(ticks):
            return []
        if self._chain is not None:
            self._group = _MOST_TICKS
            return self._chain.answers(snapshots[self.tables[0]], ticks)
        if self.way == "together":
            return self._answer_together(snapshots, ticks)
        return [(int(tick), self._answer_at(snapshots, int(tick))) for tick in ticks]

    def answer_now(self, clock: str) -> pa.Table:
        """The answer as of now, for a pull query: all rows that are there, whether or not more can come."""
        snapshots = self.snapshots()
        now = moment_of(snapshots, clock)
        self._states.clear()
        if now.value is None:
            return self.schema.empty_table()
        return self._answer_at(snapshots, now.value)

    def _ticks(
        self,
        snapshots: Mapping[str, Snapshot],
        after: int | None,
        closed: int,
        *,
        newest_only: bool = False,
    ) -> NDArray[np.int64]:
        """Ticks after `after` up to `closed`, rising; with `newest_only`, at least the last of them."""
        sample = self._query.sample
        assert sample is not None
        begin = self.first_time(snapshots) if after is None else after + 1
        if begin is None:
            return np.zeros(0, np.int64)
        if sample.interval_us is not None:
            step = sample.interval_us // 1_000_000 if self.kind == "seconds" else sample.interval_us
            start = -(-begin // step)
            end = closed // step
            if newest_only:
                start = max(start, end)
            return np.arange(start, min(end, start + _MOST_TICKS) + 1, dtype=np.int64) * step
        moments = [
            _distinct_times(snapshot, begin, closed, newest_only=newest_only)
            for snapshot in snapshots.values()
        ]
        return np.unique(np.concatenate(moments))

    def _plan(self, snapshots: Mapping[str, Snapshot]) -> tuple[DataFrame, Rendered]:
        """Analyze the statement over empty relations; mistakes in it are raised here."""

        def window(piece: WindowPiece) -> str:
            schema = snapshots[piece.table.lower()].definition.arrow_schema()
            return self._relations.stub(piece.table, schema, links=self._has_links(piece))

        def table(piece: TablePiece) -> str:
            return self._relations.stub(piece.table, snapshots[piece.table.lower()].definition.arrow_schema())

        rendered = self._query.rendered(window, Moment(PLANNING_NOW, self.kind).literal, table_name=table)
        with in_users_text(rendered):
            return named_trajectories(self._query, self._relations.spark.sql(rendered.text)), rendered

    def _has_links(self, piece: WindowPiece) -> bool:
        aliases = {alias.lower() for link in self._query.prev_links for alias in link}
        return piece.alias.lower() in aliases

    def _together_works(self, snapshots: Mapping[str, Snapshot]) -> bool:
        """Whether Spark can run the statement for many ticks at once, and the order of rows is no matter."""
        if self._query.tables or self._query.has_order_by:
            return False
        from pyspark.errors import PySparkException

        names: dict[tuple[str, Window], str] = {}
        frames: dict[str, DataFrame] = {}
        for piece in self._query.windows:
            key = (piece.table.lower(), piece.window)
            if key not in names:
                names[key] = self._relations.unused_name(piece.table)
                schema = snapshots[key[0]].definition.arrow_schema()
                frames[names[key]] = self._relations.arrow(_with_hidden(schema, self.kind).empty_table())
        ticks_name = self._relations.unused_name("ticks")
        frames[ticks_name] = self._tick_frame(np.zeros(1, np.int64))
        try:
            with unlogged(), self._relations.named(frames):
                planned = self._relations.spark.sql(self._lateral(names, ticks_name))
                planned._jdf.queryExecution().optimizedPlan()
        except PySparkException:
            return False
        except Exception as refused:  # Py4J's own error type, when the optimizer refuses the plan
            if type(refused).__module__.startswith("py4j"):
                return False
            raise
        return True

    def _lateral(self, names: Mapping[tuple[str, Window], str], ticks: str) -> str:
        def window(piece: WindowPiece) -> str:
            name = names[piece.table.lower(), piece.window]
            hidden = f"`{TICK}`" if self._has_links(piece) else "`__row`, `__previous`, `" + TICK + "`"
            return f"(SELECT * EXCEPT ({hidden}) FROM {name} WHERE {name}.`{TICK}` = __ticks.`{TICK}`)"

        def now(offset: int) -> str:
            if self.kind == "seconds":
                return f"(__ticks.`{TICK}` + {offset // 1_000_000}L)"
            return f"timestampadd(MICROSECOND, {offset}L, __ticks.`{TICK}`)"

        inner = self._query.render(window, now)
        return (
            f"SELECT __ticks.`{TICK}` AS `{TICK}`, __answer.* "
            f"FROM {ticks} AS __ticks, LATERAL ({inner}\n) AS __answer"
        )

    def _answer_together(
        self, snapshots: Mapping[str, Snapshot], ticks: NDArray[np.int64]
    ) -> list[TickAnswer]:
        names: dict[tuple[str, Window], str] = {}
        frames: dict[str, DataFrame] = {}
        expanded = 0
        for key in dict.fromkeys((piece.table.lower(), piece.window) for piece in self._query.windows):
            snapshot = snapshots[key[0]]
            content = self._window_state(key).move(snapshot, ticks)
            rows = content.table(ticks, snapshot.definition.time.arrow_type, links=True)
            expanded = max(expanded, rows.num_rows)
            names[key] = self._relations.unused_name(key[0])
            frames[names[key]] = self._relations.arrow(rows)
        ticks_name = self._relations.unused_name("ticks")
        frames[ticks_name] = self._tick_frame(ticks)
        self._group = _next_group(len(ticks), expanded)
        with self._relations.named(frames):
            found = self._relations.spark.sql(self._lateral(names, ticks_name)).toArrow()
        return _by_tick(found, ticks, self.schema)

    def _answer_at(self, snapshots: Mapping[str, Snapshot], tick: int) -> pa.Table:
        """The statement at one tick, over relations as of that tick."""
        moment = np.array([tick], np.int64)
        frames: dict[str, DataFrame] = {}
        names: dict[tuple[str, Window | None, bool], str] = {}

        def add(key: tuple[str, Window | None, bool], frame: DataFrame) -> str:
            names[key] = self._relations.unused_name(key[0])
            frames[names[key]] = frame
            return names[key]

        contents: dict[tuple[str, Window], Any] = {}

        def window(piece: WindowPiece) -> str:
            table, links = piece.table.lower(), self._has_links(piece)
            key = (table, piece.window, links)
            if key in names:
                return names[key]
            if (table, piece.window) not in contents:
                state = self._window_state((table, piece.window))
                contents[table, piece.window] = state.move(snapshots[table], moment)
            time_type = snapshots[table].definition.time.arrow_type
            rows = contents[table, piece.window].table(moment, time_type, links=links)
            return add(key, self._relations.arrow(rows.drop_columns([TICK])))

        def table(piece: TablePiece) -> str:
            name = piece.table.lower()
            key = (name, None, False)
            frame = None if key in names else self._relations.snapshot(snapshots[name], as_of=tick)
            return names[key] if frame is None else add(key, frame)

        rendered = self._query.rendered(window, Moment(tick, self.kind).literal, table_name=table)
        with in_users_text(rendered), self._relations.named(frames):
            found = self._relations.spark.sql(rendered.text).toArrow()
        return _as_schema(found, self.schema)

    def _tick_frame(self, ticks: NDArray[np.int64]) -> DataFrame:
        stamps = pa.array(ticks, pa.int64())
        if self.kind == "timestamp":
            stamps = stamps.cast(pa.timestamp("us", "UTC"))
        return self._relations.arrow(pa.table({TICK: stamps}))

    def _window_state(self, key: tuple[str, Window]) -> WindowState:
        if key not in self._states:
            self._states[key] = WindowState(key[1])
        return self._states[key]


def time_text(moment: int | None, kind: str) -> str | None:
    """A time of a table for people."""
    if moment is None:
        return None
    if kind == "seconds":
        return str(moment)
    return datetime.fromtimestamp(moment / 1e6, UTC).isoformat(sep=" ", timespec="microseconds")


def _kind(snapshots: Mapping[str, Snapshot]) -> str:
    kinds = {snapshot.definition.time.kind for snapshot in snapshots.values()}
    if len(kinds) != 1:
        raise UserError("tables that count seconds and tables with timestamps have no ticks in common")
    return kinds.pop()


def _closed(snapshots: Mapping[str, Snapshot]) -> int | None:
    """The time up to which no row can come any more to any of the tables."""
    closed = [snapshot.closed for snapshot in snapshots.values()]
    found = [moment for moment in closed if moment is not None]
    return min(found) if found and len(found) == len(closed) else None


def _distinct_times(snapshot: Snapshot, begin: int, end: int, *, newest_only: bool) -> NDArray[np.int64]:
    name = snapshot.definition.time.name
    if newest_only:
        rows = snapshot.last_rows(1, [], [name], as_of=end)
    else:
        rows = snapshot.scan([name], time_from=begin, time_to=end, keep_expired=True)
    times = np.unique(as_times(rows.column(name)))
    return times[(times >= begin) & (times <= end)]


def _next_group(ticks: int, expanded: int) -> int:
    """How many ticks to answer together next time, so that they fit the budget of rows."""
    if expanded == 0:
        return min(_MOST_TICKS, 2 * ticks)
    return int(min(_MOST_TICKS, 2 * ticks, max(1, ticks * _EXPANDED_ROWS // expanded)))


def _with_hidden(schema: pa.Schema, kind: str) -> pa.Schema:
    stamp = pa.int64() if kind == "seconds" else pa.timestamp("us", "UTC")
    for name, of in (("__row", pa.int64()), ("__previous", pa.int64()), (TICK, stamp)):
        schema = schema.append(pa.field(name, of))
    return schema


def _arrow_schema(frame: DataFrame) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(frame.schema, timezone="UTC")


def _visible(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field for field in schema if field.name not in _HIDDEN])


def _as_schema(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """An answer without hidden columns. Names may be there twice, so columns go by position."""
    kept = [position for position, name in enumerate(rows.schema.names) if name not in _HIDDEN]
    columns = [rows.column(position).cast(field.type) for position, field in zip(kept, schema, strict=True)]
    return pa.Table.from_arrays(columns, schema=schema)


def _by_tick(rows: pa.Table, ticks: NDArray[np.int64], schema: pa.Schema) -> list[TickAnswer]:
    """The answers of all ticks out of one table, whose first column is the tick."""
    stamps = as_times(rows.column(0))
    order = np.argsort(stamps, kind="stable")
    stamps = stamps[order]
    answers = _as_schema(rows.take(pa.array(order)), schema)
    bounds = np.searchsorted(stamps, np.append(ticks, ticks[-1] + 1))
    return [
        (int(tick), answers.slice(begin, end - begin))
        for tick, begin, end in zip(ticks, bounds[:-1], bounds[1:], strict=True)
    ]
