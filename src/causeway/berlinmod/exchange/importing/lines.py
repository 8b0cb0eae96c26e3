"""Lines of text files as columns: fields, numbers and dates, and the lines that have to be rejected."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from causeway.berlinmod.exchange.moments import read_moments
from causeway.berlinmod.model.arrays import BOOL, F64, I64
from causeway.runtime.errors import UserError

__all__ = ["Lines", "Reject", "field_places", "read_header", "split_fields"]

_INTEGER: Final = r"^-?\d{1,18}$"
_REAL: Final = r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?$"
_SHOWN: Final = 40
_LARGEST: Final = 1e12


class Reject(NamedTuple):
    """A line that is not in the data set."""

    file: str
    line: int
    reason: str


class Lines:
    """Lines of a file, as columns of text. A line with a wrong field is marked; what is read from it is 0."""

    def __init__(self, file: str, number: I64, fields: Mapping[str, pa.Array], rejects: list[Reject]) -> None:
        """`number` has the number of each line; `rejects` is added to."""
        self.file = file
        self.number = number
        self.fields = fields
        self.good: BOOL = np.ones(number.size, np.bool_)
        self._rejects = rejects

    def fail(self, wrong: BOOL, reason: str | Callable[[int], str]) -> None:
        """Reject the lines that are `wrong`, unless they are rejected already."""
        for i in np.flatnonzero(wrong & self.good).tolist():
            text = reason if isinstance(reason, str) else reason(i)
            self._rejects.append(Reject(self.file, int(self.number[i]), text))
        self.good &= ~wrong

    def _expect(self, name: str, wrong: BOOL, expected: str) -> None:
        field = self.fields[name]
        self.fail(wrong, lambda i: f"{name} is {_shown(field[i].as_py())}; {expected} was expected")

    def texts(self, name: str) -> list[str]:
        """A field as text; it must not be empty."""
        field = self.fields[name]
        self._expect(name, pc.equal(field, "").to_numpy(zero_copy_only=False), "a text")
        values: list[str] = field.to_pylist()
        return values

    def integers(self, name: str, low: int = -(2**31), high: int = 2**31 - 1) -> I64:
        """A field as whole numbers."""
        field = self.fields[name]
        try:
            values: I64 = pc.cast(field, pa.int64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            good = pc.match_substring_regex(field, _INTEGER)
            values = pc.cast(pc.if_else(good, field, "0"), pa.int64()).to_numpy(zero_copy_only=False)
            self._expect(name, ~good.to_numpy(zero_copy_only=False), "a whole number")
        self._expect(name, (values < low) | (values > high), f"a number from {low} to {high}")
        return values

    def reals(self, name: str) -> F64:
        """A field as numbers, neither infinite nor NaN, nor beyond what a city has."""
        field = self.fields[name]
        try:
            values: F64 = pc.cast(field, pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            good = pc.match_substring_regex(field, _REAL)
            values = pc.cast(pc.if_else(good, field, "0"), pa.float64()).to_numpy(zero_copy_only=False)
            self._expect(name, ~good.to_numpy(zero_copy_only=False), "a number")
        wrong = ~(np.abs(values) <= _LARGEST)
        if wrong.any():
            self._expect(name, wrong, "a number that is no more than 10^12")
            values = np.where(wrong, 0.0, values)
        return values

    def moments(self, name: str) -> I64:
        """A field as milliseconds since 1970."""
        values, good = read_moments(self.fields[name])
        self._expect(name, ~good, "a date such as 2007-05-28-06:40:15.000")
        return values


def _shown(text: str) -> str:
    if not text:
        return "empty"
    short = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return repr(short)


def read_header(path: Path) -> list[str]:
    """The names in the first line of a CSV file, in lower case."""
    try:
        with path.open("rb") as file:
            first = file.readline(1 << 16)
    except OSError as refused:
        raise UserError(f"{path} cannot be read: {refused.strerror}") from refused
    text = first.decode("utf-8", "replace").removeprefix("\ufeff").strip()
    return [name.strip().strip('"').lower() for name in text.split(",")]


def field_places(path: Path, header: list[str], columns: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Where each of `columns` is; each may have several names in files of others."""
    places = {}
    for name, others in columns.items():
        found = [header.index(one.lower()) for one in (name, *others) if one.lower() in header]
        if not found:
            expected = ",".join(columns)
            raise UserError(
                f"{path}, line 1: the columns are {','.join(header)[:200]}, but {name} is not among them; "
                f"expected were {expected}"
            )
        places[name] = found[0]
    return places


