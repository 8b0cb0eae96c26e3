"""Our own city has the paper's figures, and only the seed decides on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import shapely

from causeway.berlinmod.city import AUTHORS_MAP, TABLE_9, RoadMap, describe, draw_city


@pytest.fixture(scope="module")
def city() -> RoadMap:
    return draw_city(1)


def test_nodes_and_edges_are_about_the_authors(city: RoadMap) -> None:
    assert city.nodes == pytest.approx(AUTHORS_MAP.nodes, rel=0.005)
    assert city.edges == pytest.approx(AUTHORS_MAP.edges, rel=0.005)
    assert describe(city).components == 1


def test_streets_have_three_speeds_in_the_authors_proportions(city: RoadMap) -> None:
    figures = describe(city)
    assert {int(speed.vmax): speed.streets for speed in figures.by_speed} == pytest.approx(
        AUTHORS_MAP.streets_by_speed, rel=0.01
    )
    assert {int(speed.vmax): speed.kilometres for speed in figures.by_speed} == pytest.approx(
        AUTHORS_MAP.kilometres_by_speed, rel=0.25
    )
    assert figures.kilometres == pytest.approx(2391, rel=0.05)


def test_districts_are_those_of_table_9(city: RoadMap) -> None:
    districts = describe(city).districts
    assert [district.name for district in districts] == [row.name for row in TABLE_9]
    for district, row in zip(districts, TABLE_9, strict=True):
        assert district.home_nodes == district.work_nodes == pytest.approx(row.nodes, rel=0.02, abs=2)
        assert (district.home_weight, district.work_weight) == (row.population, row.jobs)
        if row.square_kilometres:
            assert district.square_kilometres == pytest.approx(row.square_kilometres, rel=0.03)


def test_districts_have_no_gap_and_do_not_overlap(city: RoadMap) -> None:
    assert city.regions is not None
    districts = city.regions.polygons[:-1]
    assert shapely.is_valid(districts).all()
    whole = shapely.union_all(districts)
    assert shapely.area(districts).sum() == pytest.approx(whole.area, rel=1e-4)
    assert whole.buffer(2).buffer(-2).geom_type == "Polygon"


def test_the_river_is_crossed_by_few_streets(city: RoadMap) -> None:
    over_water = shapely.intersects(city.streets.geometry, city.water)
    assert 8 <= over_water.sum() <= 60


def test_it_is_no_chessboard(city: RoadMap) -> None:
    segments = np.diff(city.edge_offsets) - 1
    assert segments.mean() == pytest.approx(9954 * 2 / AUTHORS_MAP.edges, rel=0.1)
    degree = np.bincount(city.edge_from)
    share = np.bincount(degree, minlength=8) / city.nodes
    # The authors' map: 12 % dead ends, 9 % with two edges, 46 % with three, 32 % with four.
    assert share[1] == pytest.approx(0.12, abs=0.04)
    assert share[3] == pytest.approx(0.46, abs=0.06)
    assert share[4] == pytest.approx(0.32, abs=0.06)


def test_every_edge_has_its_way_back_along_the_same_line(city: RoadMap) -> None:
    ends = {(int(a), int(b)): e for e, (a, b) in enumerate(zip(city.edge_from, city.edge_to, strict=True))}
    back = np.array([ends[b, a] for a, b in ends])
    np.testing.assert_allclose(city.edge_length, city.edge_length[back], rtol=1e-12)
    np.testing.assert_array_equal(city.node_x[city.edge_from], city.edge_x[city.edge_offsets[:-1]])
    np.testing.assert_array_equal(city.node_y[city.edge_to], city.edge_y[city.edge_offsets[1:] - 1])


def test_names_are_different(city: RoadMap) -> None:
    assert len(set(city.streets.names)) == len(city.streets.names)


def test_the_same_seed_gives_the_same_bytes(city: RoadMap, tmp_path: Path) -> None:
    city.save(tmp_path / "one")
    draw_city(1).save(tmp_path / "other")
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "other" / file.name).read_bytes(), file.name


def test_another_seed_gives_another_city_with_the_same_figures(city: RoadMap) -> None:
    other = draw_city(7)
    assert other.nodes == pytest.approx(AUTHORS_MAP.nodes, rel=0.005)
    assert other.edges == pytest.approx(AUTHORS_MAP.edges, rel=0.005)
    assert describe(other).kilometres == pytest.approx(2391, rel=0.08)
    assert other.extent != city.extent
