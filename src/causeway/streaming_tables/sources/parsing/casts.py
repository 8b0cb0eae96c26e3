"""Values of a source become values of the table's columns, a whole column at a time.

A column that converts as a whole costs one call. One that does not is halved again and again, so that only
the values that do not convert are looked at one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from causeway.streaming_tables.sources.parsing.target import Reading, TimeUnit

__all__ = ["ColumnRule", "column_rules", "convert", "is_readable", "plain_value", "sql_type"]

_PER_SECOND: Final[dict[str, int]] = {"s": 1, "ms": 1000, "us": 1_000_000}
_SHOWN: Final = 60
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")

Attempt = Callable[[pa.Array], pa.Array]


@dataclass(frozen=True)
class ColumnRule:
    """What a column's values must be."""

    name: str
    type: pa.DataType
    time: bool = False
    """Whether it is the time column, which has no nulls."""
    seconds: bool = False
    """Whether it counts seconds: timestamps convert too, and no value is negative."""
    unit: TimeUnit | None = None
    limits: tuple[int, int] | None = None
    """Of the time column, the first and the last time, as whole numbers."""

    def reason(self, value: Any) -> str:
        """Why `value` is not one of this column, in the user's words."""
        if value is None:
            return f"{self.name} has no value, but it is the row's time"
        shown = _shown(value)
        if pa.types.is_integer(self.type):
            if _is_whole(value):
                return f"{self.name} is {shown}, which does not fit in {sql_type(self.type)}"
            if self.seconds:
                return f"{self.name} is {shown}, neither a whole number of seconds nor a time"
            return f"{self.name} is {shown}, not a whole number"
        if pa.types.is_decimal(self.type):
            return f"{self.name} is {shown}, not a number that fits in {sql_type(self.type)}"
        if pa.types.is_floating(self.type):
            return f"{self.name} is {shown}, not a number"
        if pa.types.is_timestamp(self.type):
            return f"{self.name} is {shown}, not a time such as 2024-05-31T12:00:00Z"
        if pa.types.is_date(self.type):
            return f"{self.name} is {shown}, not a date such as 2024-05-31"
        if pa.types.is_boolean(self.type):
            return f"{self.name} is {shown}, neither true nor false"
        return f"{self.name} is {shown}, not of type {sql_type(self.type)}"


def column_rules(reading: Reading) -> list[ColumnRule]:
    """The rule of each of the table's columns, the time last."""
    *columns, time = reading.target.schema
    rules = [ColumnRule(field.name, field.type, unit=reading.time_unit) for field in columns]
    seconds, limits = reading.target.time_kind == "seconds", reading.target.time_limits
    time_rule = ColumnRule(
        time.name, time.type, time=True, seconds=seconds, unit=reading.time_unit, limits=limits
    )
    return [*rules, time_rule]


def convert(values: pa.Array, rule: ColumnRule) -> tuple[pa.Array, dict[int, str]]:
    """The values as the rule's type, and for each one that is none the reason, by its place.

    The value of a place with a reason is null.
    """
    values = _plain(values)
    bad: list[int] = []
    pieces: list[pa.Array] = []
    _convert_pieces(values, rule.type, attempts(values.type, rule), 0, pieces, bad)
    converted = pieces[0] if len(pieces) == 1 else pa.concat_arrays(pieces)
    if rule.time and converted.null_count:
        bad = np.flatnonzero(converted.is_null().to_numpy(zero_copy_only=False)).tolist()
    reasons = {place: rule.reason(plain_value(values[place])) for place in bad}
    if rule.seconds:
        converted = _within(values, converted, rule, 0, None, "before second 0", reasons)
    if rule.limits is not None:
        wrong = "too early or too late for a time"
        converted = _within(values, converted, rule, *rule.limits, wrong, reasons)
    return converted, reasons


def plain_value(value: pa.Scalar) -> Any:
    """A value as Python has it; a time that Python has not, as text."""
    try:
        return value.as_py()
    except (ValueError, OverflowError):
        try:
            return str(value.cast(pa.int64()))
        except pa.ArrowException:
            return f"a {value.type} that is too early or too late"


def is_readable(source: pa.DataType, rule: ColumnRule) -> bool:
    """Whether values of the type `source` can become the rule's at all."""
    try:
        _plain(pa.nulls(0, source))
        return bool(attempts(_plain(pa.nulls(0, source)).type, rule))
    except pa.ArrowException:
        return False


