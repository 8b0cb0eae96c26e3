"""The events that both sides read: slices as `causeway nexmark generate` makes them, and Flink's lanes.

    SET/bid/000000.jsonl …      for us
    SET/lanes/bid/0.jsonl …     for Flink: slices 0, 2, 4 … in one file, 1, 3, 5 … in the other, byte for byte

Flink's file source hands files out in no order. Events of an early file that comes late would be dropped by
its windows, and the answers would be others. With one file for each of its readers it loses none.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

from causeway.nexmark.events.dataset import FILE, slice_ranges
from causeway.nexmark.generator.encoding import SUFFIXES, FileFormat, write_file
from causeway.nexmark.generator.firehose import Firehose
from causeway.nexmark.generator.scale import scaled_firehose

__all__ = ["EventSet", "write_events"]

_SLICE_EVENTS: Final = 100_000
_FEWEST_SLICES: Final = 10
_SHARES: Final = {"person": 0.02, "auction": 0.06, "bid": 0.92}
"""Of all events."""


@dataclass(frozen=True)
class EventSet:
    """A folder of events and how many of each stream there are."""

    folder: Path
    counts: dict[str, int]
    slices: int

    @property
    def lanes(self) -> Path:
        return self.folder / "lanes"

    def events(self, streams: Sequence[str]) -> int:
        """Of these streams together."""
        return sum(self.counts[stream] for stream in streams)

    def slices_of(self, events: int, streams: Sequence[str]) -> int:
        """How many slices have about so many events of these streams."""
        return max(1, round(events * self.slices / self.events(streams)))


def write_events(
    folder: Path,
    events: int,
    streams: Sequence[str],
    file_format: FileFormat,
    lanes: int,
    *,
    rate: float | None = None,
    disorder: float = 0.0,
) -> EventSet:
    """About `events` events of these streams; the other streams' are made as well, but not written.

    A slice has 100,000 of those that are written, and a small set ten slices at least.
    `rate` and `disorder` are the firehose's.
    """
    share = sum(_SHARES[stream] for stream in streams)
    firehose = scaled_firehose("modern", events=round(events / share), rate=rate, disorder=disorder)
    slice_events = max(1, min(round(_SLICE_EVENTS / share), firehose.events // _FEWEST_SLICES))
    ranges = slice_ranges(firehose.events, slice_events)
    for stream in streams:
        (folder / stream).mkdir(parents=True)
        (folder / "lanes" / stream).mkdir(parents=True)
    with ProcessPoolExecutor(lanes, mp_context=get_context("spawn")) as pool:
        written = list(
            pool.map(
                _write_slice,
                repeat(firehose),
                repeat(folder),
                repeat(file_format),
                repeat(tuple(streams)),
                range(len(ranges)),
                ranges,
            )
        )
    counts = {stream: sum(rows[stream] for rows in written) for stream in streams}
    facts = {
        "model": "modern",
        "slices": len(ranges),
        "slice_events": slice_events,
        "disorder": firehose.disorder,
        "format": file_format,
        "counts": counts,
    }
    (folder / FILE).write_text(json.dumps(facts))
    for stream in streams:
        files = sorted((folder / stream).iterdir())
        for lane in range(lanes):
            _join(files[lane::lanes], folder / "lanes" / stream / f"{lane}.{SUFFIXES[file_format]}")
    return EventSet(folder, counts, len(ranges))


def _write_slice(
    firehose: Firehose,
    folder: Path,
    file_format: FileFormat,
    streams: Sequence[str],
    number: int,
    events: tuple[int, int],
) -> dict[str, int]:
    delivered = firehose.deliver_encoded(*events)
    for stream in streams:
        path = folder / stream / f"{number:06d}.{SUFFIXES[file_format]}"
        write_file(delivered[stream], path, file_format, stream)
    return {stream: delivered[stream].num_rows for stream in streams}


def _join(files: Sequence[Path], joined: Path) -> None:
    if joined.suffix != ".parquet":
        with joined.open("wb") as whole:
            for file in files:
                with file.open("rb") as part:
                    shutil.copyfileobj(part, whole, 1 << 20)
        return
    schema = pq.read_schema(files[0])
    text = [name for name, kind in zip(schema.names, schema.types, strict=True) if str(kind) == "string"]
    compression = {name: "zstd" if name in text else "none" for name in schema.names}
    with pq.ParquetWriter(joined, schema, compression=compression, use_dictionary=False) as whole:
        for file in files:
            whole.write_table(pq.read_table(file))
