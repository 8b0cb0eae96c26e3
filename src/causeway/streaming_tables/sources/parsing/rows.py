"""Rows on their way from a file to the table: good ones as columns, rejected ones with their reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from causeway.streaming_tables.sources.parsing.casts import ColumnRule, convert
from causeway.streaming_tables.sources.parsing.target import Reading

__all__ = ["Reject", "convert_columns", "good_rows", "position_reports", "rejected_rows", "shorten"]

_LONGEST_TEXT: Final = 1000
_TYPE_RULE: Final = ColumnRule("Type", pa.int64())
_POSITION_REPORT: Final = 0

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


def position_reports(kinds: pa.Array) -> tuple[NDArray[np.bool_], dict[int, str]]:
    """Which tuples of a Linear Road stream are position reports, and why others have no type at all."""
    numbers, reasons = convert(kinds, _TYPE_RULE)
    for place in np.flatnonzero(kinds.is_null().to_numpy(zero_copy_only=False)):
        reasons[int(place)] = "Type has no value"
    wanted = pc.fill_null(pc.equal(numbers, _POSITION_REPORT), False)
    return wanted.to_numpy(zero_copy_only=False), reasons


def good_rows(columns: Sequence[pa.Array], rejected: Mapping[int, str], reading: Reading) -> pa.RecordBatch:
    """The rows that are not rejected."""
    schema = reading.schema
    count = len(columns[0])
    empty = [pa.nulls(count, field.type) for field in list(schema)[len(columns) :]]
    batch = pa.RecordBatch.from_arrays([*columns, *empty], schema=schema)
    if rejected:
        keep = np.ones(count, dtype=np.bool_)
        keep[list(rejected)] = False
        batch = batch.filter(pa.array(keep))
    return batch


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
