"""The files of a workload's stream: tuples in time order, a row group per simulated minute.

A reader that drives the stream minute by minute, or looks at a stretch of it, finds its rows by the row
groups' statistics of `Time` alone. CSV is for other systems: the same columns, no header, no row groups.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from causeway.linear_road.model.tuples import INPUT_SCHEMA
from causeway.linear_road.workload.workload import StreamFormat

__all__ = ["MAX_ROWS_PER_GROUP", "StreamWriter", "part_path"]

MAX_ROWS_PER_GROUP: Final = 1_000_000
"""A minute with more rows is several row groups, so that memory does not grow with the expressways."""

_SECONDS_PER_MINUTE: Final = 60

# Vehicles and positions have too many values for a dictionary; as differences they are a tenth smaller
# and no slower to write or read than plain.
_DELTA_COLUMNS: Final = ("VID", "Pos", "QID")


def part_path(folder: Path, number: int, format: StreamFormat) -> Path:
    """Where the stream folder's part `number` (from 0) stands."""
    return folder / f"part-{number:05d}.{format}"


class StreamWriter:
    """Writes one part; it appears at `path` whole, on `close`, or not at all.

    As a context manager it closes at the end of the block and discards when the block raises. Until then
    the rows are in a hidden file beside `path`, whose folder must be there. A part without rows is a
    valid file without rows.
    """

    def __init__(self, path: Path, format: StreamFormat) -> None:
        self.path = path
        self.rows = 0
        """Rows appended so far."""
        self._unfinished = path.with_name(f".{path.name}-{os.getpid()}")
        self._latest: int | None = None
        self._minute_number = 0
        self._minute: list[pa.Table] = []
        self._minute_rows = 0
        self._file = pa.OSFile(str(self._unfinished), "wb")
        self._parquet: pq.ParquetWriter | None = None
        self._csv: pa_csv.CSVWriter | None = None
        if format == "parquet":
            self._parquet = pq.ParquetWriter(
                self._file,
                INPUT_SCHEMA,
                compression="zstd",
                compression_level=1,
                use_dictionary=[name for name in INPUT_SCHEMA.names if name not in _DELTA_COLUMNS],
                column_encoding=dict.fromkeys(_DELTA_COLUMNS, "DELTA_BINARY_PACKED"),
                store_schema=False,
            )
        else:
            self._csv = pa_csv.CSVWriter(
                self._file,
                INPUT_SCHEMA,
                write_options=pa_csv.WriteOptions(include_header=False, batch_size=65_536),
            )

    def append(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Add rows, any number of minutes at once; their times must not go back, nor before earlier rows'.

        The columns are those of `INPUT_SCHEMA`, in that order; `ValueError` when they are not. Rows of an
        unfinished minute are held, not copied: arrays that lend them their memory must not be reused.
        """
        table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
        if table.num_rows == 0:
            return
        if table.schema != INPUT_SCHEMA:
            table = table.cast(INPUT_SCHEMA)
        time = table.column("Time").to_numpy()
        if (self._latest is not None and time[0] < self._latest) or (time[1:] < time[:-1]).any():
            raise ValueError(f"{self.path}: rows are not in time order")
        self._latest = int(time[-1])
        self.rows += table.num_rows
        if self._csv is not None:
            self._csv.write_table(table)
            return
        minute = time // _SECONDS_PER_MINUTE
        ends = np.flatnonzero(minute[1:] != minute[:-1]) + 1
        bounds = [0, *ends.tolist(), table.num_rows]
        if self._minute and self._minute_number != minute[0]:
            self._end_minute()
        for start, end in itertools.pairwise(bounds):
            if start > 0:
                self._end_minute()
            self._hold(table.slice(start, end - start))
        self._minute_number = int(minute[-1])

    def close(self) -> None:
        """Write what is held back and put the file in its place; a second call does nothing."""
        if self._file.closed:
            return
        try:
            self._end_minute()
            self._close_file()
            self._unfinished.replace(self.path)
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Leave nothing behind; after `close` this does nothing."""
        self._minute = []
        with contextlib.suppress(OSError, ValueError):
            self._close_file()
        if self._parquet is not None:
            # It would try again when it is collected, and complain of the file being closed.
            self._parquet.is_open = False
        self._unfinished.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def _hold(self, rows: pa.Table) -> None:
        """Keep rows of the minute at hand, and write those that fill a row group."""
        while self._minute_rows + rows.num_rows > MAX_ROWS_PER_GROUP:
            fitting = MAX_ROWS_PER_GROUP - self._minute_rows
            self._minute.append(rows.slice(0, fitting))
            self._end_minute()
            rows = rows.slice(fitting)
        self._minute.append(rows)
        self._minute_rows += rows.num_rows

    def _close_file(self) -> None:
        try:
            for writer in (self._parquet, self._csv):
                if writer is not None:
                    writer.close()
        finally:
            self._file.close()

    def _end_minute(self) -> None:
        if self._parquet is not None and self._minute:
            self._parquet.write_table(pa.concat_tables(self._minute), row_group_size=MAX_ROWS_PER_GROUP)
        self._minute, self._minute_rows = [], 0
