"""Lines of JSON: whole blocks go through pyarrow, single lines only where something is wrong near them.

A line is one object. Its keys are the columns in any case; one that is missing is a null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pa_json

from causeway.streaming_tables.sources.parsing.casts import ColumnRule, column_rules, sql_type
from causeway.streaming_tables.sources.parsing.rows import (
    Reject,
    chosen_tuples,
    convert_columns,
    good_rows,
)
from causeway.streaming_tables.sources.parsing.target import (
    Reading,
    is_linear_road,
    time_candidates,
)
from causeway.streaming_tables.sources.parsing.text_lines import Lines, open_text

__all__ = ["JsonRows", "first_object", "is_json"]

_TYPE_RULE: Final = ColumnRule("Type", pa.int64())
_SAMPLE_LINES: Final = 100
_SAMPLE_BYTES: Final = 1 << 20


def first_object(path: Path) -> dict[str, Any]:
    """The keys of a file's first objects, each with its first value; empty where there is no object."""
    keys: dict[str, Any] = {}
    with open_text(path) as file:
        for line in file.read(_SAMPLE_BYTES).split(b"\n", _SAMPLE_LINES)[:_SAMPLE_LINES]:
            try:
                value = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
            except ValueError:
                continue
            if isinstance(value, dict):
                for key, content in value.items():
                    if keys.get(key) is None:
                        keys[key] = content
    return keys


def is_json(rule: ColumnRule) -> bool:
    """Whether values of the column's type can be read from JSON at all."""
    try:
        _read_json(b'{"value": null}\n', pa.schema([pa.field("value", _json_type(rule, text=False))]))
    except pa.ArrowNotImplementedError:
        return False
    return True


class JsonRows:
    """Makes rows of blocks of one file's lines."""

    def __init__(self, sample: Mapping[str, Any], reading: Reading) -> None:
        """`sample`: the file's `first_object`, by which the time column and the types of times are known."""
        self._reading = reading
        self._rules = column_rules(reading)
        folded = {key.casefold(): key for key in sample}
        times = time_candidates(reading)
        known = [name for name in times if name.casefold() in folded]
        self._columns = [
            *(_Column(rule, [rule.name], sample) for rule in self._rules[:-1]),
            _Column(self._rules[-1], known[:1] or times, sample),
        ]
        self._kind = _Column(_TYPE_RULE, ["Type"], sample) if is_linear_road(folded) else None

    def __call__(self, block: bytes) -> tuple[pa.RecordBatch, list[Reject]]:
        """The rows of a block of lines, and the rejected lines, which count from 0 in the block."""
        lines = Lines(block)
        rejects, dropped = _no_objects(lines)
        kept, numbers = lines, np.arange(len(lines))
        if dropped.any():
            kept, numbers = lines.without(dropped)
        tables: list[pa.Table] = []
        places: list[np.ndarray[Any, np.dtype[np.int64]]] = []
        refused: dict[int, str] = {}
        self._parse(kept, 0, tables, places, refused)
        rejects += [(int(numbers[place]), reason, kept.text(place)) for place, reason in refused.items()]
        columns: list[list[pa.Array]] = [
            [table.column(index) for table in tables] for index in range(len(self._all_columns))
        ]
        rows = numbers[np.concatenate(places)] if places else np.empty(0, dtype=np.int64)
        merged = [
            pa.concat_arrays(chunks) if len({chunk.type for chunk in chunks}) == 1 else _as_text(chunks)
            for chunks in ([_array(chunk) for chunk in column] or [pa.nulls(0)] for column in columns)
        ]
        if self._kind is not None and len(rows):
            wanted, untyped = chosen_tuples(merged[-1], self._reading)
            rejects += [(int(rows[place]), why, lines.text(rows[place])) for place, why in untyped.items()]
            merged, rows = [values.filter(pa.array(wanted)) for values in merged], rows[wanted]
        converted, reasons = convert_columns(merged[: len(self._rules)], self._rules)
        rejects += [(int(rows[place]), reason, lines.text(rows[place])) for place, reason in reasons.items()]
        return good_rows(converted, reasons, self._reading, rows), sorted(rejects)

    @property
    def _all_columns(self) -> list[_Column]:
        return self._columns if self._kind is None else [*self._columns, self._kind]

    def _parse(
        self,
        lines: Lines,
        first: int,
        tables: list[pa.Table],
        places: list[np.ndarray[Any, np.dtype[np.int64]]],
        refused: dict[int, str],
    ) -> None:
        """Parse lines that begin and end as objects do; halve those that do not parse together."""
        if len(lines) == 0:
            return
        table = self._parse_whole(lines.block, len(lines))
        if table is None and len(lines) == 1:
            refused[first] = self._reason(lines.text(0))
        elif table is None:
            half = len(lines) // 2
            cut = int(lines.starts[half])
            self._parse(Lines(lines.block[:cut]), first, tables, places, refused)
            self._parse(Lines(lines.block[cut:]), first + half, tables, places, refused)
        else:
            tables.append(table)
            places.append(np.arange(first, first + len(lines)))

    def _parse_whole(self, block: bytes, rows: int) -> pa.Table | None:
        """The columns, or None unless every line is one object with values of their types."""
        lowered = block.lower()
        for column in self._all_columns:
            column.learn(block, lowered)
        for swapped in (False, True):
            read = _read(block, rows, self._all_columns, swapped=swapped)
            if read is not None:
                return read
            if not any(column.swaps for column in self._all_columns) or rows > 1:
                break
        return None

    def _reason(self, line: str) -> str:
        """Why one line is no row."""
        try:
            value = json.loads(line)
        except ValueError as wrong:
            return f"not valid JSON: {wrong}"
        if not isinstance(value, dict):
            return "not a JSON object"
        for column in self._all_columns:
            for key, content in value.items():
                if key.casefold() in column.folded and not column.takes(content):
                    shown = json.dumps(content, default=str, ensure_ascii=False)
                    return f"{column.rule.name} is {shown[:60]}, which is no {_expected(column.rule)}"
        return "not one JSON object with every key once"