def attempts(source: pa.DataType, rule: ColumnRule) -> list[Attempt]:
    """Ways to convert, the likeliest first; each raises `ArrowInvalid` unless every value converts."""
    target = rule.type
    kind = pa.types
    if rule.seconds:
        return _to_seconds(source, rule)
    if source == target or kind.is_null(source):
        return [lambda values: values.cast(target)]
    if kind.is_string(source):
        return _from_text(rule)
    if kind.is_timestamp(target):
        return _to_timestamp(source, rule)
    if kind.is_decimal(target) and kind.is_integer(source):
        return [lambda values: values.cast(pa.decimal128(20, 0)).cast(target)]
    if kind.is_floating(target) and (kind.is_integer(source) or kind.is_floating(source)):
        return [lambda values: values.cast(target, safe=False)]
    number = kind.is_integer(source) or kind.is_floating(source) or kind.is_decimal(source)
    if number and (kind.is_integer(target) or kind.is_decimal(target) or kind.is_floating(target)):
        return [lambda values: values.cast(target)]
    if kind.is_binary(source) and kind.is_string(target):
        return [lambda values: values.cast(target)]
    if kind.is_nested(source) and kind.is_nested(target):
        return [lambda values: values.cast(target)]
    return []


def sql_type(arrow: pa.DataType) -> str:
    """A type as it is written in SQL."""
    names = {
        pa.int8(): "TINYINT",
        pa.int16(): "SMALLINT",
        pa.int32(): "INT",
        pa.int64(): "BIGINT",
        pa.float32(): "FLOAT",
        pa.float64(): "DOUBLE",
        pa.string(): "STRING",
        pa.bool_(): "BOOLEAN",
        pa.binary(): "BINARY",
        pa.date32(): "DATE",
    }
    if arrow in names:
        return names[arrow]
    if pa.types.is_timestamp(arrow):
        return "TIMESTAMP"
    if pa.types.is_decimal(arrow):
        return f"DECIMAL({arrow.precision},{arrow.scale})"
    return str(arrow).upper()


def _within(
    values: pa.Array,
    converted: pa.Array,
    rule: ColumnRule,
    first: int,
    last: int | None,
    wrong: str,
    reasons: dict[int, str],
) -> pa.Array:
    """The converted times, without those that lie before the first or after the last one."""
    times = converted.cast(pa.int64())
    ends = pc.min_max(times)
    earliest, latest = ends["min"].as_py(), ends["max"].as_py()
    if earliest is None or (earliest >= first and (last is None or latest <= last)):
        return converted
    outside = pc.less(times, first)
    if last is not None:
        outside = pc.or_(outside, pc.greater(times, last))
    outside = pc.fill_null(outside, False)
    for place in np.flatnonzero(outside.to_numpy(zero_copy_only=False)).tolist():
        reasons[place] = f"{rule.name} is {_shown(plain_value(values[place]))}, {wrong}"
    return pc.if_else(outside, pa.scalar(None, rule.type), converted)


