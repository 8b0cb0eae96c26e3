"""The columns that a source has by itself, for `SELECT … FROM STREAM`."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq

from causeway.runtime.errors import UserError
from causeway.streaming_tables.sources.benchmark_folders import workload_parts
from causeway.streaming_tables.sources.feeds.file_list import data_files, format_of
from causeway.streaming_tables.sources.parsing.target import DAT_COLUMNS, TargetColumns

__all__ = ["stream_columns"]

_SAMPLE: Final = 1 << 20
"""Bytes of a text file by which the types of its columns are told."""
_TIME_NAMES: Final = ("t", "time")


def stream_columns(address: str, options: Mapping[str, str], base: Path) -> TargetColumns:
    """The columns of the first file at `address`, the time last.

    The time is the column named T or Time, or by the option `timestamp`: whole numbers are seconds.
    """
    place = Path(base, Path(address).expanduser()).resolve()
    if "://" in address:
        raise UserError(
            f"{address}: SELECT … FROM STREAM reads files and folders; insert from a socket as it is"
        )
    if not place.exists():
        raise UserError(f"{address}: there is no such file or folder ({place})")
    parts = workload_parts(place) if place.is_dir() else None
    if parts is not None:
        schema = pa.schema([pa.field(name, pa.int32()) for name in DAT_COLUMNS[1:9]])
    else:
        file = place if place.is_file() else min(data_files(place, None), default=None)
        if file is None:
            raise UserError(f"{address} is empty: its columns are not known yet")
        schema = _file_columns(file, options.get("format") or format_of(file))
    wanted = [options["timestamp"].lower()] if "timestamp" in options else list(_TIME_NAMES)
    found = [name for name in schema.names if name.lower() in wanted]
    if not found:
        raise UserError(
            f"{address} has no time column (it has {', '.join(schema.names)}); name it with "
            "OPTIONS (timestamp = '…')"
        )
    time = schema.field(found[0])
    others = [field for field in schema if field.name != time.name]
    if pa.types.is_integer(time.type):
        return TargetColumns(pa.schema([*others, pa.field(time.name, pa.int64())]), "seconds")
    stamp = pa.field(time.name, pa.timestamp("us", "UTC"))
    return TargetColumns(pa.schema([*others, stamp]), "timestamp")


def _file_columns(file: Path, file_format: str | None) -> pa.Schema:
    try:
        if file_format == "parquet":
            return pa.schema([field.remove_metadata() for field in pq.read_schema(file).remove_metadata()])
        with pa.input_stream(str(file), compression="detect") as stream:
            text = stream.read(_SAMPLE)
        text = text[: text.rfind(b"\n") + 1] or text
        if file_format == "csv":
            return pa.csv.read_csv(io.BytesIO(text)).schema
        if file_format == "json":
            return pa.json.read_json(io.BytesIO(text)).schema
    except (pa.ArrowException, OSError) as refused:
        raise UserError(f"{file} cannot be read: {refused}") from refused
    if file_format == "dat":
        return pa.schema([pa.field(name, pa.int32()) for name in DAT_COLUMNS[1:9]])
    raise UserError(f"{file}: its name does not tell its format; say OPTIONS (format = 'csv')")
