"""The k nearest over time, against the static query at many instants (section 6.2.1)."""

from __future__ import annotations

import itertools
import math
from random import Random

import numpy as np
import pytest
import shapely

from causeway.berlinmod.neighbours.aggregates import smallest_aggregate
from causeway.berlinmod.neighbours.nearest_nodes import cell_of, cells_of
from causeway.berlinmod.neighbours.slabs import Tracks
from causeway.berlinmod.neighbours.sweep import nearest

NO_RINGS = (np.zeros(100, np.int64), np.empty(0), np.empty(0))

History = list[tuple[float, float, float]]


def made_tracks(chance: Random, count: int, last: float, partial: bool = False) -> list[History]:
    """Walks on a grid, so that ties and standing come often; some that are not observed all the time."""
    tracks = []
    for _ in range(count):
        begin = chance.choice([0.0, 7.0]) if partial else 0.0
        end = last - chance.choice([0.0, 11.0]) if partial else last
        x, y = chance.randrange(8) * 50.0, chance.randrange(8) * 50.0
        track, now = [(begin, x, y)], begin
        while now < end:
            now = min(now + chance.choice([0.5, 2.0, 2.0, 40.0, 90.0]), end)
            if chance.random() < 0.6:
                x, y = x + chance.randrange(-2, 3) * 25.0, y + chance.randrange(-2, 3) * 25.0
            track.append((now, x, y))
        tracks.append(track)
    return tracks


def as_tracks(histories: list[History]) -> Tracks:
    offsets = np.cumsum([0, *(len(one) for one in histories)]).astype(np.int64)
    t, x, y = (np.array([instant[k] for one in histories for instant in one]) for k in range(3))
    return Tracks(offsets, t, x, y)


def place(track: History, t: float) -> tuple[float, float] | None:
    for (t0, x0, y0), (t1, x1, y1) in itertools.pairwise(track):
        if t0 <= t <= t1:
            part = (t - t0) / (t1 - t0)
            return x0 + part * (x1 - x0), y0 + part * (y1 - y0)
    return None


def holds(found: list[tuple[float, float]], t: float) -> bool | None:
    """Whether an instant is in the intervals; nothing is said at their ends."""
    if any(abs(t - b) < 1e-6 or abs(t - e) < 1e-6 for b, e in found):
        return None
    return any(b < t < e for b, e in found)


def compare(
    intervals: dict[tuple[int, int], list[tuple[float, float]]],
    reference: int,
    metres: dict[int, float],
    k: int,
    t: float,
) -> None:
    order = sorted(metres.values())
    if not order:
        return
    limit = order[min(k, len(order)) - 1]
    for v, value in metres.items():
        said = holds(intervals.get((reference, v), []), t)
        clear = (
            abs(value - limit) > 1e-6
            or order.count(value) > 1
            or sum(abs(o - value) < 1e-6 for o in order) == 1
        )
        if said is not None and clear:
            assert said == (value <= limit), (reference, v, t, value, limit)


def gathered(found: tuple[np.ndarray, ...]) -> dict[tuple[int, int], list[tuple[float, float]]]:
    intervals: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for r, v, b, e in zip(*(column.tolist() for column in found), strict=True):
        intervals.setdefault((r, v), []).append((b, e))
    return intervals


@pytest.mark.parametrize("seed", range(6))
def test_the_nearest_vehicles_are_those_of_every_instant(seed: int) -> None:
    chance = Random(seed)
    histories = made_tracks(chance, 12, 700.0, partial=seed % 2 == 1)
    k = chance.choice([1, 3, 10])
    spans = np.array([[0.0, 333.0], [400.0, 700.0]])
    tracks = as_tracks(histories)
    own = np.arange(12)
    found = gathered(nearest(tracks, tracks, own, NO_RINGS, spans, k, np.ones(12, np.bool_)))
    for _ in range(150):
        t = chance.uniform(0.0, 700.0)
        inside = 0.0 <= t < 333.0 or t > 400.0
        where = {v: at for v, track in enumerate(histories) if (at := place(track, t)) is not None}
        for r, here in where.items():
            metres = {v: math.dist(here, there) for v, there in where.items() if v != r}
            if inside:
                compare(found, r, metres, k, t)
            else:
                assert not any(holds(found.get((r, v), []), t) for v in metres)


@pytest.mark.parametrize("angle", [0.0, 0.7, 2.1])
def test_ties_are_told_whatever_the_direction(angle: float) -> None:
    """Two stand on either side of the way: equally near all the time, as far as rounding lets them be."""

    def turned(x: float, y: float) -> tuple[float, float]:
        return (
            20_000.0 + x * math.cos(angle) - y * math.sin(angle),
            -3_000.0 + x * math.sin(angle) + y * math.cos(angle),
        )

    on_the_way = [
        (0.0, *turned(0, 0)),
        (7.3, *turned(91, 0)),
        (31.7, *turned(300, 0)),
        (40.0, *turned(300, 0)),
    ]
    sides = [[(0.0, *turned(170, y)), (40.0, *turned(170, y))] for y in (33.3, -33.3)]
    passing = [
        [(0.0, *turned(300, y)), (7.3, *turned(209, y)), (40.0, *turned(0, y))] for y in (5000.1, -5000.1)
    ]
    candidates = as_tracks([*sides, *passing])
    for span, k, expected in (
        ([1.0, 39.0], 1, {0, 1}),
        ([1.0, 39.0], 3, {0, 1, 2, 3}),
    ):
        found = gathered(
            nearest(
                candidates,
                as_tracks([on_the_way]),
                np.full(1, -1),
                NO_RINGS,
                np.array([span]),
                k,
                np.ones(4, np.bool_),
            )
        )
        assert {v for _, v in found} == expected
        assert all(sum(e - b for b, e in times) == pytest.approx(38.0) for times in found.values())


