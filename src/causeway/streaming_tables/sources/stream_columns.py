"""The columns that a source has by itself, for `SELECT … FROM STREAM`."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq

from causeway.runtime.errors import UserError
from causeway.streaming.linear_road_fields import INPUT_COLUMNS
from causeway.streaming_tables.sources.benchmark_folders import workload_parts
from causeway.streaming_tables.sources.feeds.file_format import format_of_file
from causeway.streaming_tables.sources.feeds.file_list import data_files
from causeway.streaming_tables.sources.options import SourceOptions, parse_options
from causeway.streaming_tables.sources.parsing.target import TargetColumns

__all__ = ["stream_columns"]

_SAMPLE: Final = 1 << 20
"""Bytes of a text file by which the types of its columns are told."""
_TIME_NAMES: Final = ("t", "time")
_UNKNOWN: Final = TargetColumns(pa.schema([]), "seconds")


def stream_columns(address: str, options: Mapping[str, str], base: Path) -> TargetColumns:
    """The columns of the first file at `address`, the time last.

    The time is the column named T or Time, or by the option `timestamp`: whole numbers are seconds.
    """
    chosen = parse_options(options, _UNKNOWN)
    place = Path(base, Path(address).expanduser()).resolve()
    if "://" in address:
        raise UserError(
            f"{address}: SELECT … FROM STREAM reads files and folders; insert from a socket as it is"
        )
    if not place.exists():
        raise UserError(f"{address}: there is no such file or folder ({place})")
    parts = workload_parts(place) if place.is_dir() else None
    if parts is not None:
        sample = _dat_columns()
    else:
        file = place if place.is_file() else min(data_files(place, chosen.format), default=None)
        if file is None:
            raise UserError(f"{address} is empty: its columns are not known yet")
        sample = _file_sample(file, chosen)
    named = chosen.reading.timestamp
    wanted = list(_TIME_NAMES) if named is None else [named.lower()]
    found = [name for name in sample.schema.names if name.lower() in wanted]
    if not found:
        raise UserError(
            f"{address} has no time column (it has {', '.join(sample.schema.names)}); name it with "
            "OPTIONS (timestamp = '…')"
        )
    others = [field for field in sample.schema if field.name != found[0]]
    if _counts_seconds(sample.column(found[0])):
        return TargetColumns(pa.schema([*others, pa.field(found[0], pa.int64())]), "seconds", traced=True)
    stamp = pa.field(found[0], pa.timestamp("us", "UTC"))
    return TargetColumns(pa.schema([*others, stamp]), "timestamp", traced=True)


def _counts_seconds(times: pa.ChunkedArray) -> bool:
    """Whether times are whole numbers; where a line has something else, what most of them are."""
    if not pa.types.is_string(times.type):
        # One number that is too long for an integer makes all of them floats.
        kind = pa.types
        return bool(kind.is_integer(times.type) or kind.is_floating(times.type) or kind.is_null(times.type))
    whole = pc.sum(pc.match_substring_regex(times, r"^\s*\d+\s*$")).as_py() or 0
    return bool(2 * whole > len(times) - times.null_count)


def _dat_columns() -> pa.Table:
    return pa.schema([pa.field(name, pa.int32()) for name in INPUT_COLUMNS[1:9]]).empty_table()


def _file_sample(file: Path, chosen: SourceOptions) -> pa.Table:
    """A file's first rows, or none if its columns have types. Lines that do not parse are left out."""
    try:
        file_format = chosen.format or format_of_file(file, chosen.reading.delimiter)
        if file_format == "dat":
            return _dat_columns()
        if file_format == "parquet":
            schema = pq.read_schema(file).remove_metadata()
            return pa.schema([field.remove_metadata() for field in schema]).empty_table()
        with pa.input_stream(str(file), compression="detect") as stream:
            text = stream.read(_SAMPLE)
        text = text[: text.rfind(b"\n") + 1] or text
        if file_format == "csv":
            return _csv_sample(text, chosen)
        if file_format == "json":
            return pa.json.read_json(io.BytesIO(_objects(text)))
    except (pa.ArrowException, OSError) as refused:
        raise UserError(f"{file} cannot be read: {refused}") from refused
    raise UserError(
        f"{file}: neither its name nor its first line tells its format; say OPTIONS (format = 'csv')"
    )


def _csv_sample(text: bytes, chosen: SourceOptions) -> pa.Table:
    reading = chosen.reading
    if not reading.header and reading.columns is None:
        raise UserError("SELECT … FROM STREAM needs the names of the columns: OPTIONS (columns = 'a, b, T')")
    sample = pa.csv.read_csv(
        io.BytesIO(text),
        read_options=pa.csv.ReadOptions(column_names=None if reading.header else list(reading.columns or ())),
        parse_options=pa.csv.ParseOptions(delimiter=reading.delimiter, invalid_row_handler=lambda _: "skip"),
    )
    return sample.rename_columns([name.strip() for name in sample.schema.names])


def _objects(text: bytes) -> bytes:
    """The lines that are JSON objects, as long as each key has the kind of value that it had first."""
    kept = []
    known: dict[str, type] = {}
    for line in text.splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            kinds = {key: _kind(value) for key, value in found.items() if value is not None}
            if all(known.get(key, kind) is kind for key, kind in kinds.items()):
                known |= kinds
                kept.append(line)
    return b"\n".join(kept)


def _kind(value: object) -> type:
    # Arrow takes whole numbers and others together.
    return float if type(value) is int else type(value)
