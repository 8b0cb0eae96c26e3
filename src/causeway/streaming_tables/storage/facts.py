"""What snapshots tell: candidates for a Spark job, the report of a scan, the facts of a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

__all__ = ["Candidates", "ScanReport", "TableFacts"]


@dataclass(frozen=True)
class Candidates:
    """What a Spark job has to read: whole files, of which it still applies every condition.

    `time_from` and `time_to` (inclusive; None: no bound) are conditions too: they have the historical period
    in them. `tail` are rows of the log; they are filtered already.
    """

    files: list[Path]
    tail: pa.Table
    time_from: int | None
    time_to: int | None
    rows: int
    bytes: int


@dataclass(frozen=True)
class ScanReport:
    """What a scan reads and passes over, and by which index."""

    files: int
    files_by_time: int
    files_by_value: int
    files_read: int
    groups: int
    groups_read: int
    bytes: int
    bytes_read: int
    log_rows: int
    indexes: tuple[str, ...]

    def __str__(self) -> str:
        index = f"value index on {', '.join(self.indexes)}" if self.indexes else "no value index"
        return (
            f"reads {self.files_read} of {self.files} files "
            f"({self.files_by_time} passed over by time, {self.files_by_value} by value), "
            f"{self.groups_read} of {self.groups} row groups, {self.bytes_read:,} of {self.bytes:,} bytes, "
            f"{self.log_rows:,} rows of the log; {index}"
        )


@dataclass(frozen=True)
class TableFacts:
    """What a table holds."""

    rows: int
    accepted: int
    bytes: int
    oldest: int | None
    newest: int | None
    closed: int | None
    ended: bool
    late: int
    rejected: int
    compartments: int
    files: int
    log_rows: int
    log_bytes: int
    indexes: tuple[str, ...]
    past_version: int
