"""Opens the source that an address names, or says in the user's words why it can't."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, get_args
from urllib.parse import urlsplit

from causeway.runtime.errors import UserError
from causeway.streaming_tables.sources.benchmark_folders import NEXMARK_TIMES, nexmark_stream, workload_parts
from causeway.streaming_tables.sources.check import check_file, check_text_types
from causeway.streaming_tables.sources.feeds.file_format import format_of_file
from causeway.streaming_tables.sources.feeds.file_list import FileFormat, data_files, format_of, is_complete
from causeway.streaming_tables.sources.feeds.making import make_feed
from causeway.streaming_tables.sources.feeds.received import Receiver
from causeway.streaming_tables.sources.options import SourceOptions, parse_options
from causeway.streaming_tables.sources.parsing.target import LinearRoadTuples, TargetColumns, match_columns
from causeway.streaming_tables.sources.source import FedSource, SocketSource, Source

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
    match. A file that was found before, with this `state`, may be gone.
    """
    chosen = parse_options(options, target)
    scheme, mark, _ = address.partition("://")
    if mark:
        return _open_url(address, scheme.casefold(), chosen, state)
    place = Path(base, Path(address).expanduser()).resolve()
    if not place.exists() and not is_complete(state):
        raise UserError(f"{address}: there is no such file or folder ({place})")
    if place.is_dir():
        parts = workload_parts(place)
        if parts is not None:
            return _open_workload(place, parts, _of_linear_road(chosen, address))
        events = nexmark_stream(place, chosen.stream)
        if events is not None:
            unit = chosen.reading.time_unit or ("ms" if events.format == "json" else None)
            reading = replace(chosen.reading, time_names=NEXMARK_TIMES, time_unit=unit)
            dataset = replace(chosen, reading=reading, once=True)
            return _open_files(events.folder, dataset, state, order="name")
    return _open_files(place, _of_linear_road(chosen, address), state)


def _of_linear_road(chosen: SourceOptions, address: str) -> SourceOptions:
    """The options with the tuples that `stream` names."""
    if chosen.stream is None:
        return chosen
    for tuples in get_args(LinearRoadTuples):
        if tuples == chosen.stream.casefold():
            return replace(chosen, reading=replace(chosen.reading, tuples=tuples))
    raise UserError(
        f"{address}: the option stream is for folders of `causeway nexmark generate`, or reports or requests "
        f"of Linear Road; got {chosen.stream}"
    )


def _open_url(address: str, scheme: str, chosen: SourceOptions, state: Path) -> Source:
    if scheme == "kafka":
        raise UserError(f"{address}: reading from Kafka needs the Kafka extra, which is not there yet")
    if scheme != "socket":
        raise UserError(f"{address}: {scheme}:// is unknown; give a file, a folder or socket://host:port")
    try:
        url = urlsplit(address)
        host, port = url.hostname, url.port
    except ValueError as wrong:
        raise UserError(f"{address}: {wrong}") from wrong
    if host is None or port is None or url.path not in ("", "/"):
        raise UserError(f"{address}: expected socket://host:port")
    file_format = chosen.format or "json"
    if file_format not in ("json", "csv"):
        raise UserError(f"{address}: lines from a socket are json or csv; got {file_format}")
    reading = replace(chosen.reading, header=False)
    if file_format == "csv":
        match_columns(reading.named_columns, reading, address)
        check_text_types(reading, address)
    spec = {
        "kind": "socket",
        "state": str(state),
        "format": file_format,
        "source": address,
        "reading": reading.to_json(),
    }
    receiver = Receiver(address, host, port, state)
    lines = _FORMAT_NAMES[file_format] if file_format == "json" else "lines of CSV"
    return SocketSource(f"{address}, {lines}", make_feed(spec), chosen.limits, receiver)


def _open_workload(place: Path, parts: list[Path], chosen: SourceOptions) -> Source:
    check_file(parts[0], "parquet" if parts[0].suffix == ".parquet" else "dat", chosen.reading)
    spec = {
        "kind": "merged",
        "parts": [str(part) for part in parts],
        "reading": chosen.reading.to_json(),
    }
    return FedSource(f"Linear Road workload {place}", make_feed(spec), chosen.limits)


def _open_files(place: Path, chosen: SourceOptions, state: Path, order: str = "arrival") -> Source:
    if place.is_file() and chosen.format is None:
        chosen = replace(chosen, format=_format_of_file(place, chosen))
    first = _first_file(place, chosen)
    file_format = chosen.format or (format_of(first) if first is not None else None)
    if first is not None and file_format is not None:
        check_file(first, file_format, chosen.reading)
    spec: dict[str, Any] = {
        "kind": "files",
        "place": str(place),
        "state": str(state),
        "format": chosen.format,
        "order": order,
        "ends": chosen.once or not place.is_dir(),
        "reading": chosen.reading.to_json(),
    }
    kind = f" of {_FORMAT_NAMES[file_format]}" if file_format is not None else ""
    description = f"{'folder' if place.is_dir() else 'file'} {place}{kind}"
    return FedSource(description, make_feed(spec), chosen.limits)


def _format_of_file(place: Path, chosen: SourceOptions) -> FileFormat:
    try:
        file_format = format_of_file(place, chosen.reading.delimiter)
    except OSError as refused:
        raise UserError(f"{place} cannot be read: {refused.strerror or refused}") from refused
    if file_format is None:
        raise UserError(
            f"{place}: neither its name nor its first line tells its format; "
            "say OPTIONS (format = 'parquet'), 'csv', 'json' or 'dat'"
        )
    return file_format


def _first_file(place: Path, chosen: SourceOptions) -> Path | None:
    """A file by which columns are checked; None for a folder that is still empty."""
    if place.is_file():
        return place
    if not place.exists():
        return None
    if not place.is_dir():
        raise UserError(f"{place} is neither a file nor a folder")
    try:
        return min(data_files(place, chosen.format), default=None)
    except OSError as refused:
        raise UserError(f"{place} cannot be read: {refused.strerror}") from refused
