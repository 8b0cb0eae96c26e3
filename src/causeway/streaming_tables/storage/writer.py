"""The one writer of a table: takes rows, and moves them from the log to the past."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.runtime.errors import UserError
from causeway.runtime.lock import FolderLock
from causeway.streaming_tables.storage.definition import (
    LONGEST,
    REJECTED_SCHEMA,
    IndexDefinition,
    TableDefinition,
)
from causeway.streaming_tables.storage.errors import DamagedTableError
from causeway.streaming_tables.storage.log.arrival_log import LogWriter, SegmentGoneError
from causeway.streaming_tables.storage.log.frames import Progress
from causeway.streaming_tables.storage.log.log_state import LogState, StateFile
from causeway.streaming_tables.storage.log.tail import times_of
from causeway.streaming_tables.storage.maintenance import Maintenance

if TYPE_CHECKING:
    from causeway.streaming_tables.storage.store import TableStore

__all__ = ["FLUSH_BYTES", "FLUSH_FRAMES", "FLUSH_ROWS", "Appended", "TableWriter", "refuse_far_times"]

FLUSH_ROWS: Final = 1_000_000
FLUSH_BYTES: Final = 64 << 20
FLUSH_FRAMES: Final = 20_000
"""The log moves to the past when it has this many rows, bytes or frames."""
_LOGS_AHEAD: Final = 4
"""Appends wait for a flush when the log has this many times what a flush takes."""

Run = Callable[[Callable[[int], Any], int], list[Any]]


@dataclass(frozen=True)
class Appended:
    """What became of the rows of an append, and the table's time after it."""

    accepted: int
    late: int
    rejected: int
    repeated: bool
    newest: int | None
    closed: int | None


