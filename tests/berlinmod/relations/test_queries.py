"""The query relations of section 5."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.berlinmod.small_city import small_city

from causeway.berlinmod.model.calendar import DAY_MS
from causeway.berlinmod.model.parameters import make_parameters
from causeway.berlinmod.relations import query_relations, write_relations
from causeway.berlinmod.trips.vehicles import describe_vehicles


def test_every_relation_is_drawn_as_the_paper_says() -> None:
    city, parameters = small_city(), make_parameters(scale=0.005, sample_size=2000)
    licences = describe_vehicles(city, parameters, 0, parameters.cars).licence
    tables = query_relations(city, parameters, licences)
    nodes = {(x, y) for x, y in zip(city.node_x, city.node_y, strict=True)}
    for table in tables.values():
        assert table.column("Id").to_pylist() == list(range(1, 2001))
    assert {(p["x"], p["y"]) for p in tables["QueryPoints"].column("Pos").to_pylist()} <= nodes
    corners = []
    for row in tables["QueryRegions"].to_pylist():
        x, y = np.array(row["Region"]["x"]), np.array(row["Region"]["y"])
        corners.append(x.size)
        radius = np.hypot(x - city.node_x[row["node"]], y - city.node_y[row["node"]])
        assert radius == pytest.approx(np.full(x.size, row["radius"]))
        assert np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) > 0, "counter-clockwise"
        sides = np.hypot(x - np.roll(x, 1), y - np.roll(y, 1))
        assert sides == pytest.approx(np.full(x.size, sides[0]))
        assert 3 <= row["radius"] <= 999
    assert (min(corners), max(corners)) == (3, 100)
    assert np.mean(corners) == pytest.approx(51.5, rel=0.06)
    instants = tables["QueryInstants"].column("Instant").to_numpy()
    assert np.all((instants >= parameters.begin_ms) & (instants < parameters.end_ms))
    periods = tables["QueryPeriods"].column("Period").to_pylist()
    durations = np.array([period["end"] - period["begin"] for period in periods])
    assert all(parameters.begin_ms <= period["begin"] < parameters.end_ms for period in periods)
    assert np.all(durations >= 0)
    assert np.sqrt(np.mean((durations / DAY_MS) ** 2)) == pytest.approx(1.0, rel=0.08)
    rows = tables["QueryLicences"].to_pylist()
    assert all(licences[row["vehicle"]] == row["Licence"] for row in rows)


def test_licences_are_drawn_with_replacement() -> None:
    city = small_city()
    different = []
    for seed in range(20):
        parameters = make_parameters(scale=0.005, seed=seed)
        licences = describe_vehicles(city, parameters, 0, parameters.cars).licence
        column = query_relations(city, parameters, licences)["QueryLicences"].column("Licence")
        different.append(len(set(column.to_pylist())))
    assert np.mean(different) == pytest.approx(72, abs=3)


def test_parts_one_and_two_are_the_first_and_second_ten_rows(tmp_path: Path) -> None:
    city, parameters = small_city(), make_parameters(cars=5, days=2, sample_size=15)
    write_relations(tmp_path, city, parameters, describe_vehicles(city, parameters, 0, 5))
    for name in ("QueryPoints", "QueryRegions", "QueryInstants", "QueryPeriods", "QueryLicences"):
        identifiers = [
            pq.read_table(tmp_path / f"{name}{part}.parquet").column("Id").to_pylist()
            for part in ("", "1", "2")
        ]
        assert identifiers == [list(range(1, 16)), list(range(1, 11)), list(range(11, 16))]
    assert pq.read_table(tmp_path / "Nodes.parquet").num_rows == city.nodes
    assert pq.read_table(tmp_path / "dataMcar.parquet").num_rows == 5
