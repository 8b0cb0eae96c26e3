"""What runs beside the statements of a connection: writers of tables, continuous inserts, views.

A table's writer is the process that has its lease. A connection takes the lease when it first writes to the
table, and keeps it until it is closed.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.catalog.warehouse import ViewDefinition, Warehouse
from causeway.streaming_tables.engine.continuous.queries import QueryRegistry
from causeway.streaming_tables.engine.continuous.query import ContinuousQuery
from causeway.streaming_tables.engine.reads.moving_functions import provide_functions
from causeway.streaming_tables.engine.reads.relations import Relations
from causeway.streaming_tables.engine.writes.insert_runs import InsertRuns
from causeway.streaming_tables.engine.writes.news import News
from causeway.streaming_tables.engine.writes.views import ViewWorker
from causeway.streaming_tables.language import CreateView, Query, SourceStatement, parse
from causeway.streaming_tables.storage import TableWriter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Background"]

_COMMAND: Final = "causeway streaming tables"
_POLL: Final = 0.02
_UPKEEP_SECONDS: Final = 5.0
_RETRY_SECONDS: Final = 1.0
"""How often an insert looks for its source that is away."""


class Background:
    """Writers, inserts and views of one connection."""

    def __init__(
        self, warehouse: Warehouse, spark: SparkSession, relations: Relations, queries: QueryRegistry
    ) -> None:
        self._warehouse = warehouse
        self._queries = queries
        self._spark = spark
        self._relations = relations
        self.inserts = InsertRuns(warehouse, spark, relations, self.writer)
        self.news = News()
        """Of everything that this connection adds to tables."""
        self._writers: dict[str, TableWriter] = {}
        self._views: dict[str, ViewWorker] = {}
        self._unstarted: dict[str, str] = {}
        """Views that could not be started, and why."""
        self._lock = threading.RLock()
        self._closing = threading.Event()
        self._upkeep = threading.Thread(target=self._keep_up, name="upkeep", daemon=True)
        self._upkeep.start()

    def writer(self, table: str) -> TableWriter:
        """The writer of a table; a UserError names the process that has its lease if another one has."""
        key = table.lower()
        with self._lock:
            if key not in self._writers:
                store = self._warehouse.require(table)
                try:
                    self._writers[key] = store.writer(_COMMAND)
                    self._writers[key].on_change = self.news.spread
                except UserError as refused:
                    holder = store.writer_description()
                    if holder is None:
                        raise
                    raise UserError(
                        f"{store.definition.name} is written by {holder}; a table has one writer at a time"
                    ) from refused
            return self._writers[key]

    def table_writer(self, table: str) -> TableWriter:
        """The writer of a table that takes rows; a view does not."""
        writer = self.writer(table)
        definition = writer.store.definition
        if definition.kind == "view":
            raise UserError(f"{definition.name} is a view; its rows come from its query")
        return writer

    def resume(self) -> None:
        """Go on with the inserts and views that no other process works on, and try failed ones again."""
        for facts in self.inserts.kept.all():
            if facts.state in ("running", "failed") and self._is_free(facts.table):
                self.inserts.go_on(facts)
        for view in self._warehouse.views():
            if self._is_free(view.name):
                try:
                    self.start_view(view)
                except UserError as refused:
                    self._unstarted[view.name.lower()] = str(refused)

    def begin_insert(
        self, table: str, address: str, options: dict[str, str], select: SourceStatement | None
    ) -> int:
        """Begin a continuous insert; returns its number."""
        return self.inserts.begin(self.table_writer(table), address, options, select)

    def resume_view(self, name: str) -> None:
        """Go on with a view that failed, after its last tick."""
        view = self._warehouse.view(name)
        if view is None:
            raise UserError(f"there is no streaming view {name}")
        worker = self._views.get(name.lower())
        if worker is not None and worker.failure is None:
            raise UserError(f"view {view.name} has not failed; it runs")
        self.writer(name)
        if worker is not None:
            worker.stop()
        self.start_view(view)

    def view_state(self, name: str) -> tuple[str, str | None]:
        """What a view does in words, and the way it is computed, if this process does."""
        worker = self._views.get(name.lower())
        if worker is None:
            return ("failed" if name.lower() in self._unstarted else "elsewhere"), None
        return ("failed" if worker.failure is not None else "running"), worker.query.way

    def start_view(self, view: ViewDefinition, query: Query | None = None) -> ViewWorker:
        """Compute a view in this process; `query` is its own, as the user has just written it."""
        provide_functions(self._relations.spark, view.text)
        planned = ContinuousQuery(self._warehouse, self._relations, query or self.view_query(view))
        worker = ViewWorker(planned, self.writer(view.name), self.news, self._are_ours)
        self._views[view.name.lower()] = worker
        self._unstarted.pop(view.name.lower(), None)
        return worker

    def view_query(self, view: ViewDefinition) -> Query:
        """The query of a view."""
        statement = parse(view.text, self._warehouse)
        assert isinstance(statement, CreateView)
        return statement.query

    def view_worker(self, name: str) -> ViewWorker | None:
        """What computes a view in this process."""
        return self._views.get(name.lower())

    def readers_of(self, table: str) -> list[str]:
        """The views that read a table."""
        return [
            view.name
            for view in self._warehouse.views()
            if table.lower() in {name.lower() for name in self.view_query(view).relations}
        ]

    def forget(self, table: str) -> None:
        """Stop everything that writes to a table, and give its lease back."""
        worker = self._views.pop(table.lower(), None)
        self._unstarted.pop(table.lower(), None)
        if worker is not None:
            worker.stop()
        self.inserts.end_all_of(table)
        writer = self._writers.pop(table.lower(), None)
        if writer is not None:
            writer.close()

    def ended(self, tables: tuple[str, ...]) -> bool:
        """Whether nothing more will come to any of these tables, and all that came is in them."""
        return self._closing.is_set() or all(self._table_ended(table) for table in tables)

    def is_quiet(self, tables: tuple[str, ...]) -> bool:
        """Whether no continuous insert and no other process writes to these tables now."""
        for table in tables:
            view = self._warehouse.view(table)
            if view is not None:
                if self.view_state(table)[0] == "failed":
                    continue
                if not self.is_quiet(self.view_query(view).relations) or not self._is_up_to_date(view):
                    return False
                continue
            if any(facts.state == "running" for facts in self.inserts.kept.of_table(table)):
                return False
            if table.lower() not in self._writers and self._warehouse.require(table).writer_description():
                return False
        return True

    def wait_for(self, table: str, until: int | None = None) -> None:
        """Wait for what the sources of a table hold now, or for the table's time."""
        self._warehouse.require(table)
        if until is not None:
            self._wait_for_time(table, until)
            return
        view = self._warehouse.view(table)
        if view is not None:
            for source in self.view_query(view).relations:
                self.wait_for(source)
            worker = self.view_worker(table)
            if worker is not None:
                worker.wait_until_idle(self._check_open)
            elif table.lower() in self._unstarted:
                raise UserError(f"view {table} cannot go on: {self._unstarted[table.lower()]}")
            else:
                self._wait_for_view_elsewhere(view)
            return
        self.inserts.wait_for(table, self._check_open)

    def raise_failures(self) -> None:
        """Raise what has ended an insert or a view, if something has."""
        self.inserts.raise_failures()
        for worker in list(self._views.values()):
            worker.raise_failure()

    def drop_expired(self) -> None:
        """Drop compartments that have expired, but none that a view or a pushed query still needs."""
        with self._lock:
            writers = list(self._writers.values())
        for writer in writers:
            definition = writer.store.definition
            if definition.range is None:
                continue
            # A view may be computed by another process, so its table says how far it is.
            ticks = [
                self._warehouse.require(view).snapshot().newest for view in self.readers_of(definition.name)
            ]
            ticks += self._queries.answered_until(definition.name)
            known = [tick for tick in ticks if tick is not None]
            if len(known) == len(ticks):
                writer.drop_expired(min(known) - definition.range if known else None)

    def close(self) -> None:
        """Stop everything in an order that leaves nothing half done."""
        self._closing.set()
        self._upkeep.join()
        self.inserts.stop()
        for worker in list(self._views.values()):
            worker.stop()
        for writer in self._writers.values():
            writer.close()
        self._views.clear()
        self._writers.clear()

    def _keep_up(self) -> None:
        due = time.monotonic() + _UPKEEP_SECONDS
        while not self._closing.wait(min(_RETRY_SECONDS, _UPKEEP_SECONDS)):
            self.inserts.try_waiting()
            if time.monotonic() < due:
                continue
            # An error here is one of the disk, which the next write to the table tells the user.
            with suppress(UserError, OSError):
                self.drop_expired()
            due = time.monotonic() + _UPKEEP_SECONDS

    def _wait_for_view_elsewhere(self, view: ViewDefinition) -> None:
        """Wait for a view that another process computes, which tells how far it is."""
        tables = self.view_query(view).relations
        closed = [self._warehouse.require(name).snapshot().closed for name in tables]
        known = [moment for moment in closed if moment is not None]
        store = self._warehouse.require(view.name)
        while len(known) == len(closed) and store.writer_description() is not None:
            reached = store.snapshot().closed
            if reached is not None and reached >= min(known):
                return
            self._check_open()
            time.sleep(_POLL)

    def _wait_for_time(self, table: str, until: int) -> None:
        store = self._warehouse.require(table)
        while True:
            # Asked first, so that what came before the end is seen after it.
            ended = self._table_ended(table)
            newest = store.snapshot().newest
            if newest is not None and newest >= until:
                return
            if ended:
                raise UserError(f"{table} has ended at time {newest}; it will not reach {until}")
            self.inserts.raise_failure(table)
            worker = self.view_worker(table)
            if worker is not None:
                worker.raise_failure()
            self._check_open()
            time.sleep(_POLL)

    def _table_ended(self, table: str) -> bool:
        view = self._warehouse.view(table)
        if view is None:
            inserts = self.inserts.kept.of_table(table)
            return bool(inserts) and all(facts.state != "running" for facts in inserts)
        query = self.view_query(view)
        return all(self._table_ended(name) for name in query.relations) and self._is_up_to_date(view)

    def _is_up_to_date(self, view: ViewDefinition) -> bool:
        """Whether a view has all ticks that are over."""
        worker = self.view_worker(view.name)
        if worker is not None:
            return worker.is_idle()
        query = self.view_query(view)
        table = view.name
        closed = [self._warehouse.require(name).snapshot().closed for name in query.relations]
        reached = self._warehouse.require(table).snapshot().closed
        known = [moment for moment in closed if moment is not None]
        if not known:
            return True
        sample = query.sample
        assert sample is not None
        kind = self._warehouse.require(table).definition.time.kind
        step = (
            1 if sample.interval_us is None else sample.interval_us // (1_000_000 if kind == "seconds" else 1)
        )
        return reached is not None and reached + step > min(known)

    def _are_ours(self, tables: tuple[str, ...]) -> bool:
        """Whether this connection writes to all of these tables."""
        return all(name.lower() in self._writers for name in tables)

    def _is_free(self, table: str) -> bool:
        """Whether this process may write to a table."""
        if self._warehouse.store(table) is None:
            return False
        try:
            self.writer(table)
        except UserError:
            return False
        return True

    def _check_open(self) -> None:
        if self._closing.is_set():
            raise UserError("the connection was closed")
