"""Data files of the past: Parquet, sorted by time and arrival, with value index sidecars.

`write_data_file` is a pure function of a task, so that it can run in this process or in a Spark task.
"""

from __future__ import annotations

import os
import struct
import uuid
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from causeway.streaming_tables.storage.definition import COMPARTMENT, SEQ, TableDefinition
from causeway.streaming_tables.storage.errors import refusal
from causeway.streaming_tables.storage.log.arrival_log import ArrivalLog, sync_folder
from causeway.streaming_tables.storage.log.tail import times_of
from causeway.streaming_tables.storage.past.value_index import index_file, write_index

__all__ = [
    "ROW_GROUP_ROWS",
    "DataFile",
    "FlushTask",
    "checksum_in_name",
    "compartments_of",
    "footer_checksum",
    "in_file_order",
    "is_data_file",
    "remove_data_file",
    "write_data_file",
    "write_data_files",
    "write_parquet",
    "write_sorted",
]

ROW_GROUP_ROWS: Final = 65_536
_PREFIX: Final = "causeway-"
_FOOTER_END: Final = struct.Struct("<I4s")


@dataclass(frozen=True)
class DataFile:
    """A data file's facts. They are the interval index: they say which times it can hold."""

    path: str
    """Relative to the Delta table's folder."""
    compartment: int
    size: int
    rows: int
    t_min: int
    t_max: int
    seq_min: int
    seq_max: int


@dataclass(frozen=True)
class FlushTask:
    """Rows to move to the past: one file for each compartment."""

    folder: Path
    """The table's folder."""
    definition: TableDefinition
    number: int
    """Begins the names of the files."""
    compartments: tuple[int, ...]
    segments: tuple[int, int]
    """The rows are in these segments of the log (first, and the one after the last), unless they are here."""
    rows: pa.Table | None = None


def is_data_file(name: str) -> bool:
    """Whether a file in the past was named by `write_data_file`."""
    return name.startswith(_PREFIX) and (name.endswith((".parquet", ".parquet.new")))


def footer_checksum(path: Path) -> int:
    """CRC-32 of a Parquet file's footer: it has the statistics and places that reads rely on.

    Pages have checksums of their own, the footer has none, so the file's name carries it.
    """
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - _FOOTER_END.size, 0))
        end = file.read()
        if len(end) < _FOOTER_END.size:
            return 0
        length = _FOOTER_END.unpack(end)[0] + _FOOTER_END.size
        file.seek(max(size - length, 0))
        return zlib.crc32(file.read())


def checksum_in_name(path: Path) -> int:
    """The footer's checksum as the file's name has it."""
    return int(path.stem.rpartition("-")[2], 16)


def compartments_of(times: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """Where the compartment of each time begins."""
    result: NDArray[np.int64] = times // length * length
    return result


def in_file_order(rows: pa.Table, time: str) -> pa.Table:
    """The rows sorted by time, then by arrival."""
    times, seqs = times_of(rows.column(time)), times_of(rows.column(SEQ))
    later = (times[1:] > times[:-1]) | ((times[1:] == times[:-1]) & (seqs[1:] > seqs[:-1]))
    if later.all():
        return rows
    return rows.combine_chunks().take(pa.array(np.lexsort((seqs, times))))


def write_data_files(task: FlushTask) -> list[DataFile]:
    """Write all files of a task in this process."""
    return [write_data_file(task, number) for number in range(len(task.compartments))]


def write_data_file(task: FlushTask, number: int) -> DataFile:
    """Write the file of one compartment with its sidecars, durably."""
    rows = task.rows if task.rows is not None else _rows_of_log(task)
    time, length = task.definition.time.name, task.definition.compartment
    begin = task.compartments[number]
    if len(task.compartments) > 1 or task.rows is None:
        rows = rows.filter(pa.array(compartments_of(times_of(rows.column(time)), length) == begin))
    return write_sorted(task.folder, task.definition, task.number, begin, in_file_order(rows, time))


def write_sorted(
    folder: Path, definition: TableDefinition, number: int, compartment: int, rows: pa.Table
) -> DataFile:
    """Write rows of one compartment that are in file order."""
    times, seqs = times_of(rows.column(definition.time.name)), times_of(rows.column(SEQ))
    place = folder / "past" / f"{COMPARTMENT}={compartment}"
    relative = None
    try:
        place.mkdir(parents=True, exist_ok=True)
        path = write_parquet(place, number, rows, definition.indexed_columns)
        relative = f"{place.name}/{path.name}"
        sync_folder(place)
        sync_folder(place.parent)
        for column in definition.indexed_columns:
            write_index(index_file(folder, column, relative), rows.column(column))
    except OSError as failure:
        if relative:
            remove_data_file(folder, relative, definition.indexed_columns)
        raise refusal(place, failure) from failure
    return DataFile(
        relative,
        compartment,
        path.stat().st_size,
        rows.num_rows,
        int(times[0]),
        int(times[-1]),
        int(seqs.min()),
        int(seqs.max()),
    )


def write_parquet(folder: Path, number: int, rows: pa.Table, indexed: Sequence[str] = ()) -> Path:
    """Write a Parquet file durably, with page index, checksums and Bloom filters on indexed columns.

    Its name begins with `number` and ends with the checksum of its footer.
    """
    schema = rows.schema
    blooms = {
        name: {"ndv": min(rows.num_rows, ROW_GROUP_ROWS), "fpp": 0.01}
        for name in indexed
        if not pa.types.is_boolean(schema.field(name).type)
    }
    encodings = {SEQ: "DELTA_BINARY_PACKED"} if SEQ in schema.names else None
    stem = f"{_PREFIX}{number:012d}-{uuid.uuid4().hex[:12]}"
    fresh = folder / f"{stem}.parquet.new"
    try:
        with fresh.open("wb") as file:
            pq.write_table(
                rows,
                file,
                row_group_size=ROW_GROUP_ROWS,
                compression="zstd",
                compression_level=1,
                use_dictionary=[name for name in schema.names if name != SEQ],
                column_encoding=encodings,
                write_page_index=True,
                write_page_checksum=True,
                bloom_filter_options=blooms or None,
            )
            file.flush()
            os.fsync(file.fileno())
        return fresh.replace(folder / f"{stem}-{footer_checksum(fresh):08x}.parquet")
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def remove_data_file(folder: Path, relative: str, indexed: Sequence[str]) -> None:
    """Remove a data file and its sidecars, as far as they are there."""
    (folder / "past" / relative).unlink(missing_ok=True)
    for column in indexed:
        index_file(folder, column, relative).unlink(missing_ok=True)


def _rows_of_log(task: FlushTask) -> pa.Table:
    log = ArrivalLog(task.folder / "log", task.definition.time.name)
    tables = log.rows_between(*task.segments)
    return pa.concat_tables(tables) if tables else task.definition.file_schema().empty_table()
