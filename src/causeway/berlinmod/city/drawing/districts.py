"""The districts: a division of the city's area into twelve, each with its area of Table 9."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import shapely
from numpy.typing import NDArray

from causeway.berlinmod.city.table_9 import TABLE_9

__all__ = ["Points", "Waves", "draw_boundary", "draw_districts"]

Points = NDArray[np.float64]
"""Metres from the city's middle, a row a point."""

_MIDDLES: Final = np.array(
    [
        (0.0, 1.6),
        (3.4, -1.2),
        (3.4, 9.4),
        (-6.9, -1.2),
        (-15.0, 2.2),
        (-10.0, -9.2),
        (-1.4, -7.6),
        (3.9, -8.4),
        (13.4, -8.4),
        (14.6, 3.2),
        (8.8, 4.2),
        (-6.4, 9.8),
    ]
)
"""Kilometres east and north of the city's middle, in the order of Table 9."""
_HALF_AXES: Final = np.array([20_000.0, 15_400.0])


class Waves:
    """A smooth field of displacements: a few plane waves of random direction and phase."""

    def __init__(self, chance: np.random.Generator, height: float, length: float, count: int = 9) -> None:
        angle = chance.uniform(0, 2 * np.pi, count)
        number = 2 * np.pi / (length * chance.uniform(0.7, 1.6, count))
        self._wave = np.stack((np.cos(angle) * number, np.sin(angle) * number))
        self._phase = chance.uniform(0, 2 * np.pi, count)
        push = chance.uniform(0, 2 * np.pi, count)
        self._push = np.stack((np.cos(push), np.sin(push)), axis=1) * height / np.sqrt(count)

    def at(self, points: Points) -> Points:
        """The displacement at each point."""
        moved: Points = np.sin(points @ self._wave + self._phase) @ self._push
        return moved

    def bend(self, points: Points) -> Points:
        """The points, displaced."""
        return points + self.at(points)

    def unbend(self, points: Points) -> Points:
        """The points that `bend` takes here."""
        back = points
        for _ in range(30):
            back = points - self.at(back)
        return back


def draw_boundary(chance: np.random.Generator) -> shapely.Polygon:
    """The city's edge: an oval with bays and bulges, with the area of all districts."""
    angle = np.linspace(0, 2 * np.pi, 360, endpoint=False)
    radius = np.ones_like(angle)
    for wave in range(2, 12):
        radius += chance.normal(0, 0.075 / wave**0.7) * np.cos(wave * angle + chance.uniform(0, 2 * np.pi))
    oval = np.stack((np.cos(angle) * radius, np.sin(angle) * radius), axis=1) * _HALF_AXES
    wanted = sum(district.square_kilometres or 0.0 for district in TABLE_9) * 1e6
    return shapely.Polygon(oval * np.sqrt(wanted / shapely.Polygon(oval).area))


def draw_districts(chance: np.random.Generator, boundary: shapely.Polygon) -> list[shapely.Polygon]:
    """The districts of Table 9, without gaps and overlaps; areas are within about one per cent.

    They are the cells of a power diagram, whose weights are moved until the areas fit, with bent borders.
    """
    bends = Waves(chance, 900, 6000)
    middles = _MIDDLES * 1000 + chance.normal(0, 350, _MIDDLES.shape)
    wanted = (
        np.array([district.square_kilometres for district in TABLE_9 if district.square_kilometres]) * 1e6
    )
    grid = _grid_inside(boundary, 200.0)
    bent = bends.bend(grid)
    weights = np.zeros(len(middles))
    squares = ((bent[:, None] - middles) ** 2).sum(axis=2)
    for step in np.geomspace(0.4, 0.02, 300):
        cell = np.argmin(squares - weights, axis=1)
        area = np.bincount(cell, minlength=len(middles)) * 200.0**2
        weights += step * (wanted - area)
    cells = [_cell(middles, weights, number) for number in range(len(middles))]
    unbent = [
        shapely.make_valid(shapely.transform(shapely.segmentize(cell, 250.0), bends.unbend)) for cell in cells
    ]
    return _fitted(unbent, boundary)


def _grid_inside(boundary: shapely.Polygon, step: float) -> Points:
    low_x, low_y, high_x, high_y = boundary.bounds
    x, y = np.meshgrid(np.arange(low_x, high_x, step), np.arange(low_y, high_y, step))
    grid = np.stack((x.ravel(), y.ravel()), axis=1)
    inside: Points = grid[shapely.contains_xy(boundary, grid)]
    return inside


def _cell(middles: Points, weights: NDArray[np.float64], number: int) -> shapely.Polygon:
    """The points that are nearer to one middle than to any other, by the weights."""
    cell = shapely.box(-60_000, -60_000, 60_000, 60_000)
    here = middles[number]
    for other in range(len(middles)):
        if other == number:
            continue
        across = middles[other] - here
        span = float(np.hypot(*across))
        # Where the border crosses the line from one middle to the other.
        reach = (span**2 + weights[number] - weights[other]) / (2 * span)
        along = across / span
        side = np.array([-along[1], along[0]])
        edge = here + along * reach
        far = 200_000.0
        half_plane = shapely.Polygon(
            [
                edge + side * far,
                edge - side * far,
                edge - side * far - along * far,
                edge + side * far - along * far,
            ]
        )
        cell = cell.intersection(half_plane)
    return cell


def _fitted(cells: Sequence[shapely.Polygon], boundary: shapely.Polygon) -> list[shapely.Polygon]:
    """The cells, cut to the boundary, without the slivers between them; corners in whole metres."""
    fitted: list[shapely.Polygon] = []
    for number, cell in enumerate(cells):
        taken = shapely.union_all([*fitted, *cells[number + 1 :]])
        grown = cell.buffer(60.0, join_style="mitre").intersection(boundary).difference(taken)
        parts = shapely.get_parts(shapely.set_precision(grown, 1.0))
        fitted.append(shapely.union_all(parts[shapely.area(parts) > 1e4]))
    return fitted
