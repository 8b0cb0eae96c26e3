"""A row group's movements as flat arrays, with the boxes of every 64 units; and runs of units that count.

A run is some units of a row, one after the other, whose boxes touch a box of the query. Runs are what exact
kernels get: the boxes are the index of a data set.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.berlinmod.model.arrays import BOOL, F64, I32, I64
from causeway.moving_objects.kernels.values import MovingPoints
from causeway.runtime.compiled import kernel

__all__ = [
    "BOX_UNITS",
    "EVERYTHING",
    "LENGTHS",
    "Rows",
    "Runs",
    "choose_rows",
    "join_rows",
    "movements_of",
    "read_rows",
    "runs_in_boxes",
]

BOX_UNITS: Final = 64
EVERYTHING: Final = ("vehicle", "Licence", "Trip", "boxes")
LENGTHS: Final = ("vehicle", "Licence", "Trip.t", "length")


@dataclass(frozen=True, slots=True)
class Rows:
    """Movements of dataScar or dataMtrip: row i has the instants from `offsets[i]` on."""

    vehicle: I32
    licence: Any
    """Arrow's array of texts."""
    offsets: I64
    t: I64
    x: F64
    y: F64
    box_offsets: I64
    boxes: F64
    """A line for each box: x_min, x_max, y_min, y_max."""
    length: F64

    def __len__(self) -> int:
        return len(self.vehicle)


class Runs(NamedTuple):
    """For each run the query's number, the row, and its first and last instant."""

    query: I64
    row: I64
    first: I64
    last: I64


_NONE: Final = np.empty(0)


def read_rows(path: Path, group: int, columns: tuple[str, ...], counters: Any = None) -> Rows:
    """A row group of a file of movements. `counters` are Spark's accumulators of rows and bytes."""
    with pq.ParquetFile(path) as file:
        table = file.read_row_group(group, columns=list(columns), use_threads=False)
        if counters is not None:
            counters[0].add(table.num_rows)
            counters[1].add(sum(_sizes(file.metadata, group, columns)))
    vehicle = table.column("vehicle").to_numpy()
    trip = table.column("Trip").combine_chunks()
    trip = trip.chunk(0) if isinstance(trip, pa.ChunkedArray) else trip
    t = trip.field("t")
    offsets = t.offsets.to_numpy().astype(np.int64)
    names = [field.name for field in trip.type]
    x, y = (trip.field(axis).values.to_numpy() if axis in names else _NONE for axis in ("x", "y"))
    box_offsets, boxes = np.zeros(1, np.int64), np.empty((0, 4))
    if "boxes" in columns:
        struct = table.column("boxes").combine_chunks()
        struct = struct.chunk(0) if isinstance(struct, pa.ChunkedArray) else struct
        box_offsets = struct.field("x_min").offsets.to_numpy().astype(np.int64)
        sides = ("x_min", "x_max", "y_min", "y_max")
        boxes = np.stack([struct.field(side).values.to_numpy() for side in sides], axis=1)
    length = _NONE
    if "length" in columns:
        lists = table.column("length").combine_chunks()
        length = (lists.chunk(0) if isinstance(lists, pa.ChunkedArray) else lists).values.to_numpy()
    licence = table.column("Licence").combine_chunks() if "Licence" in columns else None
    licence = licence.chunk(0) if isinstance(licence, pa.ChunkedArray) else licence
    return Rows(
        vehicle, licence, offsets, t.values.to_numpy(), x, y, box_offsets, np.ascontiguousarray(boxes), length
    )


def _sizes(metadata: Any, group: int, columns: tuple[str, ...]) -> list[int]:
    chosen = _chosen(tuple(metadata.schema.column(i).path for i in range(metadata.num_columns)), columns)
    one = metadata.row_group(group)
    return [one.column(i).total_compressed_size for i in chosen]


@lru_cache(maxsize=16)
def _chosen(paths: tuple[str, ...], columns: tuple[str, ...]) -> list[int]:
    return [
        i for i, path in enumerate(paths) if any(path == one or path.startswith(f"{one}.") for one in columns)
    ]


