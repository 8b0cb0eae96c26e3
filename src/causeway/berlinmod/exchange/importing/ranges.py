"""A big text file in ranges of bytes, one for each Spark task; a line belongs to the range it begins in."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Final

__all__ = ["RANGE_BYTES", "byte_ranges", "read_range"]

RANGE_BYTES: Final = 32 * 2**20


def byte_ranges(path: Path, size: int = RANGE_BYTES) -> list[tuple[int, int]]:
    """Ranges that cover the file, without its first line, which is the header."""
    with path.open("rb") as file:
        file.readline()
        begin = file.tell()
    end = path.stat().st_size
    return [(place, min(place + size, end)) for place in range(begin, end, size)]


def read_range(path: Path, begin: int, end: int) -> bytes:
    """The lines that begin in a range, whole."""
    with path.open("rb") as file:
        _skip_to_line(file, begin)
        begin = file.tell()
        if begin >= end:
            return b""
        data = file.read(end - begin)
        return data if data.endswith(b"\n") else data + file.readline()


def _skip_to_line(file: BinaryIO, place: int) -> None:
    """Go to the first line that begins at `place` or after it."""
    file.seek(place - 1)
    if file.read(1) != b"\n":
        file.readline()