@pytest.mark.parametrize("seed", range(4))
def test_the_nearest_to_a_region_are_those_of_every_instant(seed: int) -> None:
    chance = Random(seed)
    histories = made_tracks(chance, 10, 400.0)
    rings = [
        [(150.0, 150.0), (260.0, 160.0), (240.0, 250.0), (170.0, 230.0)],
        [(0.0, 0.0), (300.0, 0.0), (300.0, 40.0), (40.0, 40.0), (40.0, 300.0), (0.0, 300.0)],
    ]
    corners = (
        np.array([0, 4, 10]),
        np.array([c[0] for ring in rings for c in ring]),
        np.array([c[1] for ring in rings for c in ring]),
    )
    standing = as_tracks([[(0.0, *ring[0]), (400.0, *ring[0])] for ring in rings])
    spans = np.array([[0.0, 400.0]])
    wanted = np.ones(10, np.bool_)
    found = gathered(nearest(as_tracks(histories), standing, np.full(2, -1), corners, spans, 3, wanted))
    for _ in range(150):
        t = chance.uniform(0.0, 400.0)
        for r, ring in enumerate(rings):
            region = shapely.Polygon(ring)
            metres = {v: region.distance(shapely.Point(place(track, t))) for v, track in enumerate(histories)}
            compare(found, r, metres, 3, t)


@pytest.mark.parametrize("aggregate", ["sum", "min", "max"])
@pytest.mark.parametrize("seed", range(3))
def test_the_smallest_aggregate_is_that_of_every_instant(seed: int, aggregate: str) -> None:
    chance = Random(seed)
    histories = made_tracks(chance, 9, 300.0)
    mine, members = histories[:5], histories[3:]
    spans = np.array([[10.0, 120.0], [150.0, 300.0]])
    who, begin, end = smallest_aggregate(as_tracks(mine), as_tracks(members), spans, aggregate)
    found = gathered((np.zeros(len(who), np.int64), who, begin, end))
    combine = {"sum": sum, "min": min, "max": max}[aggregate]
    for _ in range(200):
        t = chance.uniform(10.0, 120.0)
        there = [at for track in members if (at := place(track, t)) is not None]
        metres = {}
        for v, track in enumerate(mine):
            here = place(track, t)
            assert here is not None
            metres[v] = combine([math.dist(here, one) for one in there])
        limit = min(metres.values())
        for v, value in metres.items():
            said = holds([(b - 1e-3, e + 1e-3) for b, e in found.get((0, v), [])], t)
            near = any(abs(t - edge) < 2e-3 for span in found.get((0, v), []) for edge in span)
            if said is not None and not near and not 0.0 < value - limit < 1e-6:
                assert said == (value <= limit), (v, t, value, limit)


def test_a_cell_has_the_places_that_are_nearest_to_its_node() -> None:
    chance = np.random.default_rng(3)
    x, y = chance.uniform(0, 1000, (2, 60))
    for node in (0, 17, 42):
        walls, box = cell_of(x[node], y[node], x, y)
        for px, py in chance.uniform(-200, 1200, (300, 2)):
            metres = np.hypot(x - px, y - py)
            is_nearest = metres[node] <= metres.min()
            assert bool((walls[:, 0] * px + walls[:, 1] * py <= walls[:, 2]).all()) == is_nearest
            assert not is_nearest or (box[0] <= px <= box[1] and box[2] <= py <= box[3])


@pytest.mark.parametrize("angle", [0.3, 0.7, 2.1])
def test_both_nodes_beside_a_way_are_the_nearest(angle: float) -> None:
    def turned(x: float, y: float) -> tuple[float, float]:
        return (
            9_000.0 + x * math.cos(angle) - y * math.sin(angle),
            4_000.0 + x * math.sin(angle) + y * math.cos(angle),
        )

    nodes = np.array([turned(0, 50), turned(0, -50), turned(400, 0), turned(-400, 0)])
    way = np.array([turned(x, 0) for x in np.linspace(-100, 100, 201)])
    for node in (0, 1):
        walls, _ = cell_of(*nodes[node], nodes[:, 0], nodes[:, 1])
        assert (way @ walls[:, :2].T <= walls[:, 2]).all()


def test_a_point_that_is_no_node_has_no_cell() -> None:
    node_x, node_y = np.array([0.0, 100.0, 300.0]), np.array([0.0, 0.0, 50.0])
    where, cells = cells_of(np.array([50.0, 100.006, 300.0]), np.array([0.0, 0.006, 50.02]), node_x, node_y)
    assert where.tolist() == [1]
    walls, box = cell_of(100.0, 0.0, node_x, node_y)
    assert np.array_equal(cells[0][0], walls)
    assert np.array_equal(cells[0][1], box)
    assert cells_of(np.array([1.0]), np.array([1.0]), node_x, node_y)[1] == []
