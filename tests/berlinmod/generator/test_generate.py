"""Data sets: the same on any number of tasks and at any scale, whole or not at all, readable by Spark."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.berlinmod.small_city import line_city, small_city

from causeway import berlinmod
from causeway.berlinmod.dataset import HISTORIES, LEGS, TRIPS, Dataset, read_movements
from causeway.berlinmod.dataset.dataset import Cut
from causeway.berlinmod.generator import generate as generator
from causeway.berlinmod.generator import part as berlinmod_part
from causeway.berlinmod.model.parameters import make_parameters
from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("city") / "map"
    small_city().save(folder)
    return folder


@pytest.fixture(scope="module")
def made(spark: SparkSession, city: Path, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    out = tmp_path_factory.mktemp("made") / "data"
    return berlinmod.generate(out, cars=70, days=3, map=city, mode="region", spark=spark)


def rows(dataset: Dataset, relation: str) -> list[dict[str, object]]:
    return [row for part in dataset.parts(relation) for row in pq.read_table(part).to_pylist()]


def test_the_folder_has_every_relation_and_both_representations_are_the_same_movement(made: Dataset) -> None:
    assert made.cut == Cut(70, 32, 32)
    facts = json.loads((made.folder / "berlinmod.json").read_text())
    assert facts["parameters"]["cars"] == 70
    assert facts["map"]["nodes"] == 36
    assert not list(made.folder.parent.glob(".*"))
    units = trips = 0
    for file in range(made.cut.files):
        for group in range(len(made.cut.group_ranges(file))):
            histories, facts_of = read_movements(made.part(HISTORIES, file), group, ("vehicle", "Licence"))
            cut, columns = read_movements(made.part(TRIPS, file), group, ("vehicle", "trip", "moving"))
            assert facts_of["vehicle"].tolist() == list(range(*made.cut.group_ranges(file)[group]))
            units += histories.t.size - len(facts_of["vehicle"])
            trips += len(columns["trip"])
            for row, vehicle in enumerate(facts_of["vehicle"]):
                mine = np.flatnonzero(columns["vehicle"] == vehicle)
                assert columns["trip"][mine].tolist() == list(range(mine.size))
                whole = slice(histories.offsets[row], histories.offsets[row + 1])
                for axis in range(1, 4):
                    parts = [cut[axis][cut.offsets[trip] : cut.offsets[trip + 1]] for trip in mine]
                    assert all(a[-1] == b[0] for a, b in itertools.pairwise(parts))
                    joined = np.concatenate([parts[0], *(part[1:] for part in parts[1:])])
                    assert np.array_equal(joined, histories[axis][whole])
    assert made.counts["units"] == units
    assert made.counts["trips"] == trips == len(rows(made, TRIPS))
    assert made.counts["legs"] == len(rows(made, LEGS))


def test_the_same_rows_come_without_spark_and_from_any_task(
    spark: SparkSession, made: Dataset, tmp_path: Path
) -> None:
    for relation in (HISTORIES, TRIPS, LEGS):
        (tmp_path / relation).mkdir()
    opened = berlinmod_part.city_of(made.road_map(), "fastest")
    berlinmod_part.write_part(opened, made.parameters, tmp_path, 1)
    for relation in (HISTORIES, TRIPS, LEGS):
        alone = tmp_path / relation / "part-00001.parquet"
        assert alone.read_bytes() == made.part(relation, 1).read_bytes()


def test_vehicles_and_days_are_the_same_at_another_scale(
    spark: SparkSession, city: Path, made: Dataset, tmp_path: Path
) -> None:
    other = berlinmod.generate(tmp_path / "d", cars=33, days=2, map=city, mode="region", spark=spark)
    small = {row["vehicle"]: row for row in rows(other, HISTORIES)}
    large = {row["vehicle"]: row for row in rows(made, HISTORIES)}
    end = other.parameters.end_ms
    for vehicle, row in small.items():
        mine, theirs = row["Trip"], large[vehicle]["Trip"]
        assert row["Licence"] == large[vehicle]["Licence"]
        count = sum(moment < end for moment in mine["t"])  # type: ignore[index]
        for axis in ("t", "x", "y"):
            assert mine[axis][:count] == theirs[axis][:count]  # type: ignore[index]
    cars = [pq.read_table(dataset.relation("dataMcar")).slice(0, 33) for dataset in (other, made)]
    assert cars[0].equals(cars[1])


def test_another_seed_gives_other_trips_and_single_seeds_only_their_part(
    spark: SparkSession, city: Path, tmp_path: Path
) -> None:
    made = {
        name: berlinmod.generate(tmp_path / name, cars=4, days=1, map=city, spark=spark, **seeds)  # type: ignore[arg-type]
        for name, seeds in {"a": {}, "b": {"seed": 2}, "c": {"trip_seed": 2}, "d": {"home_seed": 2}}.items()
    }
    homes = {
        name: pq.read_table(one.relation("dataMcar")).column("home").to_pylist() for name, one in made.items()
    }
    points = {name: pq.read_table(one.relation("QueryPoints")) for name, one in made.items()}
    trips = {name: pq.read_table(one.part(TRIPS, 0)) for name, one in made.items()}
    assert homes["a"] != homes["b"] and homes["a"] == homes["c"] and homes["a"] != homes["d"]
    assert points["a"].equals(points["c"]) and not points["a"].equals(points["b"])
    assert not trips["a"].equals(trips["c"])


def test_disturbed_positions_leave_the_streets_but_not_the_times(
    spark: SparkSession, city: Path, tmp_path: Path
) -> None:
    exact = berlinmod.generate(tmp_path / "a", cars=6, days=2, map=city, spark=spark)
    noisy = berlinmod.generate(tmp_path / "b", cars=6, days=2, map=city, disturb=True, spark=spark)
    for relation in (HISTORIES, TRIPS):
        before, _ = read_movements(exact.part(relation, 0), 0)
        after, _ = read_movements(noisy.part(relation, 0), 0)
        assert np.array_equal(before.offsets, after.offsets)
        assert np.array_equal(before.t, after.t)
        for axis in (2, 3):
            error = np.abs(before[axis] - after[axis])
            assert error.mean() > 0.5
            assert error.max() <= 100.0 + 1e-6


def test_spark_reads_all_columns(spark: SparkSession, made: Dataset) -> None:
    histories = spark.read.parquet(str(made.folder / HISTORIES))
    row = histories.selectExpr(
        "count(*) n", "sum(size(Trip.t) - 1) units", "max(element_at(length, -1)) far", "min(t_min) first"
    ).first()
    assert row is not None
    assert (row.n, row.units, row.first) == (70, made.counts["units"], made.parameters.first_ms)
    assert row.far > 0
    periods = spark.read.parquet(str(made.relation("QueryPeriods1")))
    assert periods.selectExpr("Period.begin", "Period.end").count() == 10


def test_a_failed_generation_leaves_nothing(spark: SparkSession, city: Path, tmp_path: Path) -> None:
    # One-way streets: nobody gets home.
    line_city([[(0.0, 0.0), (900.0, 0.0)], [(900.0, 0.0), (1800.0, 0.0)]], [30.0, 30.0]).save(
        tmp_path / "map"
    )
    with pytest.raises(UserError, match="no way between the nodes"):
        berlinmod.generate(tmp_path / "out", cars=5, days=5, map=tmp_path / "map", spark=spark)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map"]


def test_remains_of_a_killed_generation_are_replaced_and_a_used_folder_is_refused(
    spark: SparkSession, city: Path, tmp_path: Path
) -> None:
    remains = tmp_path / ".out.unfinished"
    remains.mkdir()
    (remains / ".made-by-causeway-unfinished").write_text("")
    (remains / "dataScar").mkdir()
    made = berlinmod.generate(tmp_path / "out", cars=2, days=1, map=city, spark=spark)
    assert not remains.exists()
    with pytest.raises(UserError, match="is not empty"):
        berlinmod.generate(made.folder, cars=2, days=1, map=city, spark=spark)
    with pytest.raises(UserError, match="has no regions"):
        line_city([[(0.0, 0.0), (9.0, 0.0)]], [30.0]).save(tmp_path / "line")
        generator(spark, tmp_path / "x", make_parameters(cars=2, mode="region"), tmp_path / "line")


def test_a_folder_that_is_no_data_set_or_lacks_a_file_is_told(made: Dataset, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        Dataset.load(tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"has no berlinmod\.json"):
        Dataset.load(tmp_path)
    facts = json.loads((made.folder / "berlinmod.json").read_text())
    (tmp_path / "berlinmod.json").write_text(json.dumps(facts))
    with pytest.raises(UserError, match=r"part-00000\.parquet is gone"):
        Dataset.load(tmp_path)
    del facts["parameters"]["cars"]
    (tmp_path / "berlinmod.json").write_text(json.dumps(facts))
    with pytest.raises(UserError, match="cars"):
        Dataset.load(tmp_path)
