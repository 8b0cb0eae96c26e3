"""Changes of data files that exist: rows taken out, values replaced, small files merged, indexes built."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from causeway.runtime.errors import UserError
from causeway.streaming_tables.storage.definition import SEQ, TableDefinition
from causeway.streaming_tables.storage.errors import DamagedTableError, refusal
from causeway.streaming_tables.storage.log.tail import times_of
from causeway.streaming_tables.storage.past.data_files import DataFile, in_file_order
from causeway.streaming_tables.storage.past.value_index import index_file, write_index

__all__ = ["build_index", "groups_to_merge", "holding", "read_rows", "with_values", "without"]

MERGED_ROWS: Final = 4_000_000
"""A merged file has at most this many rows."""
SMALL_ROWS: Final = MERGED_ROWS // 4
"""Files with fewer rows are merged."""
MANY_FILES: Final = 8
"""Small files of a compartment that is still open are merged when there are this many."""


def read_rows(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """A data file's rows, or some of its columns, not through the cache."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            return file.read(columns=None if columns is None else list(columns))
    except FileNotFoundError as missing:
        raise DamagedTableError(path, "is missing") from missing
    except (pa.ArrowException, OSError) as failure:
        raise DamagedTableError(path, f"can't be read ({failure})") from failure


def holding(past: Path, files: Sequence[DataFile], seqs: NDArray[np.int64]) -> list[DataFile]:
    """The files that hold at least one of the sorted arrival numbers."""
    found = []
    for file in files:
        first, last = np.searchsorted(seqs, (file.seq_min, file.seq_max + 1))
        if first < last:
            own = times_of(read_rows(past / file.path, [SEQ]).column(SEQ))
            if np.isin(seqs[first:last], own).any():
                found.append(file)
    return found


def without(rows: pa.Table, seqs: NDArray[np.int64]) -> pa.Table:
    """The rows but those with the given arrival numbers."""
    return rows.filter(pa.array(~np.isin(times_of(rows.column(SEQ)), seqs)))


def with_values(rows: pa.Table, values: pa.Table, definition: TableDefinition) -> pa.Table:
    """The rows, those with an arrival number of `values` with the values that they have there."""
    own, seqs = times_of(rows.column(SEQ)), times_of(values.column(SEQ))
    values = values.filter(pa.array(np.isin(seqs, own)))
    time = definition.time.name
    old = rows.filter(pa.array(np.isin(own, seqs))).select([SEQ, time])
    before = dict(zip(old.column(SEQ).to_pylist(), times_of(old.column(time)).tolist(), strict=True))
    after = dict(zip(values.column(SEQ).to_pylist(), times_of(values.column(time)).tolist(), strict=True))
    if before != after:
        raise UserError(f"table {definition.name}: the time {time} of a row can't be changed")
    return in_file_order(pa.concat_tables([without(rows, seqs), values]), time)


def groups_to_merge(
    files: Sequence[DataFile], closed: int | None, definition: TableDefinition
) -> list[list[DataFile]]:
    """Neighbouring small files that are to become one, compartment by compartment."""
    by_compartment: dict[int, list[DataFile]] = {}
    for file in files:
        by_compartment.setdefault(file.compartment, []).append(file)
    groups = []
    for begin, own in by_compartment.items():
        done = closed is not None and closed >= begin + definition.compartment - 1
        small = [file for file in own if file.rows < SMALL_ROWS]
        if len(small) < (2 if done else MANY_FILES):
            continue
        group: list[DataFile] = []
        for file in small:
            if group and sum(one.rows for one in group) + file.rows > MERGED_ROWS:
                groups.append(group)
                group = []
            group.append(file)
        groups.append(group)
    return [group for group in groups if len(group) > 1]


def build_index(folder: Path, column: str, files: Sequence[str], number: int) -> None:
    """Write the sidecar of one of the data files."""
    path = index_file(folder, column, files[number])
    try:
        write_index(path, read_rows(folder / "past" / files[number], [column]).column(column))
    except OSError as failure:
        raise refusal(path, failure) from failure
