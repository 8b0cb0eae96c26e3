"""A map is written whole or not at all, read again as it was, and other tools read it."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import geopandas
import numpy as np
import pyarrow.parquet as pq
import pytest
import shapely
from tests.berlinmod.city.made_maps import triangle

from causeway.berlinmod.city import Regions, RoadMap, Streets
from causeway.runtime.errors import UserError


def assert_same_map(one: object, other: object) -> None:
    for field in fields(type(one)):  # type: ignore[arg-type]
        left, right = getattr(one, field.name), getattr(other, field.name)
        if isinstance(left, Streets | Regions):
            assert_same_map(left, right)
        elif isinstance(left, np.ndarray) and left.dtype == object:
            assert shapely.equals_identical(left, right).all(), field.name
        elif isinstance(left, np.ndarray):
            assert left.dtype == right.dtype, field.name
            np.testing.assert_array_equal(left, right, err_msg=field.name)
        else:
            assert left == right, field.name


@pytest.mark.parametrize("regions", [True, False])
def test_a_map_is_read_as_it_was_written(tmp_path: Path, regions: bool) -> None:
    road_map = triangle(regions=regions)
    road_map.save(tmp_path / "map")
    assert_same_map(road_map, RoadMap.load(tmp_path / "map"))


def test_the_same_map_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        triangle().save(tmp_path / name)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "other" / file.name).read_bytes()


def test_geopandas_reads_every_layer(tmp_path: Path) -> None:
    road_map = triangle()
    road_map.save(tmp_path / "map")
    layers = {path.stem: geopandas.read_parquet(path) for path in (tmp_path / "map").glob("*.parquet")}
    assert {name: len(layer) for name, layer in layers.items()} == {
        "streets": 3,
        "nodes": 3,
        "edges": 6,
        "regions": 2,
    }
    assert all(layer.crs is None for layer in layers.values())
    assert layers["edges"].geometry.length.to_numpy() == pytest.approx(road_map.edge_length)
    assert list(layers["nodes"]["home_region"]) == ["South", "South", "Outside"]
    assert list(layers["nodes"]["work_region"]) == ["Outside"] * 3


def test_the_metadata_is_that_of_geoparquet_1_1(tmp_path: Path) -> None:
    triangle().save(tmp_path / "map")
    geo = json.loads(pq.read_metadata(tmp_path / "map" / "streets.parquet").metadata[b"geo"])
    assert geo == {
        "version": "1.1.0",
        "primary_column": "geometry",
        "columns": {
            "geometry": {
                "encoding": "WKB",
                "geometry_types": ["LineString"],
                "crs": None,
                "bbox": [0.0, 0.0, 1000.0, 1000.0],
            }
        },
    }


def test_costs_are_seconds_at_the_speed_limit() -> None:
    assert triangle().edge_seconds[0] == pytest.approx(1000 / (30 / 3.6))


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match=r"mine\.txt"):
        triangle().save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_failure_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("causeway.berlinmod.city.map_folder.write_json", fail)
    with pytest.raises(UserError, match="disk full"):
        triangle().save(tmp_path / "map")
    assert not (tmp_path / "map").exists()


@pytest.mark.parametrize(
    ("file", "damage", "message"),
    [
        ("map.json", None, r"has no map\.json"),
        ("edges.parquet", None, "is missing"),
        ("edges.parquet", b"PAR1 no more", "cannot be read as Parquet"),
        ("map.json", b"{}", "layout None"),
        ("map.json", b'{"layout": 1, "streets": 7}', "has 7 streets, its files 3"),
    ],
)
def test_damage_is_told(tmp_path: Path, file: str, damage: bytes | None, message: str) -> None:
    triangle().save(tmp_path / "map")
    path = tmp_path / "map" / file
    path.unlink() if damage is None else path.write_bytes(damage)
    with pytest.raises(UserError, match=message):
        RoadMap.load(tmp_path / "map")


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        RoadMap.load(tmp_path / "nowhere")
