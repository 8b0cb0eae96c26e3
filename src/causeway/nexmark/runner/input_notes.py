"""What was in the slices that Spark's own file source read; found after the run, not in its measured time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq

from causeway.nexmark.events.slices import Slices
from causeway.nexmark.operators.slice_notes import SliceNote, SliceNotes
from causeway.nexmark.operators.slice_reader import keep_rejects

__all__ = ["note_slices"]


def note_slices(slices: Slices, streams: Sequence[str], notes: Path, rejects: Path) -> None:
    """Note events and bytes of every slice, as the columnar tasks do; keep lines that are no event."""
    writer = SliceNotes(notes, "+".join(streams))
    for number in range(slices.released):
        paths = [path for stream in streams for path in slices.files(stream, number)]
        if all(path.suffix == ".parquet" for path in paths):
            events = sum(pq.read_metadata(path).num_rows for path in paths)
            size = sum(path.stat().st_size for path in paths)
        else:
            content = slices.read(number, {stream: (slices.model.time[stream],) for stream in streams})
            events, size = sum(content.events.values()), content.bytes
            keep_rejects(rejects, number, content.rejects)
        writer.write(number, SliceNote(None, events, size))
