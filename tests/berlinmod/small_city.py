"""A small city for tests: a grid of bent streets with three speed limits, two regions, all made by hand."""

from __future__ import annotations

import numpy as np
import shapely

from causeway.berlinmod.city import Regions, RoadMap, Streets

__all__ = ["line_city", "small_city"]


def small_city(size: int = 6, spacing: float = 500.0, slow: float = 1.0) -> RoadMap:
    """`size` by `size` nodes; rows are side streets, columns main streets, the first row a freeway.

    Speed limits are divided by `slow`. Every edge has a bend. The west is one region, all of it another.
    """
    node_x = np.repeat(np.arange(size) * spacing, size)
    node_y = np.tile(np.arange(size) * spacing, size)
    edges, lines, streets = [], [], []
    for column in range(size):
        for row in range(size):
            here = column * size + row
            if column + 1 < size:
                edges.append((here, here + size, 70.0 if row == 0 else 30.0, row))
            if row + 1 < size:
                edges.append((here, here + 1, 50.0, size + column))
    both = [*edges, *((b, a, vmax, street) for a, b, vmax, street in edges)]
    for a, b, _, _ in both:
        bend = 20.0 + 3 * ((a + b) % 7)
        middle_x, middle_y = (node_x[a] + node_x[b]) / 2, (node_y[a] + node_y[b]) / 2
        if node_x[a] == node_x[b]:
            middle_x += bend
        else:
            middle_y += bend
        lines.append([(node_x[a], node_y[a]), (middle_x, middle_y), (node_x[b], node_y[b])])
    for number in range(2 * size):
        mine = [line for line, edge in zip(lines, both, strict=True) if edge[3] == number]
        streets.append(shapely.MultiLineString(mine))
    end = size * spacing
    regions = Regions(
        ("West", "All"),
        np.array([1, 2], np.int32),
        np.array([3.0, 1.0]),
        np.array([1.0, 3.0]),
        np.array([shapely.box(-100, -100, end / 3, end), shapely.box(-100, -100, end, end)], np.object_),
    )
    return _road_map(
        "small city", node_x, node_y, [(a, b, v / slow, s) for a, b, v, s in both], lines, streets, regions
    )


def line_city(corners: list[list[tuple[float, float]]], limits: list[float]) -> RoadMap:
    """One-way streets; each has its corners and a limit, and begins where the one before it ends."""
    node_x = np.array([corners[0][0][0], *(line[-1][0] for line in corners)])
    node_y = np.array([corners[0][0][1], *(line[-1][1] for line in corners)])
    edges = [(number, number + 1, limit, number) for number, limit in enumerate(limits)]
    streets = [shapely.LineString(line) for line in corners]
    return _road_map("line", node_x, node_y, edges, corners, streets, None)


def _road_map(name, node_x, node_y, edges, lines, streets, regions) -> RoadMap:  # type: ignore[no-untyped-def]
    offsets = np.concatenate(([0], np.cumsum([len(line) for line in lines])))
    points = np.array([point for line in lines for point in line], np.float64)
    return RoadMap(
        name=name,
        node_x=node_x.astype(np.float64),
        node_y=node_y.astype(np.float64),
        edge_from=np.array([edge[0] for edge in edges], np.int32),
        edge_to=np.array([edge[1] for edge in edges], np.int32),
        edge_vmax=np.array([edge[2] for edge in edges], np.float64),
        edge_length=np.array([shapely.LineString(line).length for line in lines]),
        edge_street=np.array([edge[3] for edge in edges], np.int32),
        edge_offsets=offsets.astype(np.int64),
        edge_x=points[:, 0].copy(),
        edge_y=points[:, 1].copy(),
        streets=Streets(
            tuple(f"street {number}" for number in range(len(streets))),
            np.array([next(e[2] for e in edges if e[3] == n) for n in range(len(streets))], np.float64),
            np.array(streets, np.object_),
        ),
        regions=regions,
    )