def split_fields(
    data: bytes,
    first_line: int,
    width: int,
    places: Mapping[str, int],
    file: str,
    rejects: list[Reject],
    *,
    quoted: bool = False,
) -> Lines:
    """The lines of `data`, cut at commas.

    The authors' CSV has no quotation marks. Where fields may be `quoted`, as PostgreSQL writes them, a line
    with a mark is cut by itself; none spans lines. A line whose number of fields is not `width` is rejected.
    Empty lines are nothing.
    """
    lines = _lines(data)
    numbers = np.arange(first_line, first_line + len(lines), dtype=np.int64)
    plain = pc.not_equal(lines, "")
    marked = pc.match_substring(lines, '"') if quoted else pa.array(np.zeros(len(lines), np.bool_))
    plain = pc.and_(plain, pc.invert(marked))
    fields = _cut(lines.filter(plain), _chosen(numbers, plain), width, places, file, rejects)
    if not pc.any(marked).as_py():
        return Lines(file, *fields, rejects)
    other = _cut_quoted(lines.filter(marked), _chosen(numbers, marked), width, places, file, rejects)
    number = np.concatenate((fields[0], other[0]))
    order = np.argsort(number, kind="stable")
    both = {
        name: pa.concat_arrays([column, other[1][name]]).take(pa.array(order))
        for name, column in fields[1].items()
    }
    return Lines(file, number[order], both, rejects)


_Fields = tuple[I64, dict[str, pa.Array]]
"""Number of each line, and its fields."""


def _chosen(numbers: I64, choice: pa.Array) -> I64:
    chosen: I64 = numbers[choice.to_numpy(zero_copy_only=False)]
    return chosen


def _cut(
    lines: pa.Array,
    numbers: I64,
    width: int,
    places: Mapping[str, int],
    file: str,
    rejects: list[Reject],
) -> _Fields:
    cut = pc.split_pattern(lines, ",")
    counts = pc.list_value_length(cut).to_numpy(zero_copy_only=False)
    right = counts == width
    _reject_counts(numbers[~right], counts[~right], width, file, rejects)
    flat = pc.list_flatten(cut.filter(pa.array(right)))
    good = int(right.sum())
    fields = {
        name: pc.utf8_trim_whitespace(flat.take(pa.array(np.arange(good) * width + place)))
        for name, place in places.items()
    }
    return numbers[right], fields


def _cut_quoted(
    lines: pa.Array,
    numbers: I64,
    width: int,
    places: Mapping[str, int],
    file: str,
    rejects: list[Reject],
) -> _Fields:
    rows = [_quoted(line) for line in lines.to_pylist()]
    counts = np.array([len(row) for row in rows], np.int64)
    right = counts == width
    _reject_counts(numbers[~right], counts[~right], width, file, rejects)
    fields = {
        name: pc.utf8_trim_whitespace(
            pa.array([row[place] for row in rows if len(row) == width], pa.string())
        )
        for name, place in places.items()
    }
    return numbers[right], fields


def _quoted(line: str) -> list[str]:
    csv.field_size_limit(1 << 30)
    try:
        return next(csv.reader([line]))
    except csv.Error:
        return []


def _reject_counts(numbers: I64, counts: Any, width: int, file: str, rejects: list[Reject]) -> None:
    for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
        rejects.append(Reject(file, number, f"the line has {count} fields; {width} were expected"))


def _lines(data: bytes) -> pa.Array:
    """The lines of some bytes, what is no UTF-8 replaced, so that it is rejected where it matters."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    lines = pc.list_flatten(pc.split_pattern(pa.array([text], pa.large_string()), "\n"))
    lines = lines.slice(0, len(lines) - 1) if text.endswith("\n") or not text else lines
    return lines.cast(pa.string())