def choose_rows(rows: Rows, kept: BOOL) -> Rows:
    """Some of the rows; all columns that were read."""
    if kept.all():
        return rows
    places = np.flatnonzero(kept)
    offsets, take = _taken(rows.offsets, places)
    box_offsets, boxes = rows.box_offsets, rows.boxes
    if len(boxes):
        box_offsets, take_boxes = _taken(rows.box_offsets, places)
        boxes = boxes[take_boxes]
    licence = None if rows.licence is None else rows.licence.take(pa.array(places))

    def taken(column: Any) -> Any:
        return column[take] if len(column) else column

    movement = (taken(rows.t), taken(rows.x), taken(rows.y))
    return Rows(rows.vehicle[places], licence, offsets, *movement, box_offsets, boxes, taken(rows.length))


def _taken(offsets: I64, places: I64) -> tuple[I64, I64]:
    sizes = offsets[places + 1] - offsets[places]
    fresh = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    take = np.repeat(offsets[places] - fresh[:-1], sizes) + np.arange(fresh[-1])
    return fresh, take


def join_rows(parts: list[Rows]) -> Rows:
    """The rows of several row groups, one after the other."""
    if len(parts) == 1:
        return parts[0]

    def joined(offsets: list[I64]) -> I64:
        begins = np.concatenate([[0], np.cumsum([one[-1] for one in offsets])])
        fresh: I64 = np.concatenate(
            [one[:-1] + begin for one, begin in zip(offsets, begins[:-1], strict=True)] + [begins[-1:]]
        )
        return fresh

    def stacked(name: str) -> Any:
        return np.concatenate([getattr(one, name) for one in parts])

    licences = [one.licence for one in parts]
    return Rows(
        stacked("vehicle"),
        None if licences[0] is None else pa.concat_arrays(licences),
        joined([one.offsets for one in parts]),
        stacked("t"),
        stacked("x"),
        stacked("y"),
        joined([one.box_offsets for one in parts]) if len(parts[0].boxes) else parts[0].box_offsets,
        stacked("boxes"),
        stacked("length"),
    )


@kernel
def _runs(offsets: I64, box_offsets: I64, boxes: F64, wanted: F64) -> Any:
    size = 64
    out = np.empty((size, 4), np.int64)
    n = 0
    for r in range(len(offsets) - 1):
        for q in range(len(wanted)):
            before = -1
            for b in range(box_offsets[r], box_offsets[r + 1]):
                if (
                    boxes[b, 0] > wanted[q, 1]
                    or boxes[b, 1] < wanted[q, 0]
                    or boxes[b, 2] > wanted[q, 3]
                    or boxes[b, 3] < wanted[q, 2]
                ):
                    continue
                first = offsets[r] + BOX_UNITS * (b - box_offsets[r])
                last = min(first + BOX_UNITS, offsets[r + 1] - 1)
                if before == b - 1 and before >= 0:
                    out[n - 1, 3] = last
                else:
                    if n == size:
                        more = np.empty((2 * size, 4), np.int64)
                        more[:n] = out
                        out = more
                        size *= 2
                    out[n, 0] = q
                    out[n, 1] = r
                    out[n, 2] = first
                    out[n, 3] = last
                    n += 1
                before = b
    return out[:n]


def runs_in_boxes(rows: Rows, wanted: F64) -> Runs:
    """The runs of each row that may be in each of the `wanted` boxes (x_min, x_max, y_min, y_max)."""
    found = _runs(rows.offsets, rows.box_offsets, rows.boxes, wanted)
    return Runs(*(np.ascontiguousarray(found[:, k]) for k in range(4)))


def movements_of(rows: Rows, runs: Runs) -> MovingPoints:
    """The runs as moving points, one a run: closed at the begin, open at the end, as all units are."""
    sizes = runs.last - runs.first + 1
    piece = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    take = np.repeat(runs.first - piece[:-1], sizes) + np.arange(piece[-1])
    row = np.arange(len(sizes) + 1, dtype=np.int64)
    closed = np.ones(len(sizes), np.bool_)
    t = rows.t[take].astype(np.float64)
    return MovingPoints(row, piece, t, rows.x[take], rows.y[take], closed, ~closed)
