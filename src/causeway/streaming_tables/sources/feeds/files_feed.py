"""Files as a feed: the offset is the number of a file and a position in it.

The position is a row of Parquet and a byte of text, where a line begins. After a whole file the offset is
the beginning of the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa

from causeway.streaming.linear_road_fields import INPUT_COLUMNS
from causeway.streaming_tables.sources.feeds.feed import Limits, Offset
from causeway.streaming_tables.sources.feeds.file_list import FileEntry, FileFormat, FileList
from causeway.streaming_tables.sources.parsing.csv_rows import header_names, parse_csv
from causeway.streaming_tables.sources.parsing.json_rows import JsonRows, first_object
from causeway.streaming_tables.sources.parsing.parquet_rows import read_parquet
from causeway.streaming_tables.sources.parsing.rows import rejected_rows, with_source
from causeway.streaming_tables.sources.parsing.target import (
    ColumnsError,
    Match,
    Reading,
    match_columns,
)
from causeway.streaming_tables.sources.parsing.text_lines import (
    count_lines,
    first_line,
    line_start_after,
    read_blocks,
)

__all__ = ["FilesFeed", "Piece", "read_piece"]

_ROWS_PER_TASK: Final = 20_000
"""Fewer rows are not worth a task of their own."""


class Piece(NamedTuple):
    """A run of positions in a file."""

    path: str
    format: FileFormat
    start: int
    end: int
    """Not included. Text that is only read whole goes from 0 to 1."""
    whole: bool
    source: str
    first_line: int


class FilesFeed:
    """A list of files, read one after the other."""

    def __init__(
        self, files: FileList, reading: Reading, spec: dict[str, Any], source: str | None = None
    ) -> None:
        """`source` is named in rejected rows; None: the file's name."""
        self._files = files
        self._reading = reading
        self._spec = spec
        self._source = source

    def spec(self) -> dict[str, Any]:
        return self._spec

    def initial(self) -> dict[str, int]:
        return {"file": 0, "position": 0}

    def available(self) -> dict[str, int]:
        return {"file": self._files.discover(), "position": 0}

    def ended(self) -> bool:
        return self._files.ended()

    def next(self, start: Offset, limits: Limits | None) -> dict[str, int]:
        count = self._files.discover()
        number, position = start["file"], start["position"]
        if limits is None:
            return {"file": max(count, number), "position": 0 if count > number else position}
        rows, size = float(limits.rows), float(limits.bytes)
        while number < count:
            entry = self._files.entry(number)
            units = entry.units - position
            if units <= 0:
                number, position = number + 1, 0
                continue
            share = units / entry.units
            rows -= entry.rows * share
            size -= entry.size * share
            if rows < 0 or size < 0:
                if {"file": number, "position": position} == dict(start):
                    position = _cut(entry, position, limits)
                    if position >= entry.units:
                        number, position = number + 1, 0
                break
            number, position = number + 1, 0
        return {"file": number, "position": position}

    def partitions(self, start: Offset, end: Offset, tasks: int) -> list[list[Piece]]:
        self._files.discover()
        pieces: list[tuple[Piece, float]] = []
        for number in range(start["file"], end["file"] + (end["position"] > 0)):
            entry = self._files.entry(number)
            first = start["position"] if number == start["file"] else 0
            last = end["position"] if number == end["file"] else entry.units
            if first < last:
                pieces.append(self._piece(entry, number, first, last))
        return _dealt(pieces, tasks)

    def read(self, part: Sequence[Piece]) -> Iterator[pa.RecordBatch]:
        for piece in part:
            yield from read_piece(Piece(*piece), self._reading)

    def closed(self, end: Offset) -> int | None:
        return self._files.closed(end["file"])

    def forget(self, end: Offset) -> None:
        self._files.forget(end["file"])

    def before(self, one: Offset, other: Offset) -> bool:
        return (one["file"], one["position"]) < (other["file"], other["position"])

    def _piece(self, entry: FileEntry, number: int, start: int, end: int) -> tuple[Piece, float]:
        source = self._source or entry.source
        piece = Piece(
            entry.path, entry.format, start, end, entry.units == 1, source, self._files.first_line(number)
        )
        return piece, entry.rows * (end - start) / entry.units


def _cut(entry: FileEntry, start: int, limits: Limits) -> int:
    """Where a batch that begins at `start` in a file that is too large for it ends."""
    if not entry.divisible:
        return entry.units
    units_per_row, units_per_byte = entry.units / max(1, entry.rows), entry.units / max(1, entry.size)
    units = max(1, int(min(limits.rows * units_per_row, limits.bytes * units_per_byte)))
    if entry.format != "parquet":
        return line_start_after(Path(entry.path), start + units, entry.units)
    row = 0
    best = 0
    for rows in entry.groups:
        row += rows
        if row > start + units:
            break
        best = row
    # The end of a row group, if one is near: otherwise its rows are decoded once more for the next batch.
    return best if best > start else min(start + units, entry.units)


