"""One statement for many ticks: LATERAL runs the user's for each of them.

The rows of a window at all of these ticks are one relation, with a column that has the tick.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.streaming_tables.engine.catalog.moments import whole_seconds
from causeway.streaming_tables.engine.continuous.tick_answers import with_hidden
from causeway.streaming_tables.engine.continuous.tick_statement import TickStatement
from causeway.streaming_tables.engine.plans.conditions import Disjunction
from causeway.streaming_tables.engine.plans.scans import ALWAYS
from causeway.streaming_tables.engine.plans.spark_errors import unlogged
from causeway.streaming_tables.engine.plans.tree import analyzed_plan, optimized_plan
from causeway.streaming_tables.engine.reads.relations import Relations
from causeway.streaming_tables.engine.windows.query_windows import QueryWindows
from causeway.streaming_tables.engine.windows.window_needs import needs_of_windows, rows_that_can_meet
from causeway.streaming_tables.engine.windows.window_state import TICK
from causeway.streaming_tables.language import Query, Rendered, Window, WindowPiece
from causeway.streaming_tables.storage import Snapshot

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Together"]

_TICKS: Final = "ticks"
"""The relation of the ticks that are answered together."""


class Together:
    """The statement of a continuous query for many ticks. Used by one thread at a time."""

    def __init__(self, relations: Relations, query: Query, windows: QueryWindows, kind: str) -> None:
        self._relations = relations
        self._query = query
        self._windows = windows
        self._kind = kind
        self.needs: dict[int, Disjunction] = {}
        """By the number of a window, what the rows meet that Spark gets."""

    def works(self) -> bool:
        """Whether Spark can run the statement for many ticks at once, and the order of rows is no matter."""
        if self._query.tables or self._query.has_order_by:
            return False
        from pyspark.errors import PySparkException

        names: dict[int, str] = {}
        frames: dict[str, DataFrame] = {}
        for piece in self._query.windows:
            name = names[piece.index] = self._relations.unused_name(piece.table)
            schema = self._windows.schema(piece.table.lower(), piece.window)
            hidden = with_hidden(schema, self._kind, links=bool(self._query.prev_links))
            frames[name] = self._relations.arrow(hidden.empty_table())
        ticks_name = self._relations.unused_name("ticks")
        frames[ticks_name] = self._relations.arrow(self._tick_table(np.zeros(1, np.int64)))
        try:
            with unlogged(), self._relations.named(frames):
                planned = self._relations.spark.sql(self._lateral(names, ticks_name)[0])
                optimized = optimized_plan(planned)
        except PySparkException:
            return False
        except Exception as refused:  # Py4J's own error type, when the optimizer refuses the plan
            if type(refused).__module__.startswith("py4j"):
                return False
            raise
        zone = self._relations.time_zone
        self.needs = needs_of_windows(analyzed_plan(planned), optimized, zone, names)
        return True

    def rows(self, snapshots: Mapping[str, Snapshot], ticks: NDArray[np.int64]) -> tuple[pa.Table, int]:
        """The answers with their ticks, and how many pairs of a row and a tick the largest window has."""
        contents: dict[tuple[str, Window], pa.Table] = {}
        tables: dict[str, pa.Table] = {_TICKS: self._tick_table(ticks)}
        for piece in self._query.windows:
            table, window, key = piece.table.lower(), piece.window, self._keys[piece.index]
            if (table, window) not in contents:
                content = self._windows.state(table, window).move(snapshots[table], ticks)
                links = bool(self._query.prev_links)
                time_type = snapshots[table].definition.time.arrow_type
                contents[table, window] = content.table(ticks, time_type, links=links)
            if key not in tables:
                needs = self.needs.get(piece.index, ALWAYS)
                tables[key] = rows_that_can_meet(contents[table, window], needs)
        expanded = max((rows.num_rows for rows in contents.values()), default=0)
        return self._statement.run(tables), expanded

    @cached_property
    def _keys(self) -> dict[int, str]:
        """The relation of each window: windows that need the same rows have one in common."""
        keys: dict[tuple[str, Window, Disjunction], str] = {}
        found: dict[int, str] = {}
        for piece in self._query.windows:
            table, needs = piece.table.lower(), self.needs.get(piece.index, ALWAYS)
            found[piece.index] = keys.setdefault((table, piece.window, needs), f"{table}_{piece.index}")
        return found

    @cached_property
    def _statement(self) -> TickStatement:
        keys = self._keys

        def render(names: Mapping[str, str]) -> tuple[str, list[tuple[int, Rendered]]]:
            by_piece = {index: names[key] for index, key in keys.items()}
            text, inner = self._lateral(by_piece, names[_TICKS])
            return text, [(2, inner)]

        return TickStatement(self._relations, [*dict.fromkeys(keys.values()), _TICKS], render)

    def _lateral(self, names: Mapping[int, str], ticks: str) -> tuple[str, Rendered]:
        """The statement for many ticks at once, and the user's in it, which begins on line 2."""

        def window(piece: WindowPiece) -> str:
            name = names[piece.index]
            unlinked = self._query.prev_links and not self._windows.has_links(piece)
            hidden = f"`__row`, `__previous`, `{TICK}`" if unlinked else f"`{TICK}`"
            return f"(SELECT * EXCEPT ({hidden}) FROM {name} WHERE {name}.`{TICK}` = __ticks.`{TICK}`)"

        def now(offset: int) -> str:
            if self._kind == "seconds":
                return f"(__ticks.`{TICK}` + {whole_seconds(offset)}L)"
            return f"timestampadd(MICROSECOND, {offset}L, __ticks.`{TICK}`)"

        inner = self._query.rendered(window, now)
        return (
            f"SELECT __ticks.`{TICK}` AS `{TICK}`, __answer.* "
            f"FROM {ticks} AS __ticks, LATERAL (\n{inner.text}\n) AS __answer"
        ), inner

    def _tick_table(self, ticks: NDArray[np.int64]) -> pa.Table:
        stamps = pa.array(ticks, pa.int64())
        if self._kind == "timestamp":
            stamps = stamps.cast(pa.timestamp("us", "UTC"))
        return pa.table({TICK: stamps})
