"""From links to streets: which links are one street, how fast it is, how it bends, and its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from causeway.berlinmod.city.drawing.arterial_nodes import ArterialNodes
from causeway.berlinmod.city.drawing.districts import Points
from causeway.berlinmod.city.drawing.landscape import Arterial

__all__ = ["StreetLine", "bend_links", "draw_streets"]

I64 = NDArray[np.int64]


@dataclass(frozen=True)
class StreetLine:
    """A street: its links in order, each with whether it is passed from its first node to its second."""

    links: tuple[int, ...]
    forwards: tuple[bool, ...]
    vmax: int
    road: int
    """Number of the arterial road that it is part of, or -1."""


class _Strokes:
    """Links joined end to end. No stroke comes to a node twice, so that two streets meet at each crossing."""

    def __init__(self, links: I64) -> None:
        self.links = links
        self.stroke = list(range(len(links)))
        self.members: dict[int, list[int]] = {number: [number] for number in range(len(links))}
        self.nodes: dict[int, set[int]] = {number: {int(a), int(b)} for number, (a, b) in enumerate(links)}

    def join(self, one: int, other: int, node: int) -> bool:
        """Join the strokes of two links at a node, if they meet nowhere else."""
        left, right = self.stroke[one], self.stroke[other]
        if left == right or self.nodes[left] & self.nodes[right] != {node}:
            return False
        for member in self.members[right]:
            self.stroke[member] = left
        self.members[left] += self.members.pop(right)
        self.nodes[left] |= self.nodes.pop(right)
        return True


def draw_streets(
    chance: np.random.Generator,
    points: Points,
    links: I64,
    arterials: ArterialNodes,
    roads: Sequence[Arterial],
    streets: dict[int, int],
    kilometres: dict[int, float],
) -> list[StreetLine]:
    """Streets in about these numbers and lengths by speed: {30: …, 50: …, 70: …}.

    Arterial roads have their speed. Of the others, the longest streets that go straight on become main roads.
    """
    road = np.full(len(links), -1, np.int64)
    road[: len(arterials.road)] = arterials.road
    speed_of_road = np.array([one.vmax for one in roads])
    vmax = np.where(road >= 0, speed_of_road[road], 30)
    joins = _possible_joins(points, links, road)

    local = _Strokes(links)
    _join_all(local, [join for join in joins if road[join[1]] < 0])
    _choose_main_roads(points, links, vmax, list(local.members.values()), kilometres[50] * 1000)
    lines: list[StreetLine] = []
    for speed, wanted in streets.items():
        at_speed = np.flatnonzero(vmax == speed)
        own = [join for join in joins if vmax[join[1]] == speed and vmax[join[2]] == speed]
        strokes_at_speed = _Strokes(links)
        made = _join_all(strokes_at_speed, own)
        surplus = wanted - (len(at_speed) - len(made))
        if surplus > 0:
            # Fewer joins: streets end where they are least straight, and here and there without a reason.
            order = np.argsort([-join[0] - 25 * chance.random() for join in made], kind="stable")
            dropped = set(order[:surplus].tolist())
            strokes_at_speed = _Strokes(links)
            _join_all(strokes_at_speed, [join for number, join in enumerate(made) if number not in dropped])
        lines += _in_order(strokes_at_speed, at_speed, vmax, road)
    return lines


def _choose_main_roads(
    points: Points, links: I64, vmax: I64, strokes: list[list[int]], metres: float
) -> None:
    """Give the longest streets 50 km/h, first those far from others, until there are enough metres."""
    ends = points[links]
    length = np.hypot(*(ends[:, 1] - ends[:, 0]).T)
    thirds = np.concatenate([ends[:, 0] * (1 - t) + ends[:, 1] * t for t in (0.2, 0.5, 0.8)])
    of_link = np.tile(np.arange(len(links)), 3)
    strokes = sorted(strokes, key=lambda members: (-len(members), -length[members].sum()))
    # How far each place is from the next main road; beyond two kilometres it does not matter.
    reach = 2000.0
    nearest = np.full(len(thirds), reach)

    def note(places: Points) -> None:
        near = ((thirds > places.min(axis=0) - reach) & (thirds < places.max(axis=0) + reach)).all(axis=1)
        distance, _ = cKDTree(places).query(thirds[near], distance_upper_bound=reach)
        nearest[near] = np.minimum(nearest[near], distance)

    note(thirds[vmax[of_link] > 30])
    missing = metres - length[vmax == 50].sum()
    strokes = [members for members in strokes if len(members) > 2]
    for apart in (2.6, 1.7, 0.9, 0.0):
        left = []
        for members in strokes:
            places = np.concatenate([np.array(members) + part * len(links) for part in range(3)])
            if missing > 0 and nearest[places].mean() > apart * length[members].mean():
                vmax[members] = 50
                missing -= length[members].sum()
                note(thirds[places])
            else:
                left.append(members)
        strokes = left


def _possible_joins(points: Points, links: I64, road: I64) -> list[tuple[float, int, int, int]]:
    """Pairs of links that go on into each other: (degrees of the turn, link, link, node), straightest first.

    A node with two links only is where one street ends and another begins.
    """
    at_node: list[list[int]] = [[] for _ in points]
    for number, (one, other) in enumerate(links.tolist()):
        at_node[one].append(number)
        at_node[other].append(number)
    joins = []
    for node, there in enumerate(at_node):
        if len(there) < 3:
            continue
        heading = []
        for link in there:
            one, other = links[link]
            dx, dy = points[other if one == node else one] - points[node]
            heading.append(np.degrees(np.arctan2(dy, dx)))
        for i, one in enumerate(there):
            for j in range(i + 1, len(there)):
                turn = abs(180 - abs((heading[i] - heading[j] + 180) % 360 - 180))
                same_road = road[one] >= 0 and road[one] == road[there[j]]
                if same_road or (turn < 62 and (road[one] < 0) == (road[there[j]] < 0)):
                    joins.append((turn - (100 if same_road else 0), one, there[j], node))
    return sorted(joins)


def _join_all(
    strokes: _Strokes, joins: Sequence[tuple[float, int, int, int]]
) -> list[tuple[float, int, int, int]]:
    joined: set[tuple[int, int]] = set()
    made = []
    for join in joins:
        _, one, other, node = join
        if (one, node) in joined or (other, node) in joined:
            continue
        if strokes.join(one, other, node):
            joined |= {(one, node), (other, node)}
            made.append(join)
    return made


def _in_order(strokes: _Strokes, links: I64, vmax: I64, road: I64) -> list[StreetLine]:
    lines = []
    for number in sorted({strokes.stroke[link] for link in links.tolist()}):
        members = strokes.members[number]
        at_node: dict[int, list[int]] = {}
        for link in members:
            for node in strokes.links[link].tolist():
                at_node.setdefault(node, []).append(link)
        node = min(node for node, there in at_node.items() if len(there) == 1)
        ordered: list[int] = []
        forwards: list[bool] = []
        while len(ordered) < len(members):
            link = next(link for link in at_node[node] if not ordered or link != ordered[-1])
            ordered.append(link)
            forwards.append(int(strokes.links[link][0]) == node)
            node = int(strokes.links[link][1 if forwards[-1] else 0])
        lines.append(
            StreetLine(tuple(ordered), tuple(forwards), int(vmax[members[0]]), int(road[members[0]]))
        )
    return lines


def bend_links(
    chance: np.random.Generator,
    points: Points,
    links: I64,
    arterials: ArterialNodes,
    water: shapely.Geometry,
) -> list[Points]:
    """Each link's line in whole metres: as an arterial road goes, or straight, or with a slight bend.

    A bend that would make a link touch another is taken back.
    """
    ends = np.round(points)[links]
    lines: list[Points] = []
    bend = chance.random(len(links)) < 0.47
    where, how = chance.uniform(0.3, 0.7, len(links)), chance.normal(0, 0.055, len(links))
    for number, (start, end) in enumerate(ends):
        middle = np.empty((0, 2))
        if number < len(arterials.bends):
            middle = np.round(arterials.bends[number])
        elif bend[number]:
            along = end - start
            offset = np.array([-along[1], along[0]]) * how[number]
            middle = np.round(start + along * where[number] + offset)[None]
        lines.append(np.concatenate((start[None], middle, end[None])))
    for _ in range(20):
        faulty = _touching(lines, links) | set(
            np.flatnonzero(shapely.intersects(_lines(lines), water)).tolist()
        )
        faulty = {number for number in faulty if len(lines[number]) > 2}
        if not faulty:
            break
        for number in faulty:
            lines[number] = lines[number][[0, -1]]
    return lines


def _lines(lines: Sequence[Points]) -> NDArray[np.object_]:
    number = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    shapes: NDArray[np.object_] = shapely.linestrings(np.concatenate(lines), indices=number)
    return shapes


def _touching(lines: Sequence[Points], links: I64) -> set[int]:
    """Links that meet another one elsewhere than at a node that both have."""
    shapes = _lines(lines)
    one, other = shapely.STRtree(shapes).query(shapes, predicate="intersects")
    pairs = one < other
    one, other = one[pairs], other[pairs]
    shared = (links[one][:, :, None] == links[other][:, None]).sum(axis=(1, 2))
    met = shapely.get_num_coordinates(shapely.intersection(shapes[one], shapes[other]))
    wrong = met > shared
    return {int(number) for number in np.concatenate((one[wrong], other[wrong]))}
