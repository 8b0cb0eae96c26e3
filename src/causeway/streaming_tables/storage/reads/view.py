"""What a snapshot holds, and the part of it that a scan has to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from causeway.streaming_tables.storage.definition import SEQ, TableDefinition
from causeway.streaming_tables.storage.log.frames import Progress
from causeway.streaming_tables.storage.log.tail import Chunk
from causeway.streaming_tables.storage.past.data_files import DataFile
from causeway.streaming_tables.storage.past.delta_table import PastVersion
from causeway.streaming_tables.storage.predicate import CompiledPredicate, Predicate

__all__ = ["ScanBounds", "View"]

_LEAST: Final = -(2**63)
_MOST: Final = 2**63 - 1


@dataclass(frozen=True)
class View:
    """What a snapshot holds: data files of one version of the past, and the rows of the log after them."""

    definition: TableDefinition
    progress: Progress
    past: PastVersion
    chunks: tuple[Chunk, ...]
    late: tuple[tuple[int, pa.Table], ...]
    rejected: tuple[tuple[int, pa.Table], ...]
    log_bytes: int

    def bounds(
        self,
        predicate: Predicate | None = None,
        time_from: int | None = None,
        time_to: int | None = None,
        *,
        as_of: int | None = None,
        keep_expired: bool = False,
    ) -> ScanBounds:
        """The bounds of a scan, with the historical period and what the predicate says of times taken in."""
        definition = self.definition
        compiled = CompiledPredicate(predicate, definition.file_schema()) if predicate is not None else None
        oldest = (
            None if keep_expired else definition.oldest_kept(self.progress.newest if as_of is None else as_of)
        )
        lows = [time_from, oldest]
        highs = [time_to, as_of]
        if compiled is not None:
            low, high = compiled.bounds(definition.time.name)
            lows.append(low)
            highs.append(high)
        # No row lies outside these limits, and within them a bound is a 64-bit number.
        return ScanBounds(
            compiled,
            max((min(max(low, _LEAST), _MOST) for low in lows if low is not None), default=None),
            min((min(max(high, _LEAST), _MOST) for high in highs if high is not None), default=None),
        )


@dataclass(frozen=True)
class ScanBounds:
    """A scan's predicate, and the time range (inclusive) in which its rows are."""

    predicate: CompiledPredicate | None
    low: int | None
    high: int | None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the predicate."""
        return self.predicate.columns if self.predicate is not None else ()

    def files(self, view: View) -> list[DataFile]:
        """The files that can have rows of these times, and of the arrival numbers that are allowed."""
        if self._never:
            return []
        first, last = self._seqs
        return [
            file
            for file in view.past.files
            if (self.low is None or file.t_max >= self.low)
            and (self.high is None or file.t_min <= self.high)
            and (first is None or file.seq_max >= first)
            and (last is None or file.seq_min <= last)
        ]

    def chunks(self, view: View) -> list[Chunk]:
        """The chunks of the log that can have rows of the arrival numbers that are allowed."""
        if self._never:
            return []
        first, last = self._seqs
        return [
            chunk
            for chunk in view.chunks
            if (first is None or chunk.first_seq + chunk.table.num_rows > first)
            and (last is None or chunk.first_seq <= last)
        ]

    def of_file(self, file: DataFile) -> tuple[int | None, int | None]:
        """The times that a file's rows must be held against: none where the whole file lies inside."""
        return (
            None if self.low is None or file.t_min >= self.low else self.low,
            None if self.high is None or file.t_max <= self.high else self.high,
        )

    @property
    def _never(self) -> bool:
        """Whether no row can meet the predicate."""
        return self.predicate is not None and not self.predicate.groups

    @property
    def _seqs(self) -> tuple[int | None, int | None]:
        return self.predicate.bounds(SEQ) if self.predicate is not None else (None, None)
