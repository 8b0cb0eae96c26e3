"""The points of a relation that are nearest to vehicles, and when (Q19)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from causeway.berlinmod.neighbours.intervals import INTERVALS, joined
from causeway.berlinmod.neighbours.slabs import Tracks
from causeway.berlinmod.neighbours.sweep import nearest
from causeway.berlinmod.neighbours.windows import histories, spans_of
from causeway.berlinmod.scans.gather import Gatherer
from causeway.berlinmod.scans.source import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["scan"]


def scan(source: Source, licences: str, points: str, k: str, periods: str) -> DataFrame:
    """Intervals in which a point (`candidate`, its Id) is among the k nearest to a vehicle (`reference`)."""
    vehicles = source.vehicles(licences)
    spans = spans_of(source, periods)
    table = source.table(points)
    ids = table.column("Id").to_numpy()
    place = np.array([(one["x"], one["y"]) for one in table.column("Pos").to_pylist()]).reshape(-1, 2)
    gatherer = Gatherer(source)
    count = int(k)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                _, tracks = histories(gatherer.rows(vehicles[number : number + 1], ("vehicle", "Trip")))
                base = tracks.t[0]
                seconds = (tracks.t - base) / 1000.0
                first, last = tracks.t[0], tracks.t[-1]
                clipped = np.clip(spans.astype(np.float64), first, last)
                clipped = (clipped[clipped[:, 0] < clipped[:, 1]] - base) / 1000.0
                always = np.tile([0.0, seconds[-1]], len(ids))
                offsets = 2 * np.arange(len(ids) + 1, dtype=np.int64)
                candidates = Tracks(offsets, always, np.repeat(place[:, 0], 2), np.repeat(place[:, 1], 2))
                reference = Tracks(tracks.offsets, seconds, tracks.x, tracks.y)
                rings = (np.zeros(2, np.int64), np.empty(0), np.empty(0))
                own, wanted = np.array([-1]), np.ones(len(ids), np.bool_)
                _, candidate, begin, end = nearest(candidates, reference, own, rings, clipped, count, wanted)
                found = {
                    "reference": pa.array(np.full(len(begin), vehicles[number]), pa.int32()),
                    "candidate": pa.array(ids[candidate], pa.int32()),
                    "begin": base + 1000.0 * begin,
                    "end": base + 1000.0 * end,
                }
                yield from pa.table(found).to_batches()

    return joined(source.spread(len(vehicles), run, INTERVALS))