class TableWriter:
    """The one writer of a table. Thread-safe; a context manager.

    When `append` returns, its rows are on disk and every later read in any process has them.
    """

    def __init__(
        self,
        store: TableStore,
        lease: FolderLock,
        *,
        flush_rows: int = FLUSH_ROWS,
        flush_bytes: int = FLUSH_BYTES,
        flush_frames: int = FLUSH_FRAMES,
    ) -> None:
        """Takes the lease and recovers what a killed writer left; see `TableStore.writer`."""
        self.store = store
        self.flush_rows, self.flush_bytes, self.flush_frames = flush_rows, flush_bytes, flush_frames
        self.on_change: Callable[[], None] | None = None
        """Called after every addition to the log, when readers see it."""
        self._lease = lease
        lease.acquire()
        try:
            self._state_file = StateFile(store.folder / "log" / "state", writable=True)
            self._recover()
        except BaseException:
            lease.release()
            raise
        self._maintenance = Maintenance(self)
        self._closed = False
        self._appending = threading.Lock()
        self._background: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._maintenance.remove_leftovers()

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _recover(self) -> None:
        """Read the log to its end, cut off what lies behind it, and tell the state.

        The end is that of the last acknowledged frame: a frame that no reader has seen must not appear when a
        user has looked for its rows and appended them again. After a power loss nobody knows what was
        acknowledged; then the end is that of the last whole frame, which readers see, too.
        """
        store = self.store
        with store.lock:
            known = self._state_file.read()
            trusted = known is not None and known.is_of_this_boot
            store.follow_past()
            log = store.log
            try:
                log.read(store.past.log_mark, known, allow_torn=not trusted)
            except SegmentGoneError as gone:
                raise DamagedTableError(log.path(store.past.log_mark), "is missing") from gone
            if known and log.progress.frames < known.frames:
                raise DamagedTableError(log.path(log.segment), "ends before the rows that were acknowledged")
            for segment in log.segments_on_disk():
                if segment > log.segment:
                    log.path(segment).unlink()
            self._log_writer = LogWriter(log)
            self.tell_state()

    def tell_state(self) -> None:
        """Let all readers see the log up to its end, and the newest version of the past."""
        store = self.store
        with store.lock:
            log = store.log
            self._state_file.write(
                LogState(
                    0,
                    log.segment,
                    log.size,
                    log.progress.frames,
                    store.past.version,
                    store._definition.generation,
                    b"",
                )
            )

    def roll(self) -> Progress:
        """Begin a new segment; returns the progress there. Readers do not wait while it is made durable."""
        with self._appending:
            size = self._log_writer.make_next()
            with self.store.lock:
                if size is not None:
                    self._log_writer.go_on_in_next(size)
                    self.tell_state()
                return self.store.log.progress

    def append(
        self,
        rows: pa.Table,
        *,
        rejected: pa.Table | None = None,
        source: str | None = None,
        batch: int | None = None,
        advance_to: int | None = None,
        closed_to: int | None = None,
    ) -> Appended:
        """Take rows, durably and at once visible; those that are too late go to the late rows.

        `rows` has the definition's Arrow schema, `rejected` has REJECTED_SCHEMA. A batch of a source that was
        taken before changes nothing. No more rows of times up to `closed_to` can come after them;
        `advance_to` says the same and makes it the table's time.
        """
        with self._appending:
            self._refuse_if_closed()
            definition = self.store.definition
            progress = self.store.log.progress
            if (source is None) != (batch is None):
                raise ValueError("a source and its batch go together")
            if source is not None and batch is not None and progress.sources.get(source, -1) >= batch:
                return Appended(0, 0, 0, True, progress.newest, progress.closed(definition.slack))
            rows = _checked(rows, definition.arrow_schema(), definition.name)
            times = times_of(rows.column(definition.time.name))
            refuse_far_times(times, definition)
            late = _late_rows(times, progress.newest, progress.floor, definition.slack)
            tables = {"rows": rows}
            if late is not None:
                tables = {"rows": rows.filter(pa.array(~late)), "late": rows.filter(pa.array(late))}
            if rejected is not None and rejected.num_rows:
                tables["rejected"] = _checked(rejected, REJECTED_SCHEMA, f"{definition.name}__rejected")
            counts = {name: table.num_rows for name, table in tables.items()}
            newest = _largest(progress.newest, int(times.max()) if len(times) else None, advance_to)
            floor = _largest(progress.floor, advance_to, closed_to)
            if (
                not any(counts.values())
                and source is None
                and (newest, floor) == (progress.newest, progress.floor)
            ):
                return Appended(0, 0, 0, False, newest, progress.closed(definition.slack))
            changes = {
                "next_seq": progress.next_seq + counts["rows"],
                "newest": newest,
                "floor": floor,
                "ended": progress.ended and not counts["rows"],
                "late_total": progress.late_total + counts.get("late", 0),
                "rejected_total": progress.rejected_total + counts.get("rejected", 0),
            }
            self._write(
                changes, {name: table for name, table in tables.items() if table.num_rows}, source, batch
            )
            closed = self.store.log.progress.closed(definition.slack)
        self._flush_if_large()
        return Appended(
            counts["rows"], counts.get("late", 0), counts.get("rejected", 0), False, newest, closed
        )

    def _write(
        self, changes: dict[str, Any], tables: dict[str, pa.Table], source: str | None, batch: int | None
    ) -> None:
        frame = self._log_writer.append({**changes, "wall_time": time.time()}, tables, source, batch)
        with self.store.lock:
            self.store.log.take(frame)
            self.tell_state()
        if self.on_change is not None:
            self.on_change()

    def last_batch(self, source: str) -> int | None:
        """The number of the last batch of a source that was taken."""
        with self.store.lock:
            return self.store.log.progress.sources.get(source)

    def close_time(self) -> None:
        """All sources have ended: no more rows up to the newest time can come."""
        with self._appending:
            self._refuse_if_closed()
            progress = self.store.log.progress
            floor = _largest(progress.floor, progress.newest)
            if progress.ended and floor == progress.floor:
                return
            self._write({"floor": floor, "ended": True}, {}, None, None)

    def flush(self, run: Run | None = None, *, everything: bool = True) -> None:
        """Move the log to the past; all of it, or only if it is large. `run` calls a function in parallel."""
        self._refuse_if_closed()
        if everything or self._is_large():
            self._maintenance.flush(run)

    def drop_expired(self, keep_from: int | None = None) -> int:
        """Drop compartments that lie wholly before the historical period and before `keep_from`.

        Returns the number of data files dropped, in one commit.
        """
        self._refuse_if_closed()
        return self._maintenance.drop_expired(keep_from)

    def add_index(self, index: IndexDefinition, run: Run | None = None) -> None:
        """Make a value index, over the past and all later rows."""
        self._refuse_if_closed()
        self._maintenance.add_index(index, run)

    def drop_index(self, name: str) -> None:
        """Remove a value index."""
        self._refuse_if_closed()
        self._maintenance.drop_index(name)

    def delete(self, seqs: NDArray[np.int64]) -> int:
        """Remove rows by their arrival numbers from memory and disk; returns how many there were."""
        self._refuse_if_closed()
        return self._maintenance.delete(np.asarray(seqs, np.int64))

    def replace(self, rows: pa.Table) -> int:
        """Give rows, named by their arrival numbers, other values; their times stay. Returns how many."""
        self._refuse_if_closed()
        return self._maintenance.replace(rows)

    def close(self) -> None:
        """Wait for work in the background, then give the lease back. Rows in the log stay there."""
        with self._appending:
            if self._closed:
                return
            self._closed = True
        if self._background is not None:
            self._background.join()
        self._log_writer.close()
        self._state_file.close()
        self._lease.release()

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise UserError(f"table {self.store._definition.name}: this writer is closed")

    def _is_large(self, times: int = 1) -> bool:
        with self.store.lock:
            tails = list(self.store.log.segments.values())
        return (
            sum(tail.rows for tail in tails) >= times * self.flush_rows
            or sum(tail.bytes for tail in tails) >= times * self.flush_bytes
            or sum(tail.frames for tail in tails) >= times * self.flush_frames
        )

    def _flush_if_large(self) -> None:
        if not self._is_large():
            return
        background = self._background
        if background is not None and background.is_alive():
            if self._is_large(_LOGS_AHEAD):
                background.join()
            return
        failure, self._failure = self._failure, None
        if failure is not None and self._is_large(_LOGS_AHEAD):
            # The rows of this append are safe in the log; what must not go on unseen is that it only grows.
            raise UserError(
                f"table {self.store._definition.name}: rows can't be moved out of the log: {failure}"
            ) from failure
        self._background = threading.Thread(target=self._flush_quietly, name="causeway-flush", daemon=True)
        self._background.start()

    def _flush_quietly(self) -> None:
        try:
            self._maintenance.flush(None)
        except BaseException as failure:
            self._failure = failure


