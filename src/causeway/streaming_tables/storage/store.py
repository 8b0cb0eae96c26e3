"""A table's folder: made, opened and read by any process."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from causeway.runtime.errors import UserError
from causeway.runtime.lock import FolderLock
from causeway.runtime.output_folder import (
    UNFINISHED,
    begin_folder,
    finish_folder,
    remove_unfinished,
    write_json,
)
from causeway.streaming_tables.storage.definition import (
    COMPARTMENT,
    REJECTED_SCHEMA,
    TableDefinition,
    definition_file,
)
from causeway.streaming_tables.storage.errors import DamagedTableError, refusal
from causeway.streaming_tables.storage.log.arrival_log import (
    ArrivalLog,
    SegmentGoneError,
    make_segment,
    sync_folder,
)
from causeway.streaming_tables.storage.log.frames import Progress
from causeway.streaming_tables.storage.log.log_state import DROPPED, LogState, StateFile
from causeway.streaming_tables.storage.past.column_reader import DataFileReader, column_cache
from causeway.streaming_tables.storage.past.data_files import DataFile
from causeway.streaming_tables.storage.past.delta_table import (
    DeltaFolder,
    PastVersion,
    create_delta,
    past_version,
)
from causeway.streaming_tables.storage.past.value_index import ValueIndex, index_file
from causeway.streaming_tables.storage.reads.snapshot import Snapshot, read_side_file
from causeway.streaming_tables.storage.reads.view import View
from causeway.streaming_tables.storage.writer import FLUSH_BYTES, FLUSH_FRAMES, FLUSH_ROWS, TableWriter

__all__ = ["TableStore"]

_LOCK_FILE: Final = ".writer"
_RETRIES: Final = 100


class TableStore:
    """A table's folder, for readers and writers. Cheap to keep open; thread-safe.

    A snapshot is of (version of the past, end of the log). The state file tells both; the past's own log mark
    tells which frames of the log are in it, so each row is in exactly one of the two.
    """

    def __init__(self, folder: Path) -> None:
        """Use `create` or `open`."""
        self.folder = folder
        self.lock = threading.RLock()
        self._definition = _load_definition(folder)
        self.log = ArrivalLog(folder / "log", self._definition.time.name)
        self.past_delta = DeltaFolder(folder / "past", [COMPARTMENT])
        self._past: PastVersion = past_version(self.past_delta, self._definition)
        self._side: dict[str, DeltaFolder] = {}
        self._side_tables: dict[str, tuple[int, pa.Table]] = {}
        self._readers: dict[str, DataFileReader] = {}
        self._indexes: dict[tuple[str, str], ValueIndex | None] = {}
        self._state_file: StateFile | None = None

    @classmethod
    def create(cls, folder: Path, definition: TableDefinition) -> TableStore:
        """Make a table; refuses a folder that has something else in it."""
        if definition_file(folder).exists():
            raise UserError(f"table {definition.name} exists already in {folder}")
        begin_folder(folder)
        try:
            for name in ("log", "past", "late", "rejected", "index"):
                (folder / name).mkdir()
            schema = definition.file_schema().append(pa.field(COMPARTMENT, pa.int64()))
            create_delta(folder / "past", schema, [COMPARTMENT])
            create_delta(folder / "late", definition.arrow_schema())
            create_delta(folder / "rejected", REJECTED_SCHEMA)
            log = ArrivalLog(folder / "log", definition.time.name)
            size = make_segment(log.folder, log.path(0), Progress())
            state = StateFile(folder / "log" / "state", writable=True)
            state.write(LogState(0, 0, size, 0, 0, definition.generation, b""))
            state.close()
            write_json(definition_file(folder), definition.to_json())
            finish_folder(folder)
            sync_folder(folder)
            sync_folder(folder.parent)
        except OSError as failure:
            raise refusal(folder, failure) from failure
        return cls(folder)

    @classmethod
    def open(cls, folder: Path) -> TableStore:
        """Open a table for reading; `writer` makes it one for writing."""
        return cls(folder)

    @staticmethod
    def is_at(folder: Path) -> bool:
        """Whether a folder has a table, and not one that is being made or removed, or was half so."""
        return definition_file(folder).exists() or (folder.is_dir() and not (folder / UNFINISHED).exists())

    @property
    def was_dropped(self) -> bool:
        """Whether any process has dropped the table, even if there is another one in the folder by now."""
        with self.lock:
            state = self.state()
        return state is not None and state.generation == DROPPED

    @property
    def definition(self) -> TableDefinition:
        """The table's definition, as it is now."""
        with self.lock:
            state = self.state()
            if state and state.generation not in (self._definition.generation, DROPPED):
                self._definition = _load_definition(self.folder)
            return self._definition

    def state(self) -> LogState | None:
        """The acknowledged end of the log; None if it can't be told without reading the log."""
        if self._state_file is None:
            try:
                self._state_file = StateFile(self.folder / "log" / "state")
            except (FileNotFoundError, ValueError):
                return None
        state = self._state_file.read()
        return state if state and state.is_of_this_boot else None

    def snapshot(self) -> Snapshot:
        """One consistent view, with all rows that were acknowledged before this call."""
        with self.lock:
            return Snapshot(self, self._view())

    def _view(self) -> View:
        gone: SegmentGoneError | None = None
        for _ in range(_RETRIES):
            state = self.state()
            if state is not None and state.generation == DROPPED:
                break
            if state is None or state.past_version != self._past.version or gone is not None:
                self.follow_past(state.past_version if state else 0)
            definition = self.definition
            if state is not None and self._past.log_mark > state.frames:
                continue
            try:
                self.log.read(self._past.log_mark, state)
            except SegmentGoneError as failure:
                gone = failure
                if not self.folder.exists():
                    break
                continue
            tails = [
                tail for first, tail in sorted(self.log.segments.items()) if first >= self._past.log_mark
            ]
            return View(
                definition,
                self.log.progress,
                self._past,
                tuple(chunk for tail in tails for chunk in tail.chunks),
                tuple(part for tail in tails for part in tail.late),
                tuple(part for tail in tails for part in tail.rejected),
                self.log.bytes_since(self._past.log_mark),
            )
        if not definition_file(self.folder).exists():
            raise UserError(f"{self.folder}: the table was dropped")
        raise DamagedTableError(Path(str(gone)) if gone else self.folder / "log", "is missing")

    def follow_past(self, at_least: int = 0) -> None:
        """Take the newest version of the past."""
        self.past_delta.update(at_least)
        if self.past_delta.version != self._past.version:
            self.take_past(past_version(self.past_delta, self._definition))

    def take_past(self, fresh: PastVersion) -> None:
        """Use a newer version of the past; what is kept of files that are not in it is let go."""
        with self.lock:
            self._past = fresh
            paths = {file.path for file in fresh.files}
            for path in [path for path in self._readers if path not in paths]:
                self._readers.pop(path)
                column_cache.forget(str(self.folder / "past" / path))
            for key in [key for key in self._indexes if key[0] not in paths]:
                self._indexes.pop(key)

    @property
    def past(self) -> PastVersion:
        """The version of the past that was read last."""
        return self._past

    def data_path(self, file: DataFile) -> Path:
        """Where a data file is."""
        return self.folder / "past" / file.path

    def reader(self, file: DataFile) -> DataFileReader:
        """The reader of a data file. FileNotFoundError if it has gone."""
        reader = self._readers.get(file.path)
        if reader is None:
            reader = DataFileReader(self.data_path(file), file.rows, self._definition.time.name)
            with self.lock:
                self._readers[file.path] = reader
        return reader

    def indexes(self, file: DataFile, columns: Sequence[str]) -> dict[str, ValueIndex]:
        """The value indexes of a data file on those of `columns` that have one."""
        found: dict[str, ValueIndex] = {}
        for column in columns:
            if column not in self._definition.indexed_columns:
                continue
            key = file.path, column
            if key not in self._indexes:
                try:
                    index = ValueIndex(index_file(self.folder, column, file.path))
                except FileNotFoundError:
                    continue  # rows are found without it, too
                with self.lock:
                    self._indexes[key] = index
            known = self._indexes.get(key)
            if known is not None:
                found[column] = known
        return found

    def forget_index(self, column: str) -> None:
        """Let go of the indexes on a column."""
        with self.lock:
            self._indexes = {key: index for key, index in self._indexes.items() if key[1] != column}

    def side(self, name: str) -> DeltaFolder:
        """The Delta table with late or rejected rows."""
        with self.lock:
            if name not in self._side:
                self._side[name] = DeltaFolder(self.folder / name)
            return self._side[name]

    def side_rows(self, name: str, tail: Sequence[tuple[int, pa.Table]], schema: pa.Schema) -> pa.Table:
        """Late or rejected rows: those that moved out of the log, and `tail`."""
        with self.lock:
            delta = self.side(name)
            delta.update()
            known = self._side_tables.get(name)
            if known is None or known[0] != delta.version:
                actions = delta.actions()
                paths = sorted(actions.column("path").to_pylist()) if actions.num_rows else []
                tables = [read_side_file(delta.folder / path).select(schema.names) for path in paths]
                stored = pa.concat_tables([schema.empty_table(), *tables])
                known = delta.version, stored
                self._side_tables[name] = known
            rest = [table for frame, table in tail if frame >= delta.log_mark]
            return pa.concat_tables([known[1], *rest])

    def writer(
        self,
        command: str,
        *,
        flush_rows: int = FLUSH_ROWS,
        flush_bytes: int = FLUSH_BYTES,
        flush_frames: int = FLUSH_FRAMES,
    ) -> TableWriter:
        """Become the table's writer; UserError names the one that there is.

        The log moves to the past, in the background, when it has that many rows, bytes or frames.
        """
        lease = FolderLock(self.folder, command, lock_file=self.folder / _LOCK_FILE)
        return TableWriter(
            self, lease, flush_rows=flush_rows, flush_bytes=flush_bytes, flush_frames=flush_frames
        )

    def writer_description(self) -> str | None:
        """The process that writes to the table now; None if there is none."""
        try:
            holder: dict[str, Any] = json.loads((self.folder / _LOCK_FILE).read_text())
            os.kill(int(holder["pid"]), 0)
            return f"process {holder['pid']} ({holder['command']}) since {holder['started']}"
        except PermissionError:
            return f"process {holder['pid']} ({holder['command']}) since {holder['started']}"
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def drop(self) -> None:
        """Remove the table with all its rows; refused while another process writes to it."""
        with FolderLock(self.folder, "DROP", lock_file=self.folder / _LOCK_FILE), self.lock:
            # With this marker, a removal that is broken off can be gone over by the next CREATE.
            (self.folder / UNFINISHED).write_text("This table was dropped. The folder may be removed.\n")
            definition_file(self.folder).unlink(missing_ok=True)
            state_file = StateFile(self.folder / "log" / "state", writable=True)
            state_file.write(LogState(0, 0, 0, 0, 0, DROPPED, b""))
            state_file.close()
            for path in list(self._readers):
                column_cache.forget(str(self.folder / "past" / path))
            self._readers.clear()
            self._indexes.clear()
        remove_unfinished(self.folder)

    def set_definition(self, definition: TableDefinition) -> None:
        """Replace the definition durably; the writer then tells it by the state file."""
        with self.lock:
            write_json(definition_file(self.folder), definition.to_json())
            sync_folder(self.folder)
            self._definition = definition


def _load_definition(folder: Path) -> TableDefinition:
    path = definition_file(folder)
    try:
        return TableDefinition.from_json(json.loads(path.read_text()))
    except FileNotFoundError:
        raise UserError(f"{folder} has no streaming table: {path.name} is missing") from None
    except (ValueError, KeyError, TypeError) as failure:
        raise DamagedTableError(path, f"can't be read ({failure})") from failure
