"""The files of a slice, read into tables: Parquet, JSON lines, XML, and all streams in one file."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.nexmark.events.event_text import (
    MIXED,
    Parsed,
    Reject,
    checked,
    parse_json,
    parse_mixed_json,
    parse_xml,
)
from causeway.nexmark.model import ARRIVAL, OPTIONAL, Model

__all__ = ["MIXED", "SliceContent", "read_mixed_file", "read_stream_files"]

Rejects = list[tuple[Path, Reject]]


@dataclass(frozen=True)
class SliceContent:
    """What was read of a slice, of the streams and columns that were requested."""

    tables: dict[str, pa.Table]
    rejects: dict[str, Rejects]
    """Lines that are no event, by stream; of `events` where a line does not say its stream."""
    events: dict[str, int]
    """Events by stream, rejected lines included."""
    bytes: int
    """Size of these streams in the files."""


def read_stream_files(
    files: Sequence[Path], schema: pa.Schema, names: Sequence[str], first: int
) -> tuple[pa.Table, Rejects]:
    """The events of one stream, the columns `names`; `first` is the arrival of the first one."""
    parts, place = [], first
    rejects: Rejects = []
    for path in files:
        read = _read(path, schema, names)
        parts.append(_named(read, place, names))
        place += read.events.num_rows + len(read.rejects)
        rejects += [(path, reject) for reject in read.rejects]
    # Several bid streams are one to a query: their union.
    return pa.concat_tables(parts), rejects


def read_mixed_file(
    path: Path, model: Model, columns: Mapping[str, Sequence[str]], first: int
) -> SliceContent:
    """The events of the streams in `columns` out of a file that has all of them."""
    parsed = parse_mixed_json(_bytes(path), model.streams)
    wanted = {stream: parsed[stream] for stream in columns}
    # A line that does not say its stream might be of any.
    counted = {**wanted, MIXED: parsed[MIXED]}
    return SliceContent(
        tables={stream: _named(wanted[stream], first, names) for stream, names in columns.items()},
        rejects={stream: [(path, reject) for reject in one.rejects] for stream, one in counted.items()},
        events={stream: one.events.num_rows + len(one.rejects) for stream, one in counted.items()},
        bytes=sum(one.bytes for one in counted.values()),
    )


def _read(path: Path, schema: pa.Schema, names: Sequence[str]) -> Parsed:
    if path.suffix in (".jsonl", ".xml"):
        # An event without a required column is none, whether or not the query reads that column.
        read = pa.schema([field for field in schema if field.name in names or field.name not in OPTIONAL])
        if path.suffix == ".xml":
            return parse_xml(path.read_bytes(), read)
        return parse_json(_mapped(path), read)
    needed = [field for field in schema if field.name in names]
    try:
        table = pq.read_table(
            path, columns=[field.name for field in needed], use_threads=False, memory_map=True
        )
        table = table.select([field.name for field in needed]).cast(pa.schema(needed))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, KeyError, OSError) as unreadable:
        # The whole file is the line that does not parse.
        return Parsed(
            pa.schema(needed).empty_table(),
            np.zeros(0, np.int64),
            (Reject(0, f"not a Parquet file of this stream: {unreadable}", ""),),
        )
    return checked(
        table,
        np.arange(table.num_rows),
        lambda at: json.dumps(table.slice(at, 1).to_pylist()[0], default=str),
    )


def _named(parsed: Parsed, first: int, names: Sequence[str]) -> pa.Table:
    events = parsed.events
    if ARRIVAL in names:
        events = events.append_column(ARRIVAL, pa.array(first + parsed.lines, pa.int64()))
    return events.select(list(names))


def _mapped(path: Path) -> bytes | mmap:
    """A file's bytes as the system has them in memory, without a copy."""
    with path.open("rb") as file:
        return mmap(file.fileno(), 0, access=ACCESS_READ) if path.stat().st_size else b""


def _bytes(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