def _late_rows(
    times: NDArray[np.int64], newest: int | None, floor: int | None, slack: int
) -> NDArray[np.bool_] | None:
    """Which rows are late, whatever the cuts of batches; None if no row is."""
    if not len(times):
        return None
    slack = min(slack, LONGEST)
    before = np.maximum.accumulate(times)
    late = np.zeros(len(times), np.bool_)
    late[1:] = times[1:] < before[:-1] - slack
    if newest is not None:
        late |= times < newest - slack
    if floor is not None:
        late |= times <= floor
    return late if late.any() else None


def refuse_far_times(times: NDArray[np.int64], definition: TableDefinition) -> None:
    """Raise a UserError for a time that no row can have."""
    earliest, latest = definition.time.limits
    if len(times) and (times.min() < earliest or times.max() > latest):
        raise UserError(
            f"a row for {definition.name} has a {definition.time.name} that is too early or too late: "
            f"from {earliest} to {latest} are possible"
            + ("" if definition.time.kind == "seconds" else " (microseconds since 1970: years 1 to 9999)")
        )


def _largest(*values: int | None) -> int | None:
    return max((value for value in values if value is not None), default=None)


def _checked(rows: pa.Table, schema: pa.Schema, name: str) -> pa.Table:
    if not rows.schema.equals(schema):
        if rows.schema.names != schema.names or rows.schema.types != schema.types:
            raise UserError(
                f"rows for {name} need the columns {_columns(schema)}, not {_columns(rows.schema)}"
            )
        rows = rows.cast(schema)
    time = rows.column(rows.num_columns - 1)
    if schema is not REJECTED_SCHEMA and time.null_count:
        raise UserError(f"a row for {name} has no {schema.names[-1]}")
    return rows.combine_chunks()


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)
