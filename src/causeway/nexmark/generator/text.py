"""Columns of text, each made whole: letters written where Arrow keeps them, no string object per row."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from causeway.runtime.compiled import inlined, kernel
from causeway.runtime.randomness import I32, I64, U64, below, draw, draws_below

__all__ = ["chosen", "digits", "drawn", "fill_letters", "joined", "letters", "phrases", "string_column"]

# Eight letters a word. Four bits choose one of the letters a to p: no format has to escape them, and 64
# random bits make two words.
_LETTER_BITS = np.uint64(0x0F0F0F0F0F0F0F0F)
_EIGHT_A = np.uint64(0x6161616161616161)

_SPACE = ord(" ")


def string_column(offsets: I32, content: npt.NDArray[np.uint8] | U64) -> pa.StringArray:
    """An Arrow column whose row i is the bytes of `content` from `offsets[i]` to `offsets[i + 1]`."""
    return pa.StringArray.from_buffers(offsets.size - 1, pa.py_buffer(offsets), pa.py_buffer(content))


def chosen(indices: I32 | I64, values: pa.StringArray) -> pa.DictionaryArray:
    """Of each row, one of `values`; kept as a dictionary, which a Parquet writer need not find again."""
    return pa.DictionaryArray.from_arrays(pa.array(indices.astype(np.int32, copy=False)), values)


def drawn(keys: U64, field: int, values: Sequence[str]) -> pa.DictionaryArray:
    """Of each row, one of `values` by chance."""
    return chosen(draws_below(keys, field, len(values)), _array(tuple(values)))


def joined(*parts: pa.Array | str) -> pa.StringArray:
    """Each row's parts put together; text stands in every row."""
    plain = [part.cast(pa.string()) if isinstance(part, pa.Array) else part for part in parts]
    return pc.binary_join_element_wise(*plain, "")


def digits(keys: U64, field: int, count: int) -> pa.StringArray:
    """Numbers of `count` digits, zeros in front included."""
    return pc.utf8_lpad(pa.array(draws_below(keys, field, 10**count)).cast(pa.string()), count, "0")


def letters(keys: U64, field: int, minimum: int, maximum: int) -> pa.StringArray:
    """Random letters: in each row from `minimum` to `maximum` times eight of them."""
    return string_column(*_letters(keys, field, minimum, maximum))


def phrases(keys: U64, field: int, words: Sequence[str], minimum: int, maximum: int) -> pa.StringArray:
    """From `minimum` to `maximum` of `words` in each row, with spaces between them."""
    return string_column(*_phrases(keys, field, *_vocabulary(tuple(words)), minimum, maximum))


@cache
def _array(values: tuple[str, ...]) -> pa.StringArray:
    return pa.array(values, pa.string())


@cache
def _vocabulary(words: tuple[str, ...]) -> tuple[npt.NDArray[np.uint8], I32]:
    content = np.frombuffer("".join(words).encode(), np.uint8).copy()
    return content, np.cumsum([0, *(len(word.encode()) for word in words)]).astype(np.int32)


@inlined
def fill_letters(words: U64, begin: int, end: int, random: np.uint64) -> None:
    """Write letters over `words[begin:end]`, eight to a word, from what `random` unfolds to."""
    for i in range(begin, end, 2):
        bits = draw(random, i - begin)
        words[i] = (bits & _LETTER_BITS) + _EIGHT_A
        if i + 1 < end:
            words[i + 1] = ((bits >> np.uint64(4)) & _LETTER_BITS) + _EIGHT_A


@kernel
def _letters(keys: U64, field: int, minimum: int, maximum: int) -> tuple[I32, U64]:
    offsets = np.empty(keys.size + 1, np.int32)
    words = np.empty(keys.size * maximum, np.uint64)
    written = 0
    offsets[0] = 0
    for i in range(keys.size):
        random = draw(keys[i], field)
        end = written + minimum + below(random, maximum - minimum + 1)
        fill_letters(words, written, end, random)
        written = end
        offsets[i + 1] = 8 * written
    return offsets, words[:written].copy()


@kernel
def _phrases(
    keys: U64, field: int, content: npt.NDArray[np.uint8], ends: I32, minimum: int, maximum: int
) -> tuple[I32, npt.NDArray[np.uint8]]:
    longest = 0
    for word in range(ends.size - 1):
        longest = max(longest, ends[word + 1] - ends[word])
    offsets = np.empty(keys.size + 1, np.int32)
    text = np.empty(keys.size * maximum * (longest + 1), np.uint8)
    written = 0
    offsets[0] = 0
    for i in range(keys.size):
        random = draw(keys[i], field)
        count = minimum + below(random, maximum - minimum + 1)
        for place in range(count):
            if place > 0:
                text[written] = _SPACE
                written += 1
            word = below(draw(random, place), ends.size - 1)
            for byte in range(ends[word], ends[word + 1]):
                text[written] = content[byte]
                written += 1
        offsets[i + 1] = written
    return offsets, text[:written].copy()
