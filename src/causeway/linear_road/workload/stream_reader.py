"""A workload's stream as one: its parts merged by time, second by second, without sorting.

Each part is in time order, so that the tuples of one simulated second are one slice of it; a second of the
stream is the slices of all parts, in the order of the parts. Nothing is copied, and there is no Python per
tuple: the cost is one search and one slice per part and second.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from causeway.linear_road.model.tuples import INPUT_COLUMNS, INPUT_SCHEMA
from causeway.linear_road.workload.workload import StreamFormat
from causeway.runtime.errors import UserError

__all__ = ["StreamSecond", "read_seconds"]

_TIME: Final = INPUT_COLUMNS.index("Time")

_DECODED_ROWS: Final = 1 << 19
"""Rows that all parts together hold decoded (60 bytes each), whatever the number of parts and minutes."""

_FEWEST_ROWS: Final = 2_048
_ROW_LIMIT: Final = 1 << 16

_CSV_BYTES_PER_ROW: Final = 48


class StreamSecond(NamedTuple):
    """The tuples of one simulated second: batches in the order of the parts, none of them empty."""

    time: int
    batches: list[pa.RecordBatch]


def read_seconds(
    parts: Sequence[Path], stream_format: StreamFormat, first: int = 0
) -> Iterator[StreamSecond]:
    """Merge `parts` by time from second `first` on; only seconds with tuples, each once, in rising order.

    Parquet row groups that end before `first` are not read; CSV parts are scanned from their beginning.

    The tuples come as a stable sort by Time of the parts one after the other would bring them. A part that
    is not in time order, or is not a stream of input tuples, is a `UserError`, raised when it is reached.
    The batches are slices of larger ones: keeping some of them keeps what they were cut from.
    """
    rows = min(max(_DECODED_ROWS // max(len(parts), 1), _FEWEST_ROWS), _ROW_LIMIT)
    with ExitStack() as open_parts:
        cursors = []
        for path in parts:
            csv = stream_format == "csv"
            batches = _csv_batches(path, rows) if csv else _parquet_batches(path, rows, first)
            cursors.append(_PartCursor(path, open_parts.enter_context(closing(batches)), first))
        while waiting := [cursor for cursor in cursors if cursor.second is not None]:
            second = min(cursor.second for cursor in waiting if cursor.second is not None)
            due = [cursor for cursor in waiting if cursor.second == second]
            yield StreamSecond(second, [batch for cursor in due for batch in cursor.take_second()])


class _PartCursor:
    """Where the merge stands in one part; `second` is that of its next tuple, None at its end."""

    def __init__(self, path: Path, batches: Iterator[pa.RecordBatch], first: int) -> None:
        """Start at the first tuple of second `first` or later."""
        self._path = path
        self._batches = batches
        self._batch: pa.RecordBatch = None
        self._times: NDArray[np.int32] = np.empty(0, np.int32)
        self._offset = 0
        self._latest = 0
        self.second: int | None = None
        self._read_batch()
        self._skip_to(first)

    def take_second(self) -> list[pa.RecordBatch]:
        """Take all tuples of `second`, which may go on in further batches."""
        taken = []
        second = self.second
        while second is not None and self.second == second:
            count = int(np.searchsorted(self._times[self._offset :], second, side="right"))
            taken.append(self._batch.slice(self._offset, count))
            self._offset += count
            if self._offset < len(self._times):
                self.second = int(self._times[self._offset])
            else:
                self._read_batch()
        return taken

    def _skip_to(self, second: int) -> None:
        while self.second is not None and self._times[-1] < second:
            self._read_batch()
        if self.second is not None and self.second < second:
            self._offset = int(np.searchsorted(self._times, second))
            self.second = int(self._times[self._offset])

    def _read_batch(self) -> None:
        batch = self._next_batch()
        self._batch = batch
        self._offset = 0
        if batch is None:
            self._times = np.empty(0, np.int32)
            self.second = None
            return
        times: NDArray[np.int32] = batch.column(_TIME).to_numpy(zero_copy_only=True)
        if times[0] < self._latest or np.any(times[1:] < times[:-1]):
            raise UserError(
                f"{self._path}: not in time order from second 0 on (near second {self._latest}); "
                "make the workload again with `causeway linear-road generate` or `import`"
            )
        self._latest = int(times[-1])
        self._times = times
        self.second = int(times[0])

    def _next_batch(self) -> pa.RecordBatch | None:
        try:
            batch = next((batch for batch in self._batches if batch.num_rows), None)
        except (pa.ArrowException, OSError) as unreadable:
            raise UserError(f"{self._path} cannot be read: {unreadable}") from unreadable
        if batch is None:
            return None
        if any(column.null_count for column in batch.columns):
            raise UserError(
                f"{self._path}: a tuple near second {self._latest} lacks a field (-1 stands for none)"
            )
        return pa.RecordBatch.from_arrays(batch.columns, schema=INPUT_SCHEMA)


def _parquet_batches(path: Path, rows: int, first: int) -> Generator[pa.RecordBatch]:
    # Mapped, since otherwise every part would keep a row group of encoded columns in memory of our own.
    with pq.ParquetFile(path, memory_map=True) as part:
        schema = part.schema_arrow
        if schema.names != INPUT_SCHEMA.names or schema.types != INPUT_SCHEMA.types:
            raise UserError(f"{path}: expected the columns {', '.join(INPUT_COLUMNS)}, all 32-bit integers")
        groups = _row_groups(part.metadata, first)
        if groups:
            yield from part.iter_batches(batch_size=rows, row_groups=groups, use_threads=False)


def _row_groups(footer: pq.FileMetaData, first: int) -> list[int]:
    """The row groups that may have tuples of second `first` or later; all where statistics are missing."""

    def may_have(group: int) -> bool:
        times = footer.row_group(group).column(_TIME).statistics
        return times is None or not times.has_min_max or times.max >= first

    return [group for group in range(footer.num_row_groups) if may_have(group)]


def _csv_batches(path: Path, rows: int) -> Generator[pa.RecordBatch]:
    if path.stat().st_size == 0:
        return
    with pa.csv.open_csv(
        path,
        read_options=pa.csv.ReadOptions(
            column_names=INPUT_COLUMNS, block_size=rows * _CSV_BYTES_PER_ROW, use_threads=False
        ),
        convert_options=pa.csv.ConvertOptions(
            column_types=dict(zip(INPUT_COLUMNS, INPUT_SCHEMA.types, strict=True))
        ),
    ) as part:
        yield from part
