"""What tasks note of the slices that they read: a small file for each, in a folder of the query's run.

    RUN/q5/notes/bid-000012.json    newest event time, number of events, bytes

A task that is repeated writes the same again.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["SliceNote", "SliceNotes", "slice_totals"]


@dataclass(frozen=True)
class SliceNote:
    """What is known of a slice that was read."""

    newest: int | None
    """The newest event time in milliseconds; `None` without events."""
    events: int
    """Events of the streams that the query reads, lines that were no event included."""
    bytes: int
    """Their size in the files."""


class SliceNotes:
    """The notes of one reader, which may be one of several of a query."""

    def __init__(self, folder: Path, reader: str) -> None:
        self._folder = folder
        self._reader = reader
        self._newest: dict[int, int | None] = {}

    def write(self, number: int, note: SliceNote) -> None:
        """Note a slice; the file appears whole."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{self._reader}-{number:06d}.json"
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        unfinished.write_text(json.dumps(asdict(note)))
        unfinished.replace(path)

    def newest_before(self, first: int) -> int | None:
        """The newest event time of all slices before `first`, which have been read."""
        for number in range(len(self._newest), first):
            path = self._folder / f"{self._reader}-{number:06d}.json"
            self._newest[number] = json.loads(path.read_text())["newest"] if path.exists() else None
        times = [time for number, time in self._newest.items() if number < first and time is not None]
        return max(times, default=None)


def slice_totals(folder: Path, first: int) -> tuple[int, int]:
    """Events and bytes of all slices from `first` on, over all readers of a query."""
    events, size = 0, 0
    for path in folder.glob("*.json"):
        if int(path.stem.rpartition("-")[2]) >= first:
            facts = json.loads(path.read_text())
            events, size = events + facts["events"], size + facts["bytes"]
    return events, size
