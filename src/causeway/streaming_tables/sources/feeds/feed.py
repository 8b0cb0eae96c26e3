"""The seam between sources and Spark: where a feed's data is, and how it is cut into batches and tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import pyarrow as pa

__all__ = ["BATCH_BYTES", "BATCH_ROWS", "Feed", "Limits", "Offset"]

BATCH_ROWS: Final = 500_000
BATCH_BYTES: Final = 64 << 20

Offset = Mapping[str, int]


@dataclass(frozen=True)
class Limits:
    """The most that a batch reads, unless the smallest piece of a source is larger."""

    rows: int = BATCH_ROWS
    bytes: int = BATCH_BYTES


class Feed(Protocol):
    """What a source is to Spark. Made anew in each process, from `spec`."""

    def spec(self) -> dict[str, Any]:
        """Plain facts from which `make_feed` makes the same feed."""

    def initial(self) -> dict[str, int]:
        """The offset before everything."""

    def available(self) -> dict[str, int]:
        """The offset after everything that is there now."""

    def ended(self) -> bool:
        """Whether nothing will come after what is there now."""

    def next(self, start: Offset, limits: Limits | None) -> dict[str, int]:
        """Where a batch that begins at `start` ends; without limits, after everything that is there."""

    def partitions(self, start: Offset, end: Offset, tasks: int) -> list[Any]:
        """The work between two offsets in at most so many parts, in the order of the rows."""

    def read(self, part: Sequence[Any]) -> Iterator[pa.RecordBatch]:
        """The rows of a part. Called in tasks."""

    def closed(self, end: Offset) -> int | None:
        """The second up to which no more rows come after `end`; None if that is not known."""

    def forget(self, end: Offset) -> None:
        """Everything before `end` is in the table."""

    def before(self, one: Offset, other: Offset) -> bool:
        """Whether `one` is less far than `other`."""
