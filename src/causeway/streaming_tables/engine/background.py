"""What runs beside the statements of a connection: writers of tables, continuous inserts, views.

A table's writer is the process that has its lease. A connection takes the lease when it first writes to the
table, and keeps it until it is closed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.continuous import ContinuousQuery
from causeway.streaming_tables.engine.inserts import (
    Insert,
    InsertFacts,
    Inserts,
    open_insert_source,
    save_facts,
)
from causeway.streaming_tables.engine.queries import QueryRegistry
from causeway.streaming_tables.engine.relations import Relations
from causeway.streaming_tables.engine.stream_select import StreamSelect
from causeway.streaming_tables.engine.views import ViewWorker
from causeway.streaming_tables.engine.warehouse import ViewDefinition, Warehouse
from causeway.streaming_tables.language import CreateView, InsertSelectStream, Query, parse
from causeway.streaming_tables.sources import TargetColumns
from causeway.streaming_tables.storage import TableDefinition, TableWriter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Background"]

_COMMAND: Final = "causeway streaming tables"
_POLL: Final = 0.02
_UPKEEP_SECONDS: Final = 5.0


class Background:
    """Writers, inserts and views of one connection."""

    def __init__(
        self, warehouse: Warehouse, spark: SparkSession, relations: Relations, queries: QueryRegistry
    ) -> None:
        self._warehouse = warehouse
        self._queries = queries
        self._spark = spark
        self._relations = relations
        self.inserts = Inserts(warehouse)
        self._writers: dict[str, TableWriter] = {}
        self._running: dict[int, Insert] = {}
        self._away: dict[int, str] = {}
        """Inserts whose source could not be opened, and why."""
        self._views: dict[str, ViewWorker] = {}
        self._lock = threading.RLock()
        self._closing = threading.Event()
        self._upkeep = threading.Thread(target=self._keep_up, name="expired compartments", daemon=True)
        self._upkeep.start()

    def writer(self, table: str) -> TableWriter:
        """The writer of a table; a UserError names the process that has its lease if another one has."""
        key = table.lower()
        with self._lock:
            if key not in self._writers:
                self._writers[key] = self._warehouse.require(table).writer(_COMMAND)
            return self._writers[key]

    def table_writer(self, table: str) -> TableWriter:
        """The writer of a table that takes rows; a view does not."""
        writer = self.writer(table)
        definition = writer.store.definition
        if definition.kind == "view":
            raise UserError(f"{definition.name} is a view; its rows come from its query")
        return writer

    def resume(self) -> None:
        """Go on with the inserts and views that no other process works on."""
        for facts in self.inserts.all():
            if facts.state == "running" and self._is_free(facts.table):
                self._resume_insert(facts)
        for view in self._warehouse.views():
            if self._is_free(view.name):
                with suppress(UserError):
                    self.start_view(view)

    def begin_insert(self, table: str, address: str, options: dict[str, str], select: str | None) -> int:
        """Begin a continuous insert; returns its number."""
        writer = self.table_writer(table)
        facts, folder = self.inserts.begin(writer.store.definition.name, address, options, select)
        try:
            insert = self._open_insert(facts, writer)
        except BaseException:
            import shutil

            shutil.rmtree(folder, ignore_errors=True)
            raise
        save_facts(folder, facts)
        self._running[facts.number] = insert
        return facts.number

    def start_view(self, view: ViewDefinition) -> ViewWorker:
        """Compute a view in this process."""
        query = ContinuousQuery(self._warehouse, self._relations, self.view_query(view))
        worker = ViewWorker(query, self.writer(view.name))
        self._views[view.name.lower()] = worker
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
        if worker is not None:
            worker.stop()
        for facts in self.inserts.of_table(table):
            insert = self._running.pop(facts.number, None)
            if insert is not None:
                insert.stop()
            if facts.state == "running":
                save_facts(
                    self.inserts.folder(facts), replace(facts, state="stopped", reason="table dropped")
                )
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
                if not self.is_quiet(self.view_query(view).relations) or not self._is_up_to_date(view):
                    return False
                continue
            if any(facts.state == "running" for facts in self.inserts.of_table(table)):
                return False
            if table.lower() not in self._writers and self._warehouse.require(table).writer_description():
                return False
        return True

    def wait_for(self, table: str, until: int | None = None) -> None:
        """Wait for what the sources of a table hold now, or for the table's time."""
        store = self._warehouse.require(table)
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
            elif store.writer_description() is not None:
                raise UserError(f"{table} is computed by {store.writer_description()}; wait for it there")
            return
        for facts in self.inserts.of_table(table):
            insert = self._running.get(facts.number)
            if insert is not None:
                insert.wait_for_present(self._check_open)
                if insert.ends:
                    insert.wait_for_end(self._check_open)
            elif facts.number in self._away:
                raise UserError(f"INSERT INTO {table} waits for its source: {self._away[facts.number]}")
            elif facts.state == "running" and store.writer_description() is not None:
                raise UserError(f"{table} is written by {store.writer_description()}; wait for it there")
            elif facts.state == "failed":
                raise UserError(f"INSERT INTO {table} FROM '{facts.address}' failed: {facts.reason}")

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
        for insert in list(self._running.values()):
            insert.stop()
        for worker in list(self._views.values()):
            worker.stop()
        for writer in self._writers.values():
            writer.close()
        self._running.clear()
        self._views.clear()
        self._writers.clear()

    def _keep_up(self) -> None:
        while not self._closing.wait(_UPKEEP_SECONDS):
            # An error here is one of the disk, which the next write to the table tells the user.
            with suppress(UserError, OSError):
                self.drop_expired()

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
            for facts in self.inserts.of_table(table):
                if facts.number in self._running:
                    self._running[facts.number].raise_failure()
            worker = self.view_worker(table)
            if worker is not None:
                worker.raise_failure()
            self._check_open()
            time.sleep(_POLL)

    def _table_ended(self, table: str) -> bool:
        view = self._warehouse.view(table)
        if view is None:
            inserts = self.inserts.of_table(table)
            return bool(inserts) and all(facts.state != "running" for facts in inserts)
        query = self.view_query(view)
        return all(self._table_ended(name) for name in query.relations) and self._is_up_to_date(view)

    def _is_up_to_date(self, view: ViewDefinition) -> bool:
        """Whether a view has all ticks that are over."""
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

    def _is_free(self, table: str) -> bool:
        """Whether this process may write to a table."""
        if self._warehouse.store(table) is None:
            return False
        try:
            self.writer(table)
        except UserError:
            return False
        return True

    def _resume_insert(self, facts: InsertFacts) -> None:
        try:
            self._running[facts.number] = self._open_insert(facts, self.writer(facts.table))
        except UserError as refused:
            # The source may be back when the warehouse is opened again.
            self._away[facts.number] = str(refused)

    def _open_insert(self, facts: InsertFacts, writer: TableWriter) -> Insert:
        folder = self.inserts.folder(facts)
        definition = writer.store.definition
        transform: Callable[[DataFrame], pa.Table] | None = None
        target = _target(definition)
        if facts.select is not None:
            statement = parse(facts.select, self._warehouse)
            assert isinstance(statement, InsertSelectStream)
            select = StreamSelect(self._relations, statement, definition, facts.base)
            target, transform = select.target, select.rows
        source = open_insert_source(facts, folder, target)
        return Insert(self._spark, folder, facts, source, writer, transform, self._insert_ended)

    def _insert_ended(self, ended: InsertFacts) -> None:
        """Close a table's time when the last of its sources has ended."""
        others = [one for one in self.inserts.of_table(ended.table) if one.number != ended.number]
        if ended.state == "finished" and all(one.state == "finished" for one in others):
            self.writer(ended.table).close_time()

    def _check_open(self) -> None:
        if self._closing.is_set():
            raise UserError("the connection was closed")


def _target(definition: TableDefinition) -> TargetColumns:
    return TargetColumns(definition.arrow_schema(), definition.time.kind)
