"""Linear Road's input tuples as text: fifteen comma-separated integers a line (section 3.1.2).

Whole blocks of lines go through pyarrow; lines are looked at one by one only near a malformed one.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from causeway.linear_road.model.expressway import (
    EAST,
    ENTRY_LANE,
    EXIT_LANE,
    FEET_PER_EXPRESSWAY,
    FEET_PER_SEGMENT,
    MAX_SPEED,
    SEGMENTS,
    WEST,
)
from causeway.linear_road.model.tuples import ABSENT, INPUT_COLUMNS, INPUT_SCHEMA, TupleType
from causeway.runtime.errors import UserError

__all__ = ["ParsedBlock", "parse_block", "read_blocks"]

_MAXINT: Final = 2**31 - 1
_ANY: Final = (0, _MAXINT)

_RANGES: Final[dict[TupleType, dict[str, tuple[int, int]]]] = {
    TupleType.POSITION_REPORT: {
        "Time": _ANY,
        "VID": _ANY,
        "Spd": (0, MAX_SPEED),
        "XWay": _ANY,
        "Lane": (ENTRY_LANE, EXIT_LANE),
        "Dir": (EAST, WEST),
        "Seg": (0, SEGMENTS - 1),
        "Pos": (0, FEET_PER_EXPRESSWAY - 1),
    },
    TupleType.ACCOUNT_BALANCE: {"Time": _ANY, "VID": _ANY, "QID": _ANY},
    # The paper has days 1..69 and "69 is 10 weeks ago"; ten weeks of history have 70.
    TupleType.DAILY_EXPENDITURE: {"Time": _ANY, "VID": _ANY, "XWay": _ANY, "QID": _ANY, "Day": (1, 70)},
    TupleType.TRAVEL_TIME: {
        "Time": _ANY,
        "VID": _ANY,
        "XWay": _ANY,
        "QID": _ANY,
        "Sinit": (0, SEGMENTS - 1),
        "Send": (0, SEGMENTS - 1),
        "DOW": (1, 7),
        "TOD": (1, 1440),
    },
}
"""The fields that matter to each type and their least and largest values (section 3.1.2)."""

_BLOCK_BYTES = 16 << 20
_PIECE_BYTES = 64 << 10
"""What is looked at line by line around a malformed line."""
_LONGEST_LINE = 1 << 20

_BOM: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t\r\n"
_INTEGER: Final = re.compile(rb"[ \t]*(-?)([0-9]+)[ \t]*")

_READ: Final = pa_csv.ReadOptions(column_names=list(INPUT_COLUMNS))
_PARSE: Final = pa_csv.ParseOptions(quote_char=False, double_quote=False, ignore_empty_lines=False)
_CONVERT: Final = pa_csv.ConvertOptions(
    column_types=dict.fromkeys(INPUT_COLUMNS, pa.int32()), null_values=[], check_utf8=False
)

_Columns = dict[str, NDArray[np.int32]]
_Rejects = dict[int, str]
"""Reasons by line, counted from 0 in the block."""


class ParsedBlock(NamedTuple):
    """What a block's lines are; numbers of lines count from 0 in the block."""

    tuples: pa.Table
    """In the order of the lines, with -1 in every field that does not apply."""
    lines: NDArray[np.int64]
    """The line of each tuple."""
    rejected: dict[int, str]
    """For each other line why it is no tuple."""


