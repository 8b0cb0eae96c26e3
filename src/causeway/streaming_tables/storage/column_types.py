"""Spark's type names and the Arrow types that hold their values."""

from __future__ import annotations

import re
from typing import Final

import pyarrow as pa

from causeway.runtime.errors import UserError

__all__ = ["arrow_type", "type_text"]

_SIMPLE: Final = {
    "tinyint": pa.int8(),
    "byte": pa.int8(),
    "smallint": pa.int16(),
    "short": pa.int16(),
    "int": pa.int32(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "long": pa.int64(),
    "float": pa.float32(),
    "real": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ltz": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
_DECIMAL: Final = re.compile(r"(?:decimal|dec|numeric)(?:\((\d+)(?:,(\d+))?\))?$")
_TEXT: Final = re.compile(r"(?:char|varchar|character)\(\d+\)$")
_FIELD_NAME: Final = re.compile(r"\s*(`(?:[^`]|``)*`|[^:\s`]+)\s*(?::|\s)\s*")
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NOT_NULL: Final = re.compile(r"\s+not\s+null$", re.IGNORECASE)


def arrow_type(text: str) -> pa.DataType:
    """The Arrow type of a Spark SQL type such as `decimal(10,2)` or `array<struct<a:int>>`."""
    kept = text.strip()
    plain = re.sub(r"\s+", "", kept.lower())
    if plain in _SIMPLE:
        return _SIMPLE[plain]
    if found := _DECIMAL.match(plain):
        precision, scale = int(found[1] or 10), int(found[2] or 0)
        if 1 <= precision <= 38 and scale <= precision:
            return pa.decimal128(precision, scale)
    if _TEXT.match(plain):
        return pa.string()
    for kind in ("array", "map", "struct"):
        if plain.startswith(f"{kind}<") and plain.endswith(">"):
            inside = kept[kept.index("<") + 1 : -1]
            if kind == "array":
                return pa.list_(arrow_type(inside))
            parts = _split(inside)
            if kind == "map" and len(parts) == 2:
                return pa.map_(arrow_type(parts[0]), arrow_type(parts[1]))
            if kind == "struct" and parts:
                return pa.struct([_field(part) for part in parts])
    raise UserError(f"a column of a streaming table can't have the type {text}")


def type_text(kind: pa.DataType) -> str:
    """The name that `arrow_type` makes an Arrow type of."""
    if pa.types.is_list(kind):
        return f"array<{type_text(kind.value_type)}>"
    if pa.types.is_map(kind):
        return f"map<{type_text(kind.key_type)},{type_text(kind.item_type)}>"
    if pa.types.is_struct(kind):
        fields = (kind.field(place) for place in range(kind.num_fields))
        return f"struct<{','.join(f'{_quoted(field.name)}:{type_text(field.type)}' for field in fields)}>"
    for name, known in _SIMPLE.items():
        if kind == known:
            return name
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    return "void" if pa.types.is_null(kind) else str(kind)


def _quoted(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def _field(text: str) -> pa.Field:
    found = _FIELD_NAME.match(text)
    if not found:
        raise UserError(f"a struct needs fields with a name and a type, not {text.strip()}")
    name = found[1]
    if name.startswith("`"):
        name = name[1:-1].replace("``", "`")
    rest = text[found.end() :]
    nullable = not _NOT_NULL.search(rest)
    return pa.field(name, arrow_type(_NOT_NULL.sub("", rest)), nullable)


def _split(text: str) -> list[str]:
    """The parts between commas that are in no brackets or quoted names."""
    parts, depth, begin, quoted = [], 0, 0, False
    for place, letter in enumerate(text):
        if letter == "`":
            quoted = not quoted
        elif quoted:
            continue
        elif letter in "<(":
            depth += 1
        elif letter in ">)":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[begin:place])
            begin = place + 1
    return [part for part in [*parts, text[begin:]] if part.strip()]
