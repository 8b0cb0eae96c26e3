"""Text files as blocks of whole lines, and where lines begin.

A line ends with a newline, whatever the format: a value in quotes goes on in no other line.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["Lines", "count_lines", "first_line", "line_start_after", "open_text", "read_blocks"]

_BLOCK_BYTES: Final = 8 << 20
_LONGEST_LINE: Final = 16 << 20
_LONGEST_HEADER: Final = 1 << 20
_KEPT_OF_A_LONG_LINE: Final = 8 << 10
_TOO_LONG: Final = b"\xff(too long)"
"""Stands at the end of a line that was cut; no text in UTF-8 has it."""
_BOM: Final = b"\xef\xbb\xbf"

_NO_TEXT_REASON: Final = "the line is not text in UTF-8"
_LONG_REASON: Final = f"the line is longer than {_LONGEST_LINE >> 20} MB"


class Lines:
    """A block of text as lines; line numbers count from 0 in the block."""

    def __init__(self, block: bytes) -> None:
        """Every line of `block` ends with a newline."""
        self.block = block
        data = np.frombuffer(block, dtype=np.uint8)
        self._data = data
        self.ends: NDArray[np.int64] = np.flatnonzero(data == ord("\n"))
        self.starts: NDArray[np.int64] = np.concatenate(([0], self.ends[:-1] + 1)).astype(np.int64)

    def __len__(self) -> int:
        return len(self.ends)

    def blank(self) -> NDArray[np.bool_]:
        """Which lines are empty or have only a carriage return."""
        lengths = self.ends - self.starts
        blank: NDArray[np.bool_] = lengths == 0
        short = np.flatnonzero(lengths == 1)
        blank[short] = self._data[self.starts[short]] == ord("\r")
        return blank

    def enclosed(self, first: bytes, last: bytes) -> NDArray[np.bool_]:
        """Which lines begin and end with these bytes."""
        final = self.ends - 1
        final = np.where(self._data[np.maximum(final, 0)] == ord("\r"), final - 1, final)
        lengths = final - self.starts
        ends = self._data[np.maximum(final, 0)]
        begins = self._data[self.starts]
        enclosed: NDArray[np.bool_] = (lengths > 0) & (begins == ord(first)) & (ends == ord(last))
        return enclosed

    def raw(self, number: int | np.integer[Any]) -> bytes:
        """A line without its end."""
        return self.block[self.starts[number] : self.ends[number]].removesuffix(b"\r")

    def text(self, number: int | np.integer[Any]) -> str:
        """A line without its end, as far as it is text."""
        return self.raw(number).removesuffix(_TOO_LONG).decode("utf-8", "replace")

    def without(self, dropped: NDArray[np.bool_]) -> tuple[Lines, NDArray[np.int64]]:
        """The other lines as a block of their own, and the number here of each of them."""
        kept = np.flatnonzero(~dropped)
        pieces = [self.block[self.starts[number] : self.ends[number] + 1] for number in kept]
        return Lines(b"".join(pieces)), kept

    def no_text(self) -> dict[int, str]:
        """Why lines are no text, by their number."""
        long = np.flatnonzero(self.ends - self.starts > _LONGEST_LINE)
        wrong: dict[int, str] = dict.fromkeys(long.tolist(), _LONG_REASON)
        try:
            self.block.decode("utf-8")
        except UnicodeDecodeError:
            for number in range(len(self)):
                line = self.raw(number)
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError:
                    too_long = line.endswith(_TOO_LONG)
                    wrong[number] = _LONG_REASON if too_long else _NO_TEXT_REASON
        return wrong


def open_text(path: Path) -> BinaryIO:
    """The bytes of a text file, unpacked where its name ends in .gz."""
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    return path.open("rb")


def read_blocks(path: Path, start: int, end: int | None) -> Iterator[bytes]:
    """The lines from byte `start`, where a line begins, to byte `end` or the end of the file.

    A mark of byte order at the file's start is left out. Raises `OSError` where the file cannot be read.
    """
    with open_text(path) as file:
        file.seek(start)
        left = end - start if end is not None else None
        carry = b""
        cut_line = False
        mark = _BOM if start == 0 else b""
        while chunk := _read(file.read, _BLOCK_BYTES if left is None else min(left, _BLOCK_BYTES)):
            if left is not None:
                left -= len(chunk)
            if cut_line:
                newline = chunk.find(b"\n")
                if newline < 0:
                    continue
                chunk, cut_line = chunk[newline:], False
            text = carry + chunk
            cut = text.rfind(b"\n") + 1
            if cut:
                yield text[:cut].removeprefix(mark)
                mark = b""
            carry = text[cut:]
            if len(carry) > _LONGEST_LINE:
                carry, cut_line = carry[:_KEPT_OF_A_LONG_LINE] + _TOO_LONG, True
        carry = carry.removeprefix(mark)
        if carry:
            yield carry + b"\n"


def first_line(path: Path) -> bytes:
    """The file's first line with its end, and the mark of byte order if there is one."""
    with open_text(path) as file:
        return _read(file.readline, _LONGEST_HEADER)


def line_start_after(path: Path, position: int, end: int) -> int:
    """The first place at or after byte `position` where a line begins, or `end`."""
    if position <= 0 or position >= end:
        return max(0, min(position, end))
    with path.open("rb") as file:
        file.seek(position - 1)
        # A piece at a time: a line may be as long as the file.
        while (piece := file.readline(_BLOCK_BYTES)) and not piece.endswith(b"\n"):
            pass
        return min(file.tell(), end)


def count_lines(path: Path, end: int) -> int:
    """The lines that end before byte `end`."""
    with path.open("rb") as file:
        lines = 0
        while end > 0 and (chunk := file.read(min(end, _BLOCK_BYTES))):
            end -= len(chunk)
            lines += chunk.count(b"\n")
        return lines


def _read(read: Callable[[int], bytes], count: int) -> bytes:
    try:
        return read(count)
    except (EOFError, zlib.error) as damaged:
        raise OSError(f"it is damaged: {damaged}") from damaged