def read_blocks(file: Path) -> Iterator[tuple[bytes, int]]:
    """Whole lines, each ending in a newline, in blocks; with how far the file has been read.

    Blank lines at the end of the file are left out. Of a line that is too long only the beginning is
    kept, with a mark that makes it malformed for certain.
    """
    with ExitStack() as opened:
        try:
            raw = opened.enter_context(file.open("rb"))
            unpacked = gzip.GzipFile(fileobj=raw) if file.suffix == ".gz" else raw
            stream = cast(BinaryIO, opened.enter_context(unpacked))
        except OSError as refused:
            raise UserError(f"{file} cannot be read: {refused.strerror}") from refused

        def read() -> bytes:
            try:
                return stream.read(_BLOCK_BYTES)
            except (OSError, EOFError, zlib.error) as unreadable:
                raise UserError(f"{file} cannot be read: {unreadable}") from unreadable

        def position() -> int:
            return raw.tell() if raw.seekable() else 0

        carry, mark = b"", _BOM
        while chunk := read():
            text = carry + chunk
            end = _end_of_last_line(text)
            if end == 0 and len(text) > _LONGEST_LINE:
                # One line, or nothing but blank ones.
                text = text if b"\n" in text else _cut_line(text, read)
                end = text.rfind(b"\n") + 1
            if end > 0:
                yield text[:end].removeprefix(mark), position()
                mark = b""
            carry = text[end:]
        if carry.strip(_BLANK):
            yield carry.removeprefix(mark) + b"\n", position()


def _end_of_last_line(text: bytes) -> int:
    """Where the last whole line ends that is not blank; 0 where there is none.

    Blank lines after it are rejected if something follows them, which only the next block tells.
    """
    filled = len(text.rstrip(_BLANK))
    end = text.find(b"\n", filled) + 1
    return end if filled and end else text.rfind(b"\n", 0, filled) + 1


def _cut_line(text: bytes, read: Callable[[], bytes]) -> bytes:
    """The beginning of a line without end, and what `read` finds after it."""
    head = text[:_LONGEST_LINE] + b" (cut)"
    while chunk := read():
        newline = chunk.find(b"\n")
        if newline >= 0:
            return head + chunk[newline:]
    return head + b"\n"


def parse_block(block: bytes) -> ParsedBlock:
    """Parse whole lines, each ending in a newline.

    Fields that do not apply to a line's type are not judged, only that they are integers: the original
    tools left other values than -1 there. Neither is the order of times.
    """
    table, lines, rejected = _parse(block)
    columns: _Columns = {name: table.column(name).to_numpy() for name in INPUT_COLUMNS}
    wrong = _out_of_range(columns)
    if wrong.any():
        for row in np.flatnonzero(wrong):
            rejected[int(lines[row])] = _range_reason({name: int(columns[name][row]) for name in columns})
        columns, lines = {name: values[~wrong] for name, values in columns.items()}, lines[~wrong]
    tuples = pa.table(list(_normalised(columns).values()), schema=INPUT_SCHEMA)
    return ParsedBlock(tuples, lines, rejected)


def _parse(block: bytes) -> tuple[pa.Table, NDArray[np.int64], _Rejects]:
    """The lines that are fifteen integers, their numbers in the block from 0, and why the rest are not."""
    table = _parse_whole(block)
    if table is not None:
        return table, np.arange(table.num_rows), {}
    tables: list[pa.Table] = []
    lines: list[NDArray[np.int64]] = []
    rejected: _Rejects = {}
    line = start = 0
    while start < len(block):
        end = block.find(b"\n", min(start + _PIECE_BYTES, len(block)) - 1) + 1
        piece = block[start:end]
        table = _parse_whole(piece)
        count = piece.count(b"\n")
        good: Sequence[int] = range(count)
        if table is None:
            table, good, malformed = _parse_lines(piece)
            rejected |= {line + number: reason for number, reason in malformed.items()}
        tables.append(table)
        lines.append(np.asarray(good, dtype=np.int64) + line)
        line += count
        start = end
    return pa.concat_tables(tables).combine_chunks(), np.concatenate(lines), rejected


