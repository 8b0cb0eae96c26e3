"""A fast way through JSON lines as they mostly are: flat objects of whole numbers and plain text.

Only what can be read in one way is read here: no escapes, no characters beyond ASCII, no fractions, nothing
nested, no key twice. Anything else, and the block is left to a parser that knows all of JSON. Values that
nobody asks for are stepped over, which makes it several times as fast as building them.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.compiled import kernel

__all__ = ["read_plain_objects"]

Bytes = NDArray[np.uint8]
Longs = NDArray[np.int64]

_MOST_DIGITS = 18
_PLAIN = np.zeros(256, np.bool_)
"""Characters that stand for themselves in a text."""
_PLAIN[32:127] = True
_PLAIN[[34, 92]] = False  # " and \\


def read_plain_objects(text: bytes, schema: pa.Schema) -> pa.Table | None:
    """The columns of `schema`, whole numbers and text, of lines that are all plain; `None` if one is not."""
    data = np.frombuffer(text, np.uint8)
    lines = text.count(b"\n") + bool(text and not text.endswith(b"\n"))
    numeric = np.array([not pa.types.is_string(field.type) for field in schema])
    names = b"".join(field.name.encode() for field in schema)
    ends = np.cumsum([len(field.name.encode()) for field in schema])
    values = np.zeros((len(schema), lines), np.int64)
    sizes = np.full((len(schema), lines), -1, np.int64)
    if not _scan(data, _PLAIN, np.frombuffer(names, np.uint8), ends, numeric, values, sizes):
        return None
    columns = []
    for at in range(len(schema)):
        missing = sizes[at] < 0
        if numeric[at]:
            columns.append(pa.array(values[at], mask=missing) if missing.any() else pa.array(values[at]))
        else:
            columns.append(_text(data, values[at], sizes[at], missing))
    return pa.table(columns, schema=schema)


def _text(data: Bytes, starts: Longs, sizes: Longs, missing: NDArray[np.bool_]) -> pa.Array:
    kept = np.where(missing, 0, sizes)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
    gathered = np.empty(int(offsets[-1]), np.uint8)
    _gather(data, starts, kept, gathered)
    valid = None
    if missing.any():
        valid = pa.py_buffer(np.packbits(~missing, bitorder="little").tobytes())
    buffers = [valid, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(gathered)]
    return pa.Array.from_buffers(pa.string(), len(starts), buffers)


@kernel
def _gather(data: Bytes, starts: Longs, sizes: Longs, out: Bytes) -> None:
    at = 0
    for row in range(len(starts)):
        start = starts[row]
        for offset in range(sizes[row]):
            out[at] = data[start + offset]
            at += 1


@kernel
def _scan(
    data: Bytes,
    plain: NDArray[np.bool_],
    names: Bytes,
    ends: Longs,
    numeric: NDArray[np.bool_],
    values: Longs,
    sizes: Longs,
) -> bool:
    """Fill numbers, or where text starts, and sizes (0 for a number); false where a line is not plain."""
    columns = len(ends)
    at = 0
    row = 0
    length = len(data)
    expected = 0
    while at < length:
        if data[at] != 123:  # {
            return False
        at += 1
        first = True
        while True:
            while at < length and data[at] == 32:
                at += 1
            if at >= length:
                return False
            if first and data[at] == 125:  # }
                at += 1
                break
            if data[at] != 34:  # "
                return False
            at += 1
            start = at
            while at < length and plain[data[at]]:
                at += 1
            if at >= length or data[at] != 34:
                return False
            size = at - start
            at += 1
            # Keys mostly come in one order: the one after the last is tried first.
            column = -1
            for turn in range(columns):
                candidate = expected + turn
                if candidate >= columns:
                    candidate -= columns
                begin = 0 if candidate == 0 else ends[candidate - 1]
                if ends[candidate] - begin == size:
                    same = True
                    for offset in range(size):
                        if names[begin + offset] != data[start + offset]:
                            same = False
                            break
                    if same:
                        column = candidate
                        expected = candidate + 1 if candidate + 1 < columns else 0
                        break
            while at < length and data[at] == 32:
                at += 1
            if at >= length or data[at] != 58:  # :
                return False
            at += 1
            while at < length and data[at] == 32:
                at += 1
            if at >= length:
                return False
            if column >= 0 and sizes[column, row] != -1:
                return False
            if data[at] == 34:
                at += 1
                start = at
                while at < length and plain[data[at]]:
                    at += 1
                if at >= length or data[at] != 34:
                    return False
                if column >= 0:
                    if numeric[column]:
                        return False
                    values[column, row] = start
                    sizes[column, row] = at - start
                at += 1
            elif data[at] == 110:  # null
                if at + 4 > length or data[at + 1] != 117 or data[at + 2] != 108 or data[at + 3] != 108:
                    return False
                at += 4
                if column >= 0:
                    sizes[column, row] = -2
            else:
                negative = data[at] == 45
                if negative:
                    at += 1
                start = at
                number = 0
                while at < length and 48 <= data[at] <= 57:
                    number = 10 * number + (data[at] - 48)
                    at += 1
                digits = at - start
                if digits == 0 or digits > _MOST_DIGITS or (digits > 1 and data[start] == 48):
                    return False
                if column >= 0:
                    if not numeric[column]:
                        return False
                    values[column, row] = -number if negative else number
                    sizes[column, row] = 0
            while at < length and data[at] == 32:
                at += 1
            if at >= length:
                return False
            if data[at] == 44:  # ,
                at += 1
                first = False
                continue
            if data[at] == 125:
                at += 1
                break
            return False
        if at < length and data[at] != 10:
            return False
        at += 1
        row += 1
    return bool(row == values.shape[1])
