"""When a node of the street network is the nearest one to vehicles (Q23): visits to its Voronoi cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from causeway.berlinmod.model.arrays import F64, I64
from causeway.berlinmod.neighbours.intervals import INTERVALS, joined
from causeway.berlinmod.neighbours.levels import SAME_METRES
from causeway.berlinmod.scans.rows import EVERYTHING, Rows, Runs, runs_in_boxes
from causeway.berlinmod.scans.source import AT_POINT_METRES, Source
from causeway.moving_objects.kernels.spans import grown
from causeway.runtime.compiled import kernel

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["cell_of", "cells_of", "scan"]


def scan(source: Source, points: str) -> DataFrame:
    """Intervals in which a point (`reference`, its Id) is the node nearest to a vehicle (`candidate`).

    A point that is no node is nobody's nearest node.
    """
    table = source.table(points)
    nodes = source.table("Nodes")
    where, cells = cells_of(*_places(table), *_places(nodes))
    ids = table.column("Id").to_numpy()[where]
    walls = np.concatenate([np.empty((0, 3)), *(cell[0] for cell in cells)])
    offsets = np.cumsum([0, *(len(cell[0]) for cell in cells)], dtype=np.int64)
    boxes = np.array([cell[1] for cell in cells]).reshape(-1, 4)

    def work(rows: Rows) -> pa.Table:
        runs = runs_in_boxes(rows, boxes)
        query, row, begin, end = _clipped(rows, runs, offsets, walls)
        found = {
            "reference": pa.array(ids[query], pa.int32()),
            "candidate": pa.array(rows.vehicle[row], pa.int32()),
            "begin": begin,
            "end": end,
        }
        return pa.table(found)

    return joined(source.tasks(source.groups(), INTERVALS, work, EVERYTHING))


def cells_of(x: F64, y: F64, node_x: F64, node_y: F64) -> tuple[I64, list[tuple[F64, F64]]]:
    """Which of the points are nodes, and their Voronoi cells. Within 1 cm of a node, a point is that node."""
    where = []
    cells = []
    for k in range(len(x)):
        metres = np.hypot(node_x - x[k], node_y - y[k])
        node = int(metres.argmin())
        if metres[node] <= AT_POINT_METRES:
            where.append(k)
            cells.append(cell_of(node_x[node], node_y[node], node_x, node_y))
    return np.array(where, np.int64), cells


def cell_of(x: float, y: float, node_x: F64, node_y: F64) -> tuple[F64, F64]:
    """The Voronoi cell of a node: walls (a, b, c: inside is a·x + b·y <= c, from the node), and its box.

    Walls are added from the nearest other node on, until no node is near enough to cut anything off.
    """
    metres = np.hypot(node_x - x, node_y - y)
    far = 4.0 * (metres.max() + 10_000.0)
    corners = [(-far, -far), (far, -far), (far, far), (-far, far)]
    walls = []
    for k in np.argsort(metres, kind="stable"):
        if metres[k] == 0.0:
            continue
        if metres[k] > 2.0 * max(np.hypot(cx, cy) for cx, cy in corners):
            break
        a, b = node_x[k] - x, node_y[k] - y
        c = 0.5 * (a * a + b * b)
        clipped = _clip(corners, a, b, c)
        if clipped != corners:
            walls.append((a, b, c))
            corners = clipped
    xs, ys = zip(*corners, strict=True)
    # Who drives along a wall has two nearest nodes, also where rounding puts him beside it.
    shifted = [(a, b, c + a * x + b * y + SAME_METRES * np.hypot(a, b)) for a, b, c in walls]
    box = np.array([min(xs) + x - 1.0, max(xs) + x + 1.0, min(ys) + y - 1.0, max(ys) + y + 1.0])
    return np.array(shifted).reshape(-1, 3), box


def _places(table: pa.Table) -> tuple[F64, F64]:
    places = table.column("Pos").to_pylist()
    return np.array([one["x"] for one in places]), np.array([one["y"] for one in places])


def _clip(corners: list[tuple[float, float]], a: float, b: float, c: float) -> list[tuple[float, float]]:
    """A convex polygon without what is on the far side of a line."""
    found = []
    for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], corners[0]], strict=True):
        one, other = a * x0 + b * y0 - c, a * x1 + b * y1 - c
        if one <= 0.0:
            found.append((x0, y0))
        if (one < 0.0 < other) or (other < 0.0 < one):
            part = one / (one - other)
            found.append((x0 + part * (x1 - x0), y0 + part * (y1 - y0)))
    return found


def _clipped(rows: Rows, runs: Runs, offsets: I64, walls: F64) -> Any:
    return _clip_runs(rows.t, rows.x, rows.y, *runs, offsets, walls)


@kernel
def _clip_runs(
    t: I64, x: F64, y: F64, query: I64, row: I64, first: I64, last: I64, offsets: I64, walls: F64
) -> Any:
    owner = np.empty(64, np.int64)
    begin = np.empty(64)
    end = np.empty(64)
    n = 0
    for k in range(len(query)):
        start = n
        for i in range(first[k], last[k]):
            low = 0.0
            high = 1.0
            for w in range(offsets[query[k]], offsets[query[k] + 1]):
                one = walls[w, 0] * x[i] + walls[w, 1] * y[i] - walls[w, 2]
                other = walls[w, 0] * x[i + 1] + walls[w, 1] * y[i + 1] - walls[w, 2]
                if one > 0.0 and other > 0.0:
                    high = -1.0
                    break
                if one > 0.0:
                    low = max(low, one / (one - other))
                elif other > 0.0:
                    high = min(high, one / (one - other))
            if low > high:
                continue
            lasts = t[i + 1] - t[i]
            b = t[i] + low * lasts
            e = t[i] + high * lasts
            if n > start and b <= end[n - 1]:
                end[n - 1] = max(e, end[n - 1])
                continue
            if n == len(begin):
                begin = grown(begin, n + 1)
                end = grown(end, n + 1)
                owner = grown(owner, n + 1)
            owner[n] = k
            begin[n] = b
            end[n] = e
            n += 1
    return query[owner[:n]], row[owner[:n]], begin[:n].copy(), end[:n].copy()
