"""The continuous inserts of a connection: at work, waiting for their source, or failed."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.catalog.warehouse import Warehouse
from causeway.streaming_tables.engine.reads.moving_functions import provide_functions
from causeway.streaming_tables.engine.reads.relations import Relations
from causeway.streaming_tables.engine.writes.inserts import (
    DROPPED,
    Insert,
    InsertFacts,
    Inserts,
    Transform,
    committed_offset,
    open_insert_source,
    save_facts,
)
from causeway.streaming_tables.engine.writes.stream_select import StreamSelect
from causeway.streaming_tables.language import InsertSelectStream, SourceStatement, parse
from causeway.streaming_tables.sources import TargetColumns
from causeway.streaming_tables.storage import TableWriter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["InsertRuns"]

_POLL: Final = 0.05
_OVER: Final = ("finished", "stopped", DROPPED)


class InsertRuns:
    """Begins, resumes and ends inserts. `writer_of` gives the writer of a table, or a UserError."""

    def __init__(
        self,
        warehouse: Warehouse,
        spark: SparkSession,
        relations: Relations,
        writer_of: Callable[[str], TableWriter],
    ) -> None:
        self.kept = Inserts(warehouse)
        self._warehouse = warehouse
        self._spark = spark
        self._relations = relations
        self._writer_of = writer_of
        self._running: dict[int, Insert] = {}
        self._waiting: dict[int, str] = {}
        """Inserts that could not be opened, mostly because their source is away, and why."""
        self._lock = threading.RLock()
        self._ending = threading.Lock()

    def begin(
        self, writer: TableWriter, address: str, options: dict[str, str], select: SourceStatement | None
    ) -> int:
        """Begin an insert; returns its number."""
        text = None if select is None else select.text
        facts, folder = self.kept.begin(writer.store.definition.name, address, options, text)
        try:
            self._running[facts.number] = self._open(facts, writer, select)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return facts.number

    def go_on(self, facts: InsertFacts) -> None:
        """Go on with an insert after the last batch in the table; if that is not possible, it waits."""
        try:
            self._running[facts.number] = self._open(facts, self._writer_of(facts.table))
            self._waiting.pop(facts.number, None)
        except UserError as refused:
            self._waiting[facts.number] = str(refused)

    def try_waiting(self, table: str | None = None) -> None:
        """Go on with the inserts that wait, of one table or all, if they can."""
        with self._lock:
            for facts in self.kept.all() if self._waiting else ():
                if facts.number in self._waiting and table in (None, facts.table.lower()):
                    self.go_on(facts)

    def resume(self, number: int) -> None:
        """Go on with an insert that failed or waits; a UserError if the cause is still there."""
        facts = self._find(number)
        if facts.state == "running" and number not in self._waiting:
            raise UserError(f"insert {number} has not failed; it runs")
        writer = self._writer_of(facts.table)
        failed = self._running.pop(number, None)
        if failed is not None:
            failed.stop()
        with self._lock:
            if number not in self._running:
                self._running[number] = self._open(facts, writer)
            self._waiting.pop(number, None)

    def kill(self, number: int) -> None:
        """End an insert for good. What it has inserted stays."""
        facts = self._find(number)
        self._writer_of(facts.table)
        self._end(facts, "stopped", "killed")

    def end_all_of(self, table: str) -> None:
        """End the inserts into a table that is dropped, and forget those that are over."""
        for facts in self.kept.of_table(table):
            self._end(facts, DROPPED, "")

    def states(self, table: str) -> list[tuple[int, str]]:
        """The inserts into a table, each with its source and state in words."""
        found = []
        for facts in self.kept.of_table(table):
            reason = f": {facts.reason}" if facts.reason else ""
            waits = self._waiting.get(facts.number)
            state = f"{facts.state}{reason}" if waits is None else f"waits: {waits}"
            found.append((facts.number, f"from '{facts.address}', {state}"))
        return found

    def wait_for(self, table: str, patience: Callable[[], None]) -> None:
        """Wait for what the sources of a table hold now; `patience` is called meanwhile."""
        self.try_waiting(table.lower())
        for facts in self.kept.of_table(table):
            insert = self._running.get(facts.number)
            if insert is not None:
                insert.wait_for_present(patience)
                if insert.ends:
                    insert.wait_for_end(patience)
                continue
            if facts.number in self._waiting:
                raise UserError(f"INSERT INTO {table} waits: {self._waiting[facts.number]}")
            if facts.state == "running":
                self._wait_elsewhere(facts, patience)
            now = self.kept.again(facts)
            if now.state == "failed":
                raise UserError(f"INSERT INTO {table} FROM '{now.address}' failed: {now.reason}")

    def _wait_elsewhere(self, facts: InsertFacts, patience: Callable[[], None]) -> None:
        """Wait for an insert of another process: what its checkpoint has done against what its source has."""
        store = self._warehouse.require(facts.table)
        writer = store.writer_description()
        if writer is None:
            return
        if "://" in facts.address:
            raise UserError(f"{facts.table} is written by {writer}, which alone reads {facts.address}")
        definition, folder = store.definition, self.kept.folder(facts)
        target = TargetColumns(definition.arrow_schema(), definition.time.kind, definition.time.limits)
        if facts.columns is not None:
            target = TargetColumns.from_json(facts.columns)
        source = open_insert_source(facts, folder, target)
        goal = source.available()
        while self.kept.again(facts).state == "running" and store.writer_description() is not None:
            if not source.ends and source.reached(committed_offset(folder), goal):
                return
            patience()
            time.sleep(_POLL)

    def raise_failure(self, table: str) -> None:
        """Raise what ended an insert into a table in this process, if something did."""
        for facts in self.kept.of_table(table):
            if facts.number in self._running:
                self._running[facts.number].raise_failure()

    def raise_failures(self) -> None:
        """Raise what ended an insert in this process, if something did."""
        for insert in list(self._running.values()):
            insert.raise_failure()

    def stop(self) -> None:
        """Stop all inserts after the batches that they are at."""
        for insert in list(self._running.values()):
            insert.stop()
        self._running.clear()

    def _find(self, number: int) -> InsertFacts:
        """An insert that is not over."""
        for facts in self.kept.all():
            if facts.number == number:
                if facts.state in _OVER:
                    raise UserError(f"insert {number} is over: {facts.state}")
                return facts
        raise UserError(f"there is no insert {number}; DESCRIBE lists those of a table")

    def _end(self, facts: InsertFacts, state: str, reason: str) -> None:
        with self._lock:
            insert = self._running.pop(facts.number, None)
            self._waiting.pop(facts.number, None)
        if insert is not None:
            insert.stop()
            facts = insert.facts
        if facts.state not in _OVER or state == DROPPED:
            save_facts(self.kept.folder(facts), replace(facts, state=state, reason=reason))

    def _open(
        self, facts: InsertFacts, writer: TableWriter, written: SourceStatement | None = None
    ) -> Insert:
        """`written` is the statement of an insert that begins, with its place in what the user wrote."""
        facts = replace(facts, state="running", reason="")
        folder = self.kept.folder(facts)
        definition = writer.store.definition
        transform: Transform | None = None
        target = TargetColumns(definition.arrow_schema(), definition.time.kind, definition.time.limits)
        if facts.select is not None:
            provide_functions(self._spark, facts.select)
            statement = parse(written or facts.select, self._warehouse)
            assert isinstance(statement, InsertSelectStream)
            select = StreamSelect(self._relations, statement, definition, facts.base, facts.columns)
            target, transform = select.target, select.rows
            facts = replace(facts, columns=target.to_json())
        source = open_insert_source(facts, folder, target)
        # Before it starts: a short source may have ended at once, which is written down, too.
        save_facts(folder, facts)
        return Insert(self._spark, folder, facts, source, writer, transform, self._ended, self._is_alone)

    def _is_alone(self, facts: InsertFacts) -> bool:
        """Whether no other insert that is not over writes to the table."""
        others = [one for one in self.kept.of_table(facts.table) if one.number != facts.number]
        return all(one.state in _OVER for one in others)

    def _ended(self, ended: InsertFacts, write_down: Callable[[], None]) -> None:
        """Close a table's time when the last of its sources has ended."""
        # Of two that end at once, the second must find that the first has ended.
        with self._ending:
            others = [one for one in self.kept.of_table(ended.table) if one.number != ended.number]
            # The time is closed first: who sees that the insert has ended must find the last ticks over.
            if ended.state == "finished" and all(one.state in _OVER for one in others):
                self._writer_of(ended.table).close_time()
            write_down()
