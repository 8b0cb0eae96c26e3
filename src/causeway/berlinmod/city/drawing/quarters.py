"""Nodes away from the arterial roads: each district has quarters, and a quarter has a grid of its own.

A grid has its own direction and proportions and is uneven, so that it is no chessboard. In districts with few
nodes a quarter is a village, with open land around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from causeway.berlinmod.city.drawing.arterial_nodes import ArterialNodes
from causeway.berlinmod.city.drawing.districts import Points, Waves

__all__ = ["LocalNodes", "place_local_nodes"]

_NODES_OF_A_QUARTER = 42


@dataclass(frozen=True)
class LocalNodes:
    """The nodes, and what the streets between them follow."""

    points: Points
    direction: NDArray[np.float64]
    """Angle of the grid that a node is of."""
    spacing: NDArray[np.float64]
    """Metres between neighbours in that grid."""
    quarter: NDArray[np.int64]


@dataclass(frozen=True)
class _Quarters:
    middles: Points
    direction: NDArray[np.float64]
    proportion: NDArray[np.float64]
    size: NDArray[np.float64]
    """Spacing beside that of the other quarters of the district."""
    radius: NDArray[np.float64]
    """How far a village reaches, as a share of the distance between villages."""


def place_local_nodes(
    chance: np.random.Generator,
    arterials: ArterialNodes,
    water: shapely.Geometry,
    areas: Sequence[shapely.Geometry],
    nodes: Sequence[int],
) -> LocalNodes:
    """As many nodes in each area as it has to have beside those on arterial roads."""
    free = _free_ground(arterials, water)
    unevenness = (Waves(chance, 34, 900), Waves(chance, 170, 3800))
    parts: list[LocalNodes] = []
    quarters_before = 0
    for area, count in zip(areas, nodes, strict=True):
        shapely.prepare(area)
        wanted = count - int(shapely.contains_xy(area, arterials.points).sum())
        quarters = _draw_quarters(chance, area, count, arterials)
        # The widest grids that still have enough nodes; then the surplus goes, a node here and a node there.
        low, high = 40.0, 2500.0
        for _ in range(12):
            spacing = (low + high) / 2
            found = _grid_nodes(quarters, area, spacing, free, unevenness)
            low, high = (spacing, high) if len(found.points) >= wanted else (low, spacing)
        found = _grid_nodes(quarters, area, low, free, unevenness)
        kept = np.sort(chance.permutation(len(found.points))[: max(wanted, 0)])
        parts.append(
            LocalNodes(
                found.points[kept],
                found.direction[kept],
                found.spacing[kept],
                found.quarter[kept] + quarters_before,
            )
        )
        quarters_before += len(quarters.middles)
    return LocalNodes(
        np.concatenate([part.points for part in parts]),
        np.concatenate([part.direction for part in parts]),
        np.concatenate([part.spacing for part in parts]),
        np.concatenate([part.quarter for part in parts]),
    )


def _free_ground(arterials: ArterialNodes, water: shapely.Geometry) -> shapely.Geometry:
    """Where a node may be: on dry land, and not between two nodes of an arterial road."""
    begins, ends = arterials.points[arterials.begins], arterials.points[arterials.ends]
    half = np.hypot(*(ends - begins).T) / 2
    around = shapely.buffer(shapely.points((begins + ends) / 2), half * 1.06)
    lanes = shapely.buffer(shapely.linestrings(np.stack((begins, ends), axis=1)), np.minimum(half * 0.5, 130))
    taken = shapely.union_all([*around, *lanes, water.buffer(45.0)])
    free = shapely.box(-80_000, -80_000, 80_000, 80_000).difference(taken)
    shapely.prepare(free)
    return free


def _draw_quarters(
    chance: np.random.Generator, area: shapely.Geometry, nodes: int, arterials: ArterialNodes
) -> _Quarters:
    count = max(2, round(nodes / _NODES_OF_A_QUARTER))
    square_metres = _inhabited(area)
    village = nodes / square_metres < 6e-6
    if square_metres < area.area:
        # Hamlets along the highways.
        count = 6
        inside = arterials.points[shapely.contains_xy(area, arterials.points)]
        middles = inside[chance.permutation(len(inside))[:count]]
    else:
        middles = _spread(chance, area, count, np.sqrt(square_metres / count))
    outwards = np.arctan2(middles[:, 1], middles[:, 0])
    return _Quarters(
        middles,
        outwards + chance.normal(0, 0.3, len(middles)),
        chance.uniform(0.72, 1.3, len(middles)),
        chance.uniform(0.8, 1.3, len(middles)) * (0.72 + 0.28 * np.minimum(np.hypot(*middles.T) / 4000, 1)),
        chance.uniform(0.26, 0.52, len(middles)) if village else chance.uniform(0.5, 0.95, len(middles)),
    )


def _inhabited(area: shapely.Geometry) -> float:
    """Square metres of an area; of the wide surroundings, those of a few hamlets."""
    return float(min(area.area, 3e7 if area.area > 1e9 else np.inf))


def _spread(chance: np.random.Generator, area: shapely.Geometry, count: int, apart: float) -> Points:
    """Places in an area, none near another."""
    low_x, low_y, high_x, high_y = area.bounds
    chosen = np.empty((0, 2))
    while len(chosen) < count:
        point = np.array([chance.uniform(low_x, high_x), chance.uniform(low_y, high_y)])
        far = not len(chosen) or np.hypot(*(chosen - point).T).min() > apart
        if far and shapely.contains_xy(area, *point):
            chosen = np.concatenate((chosen, point[None]))
        apart *= 0.998
    return chosen


def _grid_nodes(
    quarters: _Quarters,
    area: shapely.Geometry,
    spacing: float,
    free: shapely.Geometry,
    unevenness: tuple[Waves, Waves],
) -> LocalNodes:
    """The grids' nodes at this spacing, each grid as far as its quarter reaches."""
    tree = cKDTree(quarters.middles)
    apart = np.sqrt(_inhabited(area) / len(quarters.middles))
    found, direction, spacings, owner = [], [], [], []
    for number, middle in enumerate(quarters.middles):
        step = spacing * quarters.size[number]
        steps = np.array(
            [step * np.sqrt(quarters.proportion[number]), step / np.sqrt(quarters.proportion[number])]
        )
        reach = min(1.6 * apart, 1.2 * apart * quarters.radius[number] + step)
        counts = np.ceil(reach / steps).astype(int)
        i, j = np.meshgrid(np.arange(-counts[0], counts[0] + 1), np.arange(-counts[1], counts[1] + 1))
        # Every other row is moved by up to half a step, as streets do not meet face to face everywhere.
        moved = 0.5 * ((np.sin(j * 12.9898 + number) * 43758.5453) % 1.0)
        grid = np.stack(((i + moved * (j % 2)).ravel() * steps[0], j.ravel() * steps[1]), axis=1)
        turn = quarters.direction[number]
        turned = grid @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        points = unevenness[1].bend(unevenness[0].bend(turned + middle))
        distance, nearest = tree.query(points)
        keep = (nearest == number) & (distance < quarters.radius[number] * apart)
        points = points[keep]
        points = points[shapely.contains_xy(area, points) & shapely.contains_xy(free, points)]
        found.append(points)
        direction.append(np.full(len(points), turn))
        spacings.append(np.full(len(points), step))
        owner.append(np.full(len(points), number))
    return LocalNodes(
        np.concatenate(found), np.concatenate(direction), np.concatenate(spacings), np.concatenate(owner)
    )
