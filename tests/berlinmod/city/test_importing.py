"""Maps of others: SECONDO nested lists, Shapefiles, OpenStreetMap; damage is told, never a traceback."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import geopandas
import numpy as np
import osmium
import pytest
import shapefile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.reference import REFERENCE

from causeway.berlinmod.city import TABLE_9, ImportedMap, describe, import_map, open_map
from causeway.berlinmod.city.importing.openstreetmap import speed_of
from causeway.runtime.errors import UserError

AUTHORS = REFERENCE / "berlinmod"

STREETS = """
(OBJECT streets
    ()
    (rel (tuple ((Vmax real) (geoData line))))
    (
        (50.0 ((0.0 0.0 1000.0 0.0) (1000.0 0.0 2000.0 100.0)))
        (30.0 ((1000.0 -500.0 1000.0 500.0)))
        (70.0 ((2000.0 100.0 1000.0 500.0)))
        (-1.0 ((0.0 0.0 0.0 900.0)))))
"""
REGIONS = """
(OBJECT {name} () (rel (tuple ((Priority int) (Weight real) (geoData region))))
    ((1 {weight} ((((-100.0 -600.0) (1500.0 -600.0) (1500.0 600.0) (-100.0 600.0)))))
     (2 {rest} ((((-900.0 -900.0) (3000.0 -900.0) (3000.0 900.0) (-900.0 900.0)))))))
