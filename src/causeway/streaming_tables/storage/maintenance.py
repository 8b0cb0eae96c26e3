"""The writer's housekeeping: flushes, merges, expiry, deletions, replacements and indexes.

Each change of the past is one Delta commit. What it added is on disk before, what it took out is removed
after, so a crash between two steps leaves files that no version names, and nothing else. The next writer
removes them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.runtime.errors import UserError
from causeway.streaming_tables.storage.column_types import type_text
from causeway.streaming_tables.storage.definition import COMPARTMENT, SEQ, IndexDefinition, TableDefinition
from causeway.streaming_tables.storage.errors import refusal
from causeway.streaming_tables.storage.log.arrival_log import sync_folder
from causeway.streaming_tables.storage.log.tail import SegmentTail, times_of
from causeway.streaming_tables.storage.past.data_files import (
    DataFile,
    FlushTask,
    compartments_of,
    in_file_order,
    is_data_file,
    remove_data_file,
    write_data_file,
    write_parquet,
    write_sorted,
)
from causeway.streaming_tables.storage.past.delta_table import (
    DeltaFolder,
    add_action,
    plain_add_action,
    remove_action,
)
from causeway.streaming_tables.storage.past.rewriting import (
    build_index,
    groups_to_merge,
    holding,
    read_rows,
    with_values,
    without,
)
from causeway.streaming_tables.storage.past.value_index import is_indexable

if TYPE_CHECKING:
    from causeway.streaming_tables.storage.writer import TableWriter

__all__ = ["Maintenance"]

Run = Callable[[Callable[[int], Any], int], list[Any]]
OLD_FILES_KEPT: Final = 60.0
"""Seconds for which files that a merge or an expiry took out stay, for reads that are under way."""


def reached(step: str) -> None:
    """Called before each step of a change; tests replace it to end a change there."""


def _run_here(function: Callable[[int], Any], count: int) -> list[Any]:
    return [function(number) for number in range(count)]


class Maintenance:
    """Changes of a table's past. One at a time; appends go on meanwhile."""

    def __init__(self, writer: TableWriter) -> None:
        """Belongs to one writer."""
        self._writer = writer
        self._store = writer.store
        self._lock = threading.RLock()
        self._delta = DeltaFolder(writer.store.folder / "past", [COMPARTMENT])
        self._old: list[tuple[float, DataFile]] = []

    def flush(self, run: Run | None) -> None:
        """Move all complete segments of the log to the past."""
        with self._lock:
            self._adopt_commits()
            reached("roll")
            store = self._store
            progress = self._writer.roll()
            end = progress.frames
            with store.lock:
                begin = store.past.log_mark
                tails = [(first, tail) for first, tail in sorted(store.log.segments.items()) if first < end]
            if begin == end:
                self._remove_segments(end)
                return
            for name in ("late", "rejected"):
                self._flush_side(name, [tail for _, tail in tails], end)
            files = self._write_rows([tail for _, tail in tails], begin, end, run)
            self._commit(files, [], end, progress.sources)
            self._remove_segments(end)
            self._merge()
            self._remove_old()

    def _remove_segments(self, end: int) -> None:
        reached("remove segments")
        log = self._store.log
        for first in log.segments_on_disk():
            if first < end:
                log.path(first).unlink(missing_ok=True)

    def _write_rows(
        self, tails: Sequence[SegmentTail], begin: int, end: int, run: Run | None
    ) -> list[DataFile]:
        definition = self._store.definition
        chunks = [chunk for tail in tails for chunk in tail.chunks]
        if not chunks:
            return []
        times = np.concatenate([chunk.times for chunk in chunks])
        compartments = tuple(np.unique(compartments_of(times, definition.compartment)).tolist())
        rows = pa.concat_tables([chunk.table for chunk in chunks]) if run is None else None
        task = FlushTask(self._store.folder, definition, end, compartments, (begin, end), rows)
        reached("write files")
        files: list[DataFile] = (run or _run_here)(partial(write_data_file, task), len(compartments))
        return files

    def _flush_side(self, name: str, tails: Sequence[SegmentTail], end: int) -> None:
        """Move late or rejected rows to their Delta table; it has its own mark, so it is done once."""
        with self._store.lock:
            delta = self._store.side(name)
            delta.update()
            mark = delta.log_mark
        parts = [part for tail in tails for part in (tail.late if name == "late" else tail.rejected)]
        tables = [table for frame, table in parts if frame >= mark]
        if not tables:
            return
        reached(f"write {name}")
        rows = pa.concat_tables(tables).combine_chunks()
        try:
            path = write_parquet(delta.folder, end, rows)
            sync_folder(delta.folder)
        except OSError as failure:
            raise refusal(delta.folder, failure) from failure
        reached(f"commit {name}")
        with self._store.lock:
            delta.commit([plain_add_action(path.name, path.stat().st_size, rows.num_rows)], [], end)

    def _commit(
        self,
        add: Sequence[DataFile],
        remove: Sequence[DataFile],
        log_mark: int | None = None,
        sources: Mapping[str, int] | None = None,
        *,
        data_change: bool = True,
        changes: int | None = None,
    ) -> None:
        """One commit to the past, told to all readers."""
        store = self._store
        reached("commit")
        definition = store.definition
        mark = store.past.log_mark if log_mark is None else log_mark
        try:
            self._delta.commit(
                [add_action(file, definition.time, data_change=data_change) for file in add],
                [remove_action(file, data_change=data_change) for file in remove],
                mark,
                sources,
                changes=changes,
            )
        except BaseException:
            self._adopt_commits()
            if not {file.path for file in store.past.files}.issuperset(file.path for file in add):
                for file in add:
                    remove_data_file(store.folder, file.path, definition.indexed_columns)
            raise
        reached("tell state")
        self._adopt_commits()

    def _adopt_commits(self) -> None:
        """Tell all readers of the newest version of the past.

        After an error between a commit and this step, it is the first thing of the next change: otherwise
        the same rows would move to the past again.
        """
        store = self._store
        with store.lock:
            self._delta.update()
            if self._delta.version != store.past.version:
                store.follow_past()
                store.log.forget_before(store.past.log_mark)
                self._writer.tell_state()

    def remove_leftovers(self) -> None:
        """Remove files of killed writers: segments that are in the past, data files that no version names."""
        store = self._store
        with self._lock, store.lock:
            for first in store.log.segments_on_disk():
                if first < store.past.log_mark:
                    store.log.path(first).unlink(missing_ok=True)
            for fresh in store.log.folder.glob("*.new"):
                fresh.unlink(missing_ok=True)
            named = {file.path for file in store.past.files}
            stems = {Path(path).stem for path in named}
            past = store.folder / "past"
            for path in past.glob("*/causeway-*"):
                if is_data_file(path.name) and f"{path.parent.name}/{path.name}" not in named:
                    path.unlink(missing_ok=True)
            for path in (store.folder / "index").glob("*/causeway-*"):
                indexed = path.parent.name in store.definition.indexed_columns
                if path.stem not in stems or not indexed or path.suffix == ".new":
                    path.unlink(missing_ok=True)
            for name in ("late", "rejected"):
                delta = store.side(name)
                delta.update()
                actions = delta.actions()
                kept = set(actions.column("path").to_pylist()) if actions.num_rows else set()
                for path in delta.folder.glob("causeway-*"):
                    if is_data_file(path.name) and path.name not in kept:
                        path.unlink(missing_ok=True)

    def _remove_old(self, *, now: bool = False) -> None:
        """Remove files that were taken out some time ago."""
        limit = time.monotonic() - (0 if now else OLD_FILES_KEPT)
        due = [file for moment, file in self._old if moment <= limit]
        self._old = [(moment, file) for moment, file in self._old if moment > limit]
        for file in due:
            remove_data_file(self._store.folder, file.path, self._store.definition.indexed_columns)

    def _merge(self) -> None:
        """Merge small files of compartments that have closed, a commit for each new file."""
        store, definition = self._store, self._store.definition
        with store.lock:
            closed = store.log.progress.closed(definition.slack)
            groups = groups_to_merge(store.past.files, closed, definition)
        for group in groups:
            reached("merge")
            rows = pa.concat_tables([read_rows(store.data_path(file)) for file in group])
            rows = in_file_order(rows, definition.time.name)
            number = store.past.log_mark
            merged = write_sorted(store.folder, definition, number, group[0].compartment, rows)
            self._commit([merged], group, data_change=False)
            self._old += [(time.monotonic(), file) for file in group]

    def drop_expired(self, keep_from: int | None) -> int:
        """Drop the data files of compartments that have expired, in one commit."""
        with self._lock:
            self._adopt_commits()
            store, definition = self._store, self._store.definition
            with store.lock:
                oldest = definition.oldest_kept(store.log.progress.newest)
                files = store.past.files
            if oldest is None:
                return 0
            limit = oldest if keep_from is None else min(oldest, keep_from)
            expired = [file for file in files if file.compartment + definition.compartment <= limit]
            if expired:
                self._commit([], expired)
                self._old += [(time.monotonic(), file) for file in expired]
            self._remove_old()
            return len(expired)

    def delete(self, seqs: NDArray[np.int64]) -> int:
        """Take rows out of the files that hold them, in one commit, and remove the old files at once."""
        with self._lock:
            self.flush(None)
            seqs = np.unique(seqs)
            return self._rewrite(seqs, lambda rows: without(rows, seqs))

    def replace(self, values: pa.Table) -> int:
        """Put other values into the files that hold the rows, in one commit."""
        with self._lock:
            definition = self._store.definition
            schema = definition.file_schema()
            if set(values.schema.names) != set(schema.names):
                raise UserError(f"rows to replace in {definition.name} need the columns {schema.names}")
            values = values.select(schema.names)
            if values.schema.types != schema.types:
                raise UserError(f"rows to replace in {definition.name} need the types {schema.types}")
            values = values.cast(schema)
            seqs = np.unique(times_of(values.column(SEQ)))
            if len(seqs) != values.num_rows:
                raise UserError(f"rows to replace in {definition.name} name a row twice")
            self.flush(None)
            return self._rewrite(seqs, lambda rows: with_values(rows, values, definition))

    def _rewrite(self, seqs: NDArray[np.int64], change: Callable[[pa.Table], pa.Table]) -> int:
        store, definition = self._store, self._store.definition
        files = holding(store.folder / "past", store.past.files, seqs)
        fresh: list[DataFile] = []
        count = 0
        try:
            for file in files:
                reached("rewrite")
                before = read_rows(store.data_path(file))
                count += int(np.isin(seqs, times_of(before.column(SEQ))).sum())
                after = change(before)
                if after.num_rows:
                    number = store.past.log_mark
                    fresh.append(write_sorted(store.folder, definition, number, file.compartment, after))
        except Exception:
            for written in fresh:
                remove_data_file(store.folder, written.path, definition.indexed_columns)
            raise
        if files:
            self._commit(fresh, files, changes=self._delta.changes + 1)
            self._old += [(time.monotonic(), file) for file in files]
        reached("remove files")
        # Old files hold what is to be gone, those that an earlier merge took out too.
        self._remove_old(now=True)
        return count

    def add_index(self, index: IndexDefinition, run: Run | None) -> None:
        """Build the sidecars of all data files, then make the index part of the definition."""
        with self._lock:
            self._adopt_commits()
            store, definition = self._store, self._store.definition
            if index.name.lower() in [one.name.lower() for one in definition.indexes]:
                raise UserError(f"table {definition.name} has an index {index.name} already")
            changed = definition.with_indexes((*definition.indexes, index))
            kind = definition.arrow_schema().field(index.column).type
            if not is_indexable(kind):
                raise UserError(f"a column of type {type_text(kind)} can't have an index: {index.column}")
            if index.column not in definition.indexed_columns:
                files = [file.path for file in store.past.files]
                reached("build index")
                task = partial(build_index, store.folder, index.column, files)
                (run or _run_here)(task, len(files))
            reached("index definition")
            self._define(changed)

    def drop_index(self, name: str) -> None:
        """Take the index out of the definition, then remove its sidecars."""
        with self._lock:
            store, definition = self._store, self._store.definition
            kept = tuple(one for one in definition.indexes if one.name.lower() != name.lower())
            if len(kept) == len(definition.indexes):
                raise UserError(f"table {definition.name} has no index {name}")
            changed = definition.with_indexes(kept)
            self._define(changed)
            for column in set(definition.indexed_columns) - set(changed.indexed_columns):
                store.forget_index(column)
                for path in (store.folder / "index" / column).glob("causeway-*"):
                    path.unlink(missing_ok=True)

    def _define(self, definition: TableDefinition) -> None:
        store = self._store
        with store.lock:
            store.set_definition(definition)
            self._writer.tell_state()
