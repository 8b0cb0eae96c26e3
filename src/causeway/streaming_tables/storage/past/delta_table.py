"""The past: a Delta table that other engines read, and what of it this process knows."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, PostCommitHookProperties, Transaction
from deltalake.exceptions import DeltaError
from deltalake.transaction import AddAction, RemoveAction

from causeway.streaming_tables.storage.definition import COMPARTMENT, SEQ, TableDefinition, TimeDefinition
from causeway.streaming_tables.storage.errors import DamagedTableError, refusal
from causeway.streaming_tables.storage.log.arrival_log import sync_folder
from causeway.streaming_tables.storage.past.data_files import DataFile

__all__ = ["LOG_MARK", "DeltaFolder", "PastVersion", "create_delta", "past_version"]

LOG_MARK: Final = "causeway-log"
"""Application transaction: all frames of the log before this number are in the Delta table."""
CHANGES: Final = "causeway-changes"
"""Application transaction: how many deletions and replacements there have been."""
_SOURCE: Final = "causeway-source-"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SETTINGS: Final = {
    "delta.checkpointInterval": "10",
    "delta.logRetentionDuration": "interval 1 hours",
    "delta.deletedFileRetentionDuration": "interval 1 hours",
    "delta.dataSkippingNumIndexedCols": "-1",
}


@dataclass(frozen=True)
class PastVersion:
    """The data files of one version of the Delta table, by time."""

    version: int
    log_mark: int
    """Frames before this one are in the data files."""
    files: tuple[DataFile, ...]
    changes: int
    """Deletions and replacements so far."""


def create_delta(folder: Path, schema: pa.Schema, partition_by: Sequence[str] = ()) -> None:
    """Make an empty Delta table."""
    try:
        DeltaTable.create(folder, schema, partition_by=list(partition_by), configuration=_SETTINGS)
        for entry in (folder / "_delta_log").iterdir():
            _sync_file(entry)
        sync_folder(folder / "_delta_log")
        sync_folder(folder)
    except OSError as failure:
        raise refusal(folder, failure) from failure


class DeltaFolder:
    """One Delta table, opened once and then followed. Guarded by its owner's lock."""

    def __init__(self, folder: Path, partition_by: Sequence[str] = ()) -> None:
        """Opens the newest version; DamagedTableError if it can't be read."""
        self.folder = folder
        self._partition_by = list(partition_by)
        self._table = self._opened()
        self._synced: set[str] = set()

    @property
    def version(self) -> int:
        """The version that was read last."""
        return self._table.version()

    @property
    def log_mark(self) -> int:
        """Frames before this one are in the table."""
        return self._table.transaction_version(LOG_MARK) or 0

    @property
    def changes(self) -> int:
        """Deletions and replacements so far."""
        return self._table.transaction_version(CHANGES) or 0

    def update(self, at_least: int = 0) -> None:
        """Follow to the newest version, which is known to be `at_least` that one.

        Entries of the Delta log between the version read last and a newer checkpoint may have been cleaned
        up; then the table is opened anew.
        """
        try:
            self._table.update_incremental()
            if self.version >= at_least:
                return
        except Exception:  # opening tells whether it is damage
            pass
        self._table = self._opened()

    def _opened(self) -> DeltaTable:
        try:
            return DeltaTable(self.folder)
        except Exception as failure:
            what = f"can't be read: {failure}"
            raise DamagedTableError(self.folder / "_delta_log", what) from failure

    def actions(self) -> pa.Table:
        """The files of this version with their statistics."""
        return pa.table(self._table.get_add_actions(flatten=True))

    def commit(
        self,
        add: Sequence[AddAction],
        remove: Sequence[RemoveAction],
        log_mark: int,
        sources: Mapping[str, int] | None = None,
        *,
        changes: int | None = None,
    ) -> None:
        """One durable commit; the table is then at the version that it made."""
        marks = [Transaction(LOG_MARK, log_mark)]
        if changes is not None:
            marks.append(Transaction(CHANGES, changes))
        marks += [Transaction(f"{_SOURCE}{name}", batch) for name, batch in (sources or {}).items()]
        # The schema is given as the table has it: a commit never changes it.
        try:
            self._table.create_write_transaction(
                [*add, *remove],
                "append",
                self._table.schema(),
                self._partition_by,
                commit_properties=CommitProperties(app_transactions=marks),
                post_commithook_properties=PostCommitHookProperties(
                    create_checkpoint=True, cleanup_expired_logs=False
                ),
            )
        except OSError as failure:
            raise refusal(self.folder, failure) from failure
        except DeltaError as failure:
            raise refusal(self.folder, OSError(str(failure))) from failure
        self.update()
        if self._sync():
            self._table.cleanup_metadata()

    def _sync(self) -> bool:
        """Make the commit durable. True if there was a new checkpoint, after which old entries can go."""
        log = self.folder / "_delta_log"
        names = {entry.name for entry in log.iterdir()}
        newest = f"{self.version:020d}"
        fresh = [name for name in names - self._synced if name >= newest or not name[0].isdigit()]
        fresh += [name for name in names - self._synced if "checkpoint" in name]
        for name in set(fresh):
            _sync_file(log / name)
        sync_folder(log)
        self._synced = names - {"_last_checkpoint"}
        return any("checkpoint.parquet" in name for name in fresh)


