"""Decoded columns of data files, kept in memory so that repeated selective reads cost no decoding."""

from __future__ import annotations

import errno
import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from causeway.streaming_tables.storage.errors import DamagedTableError
from causeway.streaming_tables.storage.past.data_files import checksum_in_name, footer_checksum

__all__ = ["ColumnCache", "DataFileReader", "FileColumn", "column_cache", "fixed_width_view"]

_MOST_BYTES: Final = 2 << 30
_SHARE_OF_MEMORY: Final = 8
_FEW_GROUPS: Final = 16
"""A read of at most this many row groups of a file takes them one by one."""


class FileColumn:
    """The decoded values of one column of a data file, as far as its row groups were read.

    Each row group is an array. For reads of many row groups, values of fixed width without NULLs are copied
    into one array for the whole file, `flat`: such a read takes rows of all row groups at once. A read of few
    does not pay for the copy, whose new pages cost more than the decoding. Thread-safe.
    """

    def __init__(self) -> None:
        """Nothing is read yet."""
        self.bytes = 0
        self.counted = 0
        """Bytes of it that the cache has counted."""
        self.groups: dict[int, pa.Array] = {}
        self._begins: dict[int, int] = {}
        self._rows = 0
        self._numbers: NDArray[Any] | None = None
        self._has_flat = True
        """Whether all row groups that were read can be in one array."""
        self._lock = threading.Lock()

    def add(self, group: int, values: pa.Array, begin: int, rows: int) -> None:
        """Take the values of a row group, which begins at row `begin` of the file's `rows`."""
        with self._lock:
            self._begins[group], self._rows = begin, rows
            if self._has_flat and fixed_width_view(values) is None:
                # The first NULL of the file.
                self._has_flat, self._numbers = False, None
            self.groups[group] = values
            if self._numbers is not None:
                self._copy(group, self._numbers)
            self.bytes += values.nbytes

    def flat(self, kind: pa.DataType, groups: int) -> pa.Array | None:
        """The values of the whole file, for a read of so many row groups; None if they are better apart.

        Those of row groups that were not read are undefined.
        """
        with self._lock:
            if not self._has_flat or not self.groups or (self._numbers is None and groups <= _FEW_GROUPS):
                return None
            if self._numbers is None:
                view = fixed_width_view(next(iter(self.groups.values())))
                assert view is not None
                numbers = np.empty(self._rows, view.dtype)
                for group in self.groups:
                    self._copy(group, numbers)
                self._numbers = numbers
            return pa.Array.from_buffers(kind, len(self._numbers), [None, pa.py_buffer(self._numbers)])

    def _copy(self, group: int, numbers: NDArray[Any]) -> None:
        values, begin = self.groups[group], self._begins[group]
        own = numbers[begin : begin + len(values)]
        own[:] = fixed_width_view(values)
        self.groups[group] = pa.Array.from_buffers(values.type, len(values), [None, pa.py_buffer(own)])


def fixed_width_view(values: pa.Array) -> NDArray[Any] | None:
    """A view of fixed-width values without NULLs as integers of the same width; None for others."""
    kind = values.type
    if values.null_count or not pa.types.is_primitive(kind) or pa.types.is_boolean(kind):
        return None
    width = kind.bit_width
    buffer = values.buffers()[1]
    if width not in (8, 16, 32, 64) or buffer is None:
        return None
    return np.frombuffer(buffer, f"i{width // 8}")[values.offset : values.offset + len(values)]


class ColumnCache:
    """Columns of data files, the most recently used ones up to a number of bytes. Thread-safe."""

    def __init__(self, limit: int) -> None:
        """`limit` in bytes."""
        self.limit = limit
        self.bytes = 0
        self._lock = threading.Lock()
        self._columns: OrderedDict[tuple[str, str], FileColumn] = OrderedDict()

    def get(self, path: str, column: str) -> FileColumn | None:
        """What is here of the column."""
        with self._lock:
            found = self._columns.get((path, column))
            if found is not None:
                self._columns.move_to_end((path, column))
            return found

    def put(
        self,
        path: str,
        column: str,
        own: FileColumn,
        group: int,
        values: pa.Array,
        offsets: NDArray[np.int64],
    ) -> FileColumn:
        """Keep the values of a row group; the columns not used for longest make room.

        `own` is what the caller has of the column. The result has all of it and the new values, whatever
        other threads have read or the cache has let go of meanwhile.
        """
        with self._lock:
            kept = self._columns.setdefault((path, column), own)
            self._columns.move_to_end((path, column))
            for number, known in [*own.groups.items(), (group, values)]:
                if number not in kept.groups:
                    kept.add(number, known, int(offsets[number]), int(offsets[-1]))
            self.bytes += kept.bytes - kept.counted
            kept.counted = kept.bytes
            while self.bytes > self.limit and len(self._columns) > 1:
                self._drop(next(iter(self._columns)))
            return kept

    def _drop(self, key: tuple[str, str]) -> None:
        dropped = self._columns.pop(key)
        self.bytes -= dropped.counted
        dropped.counted = 0

    def forget(self, path: str) -> None:
        """Let go of a file's columns."""
        with self._lock:
            for key in [key for key in self._columns if key[0] == path]:
                self._drop(key)


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
        return {name: column.groups[group] for name, column in self.load([group], names).items()}

    def load(self, groups: Iterable[int], names: Sequence[str]) -> dict[str, FileColumn]:
        """Columns with these row groups read."""
        columns: dict[str, FileColumn] = {}
        for name in names:
            columns[name] = column_cache.get(self._key, name) or FileColumn()
        wanted = {group: [name for name in names if group not in columns[name].groups] for group in groups}
        if not any(wanted.values()):
            return columns
        with self._file(self._metadata) as file:
            for group, missing in wanted.items():
                if not missing:
                    continue
                table = self._decoded(file, group, missing)
                for name in missing:
                    chunks = table.column(name)
                    values = chunks.chunk(0) if chunks.num_chunks == 1 else chunks.combine_chunks()
                    if len(values) != self.offsets[group + 1] - self.offsets[group]:
                        raise DamagedTableError(self.path, f"has too few values of {name}")
                    columns[name] = column_cache.put(
                        self._key, name, columns[name], group, values, self.offsets
                    )
        return columns

    def _decoded(self, file: pq.ParquetFile, group: int, names: list[str]) -> pa.Table:
        try:
            return file.read_row_group(group, columns=names)
        except (pa.ArrowException, OSError) as failure:
            raise DamagedTableError(self.path, f"can't be read ({failure})") from failure

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
