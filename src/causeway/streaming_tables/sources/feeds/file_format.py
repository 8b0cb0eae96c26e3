"""The format of a single file, by its name or else by its beginning.

The paper inserts from 'LINEARROAD.STR', a name that tells no format. Files of a folder are known by their
names alone: what else lies there may be anything.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from causeway.streaming.linear_road_fields import INPUT_COLUMNS
from causeway.streaming_tables.sources.feeds.file_list import FileFormat, format_of
from causeway.streaming_tables.sources.parsing.text_lines import first_line

__all__ = ["format_of_file"]

_PARQUET: Final = b"PAR1"
_NUMBER: Final = re.compile(r"\s*[+-]?[0-9.]*\s*")


def format_of_file(path: Path, delimiter: str = ",") -> FileFormat | None:
    """The format; None if neither the name nor the beginning tells it.

    A line of names is CSV, one of as many whole numbers as Linear Road's tuples have is its flat format.
    """
    by_name = format_of(path)
    if by_name is not None:
        return by_name
    with path.open("rb") as file:
        if file.read(len(_PARQUET)) == _PARQUET:
            return "parquet"
    try:
        line = first_line(path).decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        return None
    if line.startswith("{"):
        return "json"
    fields = line.split(delimiter)
    numbers = sum(_NUMBER.fullmatch(field) is not None for field in fields)
    if len(fields) == numbers == len(INPUT_COLUMNS):
        return "dat"
    return "csv" if len(fields) > 1 and numbers == 0 else None
