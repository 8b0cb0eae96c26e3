"""The events that all sides read: slices as `causeway nexmark generate` makes them, and Flink's lanes.

    SET/bid/000000.jsonl …      for us
    SET/lanes/bid/0.jsonl …     for Flink: the same rows, blocks of 1,000 by turns
    SET/lanes/side_input/…      for Flink's q13

Flink's file source hands files out in no order. Events of an early file that comes late would be dropped by
its windows, and the answers would be others. With one file for each of its readers it loses none. Neither
reader is ahead of the other in event time, for which windows would stay open longer.
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

import numpy as np
import pyarrow.parquet as pq

from causeway.nexmark.events.dataset import FILE, slice_ranges
from causeway.nexmark.events.file_times import set_times_in_order
from causeway.nexmark.generator.encoding import SUFFIXES, FileFormat, write_file
from causeway.nexmark.generator.firehose import Firehose
from causeway.nexmark.generator.scale import scaled_firehose

__all__ = ["LANES", "EventSet", "prepared_events"]

LANES: Final = 2
"""Files of a stream for Flink, one for each of its readers."""

_SLICE_EVENTS: Final = 100_000
_FEWEST_SLICES: Final = 10
_BLOCK: Final = 1_000
_SIDE_INPUT_KEYS: Final = 10_000
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

    def size(self, streams: Sequence[str]) -> int:
        """Bytes of the files of these streams."""
        return sum(file.stat().st_size for stream in streams for file in (self.folder / stream).iterdir())

    def slices_of(self, events: int, streams: Sequence[str]) -> int:
        """How many slices have about so many events of these streams."""
        return max(1, round(events * self.slices / self.events(streams)))


def prepared_events(folder: Path, events: int, streams: Sequence[str], file_format: FileFormat) -> EventSet:
    """About `events` events of these streams, two lanes: those that are there, or made now.

    A slice has 100,000 of the events that are written, and a small set ten slices at least. The other
    streams' events are made as well, but not written.
    """
    share = sum(_SHARES[stream] for stream in streams)
    firehose = scaled_firehose("modern", events=round(events / share))
    slice_events = max(1, min(round(_SLICE_EVENTS / share), firehose.events // _FEWEST_SLICES))
    ranges = slice_ranges(firehose.events, slice_events)
    if (folder / FILE).exists():
        counts = json.loads((folder / FILE).read_text())["counts"]
        return EventSet(folder, counts, len(ranges))
    shutil.rmtree(folder, ignore_errors=True)
    for stream in streams:
        (folder / stream).mkdir(parents=True)
        (folder / "lanes" / stream).mkdir(parents=True)
    with ProcessPoolExecutor(LANES, mp_context=get_context("spawn")) as pool:
        work = [(number, events) for number, events in enumerate(ranges)]
        written = list(
            pool.map(
                _write_slice, repeat(firehose), repeat(folder), repeat(file_format), repeat(streams), work
            )
        )
    for stream in streams:
        for lane in range(LANES):
            pieces = [_piece(folder, stream, number, lane) for number in range(len(ranges))]
            _join(pieces, folder / "lanes" / stream / f"{lane}.{SUFFIXES[file_format]}")
    _write_side_input(folder / "lanes" / "side_input")
    counts = {stream: sum(rows[stream] for rows in written) for stream in streams}
    facts = {
        "model": "modern",
        "slices": len(ranges),
        "slice_events": slice_events,
        "disorder": firehose.disorder,
        "format": file_format,
        "counts": counts,
    }
    # Spark's file source takes files in the order of their times.
    for stream in streams:
        set_times_in_order([[file] for file in sorted((folder / stream).iterdir())])
    (folder / FILE).write_text(json.dumps(facts))
    return EventSet(folder, counts, len(ranges))


def _write_slice(
    firehose: Firehose,
    folder: Path,
    file_format: FileFormat,
    streams: Sequence[str],
    work: tuple[int, tuple[int, int]],
) -> dict[str, int]:
    number, events = work
    delivered = firehose.deliver_encoded(*events)
    for stream in streams:
        rows = delivered[stream]
        path = folder / stream / f"{number:06d}.{SUFFIXES[file_format]}"
        write_file(rows, path, file_format, stream)
        lane_of = np.arange(rows.num_rows) // _BLOCK % LANES
        for lane in range(LANES):
            piece = _piece(folder, stream, number, lane)
            write_file(rows.take(np.flatnonzero(lane_of == lane)), piece, file_format, stream)
    return {stream: delivered[stream].num_rows for stream in streams}


def _piece(folder: Path, stream: str, number: int, lane: int) -> Path:
    return folder / "lanes" / stream / f".{number:06d}-{lane}"


def _join(pieces: Sequence[Path], joined: Path) -> None:
    """One file of all pieces, which are removed."""
    if joined.suffix != ".parquet":
        with joined.open("wb") as whole:
            for piece in pieces:
                with piece.open("rb") as part:
                    shutil.copyfileobj(part, whole, 1 << 20)
    else:
        schema = pq.read_schema(pieces[0])
        text = [name for name, kind in zip(schema.names, schema.types, strict=True) if str(kind) == "string"]
        compression = {name: "zstd" if name in text else "none" for name in schema.names}
        with pq.ParquetWriter(joined, schema, compression=compression, use_dictionary=False) as whole:
            for piece in pieces:
                whole.write_table(pq.ParquetFile(piece).read())
    for piece in pieces:
        piece.unlink()


def _write_side_input(folder: Path) -> None:
    """The table of q13, as Causeway has it, and since when it holds."""
    folder.mkdir()
    rows = (
        {"key": key, "value": f"value-{key}", "known_since": "1970-01-01 00:00:00Z"}
        for key in range(_SIDE_INPUT_KEYS)
    )
    (folder / "0.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
