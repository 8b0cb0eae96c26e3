"""A fast way through JSON lines as they mostly are: flat objects of whole numbers and plain text.

Only what can be read in one way is read here: no escapes, no characters beyond ASCII, no fractions, nothing
nested, no key twice. Anything else, and the block is left to a parser that knows all of JSON. Values that
nobody asks for are stepped over, which makes it several times as fast as building them. Text is stepped over
and copied eight bytes at a time, as one number each, while eight bytes are left.
"""

from __future__ import annotations

from mmap import mmap

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.runtime.compiled import inlined, kernel

__all__ = ["read_plain_objects"]

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Longs = NDArray[np.int64]

_DIGIT_LIMIT = 18
_KEY_LIMIT = 64
_LINE_END = 10
_ONE = np.uint64(1)
_WORD_SIZE = 8
_WORD = np.uint64(_WORD_SIZE)
_FEWEST = 2 * _WORD_SIZE
"""Bytes that have more words than one: of an array of one word, numba would compile the kernels again."""
_PLAIN = np.zeros(256, np.bool_)
"""Characters that stand for themselves in a text."""
_PLAIN[32:127] = True
_PLAIN[[34, 92]] = False  # " and \\


def _each(byte: int) -> np.uint64:
    """A word of equal bytes."""
    return np.uint64(int.from_bytes(bytes([byte] * 8)))


_ONES, _HIGH = _each(1), _each(128)
_SPACE, _QUOTE, _BACKSLASH, _DELETE = _each(32), _each(34), _each(92), _each(127)


def read_plain_objects(text: bytes | mmap, schema: pa.Schema) -> pa.Table | None:
    """The columns of `schema`, whole numbers and text, of lines that are all plain; `None` if one is not."""
    data = np.frombuffer(text, np.uint8)
    if len(data) and data[-1] != _LINE_END:
        data = np.frombuffer(bytes(text) + b"\n", np.uint8)
    words = _words_of(data) if len(data) >= _FEWEST else _ZEROS
    last = len(data) - _WORD_SIZE + 1 if len(data) >= _FEWEST else 0
    lines = _count(data, _LINE_END)
    numeric = np.array([not pa.types.is_string(field.type) for field in schema])
    names = b"".join(field.name.encode() for field in schema)
    ends = np.cumsum([len(field.name.encode()) for field in schema])
    values = np.zeros((len(schema), lines), np.int64)
    sizes = np.full((len(schema), lines), -1, np.int64)
    if not _scan(data, words, last, _PLAIN, np.frombuffer(names, np.uint8), ends, numeric, values, sizes):
        return None
    columns = []
    for at in range(len(schema)):
        missing = sizes[at] < 0
        if numeric[at]:
            columns.append(pa.array(values[at], mask=missing) if missing.any() else pa.array(values[at]))
        else:
            columns.append(_text(data, words, last, values[at], sizes[at], missing))
    return pa.table(columns, schema=schema)


def _words_of(data: Bytes) -> Words:
    """The eight bytes that begin at each place, as one number each: a view."""
    return np.ndarray(len(data) - _WORD_SIZE + 1, np.uint64, data, strides=(1,))


_ZEROS = _words_of(np.frombuffer(bytes(_FEWEST), np.uint8))


def _text(
    data: Bytes, words: Words, last: int, starts: Longs, sizes: Longs, missing: NDArray[np.bool_]
) -> pa.Array:
    kept = np.where(missing, 0, sizes)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
    gathered = np.empty(int(offsets[-1]) + _FEWEST, np.uint8)
    _gather(data, words, last, starts, kept, gathered, _words_of(gathered))
    valid = None
    if missing.any():
        valid = pa.py_buffer(np.packbits(~missing, bitorder="little").tobytes())
    letters = pa.py_buffer(gathered[: int(offsets[-1])])
    buffers = [valid, pa.py_buffer(offsets.astype(np.int32)), letters]
    return pa.Array.from_buffers(pa.string(), len(starts), buffers)


@kernel
def _count(data: Bytes, value: int) -> int:
    found = 0
    for byte in data:
        found += byte == value
    return found


@kernel
def _gather(
    data: Bytes, words: Words, last: int, starts: Longs, sizes: Longs, out: Bytes, out_words: Words
) -> None:
    """Copy texts, one after the other. A text's last word may be too long: the next text is written over it.

    `out` has room for one word more.
    """
    at = np.uint64(0)
    whole = np.uint64(last)
    for row in range(len(starts)):
        start = np.uint64(starts[row])
        size = np.uint64(sizes[row])
        done = np.uint64(0)
        if start + size < whole:
            while done < size:
                out_words[at + done] = words[start + done]
                done += _WORD
        else:
            while done < size:
                out[at + done] = data[start + done]
                done += _ONE
        at += size


