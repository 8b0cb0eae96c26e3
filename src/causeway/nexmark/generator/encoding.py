"""Tables as files: Parquet, and lines of JSON or XML, whole columns at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

__all__ = ["SUFFIXES", "FileFormat", "content_bytes", "json_lines", "write_file", "xml_lines"]

FileFormat = Literal["parquet", "json", "xml"]

SUFFIXES: Final[dict[FileFormat, str]] = {"parquet": "parquet", "json": "jsonl", "xml": "xml"}

_IN_JSON: Final = {"\\": "\\\\", '"': '\\"'}
_IN_XML: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def write_file(table: pa.Table, path: Path, file_format: FileFormat, element: str) -> int:
    """Write `table` to `path`, where it appears whole; returns its bytes. In XML, a row is an `element`."""
    unfinished = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        with pa.OSFile(str(unfinished), "wb") as file:
            if file_format == "parquet":
                _write_parquet(table, file)
            else:
                file.write(json_lines(table) if file_format == "json" else xml_lines(table, element))
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    return path.stat().st_size


def _write_parquet(table: pa.Table, file: pa.NativeFile) -> None:
    """Text is compressed, numbers are plain: that is fastest to write and to read.

    Packed as differences, numbers would take a third of the room in the same time, but not every system that
    is compared on these files can read them.
    """
    text = [field.name for field in table.schema if _is_text(field.type)]
    dictionaries = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
    pq.write_table(
        table,
        file,
        compression={field.name: "zstd" if field.name in text else "none" for field in table.schema},
        compression_level=dict.fromkeys(text, 1) or None,
        use_dictionary=dictionaries or False,
        write_statistics=[field.name for field in table.schema if pa.types.is_timestamp(field.type)],
        store_schema=False,
    )


def json_lines(table: pa.Table) -> pa.Buffer:
    """A plain object a line, times in milliseconds. Text must have no control characters."""

    def column(field: pa.Field, values: pa.Array) -> Iterator[pa.Array | str]:
        quoted = _is_text(field.type)
        opening, closing = (f'"{field.name}":"', '"') if quoted else (f'"{field.name}":', "")
        text = _as_text(values, _IN_JSON)
        if text.null_count:
            whole = _joined(f'"{field.name}":', '"', text, '"') if quoted else _joined(opening, text)
            yield pc.fill_null(whole, f'"{field.name}":null')
        else:
            yield from (opening, text, closing)

    return _lines(table, "{", column, ",", "}\n")


def xml_lines(table: pa.Table, element: str) -> pa.Buffer:
    """An element a line, in it one for each column that is not null; times in milliseconds."""

    def column(field: pa.Field, values: pa.Array) -> Iterator[pa.Array | str]:
        opening, closing = f"<{field.name}>", f"</{field.name}>"
        text = _as_text(values, _IN_XML)
        if text.null_count:
            yield pc.fill_null(_joined(opening, text, closing), "")
        else:
            yield from (opening, text, closing)

    return _lines(table, f"<{element}>", column, "", f"</{element}>\n")


def content_bytes(table: pa.Table) -> int:
    """The bytes of the values themselves, whatever the format: eight for a number or time, the text's own."""
    total = 0
    for field, column in zip(table.schema, table.columns, strict=True):
        values = column.combine_chunks()
        if pa.types.is_dictionary(field.type):
            lengths = pc.binary_length(values.dictionary).to_numpy()
            total += int(np.bincount(values.indices, minlength=lengths.size) @ lengths)
        elif pa.types.is_string(field.type):
            ends = _ends(values)
            total += int(ends[-1] - ends[0])
        else:
            total += 8 * (len(values) - values.null_count)
    return total


def _lines(
    table: pa.Table,
    begin: str,
    column: Callable[[pa.Field, pa.Array], Iterator[pa.Array | str]],
    between: str,
    end: str,
) -> pa.Buffer:
    if table.num_rows == 0:
        return pa.py_buffer(b"")
    parts: list[pa.Array | str] = [begin]
    for place, (field, values) in enumerate(zip(table.schema, table.columns, strict=True)):
        if place and between:
            parts.append(between)
        parts += column(field, values.combine_chunks())
    lines = _joined(*_merged(parts), end)
    # Arrow keeps a column of text as one run of bytes: that is the file.
    ends = _ends(lines)
    return lines.buffers()[2].slice(ends[0], ends[-1] - ends[0])


def _merged(parts: list[pa.Array | str]) -> Iterator[pa.Array | str]:
    """The same with neighbouring constant texts put together, since each part costs time in every row."""
    constant = ""
    for part in parts:
        if isinstance(part, str):
            constant += part
            continue
        if constant:
            yield constant
            constant = ""
        yield part
    if constant:
        yield constant


def _joined(*parts: pa.Array | str) -> pa.StringArray:
    return pc.binary_join_element_wise(*parts, "")


def _ends(text: pa.StringArray) -> npt.NDArray[np.int32]:
    """Where the rows begin and end in the run of bytes that they are kept in."""
    if len(text) == 0:
        return np.zeros(1, np.int32)
    return np.frombuffer(text.buffers()[1], np.int32, len(text) + 1, 4 * text.offset)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_dictionary(kind))


def _as_text(values: pa.Array, escapes: Mapping[str, str]) -> pa.StringArray:
    if pa.types.is_dictionary(values.type):
        escaped = _escaped(values.dictionary, escapes)
        return pa.DictionaryArray.from_arrays(values.indices, escaped).cast(pa.string())
    if pa.types.is_string(values.type):
        return _escaped(values, escapes)
    return values.cast(pa.int64()).cast(pa.string())


def _escaped(text: pa.StringArray, escapes: Mapping[str, str]) -> pa.StringArray:
    for character, escape in escapes.items():
        content = text.buffers()[2]
        if content is not None and (np.frombuffer(content, np.uint8) == ord(character)).any():
            text = pc.replace_substring(text, character, escape)
    return text
