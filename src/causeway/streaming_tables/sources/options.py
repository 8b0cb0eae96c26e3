"""The options of `INSERT INTO t VALUES FROM 'x' OPTIONS (…)`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from causeway.runtime.errors import UserError
from causeway.streaming_tables.sources.feeds.feed import BATCH_BYTES, BATCH_ROWS, Limits
from causeway.streaming_tables.sources.feeds.file_list import FORMATS, FileFormat
from causeway.streaming_tables.sources.parsing.target import Reading, TargetColumns, TimeUnit

__all__ = ["SourceOptions", "parse_options"]

_KNOWN: Final = (
    "format",
    "header",
    "columns",
    "delimiter",
    "timestamp",
    "time_unit",
    "stream",
    "once",
    "batch_rows",
    "batch_bytes",
)
_ALSO_JSON: Final = frozenset({"jsonl", "ndjson"})
_UNITS: Final[dict[str, TimeUnit]] = {"s": "s", "ms": "ms", "us": "us"}


@dataclass(frozen=True)
class SourceOptions:
    """What the user says of a source."""

    format: FileFormat | None
    reading: Reading
    stream: str | None
    """Which stream of a NEXMark folder, or which tuples of a Linear Road stream."""
    once: bool
    """What is there now is all."""
    limits: Limits


def parse_options(options: Mapping[str, str], target: TargetColumns) -> SourceOptions:
    """Raises `UserError` for an option that is unknown or has a value that it cannot have."""
    values = {name.strip().casefold(): str(value).strip() for name, value in options.items()}
    for name in options:
        if name.strip().casefold() not in _KNOWN:
            raise UserError(f"there is no option {name}; a source has {', '.join(_KNOWN)}")
    columns = values.get("columns")
    names = None if columns is None else tuple(name.strip() for name in columns.split(","))
    if names is not None and not all(names):
        raise UserError(f"the option columns has a name that is empty: {columns!r}")
    delimiter = options.get("delimiter", values.get("delimiter", ","))
    delimiter = "\t" if delimiter in ("\\t", "tab") else delimiter
    if len(delimiter.encode()) != 1 or delimiter in '"\r\n':
        raise UserError(f"the option delimiter is one plain character; got {delimiter!r}")
    unit = values.get("time_unit")
    if unit is not None and unit not in _UNITS:
        raise UserError(f"the option time_unit is one of {', '.join(_UNITS)}; got {unit!r}")
    return SourceOptions(
        format=_format(values.get("format")),
        reading=Reading(
            target=target,
            timestamp=values.get("timestamp"),
            header=_flag(values, "header", default=names is None),
            columns=names,
            delimiter=delimiter,
            time_unit=None if unit is None else _UNITS[unit],
        ),
        stream=values.get("stream"),
        once=_flag(values, "once", default=False),
        limits=Limits(_count(values, "batch_rows", BATCH_ROWS), _count(values, "batch_bytes", BATCH_BYTES)),
    )


def _format(name: str | None) -> FileFormat | None:
    if name is None:
        return None
    wanted = "json" if name.casefold() in _ALSO_JSON else name.casefold()
    for known in FORMATS:
        if known == wanted:
            return known
    raise UserError(f"the format {name!r} is unknown; it is one of {', '.join(FORMATS)}")


def _flag(values: Mapping[str, str], name: str, *, default: bool) -> bool:
    value = values.get(name)
    if value is None:
        return default
    if value.casefold() not in ("true", "false"):
        raise UserError(f"the option {name} is true or false; got {value!r}")
    return value.casefold() == "true"


def _count(values: Mapping[str, str], name: str, default: int) -> int:
    value = values.get(name)
    if value is None:
        return default
    if not value.isdecimal() or int(value) < 1:
        raise UserError(f"the option {name} is a whole number of 1 or more; got {value!r}")
    return int(value)