"""


@pytest.fixture
def secondo(tmp_path: Path) -> Path:
    folder = tmp_path / "secondo"
    folder.mkdir()
    (folder / "streets.data").write_text(STREETS)
    (folder / "homeRegions.data").write_text(REGIONS.format(name="homeRegions", weight=10.0, rest=5.0))
    (folder / "workRegions.data").write_text(REGIONS.format(name="workRegions", weight=1.0, rest=9.0))
    return folder


@pytest.mark.skipif(not AUTHORS.is_dir(), reason="the authors' map is not there")
def test_the_authors_map_gives_the_authors_figures() -> None:
    imported = import_map(AUTHORS)
    figures = describe(imported.road_map)
    assert figures.nodes == pytest.approx(4468, rel=0.005)
    assert figures.edges == pytest.approx(13_384, rel=0.005)
    assert {speed.vmax: speed.streets for speed in figures.by_speed} == {30: 1716, 50: 809, 70: 197}
    assert figures.closed_streets == 490
    assert imported.rejects == []
    for district, row in zip(figures.districts, TABLE_9, strict=True):
        assert district.name == row.name
        assert district.home_nodes == district.work_nodes == pytest.approx(row.nodes, rel=0.02)
        assert (district.home_weight, district.work_weight) == (row.population, row.jobs)
        if row.square_kilometres:
            assert district.square_kilometres == pytest.approx(row.square_kilometres, rel=0.01)


def test_nested_lists(secondo: Path, tmp_path: Path) -> None:
    imported = import_map(secondo)
    road_map = imported.road_map
    assert (road_map.nodes, road_map.edges) == (5, 10)
    assert road_map.regions is not None
    assert road_map.regions.home_weight.tolist() == [10.0, 5.0]
    assert road_map.regions.work_weight.tolist() == [1.0, 9.0]
    home, work = road_map.region_of_nodes()
    assert sorted(home.tolist()) == sorted(work.tolist()) == [0, 0, 0, 0, 1]
    imported.save(tmp_path / "map")
    assert open_map(tmp_path / "map").nodes == open_map(secondo).nodes == 5
    assert not (tmp_path / "map" / "rejects.csv").exists()


def test_home_and_work_regions_may_be_different_areas(secondo: Path) -> None:
    text = REGIONS.format(name="workRegions", weight=1.0, rest=9.0).replace("1500.0 6", "1501.0 6")
    (secondo / "workRegions.data").write_text(text)
    regions = import_map(secondo).road_map.regions
    assert regions is not None
    assert np.isnan(regions.work_weight).tolist() == [True, False, False]
    assert np.isnan(regions.home_weight).tolist() == [False, False, True]


def test_bad_streets_are_rejected_and_counted(secondo: Path, tmp_path: Path) -> None:
    bad = "(fast ((0 0 1 1)))\n(30.0 ((0 0 1)))\n(30.0)\n(30.0 ())\n(30.0 ((0 0 1e10 0)))\n(50.0 (("
    (secondo / "streets.data").write_text(STREETS.replace("(50.0 ((", bad, 1))
    imported = import_map(secondo)
    assert imported.road_map.nodes == 5
    assert [(reject.place, reject.reason.split(";")[0]) for reject in imported.rejects] == [
        ("line 6", "Vmax is fast"),
        ("line 7", "geoData has a member that is no segment (x1 y1 x2 y2)"),
        ("line 8", "the row has 1 values"),
        ("line 9", "geoData has no segment"),
        ("line 10", "geoData has a coordinate beyond 1,000,000,000, which is no place"),
    ]
    imported.save(tmp_path / "map")
    lines = (tmp_path / "map" / "rejects.csv").read_text().splitlines()
    assert lines[0] == "file,place,reason"
    assert len(lines) == 6
    assert imported.road_map.origin["rejected_streets"] == 5


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("streets.data", ("(OBJECT", "(("), r"streets\.data, line 2: .* never closed"),
        ("streets.data", ("(OBJECT streets", "(OBJECT streets more"), r"line 2: \(OBJECT name"),
        ("streets.data", ("900.0)))))", "900.0))))))"), r"line 9: a \) closes nothing"),
        ("streets.data", ("Vmax", "Speed"), "the relation has speed, geodata, but not Vmax"),
        (
            "streets.data",
            (STREETS[STREETS.index("        (50") : STREETS.index("(-1.0")], ""),
            "no street that is open",
        ),
        ("homeRegions.data", ("10.0", "ten"), r"homeRegions\.data, line 3: Weight is ten; a number"),
        ("homeRegions.data", ("10.0", "-4.0"), "it has to be 0 or more"),
        ("homeRegions.data", ("(-100.0 -600.0) (1500.0 -600.0) (1500.0", "(1500.0"), "a cycle of 2 points"),
        (
            "homeRegions.data",
            ("(3000.0 -900.0) (3000.0 900.0)", "(-800.0 -900.0) (-800.0 900.0)"),
            "home region Region 2 .* no node of the map is in it",
        ),
    ],
)
def test_what_is_wrong_is_told(secondo: Path, file: str, change: tuple[str, str], message: str) -> None:
    text = (secondo / file).read_text()
    assert change[0] in text
    (secondo / file).write_text(text.replace(*change, 1))
    with pytest.raises(UserError, match=message):
        import_map(secondo)


def test_regions_go_together(secondo: Path) -> None:
    (secondo / "workRegions.data").unlink()
    with pytest.raises(UserError, match="go together"):
        import_map(secondo)


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "streets.txt").write_text("x")
    with pytest.raises(UserError, match=r"\.osm"):
        import_map(tmp_path / "streets.txt")
    with pytest.raises(UserError, match="neither a map nor a folder"):
        import_map(tmp_path)
    with pytest.raises(UserError, match="no such map"):
        open_map(tmp_path / "nowhere")
    with pytest.raises(UserError, match="nowhere: no such file or folder"):
        import_map(tmp_path / "nowhere")


def write_shapefiles(folder: Path, scale: float = 1.0) -> Path:
    folder.mkdir(exist_ok=True)
    with shapefile.Writer(str(folder / "streets"), shapeType=shapefile.POLYLINE) as writer:
        writer.field("Vmax", "N", decimal=1)
        writer.field("Name", "C")
        for vmax, name, line in [
            (50.0, "Süd", [(0, 0), (1000, 0), (2000, 100)]),
            (30.0, "Nord", [(1000, -500), (1000, 500)]),
            (-1.0, "Zu", [(0, 0), (0, 900)]),
        ]:
            writer.line([[(x * scale, y * scale) for x, y in line]])
            writer.record(vmax, name)
    for kind, weights in (("home", (10, 5)), ("work", (1, 9))):
        with shapefile.Writer(str(folder / f"{kind}Regions"), shapeType=shapefile.POLYGON) as writer:
            writer.field("Priority", "N")
            writer.field("Weight", "N", decimal=1)
            for priority, weight, reach in ((1, weights[0], 1500), (2, weights[1], 3000)):
                box = [(-reach, -900), (-reach, 900), (reach, 900), (reach, -900), (-reach, -900)]
                writer.poly([[(x * scale, y * scale) for x, y in box]])
                writer.record(priority, weight)
    return folder


def test_shapefiles(tmp_path: Path) -> None:
    road_map = import_map(write_shapefiles(tmp_path / "shapes")).road_map
    assert (road_map.nodes, road_map.edges) == (5, 8)
    assert road_map.streets.names == ("Süd", "Nord", "Zu")
    assert road_map.crs is None
    assert road_map.regions is not None
    assert road_map.regions.work_weight.tolist() == [1.0, 9.0]


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_coordinate_that_is_no_place_is_rejected(tmp_path: Path) -> None:
    folder = write_shapefiles(tmp_path / "shapes")
    shapes = folder / "streets.shp"
    shapes.write_bytes(shapes.read_bytes().replace(struct.pack("<d", 900.0), struct.pack("<d", 1e300)))
    imported = import_map(folder)
    reason = "a coordinate is beyond 1,000,000,000, which is no place"
    assert [(reject.place, reject.reason) for reject in imported.rejects] == [("record 3", reason)]


def test_shapefiles_in_degrees_become_metres(tmp_path: Path) -> None:
    folder = write_shapefiles(tmp_path / "shapes", scale=1e-5)
    with pytest.raises(UserError, match="seems to be in degrees"):
        import_map(folder)
    degrees = geopandas.GeoSeries([], crs=4326).crs.to_wkt("WKT1_ESRI")
    for name in ("streets", "homeRegions", "workRegions"):
        (folder / f"{name}.prj").write_text(degrees)
    imported = import_map(folder)
    # A hundred-thousandth of a degree is 1.11 m on the equator.
    assert imported.road_map.edge_length.max() == pytest.approx(1113, rel=0.01)
    imported.save(tmp_path / "map")
    streets = geopandas.read_parquet(tmp_path / "map" / "streets.parquet").to_crs(4326)
    assert streets.total_bounds == pytest.approx([0, -0.005, 0.02, 0.009], abs=1e-7)


OSM = """<?xml version='1.0' encoding='UTF-8'?>
<osm version="0.6" generator="by hand">
{nodes}
<way id="11"><nd ref="1"/><nd ref="2"/><tag k="highway" v="primary"/><tag k="name" v="Main"/></way>
<way id="12"><nd ref="2"/><nd ref="3"/><tag k="highway" v="primary"/><tag k="name" v="Main"/></way>
<way id="13"><nd ref="2"/><nd ref="4"/><tag k="highway" v="residential"/><tag k="maxspeed" v="20 mph"/></way>
<way id="14"><nd ref="4"/><nd ref="3"/><tag k="highway" v="residential"/><tag k="oneway" v="-1"/></way>
<way id="15"><nd ref="1"/><nd ref="4"/><tag k="highway" v="footway"/></way>
<way id="16"><nd ref="3"/><nd ref="99"/><tag k="highway" v="residential"/></way>
<way id="17"><nd ref="1"/><nd ref="5"/><nd ref="3"/><tag k="highway" v="motorway"/></way>
</osm>
"""
PLACES = {1: (13.40, 52.50), 2: (13.41, 52.50), 3: (13.42, 52.50), 4: (13.41, 52.51), 5: (13.41, 52.499)}


@pytest.fixture
def osm(tmp_path: Path) -> Path:
    nodes = "\n".join(f'<node id="{i}" lon="{lon}" lat="{lat}"/>' for i, (lon, lat) in PLACES.items())
    path = tmp_path / "town.osm"
    path.write_text(OSM.format(nodes=nodes))
    return path


@pytest.mark.parametrize("suffix", [".osm", ".osm.pbf"])
def test_openstreetmap(osm: Path, tmp_path: Path, suffix: str) -> None:
    source = osm
    if suffix == ".osm.pbf":
        source = tmp_path / "town.osm.pbf"
        with osmium.SimpleWriter(str(source)) as writer:
            for entity in osmium.FileProcessor(str(osm)):
                writer.add(entity)
    imported = import_map(source)
    road_map = imported.road_map
    # Main is one street although it is two ways; node 2 is a crossing since another street begins there.
    assert set(road_map.streets.names) == {"Main", "Way 13", "Way 14", "Way 17"}
    assert road_map.nodes == 4
    to_metres = 111_320 * np.cos(np.radians(52.5))
    both_ways = {(1, 2), (2, 1), (2, 3), (3, 2), (2, 4), (4, 2), (3, 4), (1, 3)}
    assert road_map.edges == len(both_ways)
    assert road_map.edge_length.max() == pytest.approx(0.02 * to_metres, rel=0.02)
    assert sorted(set(road_map.edge_vmax)) == pytest.approx([30.0, 32.18688, 50.0, 120.0])
    assert describe(road_map).one_way_edges == 2
    assert [reject.place for reject in imported.rejects] == ["way 16"]
    imported.save(tmp_path / "map")
    nodes = geopandas.read_parquet(tmp_path / "map" / "nodes.parquet").to_crs(4326)
    found = {(round(point.x, 5), round(point.y, 5)) for point in nodes.geometry}
    assert found == {PLACES[i] for i in (1, 2, 3, 4)}


@pytest.mark.parametrize(
    ("tags", "speed"),
    [
        ({"highway": "residential"}, 30),
        ({"highway": "primary", "maxspeed": "70"}, 70),
        ({"highway": "primary", "maxspeed": "DE:urban"}, 50),
        ({"highway": "motorway", "maxspeed": "none"}, 120),
        ({"highway": "primary", "maxspeed": "signals"}, 50),
        ({"highway": "primary", "maxspeed": "0"}, 50),
        ({"highway": "residential", "access": "private"}, None),
        ({"highway": "residential", "access": "no", "motor_vehicle": "yes"}, 30),
        ({"highway": "cycleway"}, None),
        ({}, None),
    ],
)
def test_speeds_of_ways(tags: dict[str, str], speed: float | None) -> None:
    assert speed_of(tags) == speed


def test_openstreetmap_without_streets_is_refused(osm: Path) -> None:
    osm.write_text(osm.read_text().replace('"highway"', '"railway"'))
    with pytest.raises(UserError, match="no street for cars"):
        import_map(osm)


def test_a_line_of_bad_xml_is_named(osm: Path) -> None:
    osm.write_text(osm.read_text().replace('<way id="12">', "<way id=12>"))
    with pytest.raises(UserError, match="line 9"):
        import_map(osm)


def damaged(original: bytes, spots: list[tuple[int, int, bytes]]) -> bytes:
    data = bytearray(original)
    for at, length, fresh in spots:
        place = at % (len(data) + 1)
        data[place : place + length] = fresh
    return bytes(data)


SPOTS = st.lists(
    st.tuples(
        st.integers(0, 2**20),
        st.integers(0, 12),
        st.one_of(
            st.binary(max_size=6), st.sampled_from([b"(", b")", b"nan", b"1e999", b"-", b'"', b"<", b"\n"])
        ),
    ),
    min_size=1,
    max_size=4,
)


def _import_or_refuse(path: Path) -> None:
    try:
        imported = import_map(path)
    except UserError as raised:
        assert str(raised)
        return
    assert isinstance(imported, ImportedMap)
    assert imported.road_map.edges > 0
    assert np.isfinite(imported.road_map.edge_length).all()


Damage = Callable[[bytes], bytes]


@pytest.mark.filterwarnings("error::RuntimeWarning")
@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spots=SPOTS, file=st.sampled_from(["streets.data", "homeRegions.data"]))
def test_damaged_nested_lists_never_give_a_traceback(
    secondo: Path, spots: list[tuple[int, int, bytes]], file: str
) -> None:
    original = (secondo / file).read_bytes()
    try:
        (secondo / file).write_bytes(damaged(original, spots))
        _import_or_refuse(secondo)
    finally:
        (secondo / file).write_bytes(original)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spots=SPOTS, file=st.sampled_from(["streets.shp", "streets.dbf", "streets.shx", "homeRegions.shp"]))
def test_damaged_shapefiles_never_give_a_traceback(
    tmp_path: Path, spots: list[tuple[int, int, bytes]], file: str
) -> None:
    folder = write_shapefiles(tmp_path / "shapes")
    (folder / file).write_bytes(damaged((folder / file).read_bytes(), spots))
    _import_or_refuse(folder)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spots=SPOTS, pbf=st.booleans())
def test_damaged_openstreetmap_data_never_gives_a_traceback(
    osm: Path, spots: list[tuple[int, int, bytes]], pbf: bool
) -> None:
    path = osm.with_name("damaged.osm.pbf" if pbf else "damaged.osm")
    path.unlink(missing_ok=True)
    if pbf:
        with osmium.SimpleWriter(str(path)) as writer:
            for entity in osmium.FileProcessor(str(osm)):
                writer.add(entity)
    path.write_bytes(damaged((path if pbf else osm).read_bytes(), spots))
    _import_or_refuse(path)