def _plain(values: pa.Array) -> pa.Array:
    """The same values without a dictionary, and text with the usual offsets."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_large_string(values.type) or pa.types.is_string_view(values.type):
        return values.cast(pa.string())
    if pa.types.is_large_binary(values.type) or pa.types.is_fixed_size_binary(values.type):
        return values.cast(pa.binary())
    return values


def _convert_pieces(
    values: pa.Array,
    target: pa.DataType,
    ways: Sequence[Attempt],
    first: int,
    pieces: list[pa.Array],
    bad: list[int],
) -> None:
    for way in ways:
        try:
            pieces.append(way(values))
        except pa.ArrowInvalid:
            continue
        return
    if len(values) <= 1:
        bad.extend([first] * len(values))
        pieces.append(pa.nulls(len(values), target))
        return
    half = len(values) // 2
    _convert_pieces(values.slice(0, half), target, ways, first, pieces, bad)
    _convert_pieces(values.slice(half), target, ways, first + half, pieces, bad)


def _from_text(rule: ColumnRule) -> list[Attempt]:
    target = rule.type
    kind = pa.types
    if kind.is_binary(target):
        return [lambda values: values.cast(target)]
    if kind.is_timestamp(target):
        return _text_to_timestamp(rule)
    if kind.is_integer(target):
        return [lambda values: _integers(values, target), lambda values: _integers(_trimmed(values), target)]
    if (
        kind.is_floating(target)
        or kind.is_decimal(target)
        or kind.is_boolean(target)
        or kind.is_date32(target)
    ):
        return [lambda values: values.cast(target), lambda values: _trimmed(values).cast(target)]
    return []


def _integers(values: pa.Array, target: pa.DataType) -> pa.Array:
    converted = values.cast(target)
    # Arrow reads hexadecimals, which are no numbers in SQL.
    for letter in ("x", "X"):
        if pc.any(pc.match_substring(values, letter)).as_py():
            raise pa.ArrowInvalid("a hexadecimal")
    return converted


def _trimmed(values: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(pc.utf8_trim_whitespace(values), r"^\+([0-9.])", r"\1")


def _to_seconds(source: pa.DataType, rule: ColumnRule) -> list[Attempt]:
    target = rule.type
    kind = pa.types
    per_second = _PER_SECOND[rule.unit or "s"]

    def whole(values: pa.Array) -> pa.Array:
        return _floor_divide(values, per_second).cast(target)

    if kind.is_null(source):
        return [lambda values: values.cast(target)]
    if kind.is_integer(source) or kind.is_floating(source) or kind.is_decimal(source):
        return [lambda values: whole(values.cast(pa.int64()))]
    if kind.is_timestamp(source) or kind.is_date(source):
        to_timestamp = _to_timestamp(source, _timestamp_rule(rule))
        return [lambda values: _seconds_of(to_timestamp[0](values)).cast(target)]
    if kind.is_string(source):
        texts = [
            lambda values: whole(_integers(values, pa.int64())),
            lambda values: whole(_integers(_trimmed(values), pa.int64())),
        ]
        times = _text_to_timestamp(_timestamp_rule(rule))
        return [*texts, *(lambda values, way=way: _seconds_of(way(values)).cast(target) for way in times)]
    return []


def _timestamp_rule(rule: ColumnRule) -> ColumnRule:
    return ColumnRule(rule.name, pa.timestamp("us", tz="UTC"))


def _seconds_of(values: pa.Array) -> pa.Array:
    return _floor_divide(values.cast(pa.int64()), _PER_SECOND["us"])


def _floor_divide(values: pa.Array, divisor: int) -> pa.Array:
    if divisor == 1:
        return values
    # Arrow's own division rounds towards zero.
    remainder = pc.subtract(values, pc.multiply(pc.divide(values, divisor), divisor))
    towards_zero = pc.divide(values, divisor)
    return pc.if_else(pc.less(remainder, 0), pc.subtract(towards_zero, 1), towards_zero)


def _to_timestamp(source: pa.DataType, rule: ColumnRule) -> list[Attempt]:
    target = rule.type
    kind = pa.types
    if kind.is_timestamp(source):
        # A time without a zone is taken for UTC. Nanoseconds are cut off.
        return [lambda values: values.cast(pa.timestamp("us", tz=source.tz), safe=False).cast(target)]
    if kind.is_date(source):
        return [lambda values: values.cast(pa.timestamp("us")).cast(target)]
    if kind.is_integer(source) and rule.unit is not None:
        unit = rule.unit
        return [
            lambda values: (
                values.cast(pa.int64()).cast(pa.timestamp(unit)).cast(pa.timestamp("us")).cast(target)
            )
        ]
    return []


def _text_to_timestamp(rule: ColumnRule) -> list[Attempt]:
    target = rule.type
    ways: list[Attempt] = [lambda values: values.cast(pa.timestamp("us")).cast(target)]
    if target.tz is not None:
        ways.append(lambda values: values.cast(pa.timestamp("us", tz="UTC")).cast(target))
    if rule.unit is not None:
        unit = rule.unit
        ways.append(
            lambda values: (
                _integers(values, pa.int64()).cast(pa.timestamp(unit)).cast(pa.timestamp("us")).cast(target)
            )
        )
    ways.append(lambda values: _single_time(values, target))
    return ways


def _single_time(values: pa.Array, target: pa.DataType) -> pa.Array:
    """One time in a form of ISO 8601 that Arrow does not read, such as one with nanoseconds."""
    if len(values) != 1 or not values[0].is_valid:
        raise pa.ArrowInvalid("more than one value")
    try:
        moment = datetime.fromisoformat(values[0].as_py().strip())
    except ValueError as wrong:
        raise pa.ArrowInvalid(str(wrong)) from wrong
    if target.tz is None:
        if moment.tzinfo is not None:
            raise pa.ArrowInvalid("a zone")
    elif moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return pa.array([moment], target)


def _is_whole(value: Any) -> bool:
    return not isinstance(value, bool | float) and _WHOLE.fullmatch(str(value).strip()) is not None


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    if not text.strip():
        return "empty" if not text else "blank"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
