"""The writer's housekeeping: flushes, merges, expiry, deletions, replacements and indexes.

Each change of the past is one Delta commit. What it added is on disk before, what it took out is removed
after, so a crash between two steps leaves files that no version names, and nothing else. The next writer
removes them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from causeway.streaming_tables.storage.arrival_log import sync_folder
from causeway.streaming_tables.storage.data_files import (
    DataFile,
    FlushTask,
    compartments_of,
    is_data_file,
    remove_data_file,
    write_data_file,
    write_parquet,
)
from causeway.streaming_tables.storage.definition import COMPARTMENT
from causeway.streaming_tables.storage.errors import refusal
from causeway.streaming_tables.storage.past import (
    DeltaFolder,
    PastFile,
    add_action,
    plain_add_action,
    remove_action,
)
from causeway.streaming_tables.storage.tail import SegmentTail

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
        self._old: list[tuple[float, PastFile]] = []

    def flush(self, run: Run | None) -> None:
        """Move all complete segments of the log to the past."""
        with self._lock:
            reached("roll")
            store = self._store
            with self._writer._appending:
                end = self._writer.roll()
            with store.lock:
                begin = store.past.log_mark
                tails = [(first, tail) for first, tail in sorted(store.log.segments.items()) if first < end]
                sources = dict(store.log.progress.sources)
            if begin == end:
                return
            for name in ("late", "rejected"):
                self._flush_side(name, [tail for _, tail in tails], end)
            files = self._write_rows([tail for _, tail in tails], begin, end, run)
            self._commit(files, [], end, sources)
            reached("remove segments")
            for first in store.log.segments_on_disk():
                if first < end:
                    store.log.path(first).unlink(missing_ok=True)
            self._remove_old()

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
        delta = self._store.side(name)
        delta.update()
        parts = [part for tail in tails for part in (tail.late if name == "late" else tail.rejected)]
        tables = [table for frame, table in parts if frame >= delta.log_mark]
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
        remove: Sequence[PastFile],
        log_mark: int | None = None,
        sources: dict[str, int] | None = None,
        *,
        data_change: bool = True,
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
            )
        except BaseException:
            self._delta.update()
            if self._delta.version == store.past.version:
                for file in add:
                    remove_data_file(store.folder, file.path, definition.indexed_columns)
            raise
        reached("tell state")
        with store.lock:
            store.follow_past()
            store.log.forget_before(mark)
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
                if path.stem not in stems or path.suffix == ".new":
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
