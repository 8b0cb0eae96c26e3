from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from causeway.linear_road.history import generate as history
from causeway.linear_road.history.generate import (
    HistoryCounts,
    expressway_files,
    generate_history,
    history_rows,
)
from causeway.linear_road.history.past_traffic import segment_history, toll_history
from causeway.linear_road.model.tuples import INPUT_COLUMNS, INPUT_SCHEMA
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import begin_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Tuples = Sequence[tuple[int, int, int] | tuple[int, int, int, int]]
"""(Type, VID, XWay) of each tuple, and Dir where a whole history is made; the rest does not matter here."""

SEGMENT_COLUMNS = ["Day", "Min", "XWay", "Dir", "Seg", "Lav", "Cnt", "Toll"]
TOLL_COLUMNS = ["VID", "Day", "XWay", "Tolls"]


@pytest.fixture
def make_workload(tmp_path: Path) -> Callable[..., Workload]:
    def make(
        tuples: Tuples,
        expressways: float = 1,
        stream_format: Literal["parquet", "csv"] = "parquet",
        source: Literal["generated", "imported"] = "imported",
    ) -> Workload:
        # Brackets, blanks and commas in a user's folder must not be taken for a pattern.
        folder = tmp_path / "a [b], {c} d"
        (folder / "stream").mkdir(parents=True)
        for number in range(2):
            columns = {name: np.full(len(tuples[number::2]), -1, np.int32) for name in INPUT_COLUMNS}
            for name, values in zip(
                ("Type", "VID", "XWay", "Dir"), zip(*tuples[number::2], strict=True), strict=False
            ):
                columns[name] = np.array(values, np.int32)
            part = pa.table(columns, schema=INPUT_SCHEMA)
            path = folder / "stream" / f"part-{number:05d}.{stream_format}"
            if stream_format == "csv":
                pyarrow.csv.write_csv(part, path, pyarrow.csv.WriteOptions(include_header=False))
            else:
                pq.write_table(part, path)
        workload = Workload(folder, source, stream_format, expressways, minutes=1, seed=None)
        workload.save()
        return workload

    return make


@pytest.fixture(scope="module")
def week(spark: SparkSession) -> pd.DataFrame:
    """Seven days of one expressway."""
    return segment_history(spark, 0, (0, 1), seed=1, days=7).toPandas()


def read(files: Sequence[Path]) -> pd.DataFrame:
    return pa.concat_tables([pq.read_table(file) for file in files]).to_pandas()


def assert_tolls_agree(rows: pd.DataFrame) -> None:
    congested = (rows.Lav.to_numpy() < 40) & (rows.Cnt.to_numpy() > 50)
    expected = np.where(congested, 2 * np.square(rows.Cnt.to_numpy().astype(np.int64) - 50), 0)
    np.testing.assert_array_equal(rows.Toll, expected)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_segment_history_has_every_key_once_in_order(week: pd.DataFrame) -> None:
    assert list(week.columns) == SEGMENT_COLUMNS
    assert (week.dtypes == np.int32).all()
    keys = np.indices((7, 1440, 2, 100)).reshape(4, -1).T + np.array([1, 1, 0, 0])
    np.testing.assert_array_equal(week[["Day", "Min", "Dir", "Seg"]], keys)
    assert (week.XWay == 0).all()


def test_segment_history_stays_in_range(week: pd.DataFrame) -> None:
    assert week.Lav.between(1, 100).all()
    assert week.Cnt.between(0, 300).all()
    assert week.Toll.max() > 2 * 100**2


def test_every_toll_agrees_with_its_row(week: pd.DataFrame) -> None:
    assert_tolls_agree(week)
    assert 0.01 < (week.Toll > 0).mean() < 0.3


def test_weekend_is_days_one_and_two_and_quieter(week: pd.DataFrame) -> None:
    # Day n falls on 1 + (70 - n) mod 7, and 6 and 7 are the weekend: yesterday was a Sunday.
    assert [1 + (70 - day) % 7 for day in range(1, 8)] == [7, 6, 5, 4, 3, 2, 1]
    vehicles = week.groupby("Day").Cnt.mean()
    assert vehicles.loc[[1, 2]].max() < 0.7 * vehicles.loc[3:].min()
    assert vehicles.loc[3:].nunique() == 5


