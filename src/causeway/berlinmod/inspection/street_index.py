"""Which streets are at a place: a grid over the segments of a road map, for millions of lookups."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from causeway.berlinmod.city import RoadMap
from causeway.berlinmod.model.arrays import F64, I32, I64
from causeway.runtime.compiled import kernel

__all__ = ["StreetIndex", "index_streets", "limit_at"]

_CELL_METRES: Final = 100.0
_CELL_LIMIT: Final = 4_000_000


class StreetIndex(NamedTuple):
    """Segments of streets, by the cells of a grid that they touch."""

    x: F64
    """Begin and end of each segment, two to a segment; so for y."""
    y: F64
    limit: F64
    """km/h"""
    origin_x: float
    origin_y: float
    cell: float
    columns: int
    rows: int
    first: I64
    """Where in `segments` those of each cell begin."""
    segments: I32


def index_streets(road_map: RoadMap) -> StreetIndex:
    """Index all edges of a map."""
    ends = np.setdiff1d(np.arange(1, road_map.edge_x.size), road_map.edge_offsets)
    edge = np.searchsorted(road_map.edge_offsets, ends, side="right") - 1
    x = np.column_stack((road_map.edge_x[ends - 1], road_map.edge_x[ends])).ravel()
    y = np.column_stack((road_map.edge_y[ends - 1], road_map.edge_y[ends])).ravel()
    left, bottom, right, top = road_map.extent
    cell = max(_CELL_METRES, math.sqrt((right - left + 1) * (top - bottom + 1) / _CELL_LIMIT))
    columns, rows = int((right - left) / cell) + 3, int((top - bottom) / cell) + 3
    first, segments = _fill(x, y, left - cell, bottom - cell, cell, columns, rows)
    limits = road_map.edge_vmax[edge]
    return StreetIndex(x, y, limits, left - cell, bottom - cell, cell, columns, rows, first, segments)


@kernel
def _fill(
    x: F64, y: F64, origin_x: float, origin_y: float, cell: float, columns: int, rows: int
) -> tuple[I64, I32]:
    """Put every segment into the cells that its surroundings of a metre touch; one pass counts, one fills."""
    first = np.zeros(columns * rows + 1, np.int64)
    segments = np.empty(0, np.int32)
    for filling in (False, True):
        if filling:
            first = np.cumsum(first)
            segments = np.empty(first[-1], np.int32)
        used = np.zeros(columns * rows, np.int64)
        for segment in range(x.size // 2):
            x1, x2 = x[2 * segment], x[2 * segment + 1]
            y1, y2 = y[2 * segment], y[2 * segment + 1]
            length = math.hypot(x2 - x1, y2 - y1)
            for column in range(
                int((min(x1, x2) - 1 - origin_x) / cell), int((max(x1, x2) + 1 - origin_x) / cell) + 1
            ):
                for row in range(
                    int((min(y1, y2) - 1 - origin_y) / cell), int((max(y1, y2) + 1 - origin_y) / cell) + 1
                ):
                    middle_x = origin_x + (column + 0.5) * cell - x1
                    middle_y = origin_y + (row + 0.5) * cell - y1
                    off = abs(middle_x * (y2 - y1) - middle_y * (x2 - x1))
                    if off > (0.7072 * cell + 1) * length:
                        continue
                    number = column * rows + row
                    if filling:
                        segments[first[number] + used[number]] = segment
                        used[number] += 1
                    else:
                        first[number + 1] += 1
    return first, segments


@kernel
def limit_at(index: StreetIndex, x: float, y: float, tolerance: float) -> tuple[float, float]:
    """Highest limit of the streets within `tolerance` of a place (0 if none is), and metres to the nearest.

    What is more than about a cell away may count as infinitely far.
    """
    limit, nearest = 0.0, math.inf
    column, row = int((x - index.origin_x) / index.cell), int((y - index.origin_y) / index.cell)
    if column < 0 or row < 0 or column >= index.columns or row >= index.rows:
        return limit, nearest
    number = column * index.rows + row
    for place in range(index.first[number], index.first[number + 1]):
        segment = index.segments[place]
        x1, y1 = index.x[2 * segment], index.y[2 * segment]
        along_x, along_y = index.x[2 * segment + 1] - x1, index.y[2 * segment + 1] - y1
        share = ((x - x1) * along_x + (y - y1) * along_y) / (along_x * along_x + along_y * along_y)
        share = min(max(share, 0.0), 1.0)
        metres = math.hypot(x - x1 - share * along_x, y - y1 - share * along_y)
        nearest = min(nearest, metres)
        if metres <= tolerance:
            limit = max(limit, index.limit[segment])
    return limit, nearest