@inlined
def _has_special(word: np.uint64) -> np.uint64:
    """Not 0 if one of eight characters is not `_PLAIN`.

    A byte below `n` or equal to one borrows from its highest bit when `n` or that one is subtracted from it.
    """
    quote, backslash, delete = word ^ _QUOTE, word ^ _BACKSLASH, word ^ _DELETE
    below = (word - _SPACE) & ~word
    equal = ((quote - _ONES) & ~quote) | ((backslash - _ONES) & ~backslash) | ((delete - _ONES) & ~delete)
    return (below | equal | word) & _HIGH


@kernel
def _column_of(data: Bytes, start: np.int64, size: np.int64, names: Bytes, ends: Longs) -> int:
    """The column whose name is written at `start`, -1 for one that nobody asked for."""
    for column in range(len(ends)):
        begin = 0 if column == 0 else ends[column - 1]
        if ends[column] - begin == size and np.array_equal(
            names[begin : begin + size], data[start : start + size]
        ):
            return column
    return -1


@kernel
def _scan(
    data: Bytes,
    words: Words,
    last: int,
    plain: NDArray[np.bool_],
    names: Bytes,
    ends: Longs,
    numeric: NDArray[np.bool_],
    values: Longs,
    sizes: Longs,
) -> bool:
    """Fill numbers, or where text starts, and sizes (0 for a number); false where a line is not plain.

    There are words at places before `last`. The text ends with a line's end, which no loop passes. Places are
    unsigned, for which numba does not look whether they count from the end. Keys mostly come as on the line
    before: `keys` has where each was, its size with the quote behind it, and its column.
    """
    keys = np.zeros((_KEY_LIMIT, 3), np.int64)
    known = 0
    at = np.uint64(0)
    length = np.uint64(len(data))
    whole = np.uint64(last)
    row = 0
    while at < length:
        if data[at] != 123:  # {
            return False
        at += _ONE
        place = 0
        while True:
            while data[at] == 32:
                at += _ONE
            if place == 0 and data[at] == 125:  # }
                at += _ONE
                break
            if data[at] != 34:  # "
                return False
            at += _ONE
            column = -2
            if place < known:
                before = np.uint64(keys[place, 0])
                size = np.uint64(keys[place, 1])
                same = np.uint64(0)
                while same < size and data[at + same] == data[before + same]:
                    same += _ONE
                if same == size:
                    column = keys[place, 2]
                    at += size
            if column == -2:
                start = at
                while plain[data[at]]:
                    at += _ONE
                if data[at] != 34 or place == _KEY_LIMIT:
                    return False
                at += _ONE
                column = _column_of(data, np.int64(start), np.int64(at - start) - 1, names, ends)
                keys[place, 0] = np.int64(start)
                keys[place, 1] = np.int64(at - start)
                keys[place, 2] = column
                known = place + 1
            place += 1
            while data[at] == 32:
                at += _ONE
            if data[at] != 58:  # :
                return False
            at += _ONE
            while data[at] == 32:
                at += _ONE
            if column >= 0 and sizes[column, row] != -1:
                return False
            if data[at] == 34:
                at += _ONE
                start = at
                while at < whole and not _has_special(words[at]):
                    at += _WORD
                while plain[data[at]]:
                    at += _ONE
                if data[at] != 34:
                    return False
                if column >= 0:
                    if numeric[column]:
                        return False
                    values[column, row] = np.int64(start)
                    sizes[column, row] = np.int64(at - start)
                at += _ONE
            elif data[at] == 110:  # null
                for letter in (117, 108, 108):
                    at += _ONE
                    if data[at] != letter:
                        return False
                at += _ONE
                if column >= 0:
                    sizes[column, row] = -2
            else:
                negative = data[at] == 45
                if negative:
                    at += _ONE
                start = at
                number = np.int64(0)
                while 48 <= data[at] <= 57:
                    number = 10 * number + np.int64(data[at]) - 48
                    at += _ONE
                digits = np.int64(at - start)
                if digits == 0 or digits > _DIGIT_LIMIT or (digits > 1 and data[start] == 48):
                    return False
                if column >= 0:
                    if not numeric[column]:
                        return False
                    values[column, row] = -number if negative else number
                    sizes[column, row] = 0
            while data[at] == 32:
                at += _ONE
            if data[at] == 44:  # ,
                at += _ONE
                continue
            if data[at] == 125:
                at += _ONE
                break
            return False
        if data[at] != 10:
            return False
        at += _ONE
        row += 1
    return bool(row == values.shape[1])
