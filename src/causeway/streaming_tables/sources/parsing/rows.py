"""Rows on their way from a file to the table: good ones as columns, rejected ones with their reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from causeway.streaming_tables.sources.parsing.casts import ColumnRule, convert
from causeway.streaming_tables.sources.parsing.target import REJECT_FIELDS, Reading

__all__ = [
    "Reject",
    "chosen_tuples",
    "convert_columns",
    "good_rows",
    "rejected_rows",
    "shorten",
    "with_source",
]

_LONGEST_TEXT: Final = 1000
_TYPE_RULE: Final = ColumnRule("Type", pa.int64())
_POSITION_REPORT: Final = 0
_LINE: Final = 1
"""Where the line is among what is known of a rejected row."""

Reject = tuple[int, str, str]
"""Line, reason and text of a rejected row."""


def convert_columns(
    columns: Sequence[pa.Array], rules: Sequence[ColumnRule]
) -> tuple[list[pa.Array], dict[int, str]]:
    """The columns as the table has them, and why rows are rejected, by their place.

    Of a row with several faults, the first column's is told.
    """
    converted: list[pa.Array] = []
    reasons: dict[int, str] = {}
    for values, rule in zip(columns, rules, strict=True):
        fitting, unfit = convert(values, rule)
        converted.append(fitting)
        for place, reason in unfit.items():
            reasons.setdefault(place, reason)
    return converted, reasons


def chosen_tuples(kinds: pa.Array, reading: Reading) -> tuple[NDArray[np.bool_], dict[int, str]]:
    """Which tuples of a Linear Road stream are rows: its position reports, or its requests.

    Also why others have no type at all.
    """
    numbers, reasons = convert(kinds, _TYPE_RULE)
    for place in np.flatnonzero(kinds.is_null().to_numpy(zero_copy_only=False)):
        reasons[int(place)] = "Type has no value"
    compare = pc.not_equal if reading.tuples == "requests" else pc.equal
    wanted = pc.fill_null(compare(numbers, _POSITION_REPORT), False)
    return wanted.to_numpy(zero_copy_only=False), reasons


def good_rows(
    columns: Sequence[pa.Array], rejected: Mapping[int, str], reading: Reading, lines: NDArray[np.int64]
) -> pa.RecordBatch:
    """The rows that are not rejected. Traced ones have their `lines`."""
    schema = reading.schema
    count = len(columns[0])
    facts = [pa.nulls(count, field.type) for field in list(schema)[len(columns) :]]
    if reading.target.traced:
        facts[_LINE] = pa.array(lines, pa.int64())
    batch = pa.RecordBatch.from_arrays([*columns, *facts], schema=schema)
    if rejected:
        keep = np.ones(count, dtype=np.bool_)
        keep[list(rejected)] = False
        batch = batch.filter(pa.array(keep))
    return batch


def with_source(rows: pa.RecordBatch, source: str, before: int, reading: Reading) -> pa.RecordBatch:
    """Good rows of a source; of traced ones the lines count from `before` on."""
    if not reading.target.traced:
        return rows
    place = rows.num_columns - len(REJECT_FIELDS)
    names = pa.repeat(pa.scalar(source, pa.string()), rows.num_rows)
    lines = pc.add(rows.column(place + _LINE), before)
    rows = rows.set_column(place, REJECT_FIELDS[0], names)
    return rows.set_column(place + _LINE, REJECT_FIELDS[_LINE], lines)


def rejected_rows(source: str, rejects: Sequence[Reject], reading: Reading) -> Iterator[pa.RecordBatch]:
    """One batch with the rejected rows; none where there are none."""
    if not rejects:
        return
    schema = reading.schema
    lines, reasons, texts = zip(*rejects, strict=True)
    count = len(rejects)
    columns = [pa.nulls(count, field.type) for field in reading.target.schema]
    facts = [[source] * count, lines, reasons, [shorten(text) for text in texts]]
    arrays = [
        pa.array(values, field.type)
        for values, field in zip(facts, list(schema)[len(columns) :], strict=True)
    ]
    yield pa.RecordBatch.from_arrays([*columns, *arrays], schema=schema)


def shorten(text: str) -> str:
    """At most a thousand characters of a rejected row."""
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
