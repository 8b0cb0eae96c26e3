"""The vehicles nearest to other vehicles, to points, or to regions, and when (Q20, Q21, Q22, Q24)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from causeway.berlinmod.model.arrays import F64, I64
from causeway.berlinmod.neighbours.slabs import Tracks
from causeway.berlinmod.neighbours.sweep import nearest
from causeway.berlinmod.neighbours.windows import WINDOW_MS, Window, by_window, interval_table, spans_of
from causeway.berlinmod.scans.source import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["scan"]

_SECONDS: Final = WINDOW_MS / 1000.0


def scan(source: Source, references: str, k: str, periods: str, wanted: str = "all") -> DataFrame:
    """Intervals in which a vehicle (`candidate`) is among the k nearest to a `reference`.

    References are a relation of licences (vehicles by number), of points or of regions (by Id), or `all`
    vehicles. `periods` is a relation, or `always`. Of the candidates, only those of `wanted` are told. A
    vehicle is no neighbour of its own.
    """
    spans = spans_of(source, None if periods == "always" else periods)
    chosen = None if wanted == "all" else source.vehicles(wanted)
    count = int(k)
    if references == "all" or references.startswith("QueryLicences"):
        vehicles = None if references == "all" else source.vehicles(references)

        def moving(window: Window) -> pa.Table:
            places = np.arange(len(window.vehicle)) if vehicles is None else window.places(vehicles)
            tracks = _take(window.tracks, places)
            return _nearest(window, tracks, places, _no_rings(len(places)), window.vehicle[places])

        work = moving
    else:
        ids, shapes = _places(source, references)
        if not shapes:
            spans = spans[:0]

        def standing(window: Window) -> pa.Table:
            x, y = (np.array([shape[axis][0] for shape in shapes]) for axis in (0, 1))
            rings = _rings(shapes) if len(shapes[0][0]) > 1 else _no_rings(len(ids))
            return _nearest(window, _standing(x, y), np.full(len(ids), -1), rings, ids)

        work = standing

    def _nearest(
        window: Window, tracks: Tracks, own: Any, rings: tuple[I64, F64, F64], names: Any
    ) -> pa.Table:
        flags = np.ones(len(window.vehicle), np.bool_)
        if chosen is not None:
            flags = np.isin(window.vehicle, chosen)
        reference, candidate, begin, end = nearest(
            window.tracks, tracks, own.astype(np.int64), rings, window.spans(spans), count, flags
        )
        return interval_table(window, names[reference], window.vehicle[candidate], begin, end)

    return by_window(source, spans, work)


def _places(source: Source, relation: str) -> tuple[Any, list[tuple[F64, F64]]]:
    """Ids, and points or the corners of regions; a point is a point in disturbed data too."""
    table = source.table(relation)
    ids = table.column("Id").to_numpy()
    if "Region" in table.column_names:
        return source.places(relation)
    points = table.column("Pos").to_pylist()
    return ids, [(np.array([one["x"]]), np.array([one["y"]])) for one in points]


def _take(tracks: Tracks, places: I64) -> Tracks:
    sizes = tracks.offsets[places + 1] - tracks.offsets[places]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    take = np.repeat(tracks.offsets[places] - offsets[:-1], sizes) + np.arange(offsets[-1])
    return Tracks(offsets, tracks.t[take], tracks.x[take], tracks.y[take])


def _standing(x: F64, y: F64) -> Tracks:
    """Places as movements that stand for the whole window."""
    offsets = 2 * np.arange(len(x) + 1, dtype=np.int64)
    return Tracks(offsets, np.tile([0.0, _SECONDS], len(x)), np.repeat(x, 2), np.repeat(y, 2))


def _no_rings(count: int) -> tuple[I64, F64, F64]:
    return np.zeros(count + 1, np.int64), np.empty(0), np.empty(0)


def _rings(shapes: list[tuple[F64, F64]]) -> tuple[I64, F64, F64]:
    offsets = np.concatenate([[0], np.cumsum([len(x) for x, _ in shapes])]).astype(np.int64)
    return offsets, np.concatenate([x for x, _ in shapes]), np.concatenate([y for _, y in shapes])
