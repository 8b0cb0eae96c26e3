"""Snapshots: a table's content after some prefix of its accepted rows, and the reads of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from causeway.runtime.errors import UserError
from causeway.streaming_tables.storage.definition import REJECTED_SCHEMA, SEQ, TableDefinition
from causeway.streaming_tables.storage.errors import DamagedTableError
from causeway.streaming_tables.storage.facts import Candidates, ScanReport, TableFacts
from causeway.streaming_tables.storage.past.data_files import ROW_GROUP_ROWS, DataFile
from causeway.streaming_tables.storage.past.value_index import is_indexable
from causeway.streaming_tables.storage.predicate import CompiledPredicate, Predicate
from causeway.streaming_tables.storage.reads.last_rows import chunk_block, file_block, last_rows
from causeway.streaming_tables.storage.reads.scan import (
    FileReport,
    Selection,
    index_reads,
    scan_chunk,
    scan_file,
)
from causeway.streaming_tables.storage.reads.view import View

if TYPE_CHECKING:
    from causeway.streaming_tables.storage.store import TableStore

__all__ = ["Snapshot", "read_side_file"]

_RETRIES: Final = 100
_Result = TypeVar("_Result")


class Snapshot:
    """One consistent view of a table. Thread-safe.

    A data file that a snapshot names can be removed while the snapshot is in use (a deletion, or a merge or
    an expiry some time ago). A read that meets this goes on with the newest view instead: it is then of a
    longer prefix of the rows.
    """

    def __init__(self, store: TableStore, view: View) -> None:
        """Made by `TableStore.snapshot`."""
        self._store = store
        self._view = view

    @property
    def definition(self) -> TableDefinition:
        """The table's definition."""
        return self._view.definition

    @property
    def newest(self) -> int | None:
        """The largest time that was seen."""
        return self._view.progress.newest

    @property
    def closed(self) -> int | None:
        """The largest time of which no more rows can come."""
        return self._view.progress.closed(self._view.definition.slack)

    @property
    def oldest(self) -> int | None:
        """The smallest time of a row that is there, be it in the historical period or not."""
        times = [file.t_min for file in self._view.past.files]
        times += [int(chunk.times.min()) for chunk in self._view.chunks if len(chunk.times)]
        return min(times, default=None)

    @property
    def changes(self) -> int:
        """Deletions and replacements so far. Who remembers rows must read them anew when it has grown."""
        return self._view.past.changes

    @property
    def ended(self) -> bool:
        """Whether all sources have ended."""
        return self._view.progress.ended

    @property
    def rows_total(self) -> int:
        """Rows accepted so far, expired and deleted ones included."""
        return self._view.progress.next_seq

    @property
    def late_total(self) -> int:
        """Rows that came too late."""
        return self._view.progress.late_total

    @property
    def rejected_total(self) -> int:
        """Rows that did not parse or fit."""
        return self._view.progress.rejected_total

    @property
    def wall_time(self) -> float:
        """When the last frame was written, in seconds since 1970; 0 if there is none."""
        return self._view.progress.wall_time

    @property
    def past_version(self) -> int:
        """The version of the Delta table."""
        return self._view.past.version

    def scan(
        self,
        columns: Sequence[str] | None = None,
        predicate: Predicate | None = None,
        *,
        time_from: int | None = None,
        time_to: int | None = None,
        limit: int | None = None,
        with_seq: bool = False,
        as_of: int | None = None,
        keep_expired: bool = False,
    ) -> pa.Table:
        """Exactly the rows in the historical period, the time range (inclusive) and the predicate.

        `as_of` reads as if its time were the newest: without later rows, and with the historical period that
        ends there. `keep_expired` also gives rows that are older than the historical period and still there.
        The rows come in no particular order.
        """

        def read(view: View) -> pa.Table:
            names = _names(view.definition, columns, with_seq)
            selection = Selection(names, view.definition.file_schema(), limit)
            bounds = view.bounds(predicate, time_from, time_to, as_of=as_of, keep_expired=keep_expired)
            for file in bounds.files(view):
                if selection.full:
                    break
                reader = self._store.reader(file)
                indexes = self._store.indexes(file, bounds.columns)
                scan_file(reader, *bounds.of_file(file), bounds.predicate, indexes, selection)
            for chunk in bounds.chunks(view):
                if selection.full:
                    break
                scan_chunk(chunk, bounds.low, bounds.high, bounds.predicate, selection)
            return selection.table()

        return self._retried(read)

    def candidates(
        self,
        columns: Sequence[str] | None = None,
        predicate: Predicate | None = None,
        *,
        time_from: int | None = None,
        time_to: int | None = None,
        with_seq: bool = False,
        as_of: int | None = None,
    ) -> Candidates:
        """For a Spark job: the files that may have matching rows, and the matching rows of the log."""

        def read(view: View) -> Candidates:
            names = _names(view.definition, columns, with_seq)
            selection = Selection(names, view.definition.file_schema())
            bounds = view.bounds(predicate, time_from, time_to, as_of=as_of)
            files = [file for file in bounds.files(view) if self._may_match(file, bounds.predicate)]
            for chunk in bounds.chunks(view):
                scan_chunk(chunk, bounds.low, bounds.high, bounds.predicate, selection)
            tail = selection.table()
            return Candidates(
                [self._store.data_path(file) for file in files],
                tail,
                bounds.low,
                bounds.high,
                sum(file.rows for file in files) + tail.num_rows,
                sum(file.size for file in files) + tail.nbytes,
            )

        return self._retried(read)

    def last_rows(
        self,
        count: int,
        partition_by: Sequence[str] = (),
        columns: Sequence[str] | None = None,
        *,
        as_of: int | None = None,
    ) -> pa.Table:
        """The last `count` rows, of each partition if there are partition columns, with arrival numbers.

        Later means a larger time and, of equals, a later arrival. The rows come in no particular order.
        """

        def read(view: View) -> pa.Table:
            definition = view.definition
            names = _names(definition, columns, True)
            for name in _names(definition, partition_by, False):
                if not is_indexable(definition.file_schema().field(name).type):
                    raise UserError(f"rows can't be partitioned by {name}: values of its type have no order")
            bounds = view.bounds(as_of=as_of)
            blocks = [
                file_block(file, self._store.reader(file), self._store.indexes(file, partition_by))
                for file in bounds.files(view)
            ]
            blocks += [chunk_block(chunk) for chunk in view.chunks]
            schema = definition.file_schema()
            time = definition.time.name
            return last_rows(blocks, names, schema, time, count, partition_by, bounds.low, bounds.high)

        return self._retried(read)

    def late(self) -> pa.Table:
        """The rows that came too late, in the order of their arrival."""
        return self._retried(
            lambda view: self._store.side_rows("late", view.late, view.definition.arrow_schema())
        )

    def rejected(self) -> pa.Table:
        """The rows that did not parse or fit, in the order of their arrival."""
        return self._retried(lambda view: self._store.side_rows("rejected", view.rejected, REJECTED_SCHEMA))

    def explain(
        self,
        columns: Sequence[str] | None = None,
        predicate: Predicate | None = None,
        time_from: int | None = None,
        time_to: int | None = None,
        *,
        as_of: int | None = None,
    ) -> ScanReport:
        """What a scan would read and pass over."""

        def read(view: View) -> ScanReport:
            bounds = view.bounds(predicate, time_from, time_to, as_of=as_of)
            in_time = bounds.files(view)
            selection = Selection(_names(view.definition, columns, False), view.definition.file_schema())
            reports: list[FileReport] = []
            groups = 0
            used: dict[str, None] = {}
            by_value = 0
            for file in in_time:
                reader = self._store.reader(file)
                groups += len(reader.offsets) - 1
                indexes = self._store.indexes(file, bounds.columns)
                times = bounds.of_file(file)
                report = scan_file(reader, *times, bounds.predicate, indexes, selection, only_report=True)
                if report.index:
                    used.update(dict.fromkeys(report.index.split(", ")))
                if report.groups_read:
                    reports.append(report)
                elif report.rows_in_time:
                    by_value += 1
            skipped = [file for file in view.past.files if file not in set(in_time)]
            groups += sum(-(-file.rows // ROW_GROUP_ROWS) for file in skipped)
            return ScanReport(
                files=len(view.past.files),
                files_by_time=len(view.past.files) - len(reports) - by_value,
                files_by_value=by_value,
                files_read=len(reports),
                groups=groups,
                groups_read=sum(report.groups_read for report in reports),
                bytes=sum(file.size for file in view.past.files),
                bytes_read=sum(report.bytes_read for report in reports),
                log_rows=sum(chunk.table.num_rows for chunk in view.chunks),
                indexes=tuple(used),
            )

        return self._retried(read)

    def describe(self) -> TableFacts:
        """Rows, bytes, times and files of the table."""

        def read(view: View) -> TableFacts:
            bounds = view.bounds()
            low = bounds.low
            rows, oldest = 0, None
            for file in bounds.files(view):
                first, last = 0, file.rows
                least = file.t_min
                if low is not None and file.t_min < low:
                    reader = self._store.reader(file)
                    first, last = reader.rows_between(low, None)
                    least = reader.time_at(first) if first < last else file.t_max
                rows += last - first
                oldest = least if oldest is None else min(oldest, least)
            for chunk in view.chunks:
                times = chunk.times if low is None else chunk.times[chunk.times >= low]
                rows += len(times)
                if len(times):
                    oldest = int(times.min()) if oldest is None else min(oldest, int(times.min()))
            return TableFacts(
                rows=rows,
                accepted=view.progress.next_seq,
                bytes=sum(file.size for file in view.past.files) + view.log_bytes,
                oldest=oldest,
                newest=view.progress.newest,
                closed=view.progress.closed(view.definition.slack),
                ended=view.progress.ended,
                late=view.progress.late_total,
                rejected=view.progress.rejected_total,
                compartments=len({file.compartment for file in view.past.files}),
                files=len(view.past.files),
                log_rows=sum(chunk.table.num_rows for chunk in view.chunks),
                log_bytes=view.log_bytes,
                indexes=tuple(index.name for index in view.definition.indexes),
                past_version=view.past.version,
            )

        return self._retried(read)

    def _may_match(self, file: DataFile, predicate: CompiledPredicate | None) -> bool:
        if predicate is None:
            return True
        indexes = self._store.indexes(file, predicate.columns)
        return any(
            all(len(slots) for _, slots, _ in index_reads(group, indexes)) for group in predicate.groups
        )

    def _retried(self, read: Callable[[View], _Result]) -> _Result:
        for _ in range(_RETRIES):
            view = self._view
            try:
                return read(view)
            except FileNotFoundError as missing:
                fresh = self._store.snapshot()._view
                path = Path(str(missing.filename)) if missing.filename else self._store.folder
                names = {self._store.data_path(file) for file in fresh.past.files}
                if fresh.past.version == view.past.version or path in names:
                    raise DamagedTableError(path, "is missing") from missing
                self._view = fresh
        raise UserError(f"{self._store.folder}: files were removed faster than they could be read; retry")


def _names(definition: TableDefinition, columns: Sequence[str] | None, with_seq: bool) -> list[str]:
    known = definition.arrow_schema().names
    names = list(known if columns is None else columns)
    unknown = [name for name in names if name not in known and name != SEQ]
    if unknown:
        raise UserError(f"table {definition.name} has no column {unknown[0]}")
    return [*names, SEQ] if with_seq and SEQ not in names else names


def read_side_file(path: Path) -> pa.Table:
    """A file of late or rejected rows."""
    try:
        return pq.ParquetFile(path, page_checksum_verification=True).read()
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError) as failure:
        raise DamagedTableError(path, f"can't be read ({failure})") from failure
