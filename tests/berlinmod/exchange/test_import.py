"""Imports: what was exported comes back, in the authors' forms and in MobilityDB's; bad lines are told."""

from __future__ import annotations

import csv
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from tests.berlinmod.small_city import small_city

from causeway import berlinmod
from causeway.berlinmod.dataset import HISTORIES, TRIPS, Dataset
from causeway.berlinmod.exchange.importing import ranges
from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES = ("QueryPoints", "QueryInstants", "QueryPeriods", "QueryLicences")


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("made")
    small_city().save(folder / "map")
    return berlinmod.generate(
        folder / "data", cars=34, days=1, sample_size=12, map=folder / "map", spark=spark
    )


@pytest.fixture(scope="module")
def csv_files(spark: SparkSession, made: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files") / "csv"
    berlinmod.export(made, folder, format="csv", spark=spark)
    return folder


@pytest.fixture(scope="module")
def meos_files(spark: SparkSession, made: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files") / "meos"
    berlinmod.export(made, folder, format="meos", spark=spark)
    return folder


def movements(dataset: Dataset, relation: str) -> pa.Table:
    return pa.concat_tables([pq.read_table(part) for part in dataset.parts(relation)])


def assert_same(found: Dataset, expected: Dataset) -> None:
    assert found.cut == expected.cut
    assert found.parameters.days == expected.parameters.days
    assert found.parameters.start_day == expected.parameters.start_day
    for relation in (HISTORIES, TRIPS):
        assert movements(found, relation).equals(movements(expected, relation)), relation
    for name in QUERIES:
        for part in ("", "1", "2"):
            one, other = (pq.read_table(data.relation(name + part)) for data in (found, expected))
            assert one.equals(other), name + part
    regions = [pq.read_table(data.relation("QueryRegions")).drop(["radius"]) for data in (found, expected)]
    assert regions[0].equals(regions[1])
    for data in (found, expected):
        assert [len(data.counts) > 0, data.counts["units"]] == [True, expected.counts["units"]]


def test_the_authors_files_give_the_same_data_set(
    spark: SparkSession, made: Dataset, csv_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Small ranges, so that many tasks read, and lines are cut.
    monkeypatch.setattr(ranges.byte_ranges, "__defaults__", (400_000,))
    done = berlinmod.import_dataset(csv_files, tmp_path / "again", spark=spark)
    assert (done.rejects, done.missing) == (0, ())
    assert not (tmp_path / "again" / "rejects.csv").exists()
    assert_same(done.dataset, made)
    assert done.dataset.counts["trips"] == made.counts["trips"]
    assert done.dataset.counts["gaps_filled"] == 0
    nodes = [pq.read_table(data.relation("Nodes")).num_rows for data in (done.dataset, made)]
    assert nodes[0] == nodes[1]
    # A data set that was imported can be exported again.
    berlinmod.export(done.dataset, tmp_path / "twice", format="csv", spark=spark)
    for file in ("trips.csv", "datamcar.csv", "queryregions.csv", "querylicences.csv"):
        assert (tmp_path / "twice" / file).read_bytes() == (csv_files / file).read_bytes()


def test_the_downloads_own_ways_are_understood(
    spark: SparkSession, made: Dataset, csv_files: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "download"
    shutil.copytree(csv_files, folder)
    header, *lines = (folder / "trips.csv").read_text().splitlines()
    # Dates as `2007-05-28 09:00:34.446`, and midnight without a time; lines in any order; DOS line ends.
    short = []
    for line in lines:
        fields = line.split(",")
        for place in (2, 3):
            day, clock = fields[place][:10], fields[place][11:]
            fields[place] = day if clock == "00:00:00.000" else f"{day} {clock}"
        short.append(",".join(fields))
    random.Random(3).shuffle(short)
    (folder / "trips.csv").write_text("\r\n".join([header, *short]) + "\r\n")
    # Regions as segments, the whole file twice; no licences, as in the older archives.
    regions = [line.split(",") for line in (folder / "queryregions.csv").read_text().splitlines()[1:]]
    segments = [f"{a},{number},{x},{y},0.0,0.0" for number, (a, x, y) in enumerate(regions)]
    (folder / "queryregions.csv").write_text(
        "\n".join(["Id,SegNo,Xstart,Ystart,Xend,Yend", *segments, *segments]) + "\n"
    )
    done = berlinmod.import_dataset(folder, tmp_path / "again", spark=spark)
    assert done.rejects == 0
    assert_same(done.dataset, made)
    (folder / "querylicences.csv").unlink()
    (folder / "trips.csv").write_text("\n".join([header, *lines[:2000]]) + "\n")
    done = berlinmod.import_dataset(folder, tmp_path / "third", spark=spark)
    assert done.missing == ("querylicences.csv",)
    assert pq.read_table(done.dataset.relation("QueryLicences1")).num_rows == 0


def test_degrees_of_berlin_become_metres(spark: SparkSession, made: Dataset, tmp_path: Path) -> None:
    berlinmod.export(made, tmp_path / "geo", format="csv", coordinates="degrees", spark=spark)
    done = berlinmod.import_dataset(tmp_path / "geo", tmp_path / "again", spark=spark)
    assert done.rejects == 0
    found, expected = (
        movements(data, TRIPS).column("Trip").combine_chunks() for data in (done.dataset, made)
    )
    assert found.field("t").equals(expected.field("t"))
    for axis in ("x", "y"):
        assert np.allclose(found.field(axis).values, expected.field(axis).values, rtol=0, atol=1e-5)


def test_mobilitydbs_trips_in_binary_as_text_and_as_instants(
    spark: SparkSession, made: Dataset, meos_files: Path, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=r"has no roadsegments\.csv; give the map"):
        berlinmod.import_dataset(meos_files, tmp_path / "none", format="mobilitydb", spark=spark)
    city = made.folder / "map"
    done = berlinmod.import_dataset(meos_files, tmp_path / "a", format="mobilitydb", map=city, spark=spark)
    assert (done.rejects, done.missing) == (0, ())
    assert_same(done.dataset, made)

    texts, instants = tmp_path / "texts", tmp_path / "instants"
    for folder in (texts, instants):
        shutil.copytree(meos_files, folder)
    with (
        (meos_files / "trips.csv").open() as read,
        (texts / "trips.csv").open("w", newline="") as as_text,
        (instants / "tripsinput.csv").open("w", newline="") as as_instants,
    ):
        text, instant = csv.writer(as_text, lineterminator="\n"), csv.writer(as_instants, lineterminator="\n")
        text.writerow(["tripid", "vehid", "day", "seqno", "trip"])
        instant.writerow(["tripid", "vehicleid", "startdate", "seqno", "point", "t"])
        trips = movements(made, TRIPS).column("Trip").to_pylist()
        for row, trip in zip(list(csv.reader(read))[1:], trips, strict=True):
            times = [f"{str(np.datetime64(t, 'ms')).replace('T', ' ')}+00" for t in trip["t"]]
            places = list(zip(trip["x"], trip["y"], strict=True))
            sequence = ", ".join(f"POINT({x!r} {y!r})@{t}" for (x, y), t in zip(places, times, strict=True))
            text.writerow([*row[:4], f"SRID=3857;[{sequence})"])
            for (x, y), t in zip(places, times, strict=True):
                point = shapely.set_srid(shapely.Point(x, y), 3857)
                instant.writerow([*row[:4], shapely.to_wkb(point, hex=True, include_srid=True), t])
    (instants / "trips.csv").unlink()
    for folder in (texts, instants):
        done = berlinmod.import_dataset(
            folder, tmp_path / f"{folder.name}-again", format="mobilitydb", map=city, spark=spark
        )
        assert done.rejects == 0
        found, expected = (
            movements(data, TRIPS).column("Trip").combine_chunks() for data in (done.dataset, made)
        )
        assert found.field("t").equals(expected.field("t")), folder
        for axis in ("x", "y"):
            assert found.field(axis).equals(expected.field(axis)), folder


def test_bad_lines_are_rejected_with_file_line_and_reason_and_the_rest_is_imported(
    spark: SparkSession, made: Dataset, csv_files: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "bad"
    shutil.copytree(csv_files, folder)
    header, *lines = (folder / "trips.csv").read_text().splitlines()
    lines[10] = lines[10].replace(",", ";", 1)
    lines[20] = ",".join([*lines[20].split(",")[:4], "east", *lines[20].split(",")[5:]])
    lines[30] = "99" + lines[30]
    lines.insert(40, lines[39])
    lines.insert(50, "")
    (folder / "trips.csv").write_text("\n".join([header, *lines]) + "\n")
    cars = (folder / "datamcar.csv").read_text() + "77,B-XX 1,passenger,Trabant\n1,B-XX 2,truck,VW\n"
    (folder / "datamcar.csv").write_text(cars)
    with (folder / "queryinstants.csv").open("a") as file:
        file.write("13,yesterday\n")
    done = berlinmod.import_dataset(folder, tmp_path / "again", spark=spark)
    with (tmp_path / "again" / "rejects.csv").open() as file:
        rejects = [tuple(row) for row in csv.reader(file)]
    assert rejects[0] == ("file", "line", "reason")
    told = {(file, int(line)): reason for file, line, reason in rejects[1:]}
    assert told == {
        ("datamcar.csv", 37): "Moid 1 is there twice",
        (
            "queryinstants.csv",
            14,
        ): "Instant is 'yesterday'; a date such as 2007-05-28-06:40:15.000 was expected",
        ("trips.csv", 12): "the line has 7 fields; 8 were expected",
        ("trips.csv", 22): "Xstart is 'east'; a number was expected",
        ("trips.csv", 32): f"there is no vehicle {'99' + lines[30].partition(',')[0][2:]} among the vehicles",
        ("trips.csv", 42): "the movement begins before the one before it ends",
        ("datamcar.csv", 36): "the vehicle has no trip, so it is left out",
    }
    assert done.rejects == 7
    assert done.first_reject is not None and done.first_reject.line == 37
    assert done.dataset.counts["gaps_filled"] == 3
    # A gap is filled by straight movement, so that the same instants are there.
    assert done.dataset.counts["units"] == made.counts["units"]
    assert done.dataset.counts["vehicles"] == 34


def test_mistakes_of_the_user_are_told(
    spark: SparkSession, csv_files: Path, meos_files: Path, tmp_path: Path
) -> None:
    def run(folder: Path, **options: object) -> None:
        berlinmod.import_dataset(folder, tmp_path / "out", spark=spark, **options)  # type: ignore[arg-type]

    with pytest.raises(UserError, match="is no folder; give the one with trips"):
        run(tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"has no datamcar\.csv"):
        run(meos_files)
    with pytest.raises(UserError, match="nothing: no such map"):
        run(csv_files, map=tmp_path / "nothing")
    with pytest.raises(UserError, match="format is one of csv, mobilitydb; got xml"):
        run(csv_files, format="xml")
    folder = tmp_path / "files"
    shutil.copytree(csv_files, folder)
    (folder / "trips.csv").write_text("Moid,Tripid\n1,2\n")
    with pytest.raises(
        UserError, match=r"trips\.csv, line 1: the columns are moid,tripid; expected were Moid,"
    ):
        run(folder)
    (folder / "trips.csv").write_text("Moid,Tripid,Tstart,Tend,Xstart,Ystart,Xend,Yend\n1,2,3\n")
    with pytest.raises(
        UserError, match="has no trip; the first line that was rejected: 2: the line has 3 fields"
    ):
        run(folder)
    rome = "1,1,2007-05-28,2007-05-29,12.5,41.9,12.5,41.9\n"
    (folder / "trips.csv").write_text(f"Moid,Tripid,Tstart,Tend,Xstart,Ystart,Xend,Yend\n{rome}")
    with pytest.raises(UserError, match="seems to have degrees, but not Berlin's"):
        run(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["files"]
