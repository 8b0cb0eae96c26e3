"""A road map: the street graph of section 4, its streets, and regions for homes and work places."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

__all__ = ["F64", "I32", "I64", "Geometries", "Regions", "RoadMap", "Streets"]

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
Geometries = NDArray[np.object_]
"""Shapely geometries."""


@dataclass(frozen=True)
class Streets:
    """The streets as the source has them, closed ones too; an edge names its street by the place in here."""

    names: tuple[str, ...]
    vmax: F64
    """Speed limit in km/h; a street with 0 or less is closed and has no edge."""
    geometry: Geometries
    """LineString or MultiLineString, in metres."""

    @property
    def passable(self) -> NDArray[np.bool_]:
        """Which streets are open to traffic."""
        return self.vmax > 0


@dataclass(frozen=True)
class Regions:
    """Home and work regions (section 7.2), with the weight of each for homes and for work places.

    A weight of NaN says that the region is not one of the home (or work) regions at all: a node in it belongs
    to the next region by priority.
    """

    names: tuple[str, ...]
    priorities: I32
    """A node in several regions belongs to the one with the lowest number."""
    home_weight: F64
    work_weight: F64
    polygons: Geometries
    """Polygon or MultiPolygon, in metres."""


@dataclass(frozen=True)
class RoadMap:
    """A directed street graph in one component, in metres on a local plane.

    Each edge has a polyline in its direction of travel, both ends included. There is at most one edge from
    one node to another. Every node can be reached from every other.
    """

    name: str
    node_x: F64
    node_y: F64
    edge_from: I32
    edge_to: I32
    edge_vmax: F64
    """km/h"""
    edge_length: F64
    """metres"""
    edge_street: I32
    edge_offsets: I64
    """The polyline of edge `e` is `edge_x[edge_offsets[e] : edge_offsets[e + 1]]`, and so for y."""
    edge_x: F64
    edge_y: F64
    streets: Streets
    regions: Regions | None = None
    water: Any = None
    """Rivers and lakes, a shapely geometry to draw beneath the streets; None if they are not known."""
    crs: dict[str, Any] | None = None
    """The plane as PROJJSON; None if it is no place on Earth that we know of."""
    origin: dict[str, Any] = field(default_factory=dict)
    """Where the map comes from: `source`, a drawn city's `seed`, what an import dropped and rejected."""

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.node_x)

    @property
    def edges(self) -> int:
        """Number of directed edges."""
        return len(self.edge_from)

    @cached_property
    def edge_seconds(self) -> F64:
        """Cost of each edge by time: seconds at the speed limit."""
        return 3.6 * self.edge_length / self.edge_vmax

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Least x, least y, greatest x and greatest y of the edges."""
        x, y = self.edge_x, self.edge_y
        return float(x.min()), float(y.min()), float(x.max()), float(y.max())

    def region_of_nodes(self) -> tuple[I32, I32]:
        """For every node its home region and its work region, by place in `regions`; -1 if it is in none.

        A node on a border is inside. A map without regions has -1 everywhere.
        """
        if self.regions is None:
            return np.full(self.nodes, -1, np.int32), np.full(self.nodes, -1, np.int32)
        points = shapely.points(self.node_x, self.node_y)
        tree = shapely.STRtree(points)
        home = np.full(self.nodes, -1, np.int32)
        work = np.full(self.nodes, -1, np.int32)
        regions = self.regions
        # The last to write wins: the region with the lowest priority number, the first of those that tie.
        for region in np.argsort(regions.priorities, kind="stable")[::-1]:
            inside = tree.query(regions.polygons[region], predicate="intersects")
            if not np.isnan(regions.home_weight[region]):
                home[inside] = region
            if not np.isnan(regions.work_weight[region]):
                work[inside] = region
        return home, work

    def save(self, folder: Path | str) -> None:
        """Write the map to `folder`, which must be new or empty; whole or not at all."""
        from causeway.berlinmod.city.map_folder import save_map

        save_map(self, Path(folder))

    @classmethod
    def load(cls, folder: Path | str) -> RoadMap:
        """Read a map that `save` wrote; a folder that is none is the user's mistake."""
        from causeway.berlinmod.city.map_folder import load_map

        return load_map(Path(folder))