def _sync_file(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def past_version(delta: DeltaFolder, definition: TableDefinition) -> PastVersion:
    """The files of the version that `delta` is at."""
    actions = delta.actions()
    time_name = definition.time.name

    def column(name: str) -> list[Any]:
        values = actions.column(name)
        if pa.types.is_timestamp(values.type):
            values = values.cast(pa.timestamp("us", "UTC")).cast(pa.int64())
        return list(values.to_pylist())

    if not actions.num_rows:
        return PastVersion(delta.version, delta.log_mark, (), delta.changes)
    files = [
        DataFile(*facts)
        for facts in zip(
            column("path"),
            column(f"partition.{COMPARTMENT}"),
            column("size_bytes"),
            column("num_records"),
            column(f"min.{time_name}"),
            column(f"max.{time_name}"),
            column(f"min.{SEQ}"),
            column(f"max.{SEQ}"),
            strict=True,
        )
    ]
    files.sort(key=lambda file: (file.t_min, file.seq_min, file.path))
    return PastVersion(delta.version, delta.log_mark, tuple(files), delta.changes)


def add_action(file: DataFile, time_definition: TimeDefinition, *, data_change: bool = True) -> AddAction:
    """The Delta action that adds a data file, with its statistics."""
    name = time_definition.name
    low, high = (_stored_time(tick, time_definition) for tick in (file.t_min, file.t_max))
    statistics = {
        "numRecords": file.rows,
        "minValues": {name: low, SEQ: file.seq_min},
        "maxValues": {name: high, SEQ: file.seq_max},
        "nullCount": {name: 0, SEQ: 0},
    }
    return AddAction(
        file.path,
        file.size,
        {COMPARTMENT: str(file.compartment)},
        int(time.time() * 1000),
        data_change,
        json.dumps(statistics),
    )


def plain_add_action(path: str, size: int, rows: int) -> AddAction:
    """The Delta action that adds a file of a table without compartments."""
    return AddAction(path, size, {}, int(time.time() * 1000), True, json.dumps({"numRecords": rows}))


def remove_action(file: DataFile, *, data_change: bool = True) -> RemoveAction:
    """The Delta action that takes a data file out."""
    now = int(time.time() * 1000)
    return RemoveAction(file.path, data_change, now, file.size, {COMPARTMENT: str(file.compartment)})


def _stored_time(tick: int, definition: TimeDefinition) -> int | str:
    if definition.kind == "seconds":
        return tick
    moment = _EPOCH + timedelta(microseconds=tick)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
