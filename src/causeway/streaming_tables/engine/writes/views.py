"""Views with a historical period: a continuous query whose answers are a streaming table.

The process that has the right to write to a view's table computes it, in a thread of its own. What is kept is
the table alone: after a restart the query goes on after the last tick that the table has, and reads its
windows anew.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa

from causeway.runtime.errors import UserError
from causeway.spark.errors import explain
from causeway.streaming_tables.engine.continuous.query import ContinuousQuery
from causeway.streaming_tables.engine.continuous.tick_answers import TickAnswer
from causeway.streaming_tables.engine.writes.news import News
from causeway.streaming_tables.storage import TableDefinition, TableWriter

__all__ = ["ViewWorker", "view_columns"]

_SOURCE: Final = "ticks"
_PAUSE: Final = 0.02
"""Seconds between two looks at tables that another process writes to."""
_LONGEST_PAUSE: Final = 0.5
"""The same for tables whose additions are told."""


def view_columns(schema: pa.Schema, names: tuple[str, ...] | None, time: str, view: str) -> pa.Schema:
    """The columns of a view: those of its query, without the time of the rows, under the view's names."""
    fields = [field for field in schema if field.name.lower() != time.lower()]
    if names is not None:
        if len(names) != len(fields):
            raise UserError(
                f"view {view} names {len(names)} columns ({', '.join(names)}), its query has {len(fields)} "
                f"({', '.join(field.name for field in fields)})"
            )
        fields = [field.with_name(name) for field, name in zip(fields, names, strict=True)]
    return pa.schema(fields)


class ViewWorker:
    """Computes a view for as long as it runs."""

    def __init__(
        self,
        query: ContinuousQuery,
        writer: TableWriter,
        news: News,
        are_ours: Callable[[tuple[str, ...]], bool],
    ) -> None:
        """Starts at once. `are_ours` says whether additions to these tables are in the news."""
        self.name = writer.store.definition.name
        self.failure: BaseException | None = None
        self.query = query
        self._writer = writer
        self._news = news
        self._are_ours = are_ours
        self._stopping = threading.Event()
        self._idle_at: int | None = None
        self._thread = threading.Thread(target=self._work, name=f"view {self.name}", daemon=True)
        self._thread.start()

    @property
    def last_tick(self) -> int | None:
        return self._writer.last_batch(_SOURCE)

    def wait_until_idle(self, patience: Callable[[], None]) -> None:
        """Wait until all ticks that are over now are in the view; `patience` is called while it waits."""
        goal = self._over()
        while not self._has_reached(goal):
            self.raise_failure()
            patience()
            time.sleep(_PAUSE)

    def is_idle(self) -> bool:
        """Whether all ticks that are over now are in the view."""
        return self._has_reached(self._over())

    def _over(self) -> int | None:
        """The time up to which all tables of the view are closed."""
        closed = [snapshot.closed for snapshot in self.query.snapshots().values()]
        known = [moment for moment in closed if moment is not None]
        return min(known) if len(known) == len(closed) else None

    def _has_reached(self, goal: int | None) -> bool:
        return goal is None or (self._idle_at is not None and self._idle_at >= goal)

    def raise_failure(self) -> None:
        """Raise what ended the worker, if something did."""
        if self.failure is not None:
            known = isinstance(self.failure, UserError)
            reason = self.failure if known else explain(self.failure)
            raise UserError(f"view {self.name} failed: {reason}") from self.failure

    def stop(self) -> None:
        """End it after the addition that it is at."""
        self._stopping.set()
        self._news.spread()
        self._thread.join()

    def _work(self) -> None:
        try:
            after = self._begin()
            while True:
                seen = self._news.count
                if self._stopping.is_set():
                    return
                over = self._over()
                answers = self.query.answers(after)
                if answers:
                    self._add(answers)
                    after = answers[-1][0]
                    continue
                if over is not None:
                    self._close(over)
                    self._idle_at = over
                    self.query.look_ahead(after)
                self._news.wait(seen, _LONGEST_PAUSE if self._are_ours(self.query.tables) else _PAUSE)
        except BaseException as failure:
            self.failure = failure

    def _begin(self) -> int | None:
        """The tick after which to go on; a new view begins where its historical period does."""
        last = self._writer.last_batch(_SOURCE)
        if last is not None:
            return last
        period = self._writer.store.definition.range
        first, newest = self.query.first_time(), self.query.start()
        # `start` is just before the last tick that is over.
        if first is None or newest is None or period is None:
            return None
        return max(first - 1, newest - period)

    def _add(self, answers: list[TickAnswer]) -> None:
        definition = self._writer.store.definition
        rows = pa.concat_tables([_stamped(rows, tick, definition) for tick, rows in answers])
        last = answers[-1][0]
        self._writer.append(rows, source=_SOURCE, batch=last, advance_to=last)

    def _close(self, moment: int) -> None:
        """All ticks up to `moment` are answered: queries over the view need not wait for its next tick."""
        store = self._writer.store
        reached = store.snapshot().closed
        if reached is None or reached < moment:
            self._writer.append(store.definition.arrow_schema().empty_table(), closed_to=moment)


def _stamped(rows: pa.Table, tick: int, definition: TableDefinition) -> pa.Table:
    """An answer as rows of the view's table: without the time of its rows, with the tick's."""
    schema = definition.arrow_schema()
    time_name = definition.time.name.lower()
    kept = [
        rows.column(position) for position, name in enumerate(rows.schema.names) if name.lower() != time_name
    ]
    stamps = pa.array(np.full(rows.num_rows, tick, np.int64)).cast(definition.time.arrow_type)
    columns = [column.cast(field.type) for column, field in zip([*kept, stamps], schema, strict=True)]
    return pa.Table.from_arrays(columns, schema=schema)
