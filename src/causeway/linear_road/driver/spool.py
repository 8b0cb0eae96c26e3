"""The spool between driver and pipeline: files named by the simulated seconds that they cover.

Names are contiguous: each file begins with the second after the last one of the file before it, the first
file with second 0. Seconds without tuples are covered like the others, so that a gap between two names always
is a missing file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from causeway.runtime.errors import CausewayError

__all__ = [
    "BATCH_BYTES",
    "SPOOL_BYTES",
    "SPOOL_FORMAT",
    "SpoolFile",
    "SpoolGapError",
    "delivered_until",
    "files_between",
    "source_options",
    "spool_file_name",
    "spool_files",
]

SPOOL_FORMAT: Final = "linear-road-spool"
"""The name under which Spark knows the source that reads a spool."""

BATCH_BYTES: Final = 32 << 20
"""The most that one batch reads from the spool (about a million tuples), unless a single file is larger."""

SPOOL_BYTES: Final = 16 * BATCH_BYTES
"""The size of a run's spool at which the delivery of the past waits for the reader.

It must be larger than two batches: the files of an answered batch stay until the next one is planned.
"""

_NAME: Final = re.compile(r"seconds-(\d+)-(\d+)\.parquet")


class SpoolGapError(CausewayError):
    """Tuples that were delivered, and have not been answered, are missing from the spool."""


@dataclass(frozen=True, order=True)
class SpoolFile:
    """A delivered file, with all tuples of the seconds `first` to `last`; these may include quiet seconds."""

    first: int
    last: int
    path: Path


def spool_file_name(first: int, last: int) -> str:
    """The name of the file that covers the seconds `first` to `last`."""
    return f"seconds-{first:012d}-{last:012d}.parquet"


def spool_files(spool: Path) -> list[SpoolFile]:
    """All files in the spool, in the order of time."""
    files = []
    for path in spool.iterdir():
        if match := _NAME.fullmatch(path.name):
            files.append(SpoolFile(int(match[1]), int(match[2]), path))
    return sorted(files)


def files_between(spool: Path, start: int, end: int | None = None) -> list[SpoolFile]:
    """The files that cover the seconds from `start` up to `end`, not including it, or to the newest.

    Raises `SpoolGapError` where they do not cover exactly these seconds.
    """
    files, gap = _look(spool, start, end)
    if gap is not None:
        # A listing may miss a file that is released while it is read, and have the one released after it.
        files, gap = _look(spool, start, end)
    if gap is not None:
        raise SpoolGapError(f"{spool} {gap}; files were removed or changed before they were answered")
    return files


def _look(spool: Path, start: int, end: int | None) -> tuple[list[SpoolFile], str | None]:
    """The files from `start` on, and what is wrong with them, as the rest of a sentence."""
    files = [file for file in spool_files(spool) if file.last >= start and (end is None or file.first < end)]
    if end is not None and end <= start:
        return [], None
    expected = start
    for file in files:
        if file.first > expected:
            return files, f"lacks the seconds {expected} to {file.first - 1}"
        if file.first < expected:
            return files, f"has {file.path.name}, which does not begin with second {expected}"
        expected = file.last + 1
    if end is not None and expected < end:
        return files, f"lacks the seconds {expected} to {end - 1}"
    if end is not None and expected > end:
        return files, f"has {files[-1].path.name}, which does not end with second {end - 1}"
    return files, None


def delivered_until(spool: Path) -> int:
    """The second up to which the spool has been delivered, not including it.

    Readers leave the newest file in place, so that its name tells.
    """
    return max((file.last + 1 for file in spool_files(spool)), default=0)


def source_options(
    spool: Path, shard_keys: Sequence[int], kept: Path | None = None
) -> tuple[str, dict[str, str]]:
    """Format and options of the Spark stream that reads the spool, a cell for each shard.

    `kept` is the mark of a keeper: files stay in the spool until it has taken them, too.
    """
    options = {"path": str(spool.resolve()), "keys": json.dumps(list(shard_keys))}
    return SPOOL_FORMAT, options if kept is None else options | {"kept": str(kept.resolve())}
