"""Every statement of the paper's Table I over Linear Road traffic, against plain Python over all reports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tests.linear_road.made_traffic import balance_request, report, standing
from tests.linear_road.random_traffic import InputTuple, make_traffic
from tests.streaming_tables.engine.reading import answers, ask, bag, continuous
from tests.streaming_tables.language.table_one import REPAIRED

import causeway
from causeway.linear_road.model.tuples import INPUT_COLUMNS
from causeway.streaming_tables.engine.connection import Connection

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = ("VID", "Spd", "XWay", "Lane", "Dir", "Seg", "Pos", "Time")
CRITICAL = {50, 52, 53}


@dataclass(frozen=True)
class Report:
    vid: int
    spd: int
    xway: int
    lane: int
    dir: int
    seg: int
    pos: int
    time: int


def _traffic() -> list[InputTuple]:
    """Ten to fifteen minutes with vehicles that stop, move over segments, and ask for balances."""
    tuples = make_traffic(Random(7), crowded=False)
    tuples += standing(9001, 30, 8) + standing(9002, 35, 5, lane=1)
    tuples += [report(60 * minute, 9003, seg=40 + minute) for minute in range(14)]
    tuples += [report(100 + 30 * number, 9005, seg=49 + number) for number in range(3)]
    tuples += [balance_request(200), report(899, 9004, seg=53)]
    return sorted(tuples, key=lambda fields: fields[1])


@dataclass(frozen=True)
class Road:
    db: Connection
    reports: list[Report]
    """In the order of arrival, which is the order of time."""

    @property
    def newest(self) -> int:
        return self.reports[-1].time

    def falling(self, tick: int) -> list[Report]:
        """All reports up to a time, the latest first."""
        return [one for one in self.reports if one.time <= tick][::-1]

    def by_vehicle(self, tick: int, count: int) -> dict[int, list[Report]]:
        groups: dict[int, list[Report]] = defaultdict(list)
        for one in self.falling(tick):
            if len(groups[one.vid]) < count:
                groups[one.vid].append(one)
        return groups

    def segment_statistics(self, tick: int) -> list[tuple[Any, ...]]:
        groups: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        for one in self.reports:
            if max(tick - 60, 0) <= one.time <= tick:
                groups[one.xway, one.dir, one.seg].append(one.spd)
        return [(*key, len(speeds), sum(speeds) / len(speeds)) for key, speeds in groups.items()]


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Iterator[Road]:
    folder = tmp_path_factory.mktemp("road")
    tuples = _traffic()
    lines = [",".join(INPUT_COLUMNS), *(",".join(map(str, fields)) for fields in tuples)]
    (folder / "LINEARROAD.STR").write_text("\n".join(lines) + "\n")
    places = [INPUT_COLUMNS.index(name) for name in COLUMNS]
    reports = [Report(*(fields[place] for place in places)) for fields in tuples if fields[0] == 0]
    with causeway.connect(folder / "w", spark=spark) as db:
        db.sql(REPAIRED["a1"])
        db.sql(REPAIRED["a2"])
        _insert(db, folder)
        db.spark.createDataFrame([(seg,) for seg in CRITICAL], "SEG INT").createOrReplaceTempView(
            "CRITICALSEGS"
        )
        vehicles = sorted({one.vid for one in reports})[::2]
        db.spark.createDataFrame([(vid,) for vid in vehicles], "VID INT").createOrReplaceTempView(
            "INVOLVEDVIDS"
        )
        db.sql(REPAIRED["d"])
        yield Road(db, reports)
        for name in ("CRITICALSEGS", "INVOLVEDVIDS"):
            db.spark.catalog.dropTempView(name)


def _insert(db: Connection, folder: Path) -> None:
    db.sql(REPAIRED["b"].replace("LINEARROAD.STR", str(folder / "LINEARROAD.STR")))
    db.sql("WAIT FOR posreports")


def test_b_inserts_the_position_reports(road: Road) -> None:
    found = ask(road.db, "SELECT * FROM posreports")
    assert bag(found) == bag(
        (r.vid, r.spd, r.xway, r.lane, r.dir, r.seg, r.pos, r.time) for r in road.reports
    )
    assert ask(road.db, "SELECT count(*) FROM posreports__rejected") == [(0,)]


@pytest.mark.parametrize("way", ["chain", "together"])
def test_c_finds_stopped_vehicles_at_every_second_with_a_report(road: Road, way: Any) -> None:
    query = continuous(road.db, REPAIRED["c"], way)
    assert query is not None
    found = answers(query)
    assert [tick for tick, _ in found] == sorted({one.time for one in road.reports})
    for tick, rows in found:
        stopped = [
            group[0]
            for group in road.by_vehicle(tick, 4).values()
            if len(group) == 4 and all(one.spd == 0 for one in group)
        ]
        assert bag(rows) == bag((one.vid, one.xway, one.lane, one.dir, one.pos) for one in stopped)
    assert max(len(rows) for _, rows in found) >= 2


def test_d_keeps_the_statistics_of_five_minutes(road: Road) -> None:
    road.db.sql("WAIT FOR segstat")
    ticks = range(0, road.newest + 1, 60)
    expected = [(*row, tick) for tick in ticks[-5:] for row in road.segment_statistics(tick)]
    assert bag(ask(road.db, "SELECT * FROM segstat")) == bag(expected)


@pytest.mark.parametrize("way", ["chain", "together"])
def test_e_finds_segment_crossings(road: Road, way: Any) -> None:
    query = continuous(road.db, REPAIRED["e"], way)
    assert query is not None
    found = answers(query)
    assert [tick for tick, _ in found] == sorted({one.time for one in road.reports})
    for tick, rows in found:
        crossed = [
            group[0]
            for group in road.by_vehicle(tick, 2).values()
            if len(group) == 2 and group[0].seg != group[1].seg
        ]
        assert bag(rows) == bag((one.vid, one.xway, one.dir, one.seg) for one in crossed)
    assert sum(len(rows) for _, rows in found) > 10


def test_f_gives_trajectories_of_involved_vehicles(road: Road) -> None:
    found = ask(road.db, REPAIRED["f"])
    involved = sorted({one.vid for one in road.reports})[::2]
    expected = {}
    for vid in involved:
        rows = [one for one in road.reports if one.vid == vid]
        rows = [one for one in rows if road.newest - 900 <= one.time <= road.newest - 600]
        if rows:
            expected[vid] = sorted(one.time for one in rows)
    assert {vid: [row["T"] for row in trajectory] for vid, trajectory in found} == expected
    for vid, trajectory in found:
        for row in trajectory:
            values = {name.lower(): value for name, value in row.items()}
            time = values.pop("t")
            assert Report(**values, time=time) in road.reports
            assert values["vid"] == vid
        assert all(one["T"] <= other["T"] for one, other in pairwise(trajectory))
    assert expected


def test_g_gives_vehicles_near_a_segment(road: Road) -> None:
    found = ask(road.db, REPAIRED["g"].replace("XX", "50"))
    expected = [
        (one.xway, one.dir, one.seg, one.vid, one.pos)
        for one in road.reports
        if abs(one.seg - 50) <= 1 and road.newest - 1200 <= one.time <= road.newest - 600
    ]
    assert bag(found) == bag(expected)
    assert expected


def test_h_joins_the_view_with_critical_segments(road: Road) -> None:
    road.db.sql("WAIT FOR segstat")
    query = continuous(road.db, REPAIRED["h"])
    assert query is not None
    ticks = list(range(0, road.newest + 1, 60))
    found = answers(query, ticks[-4])
    assert [tick for tick, _ in found] == ticks[-3:]
    for tick, rows in found:
        expected = [
            (*row, at, row[2])
            for at in ticks
            if tick - 120 <= at <= tick
            for row in road.segment_statistics(at)
            if row[2] in CRITICAL
        ]
        assert bag(rows) == bag(expected)
        assert [(row[3], -row[4]) for row in rows] == sorted((row[3], -row[4]) for row in rows)
    assert any(rows for _, rows in found)
