"""Nodes and edges of small street plans, by hand and at random."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.berlinmod.city import RoadMap, Streets
from causeway.berlinmod.city.network import build_map
from causeway.runtime.errors import UserError


def streets(*lines: object, vmax: list[float] | None = None) -> Streets:
    geometry = np.array([shapely.from_wkt(line) for line in lines], dtype=np.object_)
    return Streets(tuple(f"s{i}" for i in range(len(lines))), np.array(vmax or [50.0] * len(lines)), geometry)


def edges(road_map: RoadMap) -> set[tuple[tuple[float, float], tuple[float, float]]]:
    point = list(zip(road_map.node_x.tolist(), road_map.node_y.tolist(), strict=True))
    return {(point[a], point[b]) for a, b in zip(road_map.edge_from, road_map.edge_to, strict=True)}


def test_streets_that_cross_have_a_node_there() -> None:
    road_map, dropped = build_map("x", streets("LINESTRING(0 0, 10 10)", "LINESTRING(0 10, 10 0)"))
    assert (road_map.nodes, road_map.edges) == (5, 8)
    assert ((5.0, 5.0), (0.0, 0.0)) in edges(road_map)
    assert dropped.components == 0


def test_without_crossings_only_shared_points_count() -> None:
    plan = streets("LINESTRING(0 0, 10 10)", "LINESTRING(0 10, 10 0)", "LINESTRING(0 0, 0 10)")
    road_map, _ = build_map("x", plan, crossings=False)
    assert (5.0, 5.0) not in {a for a, _ in edges(road_map)}
    assert (road_map.nodes, road_map.edges) == (4, 6)


def test_a_street_that_ends_on_another_splits_it() -> None:
    road_map, _ = build_map("x", streets("LINESTRING(0 0, 10 0)", "LINESTRING(4 0, 4 7)"))
    assert (road_map.nodes, road_map.edges) == (4, 6)


@pytest.mark.filterwarnings("error")
def test_a_segment_whose_square_vanishes_is_cut_like_any_other() -> None:
    plan = streets("LINESTRING(0 0, 1e-200 0, 10 0)", "LINESTRING(0 -5, 0 5)", "LINESTRING(5 -5, 5 5)")
    road_map, dropped = build_map("x", plan)
    nodes = set(zip(road_map.node_x.tolist(), road_map.node_y.tolist(), strict=True))
    assert {(0, 0), (5, 0), (10, 0)} <= nodes
    assert dropped.components == 0


def test_a_bend_is_no_node_and_stays_in_the_edge() -> None:
    road_map, _ = build_map("x", streets("LINESTRING(0 0, 10 0, 10 10)"))
    assert (road_map.nodes, road_map.edges) == (2, 2)
    assert list(zip(road_map.edge_x, road_map.edge_y, strict=True)) == [
        (0, 0),
        (10, 0),
        (10, 10),
        (10, 10),
        (10, 0),
        (0, 0),
    ]
    assert road_map.edge_length.tolist() == [20.0, 20.0]


def test_a_street_given_as_loose_segments_is_put_together() -> None:
    road_map, _ = build_map("x", streets("MULTILINESTRING((10 0, 20 0), (0 0, 10 0), (30 0, 20 0))"))
    assert (road_map.nodes, road_map.edges) == (2, 2)


def test_a_fork_is_a_node() -> None:
    road_map, _ = build_map("x", streets("MULTILINESTRING((0 0, 10 0), (10 0, 20 5), (10 0, 20 -5))"))
    assert (road_map.nodes, road_map.edges) == (4, 6)


def test_of_parallel_edges_the_fastest_stays() -> None:
    plan = streets("LINESTRING(0 0, 100 0)", "LINESTRING(0 0, 50 40, 100 0)", vmax=[30.0, 70.0])
    road_map, _ = build_map("x", plan)
    assert road_map.edges == 2
    assert road_map.edge_street.tolist() == [1, 1]
    assert road_map.edge_seconds[0] == pytest.approx(3.6 * 2 * np.hypot(50, 40) / 70)


def test_overlapping_streets_collapse() -> None:
    road_map, _ = build_map("x", streets("LINESTRING(0 0, 100 0)", "LINESTRING(50 0, 150 0)"))
    assert edges(road_map) == {
        (a, b)
        for pair in [((0.0, 0.0), (50.0, 0.0)), ((50.0, 0.0), (100.0, 0.0)), ((100.0, 0.0), (150.0, 0.0))]
        for a, b in (pair, pair[::-1])
    }


def test_closed_streets_have_no_edges() -> None:
    plan = streets("LINESTRING(0 0, 10 0)", "LINESTRING(5 5, 5 -5)", vmax=[50.0, -1.0])
    road_map, _ = build_map("x", plan)
    assert (road_map.nodes, road_map.edges) == (2, 2)
    assert len(road_map.streets.names) == 2


def test_the_largest_component_stays_and_the_rest_is_counted() -> None:
    plan = streets("LINESTRING(0 0, 10 0)", "LINESTRING(10 0, 20 0)", "LINESTRING(0 1000, 4000 1000)")
    road_map, dropped = build_map("x", plan)
    assert road_map.nodes == 3
    assert (dropped.components, dropped.nodes, dropped.edges) == (1, 2, 2)
    assert dropped.kilometres == pytest.approx(8.0)


def test_a_one_way_street_without_a_way_back_is_left_out() -> None:
    plan = streets(
        "LINESTRING(0 0, 10 0)", "LINESTRING(10 0, 10 10)", "LINESTRING(10 10, 0 0)", "LINESTRING(10 0, 90 0)"
    )
    road_map, dropped = build_map("x", plan, one_way=np.array([True, True, True, True]))
    assert edges(road_map) == {
        ((0.0, 0.0), (10.0, 0.0)),
        ((10.0, 0.0), (10.0, 10.0)),
        ((10.0, 10.0), (0.0, 0.0)),
    }
    assert (dropped.nodes, dropped.edges) == (1, 1)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (streets("LINESTRING(0 0, 10 0)", vmax=[-1.0]), "no street that is open"),
        (streets("LINESTRING(0 0, 10 0, 10 10, 0 0)"), "leads from one place to another"),
    ],
)
def test_a_map_without_a_street_is_refused(plan: Streets, message: str) -> None:
    with pytest.raises(UserError, match=message):
        build_map("x", plan)


def test_a_map_with_no_way_back_is_refused() -> None:
    with pytest.raises(UserError, match="there and back"):
        build_map("x", streets("LINESTRING(0 0, 10 0)"), one_way=np.array([True]))


_points = st.tuples(st.integers(0, 6), st.integers(0, 6))
_lines = st.lists(_points, min_size=2, max_size=5, unique=True)


@settings(max_examples=60)
@given(st.lists(_lines, min_size=1, max_size=6))
def test_the_network_covers_the_streets_and_meets_only_at_nodes(lines: list[list[tuple[int, int]]]) -> None:
    plan = streets(*(shapely.LineString(line).wkt for line in lines))
    try:
        road_map, dropped = build_map("x", plan)
    except UserError:
        return
    drawn = shapely.linestrings(
        np.stack((road_map.edge_x, road_map.edge_y), axis=1),
        indices=np.repeat(np.arange(road_map.edges), np.diff(road_map.edge_offsets)),
    )
    # Every edge runs along its street, from its first node to its second.
    for edge, line in enumerate(drawn):
        street = plan.geometry[road_map.edge_street[edge]]
        assert street.buffer(0.01).covers(line)
        assert line.coords[0] == (
            road_map.node_x[road_map.edge_from[edge]],
            road_map.node_y[road_map.edge_from[edge]],
        )
        assert line.coords[-1] == (
            road_map.node_x[road_map.edge_to[edge]],
            road_map.node_y[road_map.edge_to[edge]],
        )
        assert road_map.edge_length[edge] == pytest.approx(line.length)
    pairs = list(zip(road_map.edge_from.tolist(), road_map.edge_to.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert {(b, a) for a, b in pairs} == set(pairs)
    # Two streets cross nowhere but at a node.
    nodes = shapely.multipoints(np.stack((road_map.node_x, road_map.node_y), axis=1)).buffer(0.01)
    for one in range(len(drawn)):
        for other in range(one):
            if road_map.edge_street[one] != road_map.edge_street[other]:
                met = drawn[one].intersection(drawn[other])
                assert met.is_empty or met.length > 0.01 or nodes.covers(met)
    assert dropped.nodes >= 0
