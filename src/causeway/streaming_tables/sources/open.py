"""Opens the source that an address names, or says in the user's words why it can't."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from causeway.runtime.errors import UserError
from causeway.streaming_tables.sources.feeds import make_feed
from causeway.streaming_tables.sources.file_list import FileFormat, data_files, format_of
from causeway.streaming_tables.sources.files_feed import csv_names
from causeway.streaming_tables.sources.options import SourceOptions, parse_options
from causeway.streaming_tables.sources.parquet_rows import check_types, match_parquet
from causeway.streaming_tables.sources.source import FedSource, Source
from causeway.streaming_tables.sources.target import ColumnsError, TargetColumns, match_columns

__all__ = ["open_source"]

_FORMAT_NAMES: Final[dict[FileFormat, str]] = {
    "parquet": "Parquet",
    "csv": "CSV",
    "json": "JSON lines",
    "dat": "Linear Road's flat format",
}


def open_source(
    address: str, options: Mapping[str, str], target: TargetColumns, state: Path, base: Path
) -> Source:
    """The source at `address`, a path or a URL, for a table with the columns `target`.

    `state` is a folder of the insert's own, for what must be the same after a restart. Relative paths are
    relative to `base`. Raises `UserError` where nothing is there, an option is unknown, or columns do not
    match.
    """
    chosen = parse_options(options, target)
    scheme, mark, _ = address.partition("://")
    if mark:
        return _open_url(address, scheme.casefold())
    place = Path(base, Path(address).expanduser()).resolve()
    if not place.exists():
        raise UserError(f"{address}: there is no such file or folder ({place})")
    return _open_files(place, chosen, state)


def _open_url(address: str, scheme: str) -> Source:
    if scheme == "kafka":
        raise UserError(f"{address}: reading from Kafka needs the Kafka extra, which is not there yet")
    raise UserError(f"{address}: {scheme}:// is unknown; give a file, a folder or socket://host:port")


def _open_files(place: Path, chosen: SourceOptions, state: Path) -> Source:
    first = _first_file(place, chosen)
    if first is not None:
        chosen = _check_file(first, chosen)
    spec: dict[str, Any] = {
        "place": str(place),
        "state": str(state),
        "format": chosen.format,
        "order": "arrival",
        "ends": chosen.once or place.is_file(),
        "reading": chosen.reading.to_json(),
    }
    return FedSource(_describe(place, first, chosen), make_feed(spec), chosen.limits)


def _first_file(place: Path, chosen: SourceOptions) -> Path | None:
    """A file by which columns are checked; None for a folder that is still empty."""
    if place.is_file():
        if chosen.format is None and format_of(place) is None:
            raise UserError(
                f"{place}: its name does not tell its format; "
                "say OPTIONS (format = 'parquet'), 'csv', 'json' or 'dat'"
            )
        return place
    if not place.is_dir():
        raise UserError(f"{place} is neither a file nor a folder")
    try:
        return min(data_files(place, chosen.format), default=None)
    except OSError as refused:
        raise UserError(f"{place} cannot be read: {refused.strerror}") from refused


def _check_file(path: Path, chosen: SourceOptions) -> SourceOptions:
    file_format = chosen.format or format_of(path)
    assert file_format is not None
    reading = chosen.reading
    try:
        if file_format == "parquet":
            try:
                schema = pq.read_schema(path)
            except pa.ArrowException:
                # A damaged file is rejected when it is read: others may follow it.
                return chosen
            match_parquet(schema, reading, str(path))
        elif file_format != "json":
            names = csv_names(path, file_format, reading)
            if not any(names):
                return chosen
            try:
                match = match_columns(names, reading, str(path))
            except ColumnsError as mismatch:
                if file_format == "csv" and reading.header:
                    raise ColumnsError(
                        f"{mismatch}. If the file has no line of names, say OPTIONS (header = false)"
                    ) from None
                raise
            check_types([pa.string()] * len(match.indexes), replace(reading), str(path))
    except OSError as unreadable:
        raise UserError(f"{path} cannot be read: {unreadable}") from unreadable
    return chosen


def _describe(place: Path, first: Path | None, chosen: SourceOptions) -> str:
    file_format = chosen.format or (format_of(first) if first is not None else None)
    kind = f" of {_FORMAT_NAMES[file_format]}" if file_format is not None else ""
    return f"{'file' if place.is_file() else 'folder'} {place}{kind}"
