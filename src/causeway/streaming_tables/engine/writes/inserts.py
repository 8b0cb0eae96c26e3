"""Continuous inserts: Structured Streaming queries from a source into a table.

    W/inserts/<number>/insert.json   the statement: table, source, options; its state
    W/inserts/<number>/source/       what the source must remember (files that it has found, lines received)
    W/inserts/<number>/checkpoint/   Spark's

A batch is handed to the table's writer with its number, so that one that Spark does again changes nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import load_facts, write_json
from causeway.spark.errors import explain
from causeway.spark.internals import committed_offsets, planned_offsets
from causeway.streaming_tables.engine.catalog.warehouse import Warehouse
from causeway.streaming_tables.sources import REJECT_FIELDS, Source, TargetColumns, open_source
from causeway.streaming_tables.storage import TableDefinition, TableWriter, sync_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["DROPPED", "Insert", "InsertFacts", "Inserts", "Transform", "committed_offset"]

_LAYOUT: Final = 1
DROPPED: Final = "dropped"
"""The state of an insert whose table is gone. Its folder stays: its number must not be given again."""
_POLL: Final = 0.05
_TRIGGER: Final = "100 milliseconds"
"""How often Spark looks for new input. Without a pause it would keep a core busy while nothing arrives."""
_REJECT_COLUMNS: Final = tuple(field.name for field in REJECT_FIELDS)

Transform = Callable[["DataFrame"], tuple[pa.Table, pa.Table]]
"""Makes a table's rows of a batch of its source, and tells which rows of the batch are rejected."""


@dataclass(frozen=True)
class InsertFacts:
    """A continuous insert, as it is kept. `state` is running, finished, stopped, failed or dropped."""

    number: int
    table: str
    address: str
    options: dict[str, str]
    base: str
    """The folder that relative addresses are relative to."""
    select: str | None = None
    """The text of `INSERT INTO t SELECT … FROM STREAM …`, if it is one."""
    columns: dict[str, Any] | None = None
    """Of such a statement, the source's own columns, which stay what they were at first."""
    state: str = "running"
    reason: str = ""

    @property
    def source_name(self) -> str:
        """What the table knows the batches by."""
        return f"insert-{self.number}"


class Insert:
    """A continuous insert at work in this process."""

    def __init__(
        self,
        spark: SparkSession,
        folder: Path,
        facts: InsertFacts,
        source: Source,
        writer: TableWriter,
        transform: Transform | None,
        on_end: Callable[[InsertFacts, Callable[[], None]], None],
        alone: Callable[[InsertFacts], bool],
    ) -> None:
        """Without a `transform`, the rows of the source are the table's.

        `alone` tells whether no other insert writes to the table. `on_end` is called when the source has
        ended or the insert has failed, with what writes that down.
        """
        self.facts = facts
        self._folder = folder
        self._source = source
        self._writer = writer
        self._transform = transform
        self._on_end = on_end
        self._alone = alone
        self._offset = committed_offset(folder)
        self._stopping = threading.Event()
        self._query = self._start(spark)
        self._thread = threading.Thread(target=self._watch, name=facts.source_name, daemon=True)
        self._thread.start()

    def wait_for_present(self, patience: Callable[[], None]) -> None:
        """Wait until all that the source holds now is in the table; `patience` is called while it waits."""
        goal = self._source.available()
        while not self._source.reached(self._offset, goal):
            self.raise_failure()
            if self.facts.state != "running":
                return
            patience()
            time.sleep(_POLL)

    def wait_for_end(self, patience: Callable[[], None]) -> None:
        """For a source that ends: wait until it is finished."""
        while self._source.ends and self.facts.state == "running":
            patience()
            time.sleep(_POLL)
        self.raise_failure()

    @property
    def ends(self) -> bool:
        """Whether the source ends by itself."""
        return self._source.ends

    def raise_failure(self) -> None:
        """Raise what ended the insert, if something did."""
        if self.facts.state == "failed":
            raise UserError(
                f"INSERT INTO {self.facts.table} FROM '{self.facts.address}' failed: {self.facts.reason}"
            )

    def stop(self) -> None:
        """Stop after the batch that it is at; it goes on when the warehouse is opened again."""
        self._stopping.set()
        self._query.stop()
        self._thread.join()
        self._source.stop()

    def _start(self, spark: SparkSession) -> StreamingQuery:
        frame = self._source.load(spark, tasks=spark.sparkContext.defaultParallelism)
        return (
            frame.writeStream.queryName(f"{self.facts.source_name} into {self.facts.table}")
            .option("checkpointLocation", str(self._folder / "checkpoint"))
            .foreachBatch(self._take)
            .trigger(processingTime=_TRIGGER)
            .start()
        )

    def _take(self, batch: DataFrame, number: int) -> None:
        (offset,) = planned_offsets(self._folder / "checkpoint", number)
        if self._transform is None:
            rows, rejected = _split(self._rows(batch, number, offset), self._writer.store.definition)
        else:
            rows, rejected = self._transform(batch)
            rejected = _rejected(rejected)
        self._writer.append(
            rows,
            rejected=rejected,
            source=self.facts.source_name,
            batch=number,
            closed_to=self._closed(offset),
        )
        self._offset = offset

    def _rows(self, batch: DataFrame, number: int, end: Mapping[str, int] | None) -> pa.Table:
        """The rows of a batch: few are read here, many by Spark's tasks."""
        start = planned_offsets(self._folder / "checkpoint", number - 1)[0] if number else None
        rows = None if end is None else self._source.read_here(start, end)
        return batch.toArrow() if rows is None else rows

    def _closed(self, offset: Mapping[str, int] | None) -> int | None:
        """The time up to which all rows of the table have come, if the source knows."""
        definition = self._writer.store.definition
        if self._transform is not None or definition.time.kind != "seconds" or not self._alone(self.facts):
            return None
        second = None if offset is None else self._source.closed(offset)
        return None if second is None else second - definition.slack

    def _watch(self) -> None:
        """End the insert when its source has ended, or Spark's query has failed."""
        while not self._stopping.wait(_POLL):
            failure = self._query.exception()
            if failure is not None:
                self._finish("failed", explain(failure))
                return
            if self._source.finished(self._offset):
                self._query.stop()
                self._finish("finished", "")
                return
            if not self._query.isActive and not self._stopping.is_set():
                self._finish("failed", "Spark's query ended by itself")
                return

    def _finish(self, state: str, reason: str) -> None:
        self._source.stop()
        facts = replace(self.facts, state=state, reason=reason)
        self._on_end(facts, lambda: save_facts(self._folder, facts))
        self.facts = facts


