"""Small maps made by hand, for tests."""

from __future__ import annotations

import numpy as np
import shapely

from causeway.berlinmod.city import Regions, RoadMap, Streets

__all__ = ["triangle"]


def triangle(*, regions: bool = True) -> RoadMap:
    """Three nodes and a road both ways along each side; the long side has a bend. Two overlapping regions."""
    x, y = np.array([0.0, 1000.0, 0.0]), np.array([0.0, 0.0, 1000.0])
    lines = [[(0, 0), (1000, 0)], [(1000, 0), (700, 700), (0, 1000)], [(0, 1000), (0, 0)]]
    geometry = np.array([shapely.LineString(line) for line in lines], dtype=np.object_)
    ends = [(0, 1), (1, 2), (2, 0)]
    edges = [(a, b, line, i) for i, ((a, b), line) in enumerate(zip(ends, lines, strict=True))]
    edges += [(b, a, line[::-1], i) for a, b, line, i in edges]
    xy = np.concatenate([np.array(line, float) for _, _, line, _ in edges])
    vmax = np.array([30.0, 50.0, 70.0])
    street = np.array([i for _, _, _, i in edges], np.int32)
    return RoadMap(
        name="triangle",
        node_x=x,
        node_y=y,
        edge_from=np.array([a for a, _, _, _ in edges], np.int32),
        edge_to=np.array([b for _, b, _, _ in edges], np.int32),
        edge_vmax=vmax[street],
        edge_length=shapely.length(geometry)[street],
        edge_street=street,
        edge_offsets=np.concatenate(([0], np.cumsum([len(line) for _, _, line, _ in edges]))).astype(
            np.int64
        ),
        edge_x=np.ascontiguousarray(xy[:, 0]),
        edge_y=np.ascontiguousarray(xy[:, 1]),
        streets=Streets(("Low Street", "Long Street", "High Street"), vmax, geometry),
        regions=_regions() if regions else None,
    )


def _regions() -> Regions:
    polygons = np.array(
        [shapely.box(-10, -10, 2000, 2000), shapely.box(-10, -10, 1000, 10)], dtype=np.object_
    )
    return Regions(
        ("Outside", "South"),
        np.array([2, 1], np.int32),
        np.array([1.0, 3.0]),
        np.array([5.0, np.nan]),
        polygons,
    )
