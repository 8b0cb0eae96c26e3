"""Which nodes have a street between them: the arterial pieces, and the best links between neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import Delaunay

from causeway.berlinmod.city.drawing.arterial_nodes import ArterialNodes
from causeway.berlinmod.city.drawing.districts import Points
from causeway.berlinmod.city.drawing.quarters import LocalNodes

__all__ = ["connect"]

I64 = NDArray[np.int64]

_BRIDGES_APART = 1300.0
_LONGEST_BRIDGE = 520.0
_LONGEST_STREET = 1000.0
"""A longer link is built only if a place could not be reached without it."""
_SHORTEST_COUNTRY_ROAD, _LONGEST_COUNTRY_ROAD = 800.0, 2600.0
_COUNTRY_ROADS = 3
"""Country roads of a quarter."""
_DEAD_ENDS = 530
"""Nodes with one link that get no other."""


@dataclass
class _Links:
    """Links taken so far: degree and directions at each node, and which nodes hang together."""

    points: Points
    taken: list[tuple[int, int]]
    angles: list[list[float]]
    group: list[int]

    def find(self, node: int) -> int:
        while self.group[node] != node:
            self.group[node] = self.group[self.group[node]]
            node = self.group[node]
        return node

    def take(self, one: int, other: int) -> None:
        dx, dy = self.points[other] - self.points[one]
        angle = float(np.arctan2(dy, dx))
        self.angles[one].append(angle)
        self.angles[other].append(angle + np.pi)
        self.group[self.find(one)] = self.find(other)
        self.taken.append((one, other))

    def narrowest(self, one: int, other: int) -> float:
        """The least angle that a link would have with one that is there, in degrees."""
        dx, dy = self.points[other] - self.points[one]
        angle = float(np.arctan2(dy, dx))
        least = np.pi
        for mine, there in ((angle, self.angles[one]), (angle + np.pi, self.angles[other])):
            for its in there:
                turn = abs((mine - its + np.pi) % (2 * np.pi) - np.pi)
                least = min(least, turn)
        return float(np.degrees(least))


def connect(
    chance: np.random.Generator,
    arterials: ArterialNodes,
    local: LocalNodes,
    water: shapely.Geometry,
    edges: int,
) -> tuple[Points, I64]:
    """All nodes, and `edges` links in one component, the arterial pieces first and in their order."""
    points = np.concatenate((arterials.points, local.points))
    first_local = len(arterials.points)
    candidates, score, length = _candidates(points, arterials, local, water)
    links = _Links(points, [], [[] for _ in points], list(range(len(points))))
    for one, other in zip(arterials.begins, arterials.ends, strict=True):
        links.take(int(one), int(other))
    open_links = []
    in_order = np.argsort(score, kind="stable")
    for (one, other), long in zip(
        candidates[in_order].tolist(), length[in_order] > _LONGEST_STREET, strict=True
    ):
        if links.find(one) != links.find(other) and links.narrowest(one, other) > 22.0:
            links.take(one, other)
        elif not long:
            open_links.append((one, other))
    _build_country_roads(links, candidates[in_order], length[in_order], local.quarter, first_local)
    ends = np.array([node for node in range(first_local, len(points)) if len(links.angles[node]) == 1])
    lone = np.zeros(len(points), np.bool_)
    lone[chance.permutation(ends)[:_DEAD_ENDS]] = True
    # First nodes that lead nowhere, then places where two streets could be three, then the rest.
    for narrow, limit in ((48.0, 2), (48.0, 3), (34.0, 3), (48.0, 4), (30.0, 4), (24.0, 5)):
        refused = []
        for one, other in open_links:
            room = len(links.angles[one]) < limit and len(links.angles[other]) < limit
            wanted = room and not lone[one] and not lone[other] and len(links.taken) < edges
            if wanted and links.narrowest(one, other) > narrow:
                links.take(one, other)
            else:
                refused.append((one, other))
        open_links = refused
    return points, np.array(links.taken, np.int64)


def _build_country_roads(
    links: _Links, candidates: I64, length: NDArray[np.float64], quarters: NDArray[np.int64], first_local: int
) -> None:
    """Long links between quarters, or from one to an arterial road; a few for each quarter."""
    roads = np.zeros(int(quarters.max()) + 1, np.int64)
    for (one, other), metres in zip(candidates.tolist(), length, strict=True):
        if not _SHORTEST_COUNTRY_ROAD < metres < _LONGEST_COUNTRY_ROAD:
            continue
        sides = {int(quarters[node - first_local]) for node in (one, other) if node >= first_local}
        joins = len(sides) == 2 or (len(sides) == 1 and min(one, other) < first_local)
        if joins and (roads[list(sides)] < _COUNTRY_ROADS).all() and links.narrowest(one, other) > 40.0:
            links.take(one, other)
            roads[list(sides)] += 1


def _candidates(
    points: Points, arterials: ArterialNodes, local: LocalNodes, water: shapely.Geometry
) -> tuple[I64, NDArray[np.float64], NDArray[np.float64]]:
    """Links that cross neither water nor an arterial road, how good each is (low is good), its length."""
    first_local = len(arterials.points)
    corners = Delaunay(points).simplices
    pairs = np.sort(np.concatenate((corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]])), axis=1)
    pairs = np.unique(pairs, axis=0).astype(np.int64)
    arterial = np.sort(np.stack((arterials.begins, arterials.ends), axis=1), axis=1)
    key = pairs[:, 0] * len(points) + pairs[:, 1]
    pairs = pairs[~np.isin(key, arterial[:, 0] * len(points) + arterial[:, 1])]
    lines = shapely.linestrings(points[pairs])
    roads = shapely.linestrings(points[arterial])
    link, _ = shapely.STRtree(roads).query(lines, predicate="crosses")
    crossing = np.zeros(len(pairs), np.bool_)
    crossing[link] = True
    pairs, lines = pairs[~crossing], lines[~crossing]

    ends = points[pairs]
    length = np.hypot(*(ends[:, 1] - ends[:, 0]).T)
    spacing = np.concatenate((np.full(first_local, np.nan), local.spacing))
    direction = np.concatenate((np.full(first_local, np.nan), local.direction))
    of_pair = np.where(np.isnan(spacing[pairs]), spacing[pairs][:, ::-1], spacing[pairs]).mean(axis=1)
    scale = np.where(np.isnan(of_pair), 400.0, of_pair)
    heading = np.arctan2(*(ends[:, 1] - ends[:, 0]).T[::-1])
    own = direction[pairs]
    own = np.where(np.isnan(own), own[:, ::-1], own)
    crooked = np.abs((heading[:, None] - own + np.pi / 4) % (np.pi / 2) - np.pi / 4).max(axis=1)
    crooked = np.where(np.isnan(crooked), np.radians(20), crooked) / np.radians(45)
    score = length / scale * (1 + 1.4 * crooked**2)

    wet = shapely.intersects(lines, water)
    bridges = _bridges(arterials, ends, length, wet, water)
    usable = (~wet | bridges) & (length > 25.0)
    return pairs[usable], score[usable], length[usable]


def _bridges(
    arterials: ArterialNodes,
    ends: Points,
    length: NDArray[np.float64],
    wet: NDArray[np.bool_],
    water: shapely.Geometry,
) -> NDArray[np.bool_]:
    """Which links over water become bridges: short ones, none near another one or an arterial road's."""
    roads = np.stack((arterials.points[arterials.begins], arterials.points[arterials.ends]), axis=1)
    over = shapely.intersects(shapely.linestrings(roads), water)
    built = list(roads[over].mean(axis=1))
    middles = ends.mean(axis=1)
    chosen = np.zeros(len(ends), np.bool_)
    for link in np.argsort(length, kind="stable"):
        if not wet[link] or length[link] > _LONGEST_BRIDGE:
            continue
        if built and np.hypot(*(np.array(built) - middles[link]).T).min() < _BRIDGES_APART:
            continue
        built.append(middles[link])
        chosen[link] = True
    return chosen
