"""From streets to a street graph (section 7.5.1): nodes, directed edges, one connected component.

A node is a point that different streets share, the end of a street, or a fork of one. A street is cut at its
nodes, and each piece is an edge in each allowed direction. Of several edges from one node to another the
fastest stays. At the end the graph is cut down to its largest strongly connected component.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from causeway.berlinmod.city.road_map import F64, I64, Regions, RoadMap, Streets
from causeway.runtime.errors import UserError

__all__ = ["Dropped", "build_map"]

Bool = NDArray[np.bool_]
Pairs = NDArray[np.float64]
"""Points, one a row: x, y."""


@dataclass(frozen=True)
class Dropped:
    """What is not in the graph because there is no way to it, or none back."""

    components: int
    nodes: int
    edges: int
    kilometres: float


def build_map(
    name: str,
    streets: Streets,
    *,
    one_way: Bool | None = None,
    crossings: bool = True,
    regions: Regions | None = None,
    water: shapely.Geometry | None = None,
) -> tuple[RoadMap, Dropped]:
    """The map of these streets, and what had to be left out of it.

    `one_way` says which streets may only be driven along the direction of their lines. With `crossings`,
    streets meet wherever their lines cross or touch; without, only where both have a point, so that bridges
    and tunnels stay what they are.
    """
    segments, street = _segments(streets)
    if not len(segments):
        raise UserError(f"{name} has no street that is open to traffic")
    if crossings:
        segments, street = _cut_at_crossings(segments, street)
    segments, street = _without_repeats(segments, street)
    points, ends = np.unique(segments.reshape(-1, 2), axis=0, return_inverse=True)
    ends = ends.reshape(-1, 2).astype(np.int64)
    forward_only = np.zeros(len(street), np.bool_) if one_way is None else one_way[street]
    chains = _chains(ends, street, forward_only, len(points))
    return _largest_component(name, streets, regions, water, points, *chains)


def _segments(streets: Streets) -> tuple[Pairs, I64]:
    """The segments of passable streets, as rows of (start, end), and the street of each."""
    passable = np.flatnonzero(streets.passable)
    parts, part_of = shapely.get_parts(streets.geometry[passable], return_index=True)
    xy, line = shapely.get_coordinates(parts, return_index=True)
    joined = line[1:] == line[:-1]
    segments = np.stack([xy[:-1][joined], xy[1:][joined]], axis=1)
    street = passable[part_of[line[:-1][joined]]]
    proper = (segments[:, 0] != segments[:, 1]).any(axis=1)
    return segments[proper], street[proper].astype(np.int64)


def _cut_at_crossings(segments: Pairs, street: I64) -> tuple[Pairs, I64]:
    """The segments, cut wherever one of another street crosses or touches it."""
    lines = shapely.linestrings(segments)
    one, other = shapely.STRtree(lines).query(lines, predicate="intersects")
    meeting = (one < other) & (street[one] != street[other])
    one, other = one[meeting], other[meeting]
    # Two that share an end and nothing else need no cut; most are such.
    shared = (segments[one][:, :, None] == segments[other][:, None]).all(axis=3).any(axis=(1, 2))
    touching = ~shared
    touching[shared] = shapely.length(shapely.intersection(lines[one[shared]], lines[other[shared]])) > 0
    one, other = one[touching], other[touching]
    met, pair = shapely.get_coordinates(shapely.intersection(lines[one], lines[other]), return_index=True)
    cut_segment = np.concatenate((one[pair], other[pair]))
    cut_point = np.tile(_exact_ends(met, segments[one[pair]], segments[other[pair]]), (2, 1))

    number = np.concatenate((np.arange(len(segments)), cut_segment, np.arange(len(segments))))
    point = np.concatenate((segments[:, 0], cut_point, segments[:, 1]))
    start, along = segments[number, 0], segments[number, 1] - segments[number, 0]
    # Measured by the longer of its two sides: squares of the sides of a tiny segment would vanish.
    side = np.abs(along).max(axis=1, keepdims=True)
    place = ((point - start) / side * (along / side)).sum(axis=1) / ((along / side) ** 2).sum(axis=1)
    place[: len(segments)], place[len(place) - len(segments) :] = -np.inf, np.inf
    order = np.lexsort((place, number))
    number, point = number[order], point[order]
    joined = (number[1:] == number[:-1]) & (point[1:] != point[:-1]).any(axis=1)
    cut = np.stack([point[:-1][joined], point[1:][joined]], axis=1)
    return cut, street[number[:-1][joined]]


def _exact_ends(met: Pairs, one: Pairs, other: Pairs) -> Pairs:
    """Where segments meet, to the millimetre; the end of a segment where they meet within one of it."""
    exact = np.round(met, 3)
    for ends in (one[:, 0], one[:, 1], other[:, 0], other[:, 1]):
        near = (np.abs(met - ends) < 1e-3).all(axis=1)
        exact[near] = ends[near]
    return exact


def _without_repeats(segments: Pairs, street: I64) -> tuple[Pairs, I64]:
    """Each segment of a street once, whichever way it is given."""
    swap = (segments[:, 0, 0] > segments[:, 1, 0]) | (
        (segments[:, 0, 0] == segments[:, 1, 0]) & (segments[:, 0, 1] > segments[:, 1, 1])
    )
    low = np.where(swap[:, None, None], segments[:, ::-1], segments)
    keys = np.column_stack((street, low.reshape(-1, 4)))
    _, first = np.unique(keys, axis=0, return_index=True)
    first.sort()
    return segments[first], street[first]


def _chains(ends: I64, street: I64, forward_only: Bool, points: int) -> tuple[I64, I64, I64, I64]:
    """Pieces of streets between nodes, in each allowed direction: their streets, starts, offsets, points."""
    # A half-segment leaves the first end forwards, or the second backwards.
    begins = np.concatenate((ends[:, 0], ends[:, 1]))
    arrives = np.concatenate((ends[:, 1], ends[:, 0]))
    half_street = np.concatenate((street, street))
    allowed = np.concatenate((np.ones(len(street), np.bool_), ~forward_only))
    # The same point in two streets has two places, each with the half-segments that leave it.
    key = half_street * points + begins
    places, place = np.unique(key, return_inverse=True)
    order = np.argsort(place, kind="stable")
    degree = np.bincount(place)
    first = np.concatenate(([0], np.cumsum(degree)))
    streets_at = np.bincount(places % points, minlength=points)
    is_node = np.zeros(points, np.bool_)
    is_node[places[degree != 2] % points] = True
    is_node |= streets_at > 1
    arrival_place = np.searchsorted(places, half_street * points + arrives)
    half = len(street)
    back = np.concatenate((np.arange(half, 2 * half), np.arange(half)))

    # All chains take a step at a time, until each is at a node.
    current = np.flatnonzero(is_node[begins] & allowed)
    chain = np.arange(len(current))
    start = current
    seen_chain, seen_point = [chain], [begins[current]]
    blocked = np.zeros(len(current), np.bool_)
    while len(current):
        seen_chain.append(chain)
        seen_point.append(arrives[current])
        going = ~is_node[arrives[current]]
        current, chain = current[going], chain[going]
        # A point that is no node has two half-segments: the one back, and the one on.
        at = first[arrival_place[current]]
        current = np.where(order[at] == back[current], order[at + 1], order[at])
        blocked[chain[~allowed[current]]] = True
        current, chain = current[allowed[current]], chain[allowed[current]]
    all_chains, all_points = np.concatenate(seen_chain), np.concatenate(seen_point)
    by_chain = np.argsort(all_chains, kind="stable")
    by_chain = by_chain[~blocked[all_chains[by_chain]]]
    counts = np.bincount(all_chains[by_chain], minlength=len(start))[~blocked]
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    start = start[~blocked]
    return half_street[start], begins[start], offsets, all_points[by_chain]


def _largest_component(
    name: str,
    streets: Streets,
    regions: Regions | None,
    water: shapely.Geometry | None,
    points: Pairs,
    street: I64,
    begins: I64,
    offsets: I64,
    path: I64,
) -> tuple[RoadMap, Dropped]:
    arrives = path[offsets[1:] - 1]
    xy = points[path]
    steps = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(xy, axis=0).T))))
    length = steps[offsets[1:] - 1] - steps[offsets[:-1]]
    # The fastest of parallel edges, the first street of those that tie; never an edge back to its start.
    order = np.lexsort((street, length / streets.vmax[street], arrives, begins))
    order = order[begins[order] != arrives[order]]
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (np.diff(begins[order]) != 0) | (np.diff(arrives[order]) != 0)
    kept = order[fresh]
    if not len(kept):
        raise UserError(f"{name} has no street that leads from one place to another")

    graph = coo_array((np.ones(len(kept)), (begins[kept], arrives[kept])), shape=(len(points), len(points)))
    _, component = connected_components(graph, directed=True, connection="strong")
    is_node = np.zeros(len(points), np.bool_)
    is_node[begins[kept]] = is_node[arrives[kept]] = True
    sizes = np.bincount(component[is_node])
    main = int(np.argmax(sizes))
    inside = (component[begins[kept]] == main) & (component[arrives[kept]] == main)
    left, kept = kept[~inside], kept[inside]
    if not len(kept):
        raise UserError(f"{name} has no two places with a way there and back; is every street one-way?")
    nodes = np.flatnonzero(is_node & (component == main))
    number = np.full(len(points), -1, np.int32)
    number[nodes] = np.arange(len(nodes), dtype=np.int32)

    counts = np.diff(offsets)[kept]
    new_offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    take = np.repeat(offsets[:-1][kept] - new_offsets[:-1], counts) + np.arange(new_offsets[-1])
    road_map = RoadMap(
        name=name,
        node_x=np.ascontiguousarray(points[nodes, 0]),
        node_y=np.ascontiguousarray(points[nodes, 1]),
        edge_from=number[begins[kept]],
        edge_to=number[arrives[kept]],
        edge_vmax=streets.vmax[street[kept]],
        edge_length=_lengths(xy, take, new_offsets),
        edge_street=street[kept].astype(np.int32),
        edge_offsets=new_offsets,
        edge_x=np.ascontiguousarray(xy[take, 0]),
        edge_y=np.ascontiguousarray(xy[take, 1]),
        streets=streets,
        regions=regions,
        water=water,
    )
    dropped = Dropped(
        components=int((sizes > 0).sum()) - 1,
        nodes=int(is_node.sum()) - len(nodes),
        edges=len(left),
        kilometres=float(length[left].sum() / 1000),
    )
    return road_map, dropped


def _lengths(xy: Pairs, take: I64, offsets: I64) -> F64:
    """Length of each polyline, added up in itself, so that no other edge's length rounds it."""
    step = np.zeros(len(take))
    step[1:] = np.hypot(*np.diff(xy[take], axis=0).T)
    step[offsets[:-1]] = 0.0
    return np.asarray(np.add.reduceat(step, offsets[:-1]), dtype=np.float64)
