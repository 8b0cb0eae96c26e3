"""dBase III files: a header, then records of fixed width; columns as rows of bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causeway.berlinmod.exchange.moments import MOMENT_WIDTH, moment_bytes
from causeway.berlinmod.model.arrays import F64, I64
from causeway.runtime.compiled import kernel
from causeway.runtime.errors import UserError

__all__ = ["Column", "dbf_head", "dbf_tail", "integer", "moment", "real", "records", "text", "text_bytes"]

Bytes = NDArray[np.uint8]

_INTEGER_WIDTH: Final = 10
_REAL_WIDTH: Final = 20
_TEXT_LIMIT: Final = 254
_VERSION: Final = 3
_CHANGED: Final = (107, 5, 28)
"""The date of the last change, as years since 1900, month and day: always the same, so that bytes are too."""


class Column(NamedTuple):
    """A column of a dBase file."""

    name: str
    kind: str
    """C for text, N for numbers."""
    decimals: int
    data: Bytes
    """A row of bytes for each record."""


def integer(name: str, values: I64) -> Column:
    """Whole numbers of up to ten digits."""
    return Column(name, "N", 0, _fixed(np.asarray(values, np.float64), 0, _INTEGER_WIDTH))


def real(name: str, values: F64, decimals: int) -> Column:
    """Numbers with a fixed number of decimals."""
    if values.size and not np.abs(values).max() < 9e18 / 10**decimals:
        raise UserError(
            f"a dBase file has room for {_REAL_WIDTH} characters a number, but a coordinate is "
            f"{np.abs(values).max():g}"
        )
    return Column(name, "N", decimals, _fixed(values, decimals, _REAL_WIDTH))


def moment(name: str, t: I64) -> Column:
    """Dates as text, since dBase III has no type for them."""
    return Column(name, "C", 0, moment_bytes(t).reshape(-1, MOMENT_WIDTH))


def text(name: str, values: Sequence[str]) -> Column:
    """Texts in UTF-8, as wide as the longest."""
    return Column(name, "C", 0, text_bytes(values))


def text_bytes(values: Sequence[str], width: int | None = None) -> Bytes:
    """Rows of bytes, filled up with spaces; a text that is too long is cut."""
    encoded = [value.encode() for value in values]
    if width is None:
        width = min(max([1, *map(len, encoded)]), _TEXT_LIMIT)
    padded = b"".join(value[:width].ljust(width) for value in encoded)
    return np.frombuffer(padded, np.uint8).reshape(len(encoded), width)


@kernel
def _fixed(values: F64, decimals: int, width: int) -> Bytes:
    """Numbers in decimal notation, right-aligned."""
    out = np.full((values.size, width), 32, np.uint8)
    scale = 10.0**decimals
    for i in range(values.size):
        scaled = np.int64(np.rint(values[i] * scale))
        rest = abs(scaled)
        place = width - 1
        written = 0
        while rest > 0 or written <= decimals:
            if decimals > 0 and written == decimals:
                out[i, place] = 46
                place -= 1
            out[i, place] = 48 + rest % 10
            rest //= 10
            place -= 1
            written += 1
        if scaled < 0:
            out[i, place] = 45
    return out


def dbf_head(columns: Sequence[Column], rows: int) -> bytes:
    """The header of a file with these columns."""
    if rows >= 2**32:
        raise UserError(f"a dBase file has up to {2**32 - 1:,} records, but there are {rows:,}")
    size = 32 + 32 * len(columns) + 1
    width = 1 + sum(column.data.shape[1] for column in columns)
    head = struct.pack("<4BIHH20x", _VERSION, *_CHANGED, rows, size, width)
    for column in columns:
        head += struct.pack(
            "<11sc4xBB14x", column.name.encode(), column.kind.encode(), column.data.shape[1], column.decimals
        )
    return head + b"\r"


def dbf_tail() -> bytes:
    """What ends a file."""
    return b"\x1a"


def records(columns: Sequence[Column]) -> Any:
    """The records; the first byte of each says that it is not deleted."""
    rows = columns[0].data.shape[0]
    return np.hstack([np.full((rows, 1), 32, np.uint8), *(column.data for column in columns)]).tobytes()