def _parse_whole(text: bytes) -> pa.Table | None:
    """All lines at once; None unless every one is fifteen integers, spaces and tabs around them allowed."""
    # What pyarrow would let pass: a lone carriage return as a line's end, hexadecimals, a mark at the start.
    if b"x" in text or b"X" in text or text.startswith(_BOM):
        return None
    if b"\r" in text and text.count(b"\r") != text.count(b"\r\n"):
        return None
    try:
        return pa_csv.read_csv(
            pa.BufferReader(text), read_options=_READ, parse_options=_PARSE, convert_options=_CONVERT
        )
    except pa.ArrowInvalid:
        return None


def _parse_lines(text: bytes) -> tuple[pa.Table, list[int], _Rejects]:
    rows: list[list[int]] = []
    good: list[int] = []
    rejected: _Rejects = {}
    for number, line in enumerate(text.removesuffix(b"\n").split(b"\n")):
        row = _integers(line.removesuffix(b"\r"))
        if isinstance(row, str):
            rejected[number] = row
        else:
            rows.append(row)
            good.append(number)
    values = np.array(rows, dtype=np.int32).reshape(-1, len(INPUT_COLUMNS))
    table = pa.table([np.ascontiguousarray(column) for column in values.T], names=list(INPUT_COLUMNS))
    return table, good, rejected


def _integers(line: bytes) -> list[int] | str:
    """The line's fifteen integers, or why it has not got them."""
    if not line.strip(_BLANK):
        return "blank line"
    fields = line.split(b",")
    if len(fields) != len(INPUT_COLUMNS):
        return f"{len(fields)} fields, not {len(INPUT_COLUMNS)}"
    row: list[int] = []
    for name, field in zip(INPUT_COLUMNS, fields, strict=True):
        number = _INTEGER.fullmatch(field)
        if number is None:
            return f"{name} is empty" if not field.strip(_BLANK) else f"{name} is not an integer"
        sign, digits = number[1], number[2].lstrip(b"0")
        value = int(sign + digits) if 0 < len(digits) <= len(str(_MAXINT)) else 0
        if len(digits) > len(str(_MAXINT)) or not -_MAXINT - 1 <= value <= _MAXINT:
            return f"{name} does not fit in 32 bits"
        row.append(value)
    return row


def _out_of_range(columns: _Columns) -> NDArray[np.bool_]:
    wrong = np.ones(len(columns["Type"]), dtype=np.bool_)
    for tuple_type, ranges in _RANGES.items():
        rows = np.flatnonzero(columns["Type"] == tuple_type)
        outside = np.zeros(len(rows), dtype=np.bool_)
        for name, (least, largest) in ranges.items():
            values = columns[name][rows]
            outside |= (values < least) | (values > largest)
        if tuple_type == TupleType.POSITION_REPORT:
            outside |= columns["Seg"][rows] != columns["Pos"][rows] // FEET_PER_SEGMENT
        wrong[rows] = outside
    return wrong


def _range_reason(row: dict[str, int]) -> str:
    """In words, the first thing that `_out_of_range` found in the row."""
    ranges = next((ranges for kind, ranges in _RANGES.items() if kind == row["Type"]), None)
    if ranges is None:
        return f"Type is {row['Type']}, none of {', '.join(str(int(kind)) for kind in TupleType)}"
    for name, (least, largest) in ranges.items():
        if row[name] < least or row[name] > largest:
            allowed = f"below {least}" if largest == _MAXINT else f"not in {least}..{largest}"
            return f"{name} is {row[name]}, {allowed}"
    return f"Seg is {row['Seg']}, but Pos {row['Pos']} is in segment {row['Pos'] // FEET_PER_SEGMENT}"


def _normalised(columns: _Columns) -> _Columns:
    """The same tuples with `ABSENT` in each field that does not apply."""
    kind = columns["Type"]
    normalised = dict(columns)
    for name in INPUT_COLUMNS[1:]:
        silent = [tuple_type for tuple_type in TupleType if name not in _RANGES[tuple_type]]
        if silent:
            applies = ~np.isin(kind, silent)
            normalised[name] = np.where(applies, columns[name], np.int32(ABSENT))
    return normalised
