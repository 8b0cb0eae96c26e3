"""Nodes along the arterial roads: where two of them cross, at their ends, and between those."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import shapely
from numpy.typing import NDArray

from causeway.berlinmod.city.drawing.districts import Points
from causeway.berlinmod.city.drawing.landscape import Arterial

__all__ = ["ArterialNodes", "node_density", "place_arterial_nodes"]

_MERGED_WITHIN = 110.0
"""Crossings that are nearer to each other than this become one."""


@dataclass(frozen=True)
class ArterialNodes:
    """The nodes, and the pieces of arterial roads between them."""

    points: Points
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    road: NDArray[np.int64]
    bends: list[Points]
    """The points of each piece between its ends."""


def node_density(
    points: Points, districts: Sequence[shapely.Polygon], nodes: Sequence[int]
) -> NDArray[np.float64]:
    """Nodes a square metre at each point; outside of the city there are few."""
    density = np.full(len(points), 1 / 2600.0**2)
    for district, count in zip(districts, nodes, strict=False):
        density[shapely.contains_xy(district, points)] = count / district.area
    return density


def place_arterial_nodes(
    roads: Sequence[Arterial],
    water: shapely.Geometry,
    districts: Sequence[shapely.Polygon],
    nodes: Sequence[int],
) -> ArterialNodes:
    """Nodes and pieces of all roads; no node is in the water, so that a piece over it is a bridge."""
    crossings = _crossings(roads)
    shapely.prepare(water)
    points: list[Points] = list(crossings)
    begins, ends, owner, bends = [], [], [], []
    for number, road in enumerate(roads):
        line = road.line
        on_road = np.flatnonzero(shapely.distance(shapely.points(crossings), line) < _MERGED_WITHIN * 0.75)
        stops = sorted((float(line.project(shapely.Point(crossings[one]))), int(one)) for one in on_road)
        stops = _with_ends(line, stops, points)
        for (start, from_node), (end, to_node) in pairwise(stops):
            places = _evenly(line, start, end, districts, nodes)
            between = _along(line, places)
            dry = shapely.distance(shapely.points(between), water) > 45.0
            chain = [from_node]
            for point in between[dry]:
                points.append(point)
                chain.append(len(points) - 1)
            cuts = [start, *places[dry], end]
            for one, other, low, high in zip(chain, [*chain[1:], to_node], cuts[:-1], cuts[1:], strict=True):
                begins.append(one)
                ends.append(other)
                owner.append(number)
                bends.append(_bends(line, low, high))
    return ArterialNodes(np.array(points), np.array(begins), np.array(ends), np.array(owner), bends)


def _crossings(roads: Sequence[Arterial]) -> Points:
    found = []
    for number, road in enumerate(roads):
        for other in roads[number + 1 :]:
            met = road.line.intersection(other.line)
            found.extend(shapely.get_coordinates(met.centroid if met.length else met))
    merged: list[Points] = []
    for point in found:
        if not merged or np.hypot(*(np.array(merged) - point).T).min() > _MERGED_WITHIN:
            merged.append(point)
    return np.array(merged)


def _with_ends(
    line: shapely.LineString, stops: list[tuple[float, int]], points: list[Points]
) -> list[tuple[float, int]]:
    """The stops along a road, with its own ends where none is near; a ring goes back to its first."""
    if line.is_closed:
        return [*stops, (line.length + stops[0][0], stops[0][1])]
    for at, place in ((0.0, 0), (line.length, len(stops))):
        if not stops or min(abs(at - stop) for stop, _ in stops) > 350.0:
            points.append(np.array(line.interpolate(at).coords[0]))
            stops.insert(place if at == 0.0 else len(stops), (at, len(points) - 1))
    return stops


def _evenly(
    line: shapely.LineString,
    start: float,
    end: float,
    districts: Sequence[shapely.Polygon],
    nodes: Sequence[int],
) -> NDArray[np.float64]:
    """Where nodes go between two stops: as far from each other as nodes are at each place."""
    steps = start + (end - start) * (np.arange(max(int((end - start) / 50), 1)) + 0.5) / max(
        int((end - start) / 50), 1
    )
    apart = np.maximum(0.88 / np.sqrt(node_density(_along(line, steps), districts, nodes)), 140.0)
    passed = np.concatenate(([0.0], np.cumsum((end - start) / len(steps) / apart)))
    count = max(1, round(float(passed[-1])))
    marks = np.linspace(start, end, len(passed))
    return np.asarray(np.interp(passed[-1] * np.arange(1, count) / count, passed, marks))


def _bends(line: shapely.LineString, start: float, end: float) -> Points:
    """The points of a road between two of its nodes, as few as show its shape."""
    steps = max(2, int((end - start) / 90))
    piece = shapely.LineString(_along(line, start + (end - start) * np.arange(steps + 1) / steps))
    return np.asarray(shapely.get_coordinates(piece.simplify(9.0))[1:-1])


def _along(line: shapely.LineString, distances: NDArray[np.float64]) -> Points:
    """Points at these distances from a road's start; a ring goes on past its end."""
    if line.is_closed:
        distances = distances % line.length
    return np.asarray(shapely.get_coordinates(shapely.line_interpolate_point(line, distances))).reshape(-1, 2)
