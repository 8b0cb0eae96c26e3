"""Our own city, from the seed to the map."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import shapely

from causeway.berlinmod.city.drawing.arterial_nodes import place_arterial_nodes
from causeway.berlinmod.city.drawing.connections import connect
from causeway.berlinmod.city.drawing.districts import draw_boundary, draw_districts
from causeway.berlinmod.city.drawing.landscape import draw_arterials, draw_water, with_dry_ends
from causeway.berlinmod.city.drawing.names import name_streets
from causeway.berlinmod.city.drawing.quarters import place_local_nodes
from causeway.berlinmod.city.drawing.street_lines import bend_links, draw_streets
from causeway.berlinmod.city.network import build_map
from causeway.berlinmod.city.road_map import Regions, RoadMap, Streets
from causeway.berlinmod.city.table_9 import AUTHORS_MAP, TABLE_9

__all__ = ["draw_city"]

_MIDDLE: Final = np.array([11_370.0, 10_700.0])
"""The middle of the authors' map, so that ours lies in the same place of the plane."""


def draw_city(seed: int = 1) -> RoadMap:
    """A city with the figures of the authors' map; the same seed draws the same one."""

    def chance(step: int) -> np.random.Generator:
        # Each step has its own chance: a change in one leaves the others as they are.
        return np.random.Generator(np.random.PCG64([seed, step]))

    boundary = draw_boundary(chance(0))
    districts = draw_districts(chance(1), boundary)
    water = draw_water(chance(2))
    roads = with_dry_ends(draw_arterials(chance(3), boundary), water)
    nodes = [district.nodes for district in TABLE_9]
    arterials = place_arterial_nodes(roads, water, districts, nodes)
    surroundings = shapely.box(-70_000, -70_000, 70_000, 70_000).difference(shapely.union_all(districts))
    local = place_local_nodes(chance(4), arterials, water, [*districts, surroundings], nodes)
    points, links = connect(chance(5), arterials, local, water, AUTHORS_MAP.edges // 2)
    lines = bend_links(chance(6), points, links, arterials, water)
    streets = draw_streets(
        chance(7),
        points,
        links,
        arterials,
        roads,
        AUTHORS_MAP.streets_by_speed,
        AUTHORS_MAP.kilometres_by_speed,
    )
    geometry = []
    for street in streets:
        pieces = [
            lines[link] if forwards else lines[link][::-1]
            for link, forwards in zip(street.links, street.forwards, strict=True)
        ]
        line = np.concatenate([pieces[0], *(piece[1:] for piece in pieces[1:])])
        geometry.append(shapely.LineString(line + _MIDDLE))
    drawn = Streets(
        name_streets(chance(8), streets, roads),
        np.array([float(street.vmax) for street in streets]),
        np.array(geometry, dtype=np.object_),
    )
    road_map, _ = build_map(f"City {seed}", drawn, regions=_regions(districts, drawn), water=_moved(water))
    return replace(road_map, origin={"source": "drawn", "seed": seed})


def _moved(shape: shapely.Geometry) -> shapely.Geometry:
    return shapely.transform(shape, lambda points: points + _MIDDLE)


def _regions(districts: list[shapely.Polygon], streets: Streets) -> Regions:
    """The districts, and below them everything, as the surroundings."""
    everything = shapely.box(*shapely.total_bounds(streets.geometry)).buffer(1000.0, join_style="mitre")
    return Regions(
        names=tuple(district.name for district in TABLE_9),
        priorities=np.array([district.priority for district in TABLE_9], np.int32),
        home_weight=np.array([float(district.population) for district in TABLE_9]),
        work_weight=np.array([float(district.jobs) for district in TABLE_9]),
        polygons=np.array([*map(_moved, districts), everything], dtype=np.object_),
    )
