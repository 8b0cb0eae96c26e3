"""Events as text, one a line: JSON and XML; lines that do not parse are returned apart.

A block of plain lines is read by `plain_json`, any other by Arrow's parser. Only a block with a line that
this refuses is read line by line, so that one bad line costs a block's time and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from mmap import mmap
from typing import Any, Final
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from causeway.nexmark.events.plain_json import read_plain_objects
from causeway.nexmark.model import OPTIONAL

__all__ = ["MIXED", "Parsed", "Reject", "checked", "parse_json", "parse_mixed_json", "parse_xml"]

MIXED: Final = "events"
"""In a file of all streams, the name for lines that do not say their stream."""
_EVENT_TYPES: Final = {0: "person", 1: "auction", 2: "bid"}


@dataclass(frozen=True)
class Reject:
    """A line that is no event, and why."""

    line: int
    reason: str
    text: str


@dataclass(frozen=True)
class Parsed:
    """A stream's events, where they stood, and what was no event."""

    events: pa.Table
    lines: np.ndarray[Any, np.dtype[np.int64]]
    """For each event its place in the file, from 0."""
    rejects: tuple[Reject, ...] = ()
    bytes: int = 0
    """Size of the lines, of a file that is read line by line."""


def parse_json(text: bytes | mmap, schema: pa.Schema) -> Parsed:
    """Lines that are one plain object each, times in milliseconds (or as ISO text)."""
    fast = _as_integers(schema)
    plain = read_plain_objects(text, fast)
    if plain is not None:
        return checked(plain.cast(schema), np.arange(plain.num_rows), _line_of(text))
    text = bytes(text)
    try:
        table = _arrow_json(text, fast)
        if text.count(b"\n") + (not text.endswith(b"\n")) == table.num_rows:
            return checked(table.cast(schema), np.arange(table.num_rows), _line_of(text))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    return _by_line(text, {"": schema}, lambda line: ("", _object(json.loads(line))))[""]


def parse_mixed_json(text: bytes, streams: Mapping[str, pa.Schema]) -> dict[str, Parsed]:
    """Lines of all streams in one file, as other systems write them.

    `{"type": "bid", "event": {…}}` or
    `{"event_type": 2, "person": null, "auction": null, "bid": {…}}`. Lines without a known stream are rejects
    of `MIXED`.
    """
    return _by_line(text, {**streams, MIXED: pa.schema([])}, _unwrapped)


def parse_xml(text: bytes, schema: pa.Schema) -> Parsed:
    """Lines that are one element each, with an element for each column that is not null."""

    def fields(line: bytes) -> tuple[str, dict[str, Any]]:
        element = ElementTree.fromstring(line)
        return "", {child.tag: child.text or "" for child in element}

    return _by_line(text, {"": schema}, fields)[""]


def checked(
    table: pa.Table, lines: np.ndarray[Any, np.dtype[np.int64]], line_of: Callable[[int], str]
) -> Parsed:
    """Reject rows in which a column that queries rely on is null."""
    missing: dict[int, str] = {}
    for field in table.schema:
        column = table.column(field.name)
        if field.name not in OPTIONAL and column.null_count:
            for at in np.flatnonzero(pc.is_null(column).to_numpy()):
                missing.setdefault(int(at), f"{field.name} is missing")
    if not missing:
        return Parsed(table, lines)
    kept = np.setdiff1d(np.arange(table.num_rows), np.fromiter(missing, np.int64))
    rejects = tuple(
        Reject(int(lines[at]) + 1, why, line_of(int(lines[at]))) for at, why in sorted(missing.items())
    )
    return Parsed(table.take(kept), lines[kept], rejects)


def _arrow_json(text: bytes, schema: pa.Schema) -> pa.Table:
    if not text.strip():
        return schema.empty_table()
    return pyarrow.json.read_json(
        pa.BufferReader(text),
        read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=max(len(text), 1)),
        parse_options=pyarrow.json.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior="ignore", newlines_in_values=False
        ),
    )


def _as_integers(schema: pa.Schema) -> pa.Schema:
    return pa.schema(
        [(field.name, pa.int64() if pa.types.is_timestamp(field.type) else field.type) for field in schema]
    )


def _line_of(text: bytes | mmap) -> Callable[[int], str]:
    """Gives the line at a place. The text is split once, when the first line is asked for."""
    lines = cache(lambda: bytes(text).split(b"\n"))
    return lambda at: lines()[at].decode("utf-8", "replace")


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _unwrapped(line: bytes) -> tuple[str, dict[str, Any]]:
    wrapped = _object(json.loads(line))
    if "type" in wrapped and "event" in wrapped:
        return str(wrapped["type"]), _object(wrapped["event"])
    stream = _EVENT_TYPES.get(wrapped.get("event_type", -1))
    if stream is None:
        raise ValueError("neither `type` and `event` nor an `event_type` of 0, 1 or 2")
    return stream, _object(wrapped.get(stream))


def _by_line(
    text: bytes, streams: Mapping[str, pa.Schema], read: Callable[[bytes], tuple[str, dict[str, Any]]]
) -> dict[str, Parsed]:
    rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in streams}
    places: dict[str, list[int]] = {name: [] for name in streams}
    rejects: dict[str, list[Reject]] = {name: [] for name in streams}
    sizes = dict.fromkeys(streams, 0)
    unknown = MIXED if MIXED in streams else next(iter(streams))
    for at, line in enumerate(_lines(text)):
        stream = unknown
        try:
            stream, values = read(line)
            if stream not in streams or stream == MIXED:
                stream, name = unknown, stream
                raise ValueError(f"there is no stream {name!r}")
            rows[stream].append(tuple(_value(values.get(field.name), field) for field in streams[stream]))
            places[stream].append(at)
        except (ValueError, ElementTree.ParseError) as reason:
            rejects[stream].append(Reject(at + 1, str(reason), line.decode("utf-8", "replace")))
        sizes[stream] += len(line) + 1
    parsed = {}
    for name, schema in streams.items():
        columns = list(zip(*rows[name], strict=True)) or [()] * len(schema)
        table = pa.table(
            [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)],
            schema=schema,
        )
        places_of_rows = np.array(places[name], np.int64)
        parsed[name] = Parsed(table, places_of_rows, tuple(rejects[name]), sizes[name])
    return parsed


def _lines(text: bytes) -> Iterable[bytes]:
    lines = text.split(b"\n")
    return lines[:-1] if lines and not lines[-1] else lines


def _value(value: Any, field: pa.Field) -> Any:
    """A value as the column has it; raises `ValueError` in words about the column."""
    if value is None or (value == "" and not pa.types.is_string(field.type)):
        if field.name not in OPTIONAL:
            raise ValueError(f"{field.name} is missing")
        return None
    if pa.types.is_string(field.type):
        if not isinstance(value, str):
            raise ValueError(f"{field.name} is no text: {value!r}")
        return value
    if pa.types.is_timestamp(field.type) and isinstance(value, str) and not value.lstrip("-").isdigit():
        try:
            time = datetime.fromisoformat(value)
        except ValueError:
            raise ValueError(f"{field.name} is no time: {value!r}") from None
        return round((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)
    try:
        if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
            raise ValueError
        number = int(value)
        if not -(1 << 63) <= number < 1 << 63:
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError(f"{field.name} is no whole number: {value!r}") from None
    return number
