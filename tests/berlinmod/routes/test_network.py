"""Routes: shortest paths, against a plain search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.berlinmod.small_city import line_city, small_city

from causeway.berlinmod.city import RoadMap
from causeway.berlinmod.routes.network import Network
from causeway.runtime.errors import UserError


def least_costs(road_map: RoadMap, cost: np.ndarray, origin: int) -> np.ndarray:
    """Bellman and Ford's method: relax every edge until nothing changes."""
    found = np.full(road_map.nodes, np.inf)
    found[origin] = 0
    while True:
        better = found.copy()
        np.minimum.at(better, road_map.edge_to, found[road_map.edge_from] + cost)
        if np.array_equal(better, found):
            return found
        found = better


@given(
    st.lists(st.tuples(st.integers(0, 35), st.booleans(), st.integers(0, 35)), min_size=1, max_size=20),
    st.sampled_from(["fastest", "shortest"]),
)
def test_every_route_is_connected_and_cheapest(pairs: list[tuple[int, bool, int]], distance: str) -> None:
    city = small_city()
    cost = city.edge_seconds if distance == "fastest" else city.edge_length
    root, reverse, far = (np.array(column) for column in zip(*pairs, strict=True))
    offsets, edges = Network.of(city, distance).routes(  # type: ignore[arg-type]
        root.astype(np.int32), reverse.astype(np.bool_), far.astype(np.int32)
    )
    for number, (one, backwards, other) in enumerate(pairs):
        origin, target = (other, one) if backwards else (one, other)
        route = edges[offsets[number] : offsets[number + 1]]
        if origin == target:
            assert route.size == 0
            continue
        assert city.edge_from[route[0]] == origin
        assert city.edge_to[route[-1]] == target
        assert np.array_equal(city.edge_to[route[:-1]], city.edge_from[route[1:]])
        assert cost[route].sum() == pytest.approx(least_costs(city, cost, origin)[target])


def test_a_place_that_cannot_be_reached_is_told() -> None:
    one_way = line_city([[(0.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (2.0, 0.0)]], [30.0, 30.0])
    network = Network.of(one_way, "fastest")
    with pytest.raises(UserError, match="no way between the nodes 2 and 0"):
        network.routes(np.array([2], np.int32), np.array([False]), np.array([0], np.int32))
