"""Columns of text: numbers and dates of whole columns, and lines of several columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from causeway.berlinmod.exchange.moments import moment_texts

__all__ = ["csv_bytes", "integers", "joined", "moments", "plain_texts", "quoted_texts", "reals", "to_bytes"]

moments = moment_texts


def integers(values: Any) -> pa.Array:
    """Whole numbers."""
    return pc.cast(pa.array(np.asarray(values)), pa.string())


def reals(values: Any) -> pa.Array:
    """Numbers with a period, which the authors' formats want; the shortest text that gives the same again."""
    texts = pc.cast(pa.array(np.asarray(values, np.float64)), pa.string())
    has_period = pc.match_substring(texts, ".")
    if pc.all(has_period).as_py() is not False:
        return texts
    with_period = pc.replace_substring_regex(texts, r"^(-?\d+)", r"\1.0")
    return pc.if_else(has_period, texts, with_period)


def plain_texts(values: Any) -> pa.Array:
    """Texts without commas and line ends, which the authors' CSV has no way to write: they become spaces."""
    return pc.replace_substring_regex(pa.array(list(values), pa.string()), r"[,\r\n]", " ")


def quoted_texts(values: Any) -> pa.Array:
    """Texts in quotation marks; one inside becomes an apostrophe, as SECONDO has no escape for it."""
    plain = pc.replace_substring_regex(pa.array(list(values), pa.string()), r"[\r\n]", " ")
    return joined('"', pc.replace_substring(plain, '"', "'"), '"')


def joined(*parts: pa.Array | str) -> pa.Array:
    """Texts put together, row by row."""
    return pc.binary_join_element_wise(*parts, "")


def to_bytes(lines: pa.Array) -> pa.Buffer | bytes:
    """All texts of a column, one after the other."""
    if len(lines) == 0:
        return b""
    offsets = np.frombuffer(lines.buffers()[1], np.int32)[lines.offset : lines.offset + len(lines) + 1]
    data = lines.buffers()[2]
    return b"" if data is None else data.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))


def csv_bytes(columns: dict[str, pa.Array]) -> bytes:
    """A small file of comma-separated values: a line with the names of the columns, then the rows."""
    rows = pc.binary_join_element_wise(*columns.values(), ",")
    return ",".join(columns).encode() + b"\n" + bytes(to_bytes(joined(rows, "\n")))