def _dealt(pieces: Sequence[tuple[Piece, float]], tasks: int) -> list[list[Piece]]:
    """The pieces in at most so many parts of about as many rows; a large piece is cut."""
    total = sum(rows for _, rows in pieces)
    parts = max(1, min(tasks, int(total // _ROWS_PER_TASK)))
    share = total / parts
    dealt: list[list[Piece]] = [[]]
    room = share
    for whole, whole_rows in pieces:
        piece, rows = whole, whole_rows
        while rows > room and len(dealt) < parts:
            cut = _cut_piece(piece, room / rows)
            if piece.start < cut < piece.end:
                dealt[-1].append(piece._replace(end=cut))
                rows *= (piece.end - cut) / (piece.end - piece.start)
                piece = piece._replace(start=cut)
                dealt.append([])
            elif cut >= piece.end:
                break
            elif dealt[-1]:
                dealt.append([])
            else:
                break
            room = share
        dealt[-1].append(piece)
        room -= rows
    return [part for part in dealt if part]


def _cut_piece(piece: Piece, share: float) -> int:
    if piece.whole:
        return piece.start if share < 0.5 else piece.end
    cut = piece.start + int((piece.end - piece.start) * share)
    if piece.format == "parquet":
        return cut
    try:
        return max(piece.start, line_start_after(Path(piece.path), cut, piece.end))
    except OSError:
        return piece.end


def read_piece(piece: Piece, reading: Reading) -> Iterator[pa.RecordBatch]:
    """The rows of a piece of a file, good and rejected.

    A file that cannot be read, or lacks columns, is one rejected row without a line.
    """
    path = Path(piece.path)
    try:
        if piece.format == "parquet":
            yield from read_parquet(path, piece.start, piece.end, piece.source, reading)
        else:
            yield from _read_text(path, piece, reading)
    except FileNotFoundError:
        yield from _whole_file(piece, "the file was removed before it was read", reading)
    except ColumnsError as mismatch:
        if piece.start == 0:
            yield from _whole_file(piece, str(mismatch), reading)
    except (OSError, pa.ArrowException) as unreadable:
        reason = getattr(unreadable, "strerror", None) or str(unreadable)
        yield from _whole_file(piece, f"the file cannot be read: {reason}", reading)


def _whole_file(piece: Piece, reason: str, reading: Reading) -> Iterator[pa.RecordBatch]:
    return rejected_rows(piece.source, [(0, reason, "")], reading)


def _read_text(path: Path, piece: Piece, reading: Reading) -> Iterator[pa.RecordBatch]:
    start, end = piece.start, piece.end
    parse = (
        _csv_parser(path, piece, reading) if piece.format != "json" else JsonRows(first_object(path), reading)
    )
    skip = 1 if piece.format == "csv" and reading.header and start == 0 else 0
    line: int | None = None if start else piece.first_line
    lines = 0
    for block in read_blocks(path, start, None if piece.whole else end):
        body = block
        if skip:
            body = block[block.index(b"\n") + 1 :]
        rows, rejects = parse(body)
        if line is None and (rejects or reading.target.traced):
            line = piece.first_line + count_lines(path, start)
        before = (line or 0) + lines + skip
        if rows.num_rows:
            yield with_source(rows, piece.source, before, reading)
        if rejects:
            yield from rejected_rows(
                piece.source, [(before + number, reason, text) for number, reason, text in rejects], reading
            )
        lines += block.count(b"\n")
        skip = 0


class _CsvRows:
    def __init__(self, names: Sequence[str], match: Match, reading: Reading) -> None:
        self._names, self._match, self._reading = names, match, reading

    def __call__(self, block: bytes) -> tuple[pa.RecordBatch, list[tuple[int, str, str]]]:
        return parse_csv(block, self._names, self._match, self._reading)


def _csv_parser(path: Path, piece: Piece, reading: Reading) -> _CsvRows:
    names = csv_names(path, piece.format, reading)
    return _CsvRows(names, match_columns(names, reading, piece.source), reading)


def csv_names(path: Path, file_format: FileFormat, reading: Reading) -> list[str]:
    """The columns of a CSV file: of its header, or as they are known without one."""
    if file_format == "dat":
        return list(INPUT_COLUMNS)
    if reading.header:
        return header_names(first_line(path), reading.delimiter)
    return list(reading.named_columns)