class Inserts:
    """The continuous inserts of a warehouse, on disk."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse

    def all(self) -> list[InsertFacts]:
        """Every insert that was ever begun, in that order."""
        if not self._warehouse.inserts.is_dir():
            return []
        folders = [path for path in self._warehouse.inserts.iterdir() if path.name.isdigit()]
        found = [load_insert(path) for path in sorted(folders, key=lambda path: int(path.name))]
        return [facts for facts in found if facts is not None]

    def of_table(self, table: str) -> list[InsertFacts]:
        """The inserts into one table, without those into an earlier table of that name."""
        found = [facts for facts in self.all() if facts.table.lower() == table.lower()]
        return [facts for facts in found if facts.state != DROPPED]

    def begin(
        self, table: str, address: str, options: Mapping[str, str], select: str | None
    ) -> tuple[InsertFacts, Path]:
        """Make the folder of a new insert."""
        self._warehouse.inserts.mkdir(exist_ok=True)
        number = 1
        while True:
            folder = self._warehouse.inserts / str(number)
            try:
                folder.mkdir()
                break
            except FileExistsError:
                number += 1
        (folder / "source").mkdir()
        return InsertFacts(number, table, address, dict(options), str(Path.cwd()), select), folder

    def again(self, facts: InsertFacts) -> InsertFacts:
        """An insert as it is now."""
        return load_insert(self.folder(facts)) or facts

    def folder(self, facts: InsertFacts) -> Path:
        """Where an insert is kept."""
        return self._warehouse.inserts / str(facts.number)


def open_insert_source(facts: InsertFacts, folder: Path, target: TargetColumns) -> Source:
    """The source of an insert."""
    return open_source(facts.address, facts.options, target, folder / "source", Path(facts.base))


def save_facts(folder: Path, facts: InsertFacts) -> None:
    """Keep what is known of an insert."""
    write_json(folder / "insert.json", asdict(facts) | {"layout": _LAYOUT})
    sync_folder(folder)
    sync_folder(folder.parent)


def load_insert(folder: Path) -> InsertFacts | None:
    """The insert of a folder; None if the statement failed before it was one."""
    if not (folder / "insert.json").exists():
        return None
    return InsertFacts(**load_facts(folder / "insert.json", _LAYOUT, absent="", without=""))


def _split(batch: pa.Table, definition: TableDefinition) -> tuple[pa.Table, pa.Table]:
    """The table's rows of a batch, and the rows that were rejected."""
    reason = batch.column("__reason")
    schema = definition.arrow_schema()
    if reason.null_count == batch.num_rows:
        rows, refused = batch, batch.slice(0, 0)
    else:
        good = pc.is_null(reason)
        rows, refused = batch.filter(good), batch.filter(pc.invert(good))
    return rows.select(schema.names).cast(schema), _rejected(refused.select(list(_REJECT_COLUMNS)))


def _rejected(rows: pa.Table) -> pa.Table:
    return rows.rename_columns([name.removeprefix("__") for name in rows.schema.names])


def committed_offset(folder: Path) -> dict[str, Any] | None:
    """The end of the last batch of an insert that Spark has committed; None before the first."""
    offsets = committed_offsets(folder / "checkpoint")
    return offsets[0] if offsets else None