class _Column:
    """How a column is found in JSON."""

    def __init__(self, rule: ColumnRule, names: Sequence[str], sample: Mapping[str, Any]) -> None:
        self.rule = rule
        self.folded = {name.casefold() for name in names}
        self.keys = [key for key in sample if key.casefold() in self.folded] or [names[0]]
        self._pattern = re.compile(
            rb'"(' + b"|".join(re.escape(name.encode()) for name in names) + rb')"', re.IGNORECASE
        )
        self._lowered = [b'"' + name.lower().encode() + b'"' for name in names]
        value = next((sample[key] for key in self.keys if sample.get(key) is not None), None)
        time = rule.seconds or pa.types.is_timestamp(rule.type)
        self.swaps = time
        """Whether both integers and text are taken."""
        self.type = _json_type(rule, text=isinstance(value, str) or (value is None and not rule.seconds))
        self.other_type = _json_type(rule, text=self.type != pa.string()) if time else self.type

    def learn(self, block: bytes, lowered: bytes) -> None:
        """Note keys in `block` that are spelled in another way than those so far."""
        if sum(map(lowered.count, self._lowered)) > sum(block.count(b'"%b"' % k.encode()) for k in self.keys):
            found = {match.decode() for match in self._pattern.findall(block)}
            self.keys += sorted(found.difference(self.keys))

    def takes(self, value: Any) -> bool:
        """Whether a value has the JSON type that this column needs, and its range."""
        if value is None:
            return True
        try:
            text = json.dumps({"value": value}).encode()
        except (TypeError, ValueError):
            return False
        for arrow in (self.type, self.other_type):
            try:
                _read_json(text + b"\n", pa.schema([pa.field("value", arrow)]))
            except pa.ArrowInvalid:
                continue
            return True
        return False


def _json_type(rule: ColumnRule, *, text: bool) -> pa.DataType:
    """The type as which Arrow reads a column, before it is cast to the table's."""
    kind = pa.types
    if rule.seconds or kind.is_timestamp(rule.type):
        return pa.string() if text else pa.int64()
    if kind.is_integer(rule.type):
        return pa.int64()
    if kind.is_floating(rule.type):
        return pa.float64()
    if kind.is_date(rule.type) or kind.is_binary(rule.type):
        return pa.string()
    return rule.type


def _read(block: bytes, rows: int, columns: Sequence[_Column], *, swapped: bool) -> pa.Table | None:
    types = {key: column.other_type if swapped else column.type for column in columns for key in column.keys}
    try:
        table = _read_json(block, pa.schema(types.items()))
    except pa.ArrowInvalid:
        return None
    if table.num_rows != rows:
        return None
    values = [
        table.column(column.keys[0])
        if len(column.keys) == 1
        else pc.coalesce(*(table.column(key) for key in column.keys))
        for column in columns
    ]
    return pa.table(values, names=[str(index) for index in range(len(values))])


def _read_json(block: bytes, schema: pa.Schema) -> pa.Table:
    return pa_json.read_json(
        pa.BufferReader(block),
        read_options=pa_json.ReadOptions(use_threads=False, block_size=len(block) + 1),
        parse_options=pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
    )


def _array(values: pa.ChunkedArray | pa.Array) -> pa.Array:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def _as_text(chunks: Sequence[pa.Array]) -> pa.Array:
    """Times that are integers in some lines and text in others."""
    return pa.concat_arrays([chunk.cast(pa.string()) for chunk in chunks])


def _no_objects(lines: Lines) -> tuple[list[Reject], np.ndarray[Any, np.dtype[np.bool_]]]:
    """Which lines are not given to Arrow: blank ones, and rejected ones that are no objects for certain.

    Lines that begin and end with a brace can't be parts of an object of several lines. Arrow fails badly
    for a line that is a bare `null`.
    """
    rejects: list[Reject] = []
    wrong = lines.no_text()
    rejects += [(number, reason, lines.text(number)) for number, reason in wrong.items()]
    dropped = np.zeros(len(lines), dtype=np.bool_)
    dropped[list(wrong)] = True
    for number in np.flatnonzero(~lines.enclosed(b"{", b"}") & ~dropped):
        text = lines.raw(number).strip()
        if text.startswith(b"{") and text.endswith(b"}"):
            continue
        dropped[number] = True
        if text:
            rejects.append((int(number), _not_an_object(text), lines.text(number)))
    return rejects, dropped


def _not_an_object(text: bytes) -> str:
    try:
        json.loads(text)
    except ValueError as wrong:
        return f"not valid JSON: {wrong}"
    return "not a JSON object"


def _expected(rule: ColumnRule) -> str:
    if rule.seconds:
        return "whole number of seconds, nor a time"
    if pa.types.is_timestamp(rule.type):
        return "time such as 2024-05-31T12:00:00Z"
    return sql_type(rule.type)
