"""Exports: every format is read again by something that shares no code with its writer."""

from __future__ import annotations

import json
import re
import shutil
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import geopandas
import numpy as np
import pyarrow.parquet as pq
import pymeos
import pyproj
import pytest
import shapefile
import shapely
from tests.berlinmod.small_city import small_city

from causeway import berlinmod
from causeway.berlinmod.city import import_map
from causeway.berlinmod.city.importing.nested_list import NestedList, parse_nested_lists
from causeway.berlinmod.dataset import TRIPS, Dataset
from causeway.berlinmod.exchange import EXPORT_FORMATS, ExportFormat
from causeway.berlinmod.exchange.coordinates import Projection, to_berlin_metres
from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pymeos.pymeos_initialize("UTC")

Trip = list[tuple[str, float, float]]


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("made")
    small_city().save(folder / "map")
    return berlinmod.generate(
        folder / "data", cars=34, days=1, sample_size=12, map=folder / "map", spark=spark
    )


@pytest.fixture(scope="module")
def exports(spark: SparkSession, made: Dataset, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("exports")
    for name in EXPORT_FORMATS:
        done = berlinmod.export(made, folder / name, format=name, spark=spark)
        assert done.units == made.counts["units"]
        assert not [path for path in done.files if path.startswith(".")]
    return {name: folder / name for name in EXPORT_FORMATS}


def moment(t: int) -> str:
    return str(np.datetime64(t, "ms")).replace("T", "-")


def trips_of(dataset: Dataset) -> list[tuple[int, str, Trip]]:
    """Moid, licence and instants of every trip, in the order of their numbers."""
    found = []
    for part in dataset.parts(TRIPS):
        for row in pq.read_table(part).to_pylist():
            trip = row["Trip"]
            instants = [(moment(t), x, y) for t, x, y in zip(trip["t"], trip["x"], trip["y"], strict=True)]
            found.append((row["vehicle"] + 1, row["Licence"], instants))
    return found


def rows_of(dataset: Dataset, relation: str) -> list[dict[str, Any]]:
    return pq.read_table(dataset.relation(relation)).to_pylist()


def units_of(trip: Trip) -> list[tuple[str, str, float, float, float, float]]:
    return [(t, u, x, y, v, w) for (t, x, y), (u, v, w) in pairwise(trip)]


def read_csv(path: Path) -> list[dict[str, str]]:
    header, *lines = path.read_text().splitlines()
    return [dict(zip(header.split(","), line.split(","), strict=True)) for line in lines]


def test_csv_has_the_files_of_the_paper_and_every_value(made: Dataset, exports: dict[str, Path]) -> None:
    folder = exports["csv"]
    names = ["datamcar", "queryinstants", "querylicences", "queryperiods", "querypoints", "queryregions"]
    assert sorted(path.stem for path in folder.iterdir()) == [*names, "streets", "trips"]
    expected = [
        (moid, number, *unit)
        for number, (moid, _, trip) in enumerate(trips_of(made), 1)
        for unit in units_of(trip)
    ]
    found = [
        (int(a), int(b), c, d, *map(float, rest))
        for a, b, c, d, *rest in (row.values() for row in read_csv(folder / "trips.csv"))
    ]
    assert found == expected
    assert [tuple(row.values()) for row in read_csv(folder / "datamcar.csv")] == [
        (str(row["vehicle"] + 1), row["Licence"], row["Type"], row["Model"])
        for row in rows_of(made, "dataMcar")
    ]
    assert [(row["Id"], row["Begin"], row["End"]) for row in read_csv(folder / "queryperiods.csv")] == [
        (str(row["Id"]), moment(row["Period"]["begin"]), moment(row["Period"]["end"]))
        for row in rows_of(made, "QueryPeriods")
    ]
    corners = [
        (row["Id"], x, y)
        for row in rows_of(made, "QueryRegions")
        for x, y in zip(row["Region"]["x"], row["Region"]["y"], strict=True)
    ]
    assert [
        (int(a), float(b), float(c)) for a, b, c in map(dict.values, read_csv(folder / "queryregions.csv"))
    ] == corners
    # "The period is mandatory" in the authors' numbers.
    numbers = re.findall(r",(-?[\d.e-]+)(?=,|\n)", (folder / "streets.csv").read_text())
    assert numbers and all("." in number for number in numbers)


def test_nested_lists_are_read_by_the_importer_of_maps_and_have_every_unit(
    made: Dataset, exports: dict[str, Path]
) -> None:
    folder = exports["nested-list"]
    assert len(list(folder.iterdir())) == 9
    assert {path.suffix for path in folder.iterdir()} == {".obj"}
    again = import_map(folder / "streets.obj").road_map
    assert (again.nodes, again.edges) == (made.map["nodes"], made.map["edges"])

    def relation(name: str) -> Any:
        (whole,) = parse_nested_lists((folder / f"{name}.obj").read_text(), name)
        assert isinstance(whole, NestedList) and whole[0] == "OBJECT"
        return whole[4]

    expected = [(licence, units_of(trip)) for _, licence, trip in trips_of(made)]
    found = [
        (
            licence.strip('"'),
            [(a.strip('"'), b.strip('"'), *map(float, ends)) for (a, b, _, _), ends in units],
        )
        for licence, units in relation("datamtrip")
    ]
    assert found == expected
    assert [len(units) for _, _, _, units in relation("datascar")] == [
        sum(len(trip) - 1 for moid, _, trip in trips_of(made) if moid == one) for one in range(1, 35)
    ]
    assert relation("queryinstants")[0] == ["1", f'"{moment(rows_of(made, "QueryInstants")[0]["Instant"])}"']
    assert len(relation("queryregions")[3][1][0][0]) == len(rows_of(made, "QueryRegions")[3]["Region"]["x"])


def test_pyshp_reads_the_shapefiles_to_a_micrometre(made: Dataset, exports: dict[str, Path]) -> None:
    folder = exports["shapefile"]
    tables = ("cars", "journey", "queryinstants", "queryperiods", "querylicences", "trips")
    shapes = ("querypoints", "queryregions", "streets")
    assert {path.stem for path in folder.iterdir()} == {*tables, *shapes}
    with shapefile.Reader(dbf=(folder / "trips.dbf").open("rb")) as reader:
        found = [tuple(record) for record in reader.iterRecords()]
    expected = [
        (moid, number, *unit)
        for number, (moid, _, trip) in enumerate(trips_of(made), 1)
        for unit in units_of(trip)
    ]
    assert [row[:4] for row in found] == [row[:4] for row in expected]
    assert np.allclose([row[4:] for row in found], [row[4:] for row in expected], rtol=0, atol=5.1e-7)
    with shapefile.Reader(dbf=(folder / "journey.dbf").open("rb")) as reader:
        assert len(reader) == len(expected)
        assert reader.record(0)["Licence"] == rows_of(made, "dataMcar")[0]["Licence"]
    with shapefile.Reader(str(folder / "queryregions.shp")) as reader:
        for record, row in zip(reader.iterShapeRecords(), rows_of(made, "QueryRegions"), strict=True):
            assert record.record["Id"] == row["Id"]
            region = shapely.Polygon(list(zip(row["Region"]["x"], row["Region"]["y"], strict=True)))
            assert shapely.geometry.shape(record.shape.__geo_interface__).equals(region)
    again = import_map(folder / "streets.shp").road_map
    assert (again.nodes, again.edges) == (made.map["nodes"], made.map["edges"])


def test_geopandas_and_duckdb_read_geoparquet(made: Dataset, exports: dict[str, Path]) -> None:
    folder = exports["geoparquet"]
    trips = geopandas.read_parquet(folder / "trips")
    expected = trips_of(made)
    assert trips["Moid"].tolist() == [moid for moid, _, _ in expected]
    assert trips["Tripid"].tolist() == list(range(1, len(expected) + 1))
    for line, times, (_, _, trip) in zip(trips.geometry, trips["t"], expected, strict=True):
        assert [(x, y) for x, y in line.coords] == [(x, y) for _, x, y in trip]
        assert [moment(t) for t in times.astype("datetime64[ms]").astype(int).tolist()] == [
            t for t, _, _ in trip
        ]
    points = geopandas.read_parquet(folder / "querypoints.parquet")
    assert [(p.x, p.y) for p in points.geometry] == [
        (row["Pos"]["x"], row["Pos"]["y"]) for row in rows_of(made, "QueryPoints")
    ]
    (found,) = duckdb.sql(f"SELECT count(DISTINCT Licence) FROM '{folder}/datamcar.parquet'").fetchone()  # type: ignore[misc]
    assert found == 34


def test_meos_reads_the_same_trips_from_mf_json_and_from_binary(
    made: Dataset, exports: dict[str, Path]
) -> None:
    expected = trips_of(made)
    collection = json.loads((exports["mf-json"] / "trips.json").read_text())
    assert collection["type"] == "FeatureCollection" and collection["crs"] is None
    features = collection["features"]
    lines = (exports["meos"] / "trips.csv").read_text().splitlines()
    assert lines[0] == "tripid,vehicleid,startdate,seqno,trip"
    assert len(features) == len(lines) - 1 == len(expected)
    for feature, line, number in zip(features, lines[1:], range(len(expected)), strict=True):
        moid, licence, trip = expected[number]
        assert feature["id"] == number + 1 and feature["properties"]["Licence"] == licence
        fields = line.split(",")
        assert (int(fields[0]), int(fields[1]), fields[2]) == (number + 1, moid, trip[0][0][:10])
        of_json = pymeos.TGeomPoint.from_mfjson(json.dumps(feature["temporalGeometry"]))
        of_binary = pymeos.TGeomPoint.from_hexwkb(fields[4])
        assert of_json == of_binary
        if number < 60:
            text = ", ".join(f"POINT({x!r} {y!r})@{t[:10]} {t[11:]}+00" for t, x, y in trip)
            assert of_binary == pymeos.TGeomPointSeq(f"[{text})")
    spans = (exports["meos"] / "periods.csv").read_text().splitlines()[1:]
    periods = rows_of(made, "QueryPeriods")
    for line, row in zip(spans, periods, strict=True):
        span = pymeos.TsTzSpan(line.partition(",")[2].strip('"'))
        assert span.lower().timestamp() * 1000 == pytest.approx(row["Period"]["begin"])
        assert span.upper_inc()
    point = (exports["meos"] / "points.csv").read_text().splitlines()[1].partition(",")[2]
    assert shapely.from_wkb(point).x == rows_of(made, "QueryPoints")[0]["Pos"]["x"]


def test_degrees_are_the_inverse_of_the_authors_plane(
    spark: SparkSession, made: Dataset, tmp_path: Path
) -> None:
    berlinmod.export(made, tmp_path / "out", format="csv", coordinates="degrees", spark=spark)
    rows = read_csv(tmp_path / "out" / "querypoints.csv")
    degrees = np.array([[float(row["Pos_x"]), float(row["Pos_y"])] for row in rows])
    assert ((degrees > [13, 52]) & (degrees < [14, 53])).all()
    metres = np.column_stack(to_berlin_metres(degrees[:, 0], degrees[:, 1]))
    expected = [[row["Pos"]["x"], row["Pos"]["y"]] for row in rows_of(made, "QueryPoints")]
    assert np.allclose(metres, expected, rtol=0, atol=1e-6)
    # The Brandenburg Gate, by the formula of the authors' site.
    gate = np.ravel(to_berlin_metres(np.array([13.3777]), np.array([52.5163])))
    assert np.allclose(gate, [8595, 12261], atol=60)
    utm = Projection("degrees", pyproj.CRS(32633).to_json_dict())
    place = np.ravel(utm(np.array([389_000.0]), np.array([5_820_000.0])))
    assert np.allclose(place, [13.364, 52.517], atol=1e-2)


@pytest.mark.parametrize("name", ["csv", "shapefile", "meos"])
def test_the_same_data_gives_the_same_bytes(
    spark: SparkSession, made: Dataset, exports: dict[str, Path], tmp_path: Path, name: ExportFormat
) -> None:
    berlinmod.export(made.folder, tmp_path / "again", format=name, spark=spark)
    files = sorted(path.name for path in exports[name].iterdir())
    assert sorted(path.name for path in (tmp_path / "again").iterdir()) == files
    for file in files:
        assert (tmp_path / "again" / file).read_bytes() == (exports[name] / file).read_bytes(), file


def test_an_export_is_whole_or_not_at_all(spark: SparkSession, made: Dataset, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(made.folder, data)
    broken = data / TRIPS / "part-00001.parquet"
    content = bytearray(broken.read_bytes())
    content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
    broken.write_bytes(content)
    with pytest.raises(UserError, match="part-00001"):
        berlinmod.export(data, tmp_path / "out", format="csv", spark=spark)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match=r"not empty.*notes\.txt"):
        berlinmod.export(made, tmp_path / "used", format="csv", spark=spark)
    with pytest.raises(UserError, match="format is one of csv, nested-list"):
        berlinmod.export(made, tmp_path / "out", format="xml", spark=spark)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="metres or degrees"):
        berlinmod.export(made, tmp_path / "out", format="csv", coordinates="miles", spark=spark)  # type: ignore[arg-type]
