"""Figures of a map, beside those of the authors' map where the two can be compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from causeway.berlinmod.city.road_map import RoadMap
from causeway.berlinmod.city.table_9 import TABLE_9

__all__ = ["DistrictFigures", "MapFigures", "SpeedFigures", "describe"]


@dataclass(frozen=True)
class SpeedFigures:
    """The streets with one speed limit."""

    vmax: float
    streets: int
    kilometres: float
    """Of the edges, counted once where a street may be driven both ways."""


@dataclass(frozen=True)
class DistrictFigures:
    """A region: nodes, and the chance that a home or a work place is in it."""

    name: str
    home_nodes: int
    work_nodes: int
    square_kilometres: float
    home_weight: float
    work_weight: float
    nodes_of_table_9: int | None
    """What the district of that name has in Table 9, if there is one."""


@dataclass(frozen=True)
class MapFigures:
    """What `causeway berlinmod map` prints."""

    nodes: int
    edges: int
    components: int
    """Strongly connected; a map has one."""
    closed_streets: int
    one_way_edges: int
    by_speed: tuple[SpeedFigures, ...]
    districts: tuple[DistrictFigures, ...]
    extent: tuple[float, float, float, float]

    @property
    def streets(self) -> int:
        """Streets that are open to traffic."""
        return sum(speed.streets for speed in self.by_speed)

    @property
    def kilometres(self) -> float:
        """Length of all streets that are in the graph."""
        return sum(speed.kilometres for speed in self.by_speed)


def describe(road_map: RoadMap) -> MapFigures:
    """The figures of a map."""
    passable = road_map.streets.passable
    # An edge with its way back is one piece of a street.
    key = road_map.edge_from.astype(np.int64) * road_map.nodes + road_map.edge_to
    back = road_map.edge_to.astype(np.int64) * road_map.nodes + road_map.edge_from
    two_way = np.isin(back, key)
    length = np.where(two_way, road_map.edge_length / 2, road_map.edge_length)
    speeds = np.unique(np.concatenate((road_map.streets.vmax[passable], road_map.edge_vmax)))
    graph = coo_array(
        (np.ones(road_map.edges), (road_map.edge_from, road_map.edge_to)),
        shape=(road_map.nodes, road_map.nodes),
    )
    components, _ = connected_components(graph, directed=True, connection="strong")
    return MapFigures(
        nodes=road_map.nodes,
        edges=road_map.edges,
        components=int(components),
        closed_streets=int((~passable).sum()),
        one_way_edges=int((~two_way).sum()),
        by_speed=tuple(
            SpeedFigures(
                float(speed),
                int((road_map.streets.vmax == speed).sum()),
                float(length[road_map.edge_vmax == speed].sum() / 1000),
            )
            for speed in speeds
        ),
        districts=_districts(road_map),
        extent=road_map.extent,
    )


def _districts(road_map: RoadMap) -> tuple[DistrictFigures, ...]:
    regions = road_map.regions
    if regions is None:
        return ()
    home, work = road_map.region_of_nodes()
    count = len(regions.names)
    home_nodes = np.bincount(home[home >= 0], minlength=count)
    work_nodes = np.bincount(work[work >= 0], minlength=count)
    known = {district.name: district.nodes for district in TABLE_9}
    return tuple(
        DistrictFigures(
            name,
            int(home_nodes[number]),
            int(work_nodes[number]),
            float(regions.polygons[number].area / 1e6),
            float(regions.home_weight[number]),
            float(regions.work_weight[number]),
            known.get(name),
        )
        for number, name in enumerate(regions.names)
    )
