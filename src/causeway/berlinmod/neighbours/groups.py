"""The points or vehicles with the smallest aggregate distance to groups of vehicles (Q25, Q26)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from causeway.berlinmod.model.arrays import F64, I32, I64
from causeway.berlinmod.neighbours.aggregates import smallest_aggregate
from causeway.berlinmod.neighbours.intervals import joined
from causeway.berlinmod.neighbours.slabs import Tracks
from causeway.berlinmod.neighbours.windows import histories, spans_of
from causeway.berlinmod.scans.gather import Gatherer
from causeway.berlinmod.scans.source import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["groups_of", "scan"]

_SCHEMA: Final = "group1 int, group2 int, candidate int, begin double, end double"
_GROUP: Final = 10


def groups_of(source: Source, relation: str) -> list[I32]:
    """Groups of ten consecutive licences, each as the set of its vehicles; nobody has a licence of -1."""
    vehicles = source.table(relation).sort_by("Id").column("vehicle").to_numpy()
    groups = [np.unique(vehicles[k : k + _GROUP]) for k in range(0, len(vehicles), _GROUP)]
    return [group[group >= 0] for group in groups]


def scan(source: Source, licences: str, periods: str, candidates: str) -> DataFrame:
    """Intervals in which a candidate has the smallest aggregate distance to group `group2`.

    Candidates are the points of a relation (by Id; `group1` is 0), or `groups`: the vehicles of `group1`.
    Who is not observed at some time is neither a member nor a candidate then.
    """
    groups = groups_of(source, licences)
    spans = spans_of(source, periods)
    aggregate = source.aggregate
    gatherer = Gatherer(source)
    everyone = source.vehicles(licences)
    of_vehicles = candidates == "groups"
    ids: Any = None
    place = np.empty((0, 2))
    if not of_vehicles:
        table = source.table(candidates)
        ids = table.column("Id").to_numpy()
        place = np.array([(one["x"], one["y"]) for one in table.column("Pos").to_pylist()]).reshape(-1, 2)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                needed = everyone if of_vehicles else groups[number]
                if not len(needed):
                    continue
                vehicle, tracks = histories(gatherer.rows(needed, ("vehicle", "Trip")))
                base = float(tracks.t[0])
                tracks = tracks._replace(t=(tracks.t - base) / 1000.0)
                for one, other in _pairs(number, len(groups) if of_vehicles else 0):
                    if not (len(groups[one]) and len(groups[other])):
                        continue
                    members = _chosen(tracks, vehicle, groups[other])
                    mine = _chosen(tracks, vehicle, groups[one]) if of_vehicles else _points(place, members)
                    names = groups[one] if of_vehicles else ids
                    seconds = (spans.astype(np.float64) - base) / 1000.0
                    for who_may, those, within in _observed(mine, members, seconds):
                        who, begin, end = smallest_aggregate(
                            _taken(mine, who_may), _taken(members, those), within, aggregate
                        )
                        yield from _table(
                            one + 1 if of_vehicles else 0,
                            other + 1,
                            names[who_may[who]],
                            base,
                            begin,
                            end,
                        ).to_batches()

    return joined(source.spread(len(groups), run, _SCHEMA), ("group1", "group2", "candidate"))


def _pairs(number: int, groups: int) -> list[tuple[int, int]]:
    """Group `number` with every group; or, where candidates are points, only itself."""
    return [(number, other) for other in range(groups)] if groups else [(number, number)]


def _table(one: int, other: int, who: Any, base: float, begin: F64, end: F64) -> pa.Table:
    count = len(begin)
    return pa.table(
        {
            "group1": pa.array(np.full(count, one), pa.int32()),
            "group2": pa.array(np.full(count, other), pa.int32()),
            "candidate": pa.array(who, pa.int32()),
            "begin": base + 1000.0 * begin,
            "end": base + 1000.0 * end,
        }
    )


def _chosen(tracks: Tracks, vehicle: I32, wanted: I32) -> Tracks:
    return _taken(tracks, np.searchsorted(vehicle, wanted).astype(np.int64))


def _taken(tracks: Tracks, places: I64) -> Tracks:
    sizes = tracks.offsets[places + 1] - tracks.offsets[places]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    take = np.repeat(tracks.offsets[places] - offsets[:-1], sizes) + np.arange(offsets[-1])
    return Tracks(offsets, tracks.t[take], tracks.x[take], tracks.y[take])


def _points(place: F64, members: Tracks) -> Tracks:
    """Points as movements that stand as long as any member is observed."""
    offsets = 2 * np.arange(len(place) + 1, dtype=np.int64)
    always = [float(members.t.min()), float(members.t.max())]
    return Tracks(offsets, np.tile(always, len(place)), np.repeat(place[:, 0], 2), np.repeat(place[:, 1], 2))


def _observed(mine: Tracks, members: Tracks, spans: F64) -> Iterator[tuple[I64, I64, F64]]:
    """Who of both is observed, and the parts of the spans in which it is they."""
    both = [(one.t[one.offsets[:-1]], one.t[one.offsets[1:] - 1]) for one in (mine, members)]
    edges = np.unique(np.concatenate([edge for pair in both for edge in pair]))
    for begin, end in pairwise(edges.tolist()):
        candidates, those = (np.flatnonzero((first <= begin) & (last >= end)) for first, last in both)
        clipped = np.clip(spans, begin, end)
        within: F64 = clipped[clipped[:, 0] < clipped[:, 1]]
        if len(candidates) and len(those) and len(within):
            yield candidates, those, within
