"""Decoded columns of data files, kept in memory so that repeated selective reads cost no decoding."""

from __future__ import annotations

import errno
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from causeway.streaming_tables.storage.data_files import checksum_in_name, footer_checksum
from causeway.streaming_tables.storage.errors import DamagedTableError

__all__ = ["ColumnCache", "DataFileReader", "column_cache"]

_MOST_BYTES: Final = 2 << 30
_SHARE_OF_MEMORY: Final = 8


class ColumnCache:
    """Columns of row groups, the most recently used ones up to a number of bytes. Thread-safe."""

    def __init__(self, limit: int) -> None:
        """`limit` in bytes."""
        self.limit = limit
        self.bytes = 0
        self._lock = threading.Lock()
        self._columns: OrderedDict[tuple[str, int, str], pa.Array] = OrderedDict()

    def get(self, path: str, group: int, column: str) -> pa.Array | None:
        """The column, if it is here."""
        with self._lock:
            found = self._columns.get((path, group, column))
            if found is not None:
                self._columns.move_to_end((path, group, column))
            return found

    def put(self, path: str, group: int, column: str, values: pa.Array) -> None:
        """Keep a column; the ones not used for longest make room."""
        with self._lock:
            if (path, group, column) in self._columns:
                return
            self._columns[path, group, column] = values
            self.bytes += values.nbytes
            while self.bytes > self.limit and self._columns:
                _, dropped = self._columns.popitem(last=False)
                self.bytes -= dropped.nbytes

    def forget(self, path: str) -> None:
        """Let go of a file's columns."""
        with self._lock:
            for key in [key for key in self._columns if key[0] == path]:
                self.bytes -= self._columns.pop(key).nbytes


def _default_limit() -> int:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(_MOST_BYTES, memory // _SHARE_OF_MEMORY)


column_cache: Final = ColumnCache(_default_limit())
"""The one of this process."""


class DataFileReader:
    """A data file: its row groups, and their columns through the cache."""

    def __init__(self, path: Path, rows: int, time: str) -> None:
        """Reads the footer. FileNotFoundError if the file has gone."""
        self.path = path
        self._key = str(path)
        self._time = time
        if footer_checksum(path) != checksum_in_name(path):
            raise DamagedTableError(path, "has a damaged footer")
        with self._file() as file:
            self._metadata = file.metadata
        if self._metadata.num_rows != rows:
            raise DamagedTableError(path, f"has {self._metadata.num_rows} rows instead of {rows}")
        counts = [self._metadata.row_group(group).num_rows for group in range(self._metadata.num_row_groups)]
        self.offsets: NDArray[np.int64] = np.r_[0, np.cumsum(counts)].astype(np.int64)
        groups = [self._metadata.row_group(group) for group in range(self._metadata.num_row_groups)]
        place = [self._metadata.schema.column(one).path for one in range(len(self._metadata.schema))].index(
            time
        )
        self._last_times = [int(group.column(place).statistics.max_raw) for group in groups]

    def columns(self, group: int, names: Sequence[str]) -> dict[str, pa.Array]:
        """Columns of a row group."""
        found = {name: column_cache.get(self._key, group, name) for name in names}
        missing = [name for name, values in found.items() if values is None]
        if missing:
            try:
                with self._file(self._metadata) as file:
                    table = file.read_row_group(group, columns=missing)
            except FileNotFoundError:
                raise
            except (pa.ArrowException, OSError) as failure:
                raise DamagedTableError(self.path, f"can't be read ({failure})") from failure
            for name in missing:
                values = table.column(name).combine_chunks()
                if len(values) != self.offsets[group + 1] - self.offsets[group]:
                    raise DamagedTableError(self.path, f"has too few values of {name}")
                column_cache.put(self._key, group, name, values)
                found[name] = values
        return found

    def group_bytes(self, group: int, names: Sequence[str]) -> int:
        """Bytes in the file of some columns of a row group."""
        row_group = self._metadata.row_group(group)
        chunks = [row_group.column(place) for place in range(row_group.num_columns)]
        return sum(
            chunk.total_compressed_size
            for chunk in chunks
            if chunk.path_in_schema in names or chunk.path_in_schema.partition(".")[0] in names
        )

    def times(self, group: int) -> NDArray[np.int64]:
        """The times of a row group, rising, as ticks."""
        values = self.columns(group, [self._time])[self._time]
        ticks: NDArray[np.int64] = values.view(pa.int64()).to_numpy()
        return ticks

    def rows_between(self, low: int | None, high: int | None) -> tuple[int, int]:
        """First row and the one after the last whose time is from `low` to `high`."""
        first = 0 if low is None else self._place(low, "left")
        last = int(self.offsets[-1]) if high is None else self._place(high, "right")
        return first, max(first, last)

    def time_at(self, row: int) -> int:
        """The time of one row."""
        group = int(np.searchsorted(self.offsets, row, "right")) - 1
        return int(self.times(group)[row - int(self.offsets[group])])

    def _place(self, tick: int, side: str) -> int:
        """Where `tick` would be, found in the statistics of row groups and then in one of them."""
        low, high = 0, len(self.offsets) - 1
        while low < high:
            middle = (low + high) // 2
            last = self._last_times[middle]
            if last < tick or (side == "right" and last == tick):
                low = middle + 1
            else:
                high = middle
        if low == len(self.offsets) - 1:
            return int(self.offsets[-1])
        within = np.searchsorted(self.times(low), tick, side=side)  # type: ignore[call-overload]
        return int(self.offsets[low] + within)

    def _file(self, metadata: pq.FileMetaData | None = None) -> pq.ParquetFile:
        try:
            return pq.ParquetFile(self.path, metadata=metadata, page_checksum_verification=True)
        except FileNotFoundError as missing:
            raise FileNotFoundError(errno.ENOENT, "No such file", str(self.path)) from missing
        except (pa.ArrowException, OSError) as failure:
            raise DamagedTableError(self.path, f"can't be read ({failure})") from failure
