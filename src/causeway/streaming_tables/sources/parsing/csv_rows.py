"""CSV: whole blocks of lines go through pyarrow as text, then through casts."""

from __future__ import annotations

import io
from collections.abc import Sequence
from csv import Error as CsvError
from csv import reader as csv_reader
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from causeway.streaming_tables.sources.parsing.casts import column_rules
from causeway.streaming_tables.sources.parsing.rows import (
    Reject,
    chosen_tuples,
    convert_columns,
    good_rows,
)
from causeway.streaming_tables.sources.parsing.target import Match, Reading
from causeway.streaming_tables.sources.parsing.text_lines import Lines

__all__ = ["header_names", "parse_csv"]

_OPEN_QUOTE: Final = "a quote is opened and not closed in this line"


def header_names(line: bytes, delimiter: str) -> list[str]:
    """The names of the columns in a header line."""
    text = line.decode("utf-8-sig", "replace").strip("\r\n")
    try:
        fields = next(csv_reader(io.StringIO(text), delimiter=delimiter), [])
    except CsvError:
        fields = text.split(delimiter)
    return [name.strip() for name in fields]


def parse_csv(
    block: bytes, names: Sequence[str], match: Match, reading: Reading
) -> tuple[pa.RecordBatch, list[Reject]]:
    """The rows of a block of lines with the columns `names`, and the rejected lines.

    Lines of rejects count from 0 in the block.
    """
    lines = Lines(block)
    rejects: list[Reject] = []
    wrong = lines.no_text()
    rejects += [(number, reason, lines.text(number)) for number, reason in wrong.items()]
    dropped = lines.blank()
    dropped[list(wrong)] = True
    numbers = np.arange(len(lines))
    kept = lines
    if dropped.any():
        kept, numbers = lines.without(dropped)
    parser = _Parser(len(names), match, reading.delimiter)
    parser.parse(kept, 0)
    rejects += [(int(numbers[line]), reason, kept.text(line)) for line, reason in parser.rejected.items()]
    texts = parser.table()
    rows = numbers[parser.line_numbers()]
    if match.kind is not None and texts.num_rows:
        wanted, untyped = chosen_tuples(texts.column(f"c{match.kind}").combine_chunks(), reading)
        rejects += [(int(rows[place]), reason, lines.text(rows[place])) for place, reason in untyped.items()]
        texts = texts.filter(pa.array(wanted))
        rows = rows[wanted]
    columns = [texts.column(f"c{index}").combine_chunks() for index in match.indexes]
    converted, reasons = convert_columns(columns, column_rules(reading))
    rejects += [(int(rows[place]), reason, lines.text(rows[place])) for place, reason in reasons.items()]
    return good_rows(converted, reasons, reading, rows), sorted(rejects)


class _Parser:
    """Takes lines apart, as many at once as Arrow gets right; halves a run of lines that it does not."""

    def __init__(self, width: int, match: Match, delimiter: str) -> None:
        self.rejected: dict[int, str] = {}
        """Why lines are no rows, by their number."""
        self._width = width
        names = [f"c{index}" for index in range(width)]
        needed = [*([match.kind] if match.kind is not None else []), *match.indexes]
        self._wanted = list(dict.fromkeys(names[index] for index in needed))
        # Arrow drops nothing from a row of one column, but a row of one empty value is a blank line.
        self._read = pa_csv.ReadOptions(column_names=names, use_threads=False, block_size=1 << 30)
        self._delimiter = delimiter
        self._convert = pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            include_columns=self._wanted,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            check_utf8=False,
        )
        self._tables: list[pa.Table] = []
        self._numbers: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []

    def table(self) -> pa.Table:
        """The wanted columns as text."""
        if not self._tables:
            return pa.table({name: pa.array([], pa.string()) for name in self._wanted})
        return pa.concat_tables(self._tables)

    def line_numbers(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The line of each row."""
        return np.concatenate(self._numbers) if self._numbers else np.empty(0, dtype=np.int64)

    def parse(self, lines: Lines, first: int) -> None:
        """Take apart `lines`, whose first one has the number `first`; none of them is blank."""
        if len(lines) == 0:
            return
        parsed = self._parse_whole(lines)
        if parsed is not None:
            table, rejected = parsed
            numbers = np.arange(len(lines))
            if rejected:
                numbers = np.delete(numbers, list(rejected))
                self.rejected |= {first + number: reason for number, reason in rejected.items() if reason}
            self._tables.append(table)
            self._numbers.append(numbers + first)
        elif len(lines) == 1:
            self.rejected[first] = _OPEN_QUOTE
        else:
            half = len(lines) // 2
            cut = int(lines.starts[half])
            self.parse(Lines(lines.block[:cut]), first)
            self.parse(Lines(lines.block[cut:]), first + half)

    def _parse_whole(self, lines: Lines) -> tuple[pa.Table, dict[int, str]] | None:
        """All rows, and why lines have none; None unless each line was taken for itself.

        A line that only has spaces is passed over: its reason is empty.
        """
        block = lines.block
        # Arrow takes a lone carriage return for the end of a line.
        if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
            return self._without_returns(lines)
        rejected: dict[int, str] = {}

        def skip(row: pa_csv.InvalidRow) -> str:
            fields = "1 field" if row.actual_columns == 1 else f"{row.actual_columns} fields"
            rejected[row.number - 1] = (
                f"{fields} instead of {row.expected_columns}" if row.text.strip() else ""
            )
            return "skip"

        parse = pa_csv.ParseOptions(
            delimiter=self._delimiter, ignore_empty_lines=False, invalid_row_handler=skip
        )
        try:
            table = pa_csv.read_csv(
                pa.BufferReader(block),
                read_options=self._read,
                parse_options=parse,
                convert_options=self._convert,
            )
        except pa.ArrowInvalid:
            if len(rejected) == len(lines):
                return self.table().slice(0, 0), rejected
            return None
        if table.num_rows + len(rejected) != len(lines):
            return None
        return table, rejected

    def _without_returns(self, lines: Lines) -> tuple[pa.Table, dict[int, str]] | None:
        """Reject a single line with a stray carriage return."""
        if len(lines) > 1:
            return None
        return self.table().slice(0, 0), {0: "a carriage return is in the middle of the line"}