def test_rush_hours_are_congested_and_nights_are_free(week: pd.DataFrame) -> None:
    downtown = week[(week.Day > 2) & week.Seg.between(45, 55)]
    hours = downtown.groupby([(downtown.Min - 1) // 60, "Dir"])[["Cnt", "Lav", "Toll"]].mean().unstack()
    assert (hours.Cnt.loc[2] < 2).all()
    assert (hours.Lav.loc[2] > 55).all()
    for rush in (8, 17):
        assert (hours.Cnt.loc[rush] > 1.3 * hours.Cnt.loc[12]).all()
    assert hours.Lav.loc[8, 0] < 35
    assert (hours.Lav.loc[12] > 40).all()
    assert hours.Toll.loc[8, 0] > 10_000
    # Into town in the morning, out of it in the evening.
    assert hours.Cnt.loc[8, 0] > hours.Cnt.loc[8, 1]
    assert hours.Cnt.loc[17, 0] < hours.Cnt.loc[17, 1]


def test_downtown_is_busiest_and_slowest(week: pd.DataFrame) -> None:
    day = week[week.Min.between(421, 1140)].groupby(week.Seg // 10)[["Cnt", "Lav"]].mean()
    assert day.Cnt.loc[4:5].min() > 2 * day.Cnt.loc[[0, 9]].max()
    assert day.Lav.loc[4:5].max() < day.Lav.loc[[0, 9]].min()


def test_ten_weeks_fall_on_the_right_weekdays(spark: SparkSession) -> None:
    noon = segment_history(spark, 0, (0,), seed=1).where("Min BETWEEN 721 AND 780 AND Seg = 50")
    vehicles = noon.groupBy("Day").avg("Cnt").toPandas().set_index("Day").squeeze()
    weekday = 1 + (70 - vehicles.index) % 7
    workdays = [weekday == day for day in range(1, 6)]
    assert all(days.sum() == 10 for days in workdays)
    ten_days = vehicles.groupby(weekday).mean()
    assert ten_days.loc[[6, 7]].max() < ten_days.loc[1:5].min()
    assert vehicles.nunique() > 60


def test_rows_do_not_depend_on_partitions_or_the_number_of_days(
    spark: SparkSession, week: pd.DataFrame
) -> None:
    many = segment_history(spark, 0, (0, 1), seed=1, days=1, partitions=7).toPandas()
    pd.testing.assert_frame_equal(many, week[week.Day == 1])
    vehicles = spark.range(500).selectExpr("CAST(id AS INT) AS VID", "3 AS XWay")
    one, many = (
        toll_history(vehicles.repartition(n), seed=5).toPandas().sort_values(["VID", "Day"]).to_numpy()
        for n in (1, 7)
    )
    np.testing.assert_array_equal(one, many)


def test_seed_and_expressway_matter(spark: SparkSession, week: pd.DataFrame) -> None:
    def measures(xway: int, seed: int) -> Any:
        rows = segment_history(spark, xway, (0,), seed=seed, days=1).where("Min = 480")
        return rows.select("Lav", "Cnt").toPandas().to_numpy().tolist()

    there = week[(week.Day == 1) & (week.Min == 480) & (week.Dir == 0)]
    # A direction alone is as with the other.
    assert measures(0, 1) == there[["Lav", "Cnt"]].to_numpy().tolist()
    assert measures(0, 1) != measures(0, 2)
    assert measures(0, 1) != measures(1, 1)


def test_daily_tolls_are_plausible(spark: SparkSession) -> None:
    vehicles = spark.range(1000).selectExpr("CAST(id AS INT) AS VID", "0 AS XWay")
    rows = toll_history(vehicles, seed=1).toPandas()
    assert list(rows.columns) == TOLL_COLUMNS
    assert (rows.dtypes == np.int32).all()
    assert rows.Tolls.between(0, 100_000).all()
    assert 0.3 < (rows.Tolls == 0).mean() < 0.8
    weekend = (1 + (70 - rows.Day) % 7) >= 6
    assert rows.Tolls[weekend].mean() < 0.6 * rows.Tolls[~weekend].mean()
    assert rows.groupby("VID").Tolls.sum().nunique() > 900


def test_written_history_is_whole_and_flat_files_equal_it(
    spark: SparkSession, make_workload: Callable[..., Workload]
) -> None:
    reports = [(0, 7, 0, 0), (0, 7, 0, 1), (0, 3, 4, 0), (0, 7, 4, 0), (0, 900, 0, 0), (0, 901, 0, 0)]
    requests = [(2, 55, -1, -1), (3, 56, 2, -1), (4, 57, 3, -1)]
    workload = make_workload(reports + requests, expressways=1.5)
    counts = generate_history(spark, workload, seed=9, days=1)

    assert counts == HistoryCounts(5, 3 * 1440 * 100, counts.seconds)
    facts = json.loads((workload.history / "history.json").read_text())
    assert (facts["seed"], facts["days"], facts["format"]) == (9, 1, "parquet")
    assert facts["counts"] == {"toll_history": 5, "segment_history": 432_000} == history_rows(workload)
    assert sorted(entry.name for entry in workload.folder.iterdir()) == ["history", "stream", "workload.json"]
    tables = {}
    for table, columns in (("toll_history", TOLL_COLUMNS), ("segment_history", SEGMENT_COLUMNS)):
        folder = workload.history / table
        frame = tables[table] = read(sorted(folder.iterdir()))
        assert list(frame.columns) == columns
        assert (frame.dtypes == np.int32).all()
        assert len(frame) == facts["counts"][table]
        assert frame.XWay.is_monotonic_increasing
        assert set(frame.XWay) == {0, 4}
        assert set(read(expressway_files(folder, 4)).XWay) == {4}
    used = tables["toll_history"]
    assert list(zip(used.XWay, used.VID, strict=True)) == sorted({(xway, vid) for _, vid, xway, _ in reports})
    # Nobody went west on expressway 4.
    for xway, directions in ((0, (0, 1)), (4, (0,))):
        segments = read(expressway_files(workload.history / "segment_history", xway))
        alone = segment_history(spark, xway, directions, seed=9, days=1).where("Min = 480").toPandas()
        pd.testing.assert_frame_equal(segments[segments.Min == 480].reset_index(drop=True), alone)
        assert len(segments) == 1440 * 100 * len(directions)

    flat = generate_history(spark, workload, seed=9, days=1, output_format="csv")
    assert (flat.toll_history, flat.segment_history) == (counts.toll_history, counts.segment_history)
    assert set(contents(workload.history)) == {"TollHistory.csv", "SegmentHistory.csv", "history.json"}
    for name, table in (("TollHistory.csv", "toll_history"), ("SegmentHistory.csv", "segment_history")):
        rows = pd.read_csv(workload.history / name, header=None)
        np.testing.assert_array_equal(rows, tables[table])


@pytest.mark.parametrize("stream_format", ["parquet", "csv"])
def test_tolls_have_each_vehicle_of_an_expressway_on_seventy_days(
    spark: SparkSession, make_workload: Callable[..., Workload], stream_format: str
) -> None:
    tuples = [(0, 2, 0), (0, 1, 1), (0, 1, 0), (3, 9, 1), (0, 1, 0)]
    workload = make_workload(tuples, stream_format=stream_format)
    rows = toll_history(history.used_expressways(spark, workload), seed=1).toPandas()
    expected = {(vid, day, xway) for vid, xway in ((2, 0), (1, 1), (1, 0)) for day in range(1, 71)}
    assert len(rows) == len(expected)
    assert set(zip(rows.VID, rows.Day, rows.XWay, strict=True)) == expected


@pytest.mark.parametrize(
    ("expressways", "directions"),
    [
        (0.5, {0: {0}}),
        (1, {0: {0, 1}}),
        (1.5, {0: {0, 1}, 1: {0}}),
        (2.5, {0: {0, 1}, 1: {0, 1}, 2: {0}}),
    ],
)
def test_generated_workload_has_the_directions_of_its_expressways_even_if_empty(
    tmp_path: Path, expressways: float, directions: dict[int, set[int]]
) -> None:
    workload = Workload(tmp_path, "generated", "parquet", expressways, minutes=1, seed=1)
    seen = {0: history._Expressway(1, frozenset({0}), tmp_path)}
    assert history._directions(workload, seen) == directions


def test_imported_workload_has_the_directions_that_were_reported_from(
    spark: SparkSession, make_workload: Callable[..., Workload], tmp_path: Path
) -> None:
    reports = [(0, 1, 3, 1), (0, 2, 3, 1), (0, 1, 8, 0), (0, 2, 8, 1), (0, 2, 9, 0), (2, 2, 9, 1)]
    workload = make_workload(reports, expressways=2.5)
    seen = history._write_vehicles(spark, workload, tmp_path / "vehicles")
    assert {xway: expressway.vehicles for xway, expressway in seen.items()} == {3: 2, 8: 2, 9: 1}
    assert history._directions(workload, seen) == {3: {1}, 8: {0, 1}, 9: {0}}


def test_earlier_history_stays_until_the_new_one_is_complete(
    spark: SparkSession, make_workload: Callable[..., Workload], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A generated workload has an expressway's history whether or not somebody drove there.
    workload = make_workload([(0, 1, 0, 0), (0, 2, 0, 0)], expressways=0.5, source="generated")
    begin_folder(workload.folder / ".history-new")
    (workload.folder / ".history-new" / "history").mkdir()
    assert generate_history(spark, workload, days=1).segment_history == 144_000
    assert set(read(expressway_files(workload.history / "segment_history", 0)).Dir) == {0}
    before = contents(workload.history)
    assert len(before) > 2

    def full_disk(*_: Any) -> None:
        assert contents(workload.history) == before
        raise OSError(28, "No space left on device")

    # A kill between the two renames left no history but the one put aside.
    put_aside = workload.folder / ".history-old"
    begin_folder(put_aside)
    workload.history.rename(put_aside / "history")
    with monkeypatch.context() as patched, pytest.raises(UserError, match="No space left"):
        patched.setattr(history, "write_json", full_disk)
        generate_history(spark, workload, seed=2, days=1)
    assert contents(workload.history) == before
    assert not put_aside.exists()

    # A kill after them left both; the one in place is the newer.
    begin_folder(put_aside)
    (put_aside / "history").mkdir()
    generate_history(spark, workload, seed=2, days=1)
    after = contents(workload.history)
    assert json.loads(after["history.json"])["seed"] == 2
    assert after != before
    assert sorted(entry.name for entry in workload.folder.iterdir()) == ["history", "stream", "workload.json"]


def test_a_history_that_somebody_else_made_is_left(make_workload: Callable[..., Workload]) -> None:
    workload = make_workload([(0, 1, 0, 0)])
    workload.history.mkdir()
    (workload.history / "TollHistory.csv").write_text("1,1,0,5\n")
    with pytest.raises(UserError, match="history is in the way"):
        generate_history(None, workload, days=1)  # type: ignore[arg-type]
    assert (workload.history / "TollHistory.csv").exists()


def test_stream_without_reports_is_told(spark: SparkSession, make_workload: Callable[..., Workload]) -> None:
    with pytest.raises(UserError, match="no position reports"):
        generate_history(spark, make_workload([(2, 1, -1), (3, 1, 0)]), days=1)


@pytest.mark.parametrize("stream_format", ["parquet", "csv"])
def test_broken_stream_is_told(
    spark: SparkSession, make_workload: Callable[..., Workload], stream_format: str
) -> None:
    workload = make_workload([(0, 1, 0), (0, 2, 0)], stream_format=stream_format)
    workload.parts[1].write_text("0,0,seven,0,0,0,0,0,0,0,0,0,0,0,0\n")
    with pytest.raises(UserError, match="position reports cannot be read") as raised:
        generate_history(spark, workload, days=1)
    assert str(workload.parts[1]) in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1
    assert not workload.history.exists()


@pytest.mark.parametrize("wrong", [{"seed": -1}, {"seed": 2**63}, {"output_format": "xml"}])
def test_wrong_settings_are_told(
    spark: SparkSession, make_workload: Callable[..., Workload], wrong: dict[str, Any]
) -> None:
    with pytest.raises(UserError):
        generate_history(spark, make_workload([(0, 1, 0), (0, 2, 0)]), **wrong)


@pytest.mark.slow
def test_full_size(spark: SparkSession, make_workload: Callable[..., Workload]) -> None:
    workload = make_workload([(0, vid, 0, vid // 2 % 2) for vid in range(150_000)])
    counts = generate_history(spark, workload)
    assert (counts.toll_history, counts.segment_history) == (10_500_000, 20_160_000)
    tolls = read(expressway_files(workload.history / "toll_history", 0))
    np.testing.assert_array_equal(tolls.VID, np.repeat(np.arange(150_000), 70))
    np.testing.assert_array_equal(tolls.Day, np.tile(np.arange(1, 71), 150_000))
    rows_of_day = np.zeros(71, np.int64)
    for file in expressway_files(workload.history / "segment_history", 0):
        rows = read([file])
        assert_tolls_agree(rows)
        assert rows.Lav.between(1, 100).all()
        assert rows.Cnt.between(0, 300).all()
        rows_of_day += np.bincount(rows.Day, minlength=71)
    np.testing.assert_array_equal(rows_of_day, [0] + [288_000] * 70)
