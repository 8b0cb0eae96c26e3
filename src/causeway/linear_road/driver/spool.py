"""The spool between driver and pipeline: files named by the simulated seconds in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["SpoolFile", "delivered_until", "spool_file_name", "spool_files"]

_NAME: Final = re.compile(r"seconds-(\d+)-(\d+)\.parquet")


@dataclass(frozen=True, order=True)
class SpoolFile:
    """A delivered file, with all tuples of the seconds `first` to `last`."""

    first: int
    last: int
    path: Path


def spool_file_name(first: int, last: int) -> str:
    """Such a file's name."""
    return f"seconds-{first:012d}-{last:012d}.parquet"


def spool_files(spool: Path) -> list[SpoolFile]:
    """What is there, in the order of time."""
    found = []
    for path in spool.iterdir():
        if match := _NAME.fullmatch(path.name):
            found.append(SpoolFile(int(match[1]), int(match[2]), path))
    return sorted(found)


def delivered_until(spool: Path) -> int:
    """The second up to which the spool has been delivered, not including it.

    Readers that take files away leave the newest, so that it can be told from the names.
    """
    return max((file.last + 1 for file in spool_files(spool)), default=0)
