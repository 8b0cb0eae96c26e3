"""Hand-made traffic, each promise broken once, and a slow oracle that shares no code with the measuring."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from causeway.linear_road.inspection.inspect import Inspection, inspect_workload, write_figures
from causeway.linear_road.inspection.inspect import _read as read_tuples
from causeway.linear_road.inspection.traffic import Accident
from causeway.linear_road.model.tuples import ABSENT, INPUT_COLUMNS, INPUT_SCHEMA
from causeway.linear_road.workload.workload import Workload
from causeway.report.figures import Figure, Verdict

Tuple = dict[str, int]

MINUTES = 20
PLACE = 5280 * 30 + 100
CITIES = 16


def report(time: int, vehicle: int, position: int, lane: int = 2, speed: int = 50, **fields: int) -> Tuple:
    plain = {"Type": 0, "XWay": 0, "Dir": 0, "Seg": position // 5280}
    return plain | {"Time": time, "VID": vehicle, "Spd": speed, "Lane": lane, "Pos": position} | fields


def trip(vehicle: int, start: int, entry: int, exit: int, **fields: int) -> list[Tuple]:
    """Half a mile every 30 s, from the entry ramp to the exit ramp; 40 mph on both."""
    sign = 1 if exit > entry else -1
    steps = 2 * abs(exit - entry)
    lanes = [0] + [2] * (steps - 1) + [4]
    return [
        report(
            start + 30 * i,
            vehicle,
            5280 * entry + 1000 + sign * 2640 * i,
            lane,
            speed=40 if lane in (0, 4) else 60,
            **({"Dir": 0 if sign > 0 else 1} | fields),
        )
        for i, lane in enumerate(lanes)
    ]


def crash(vehicle: int, start: int, stands: int) -> list[Tuple]:
    """Onto the road, `stands` reports from one place, and off it."""
    ends = start + 30 * stands
    return [
        report(start - 60, vehicle, PLACE - 4000, lane=0, speed=30),
        report(start - 30, vehicle, PLACE - 2000),
        *[report(start + 30 * i, vehicle, PLACE, speed=0) for i in range(stands)],
        report(ends, vehicle, PLACE + 3000, lane=4, speed=30),
    ]


def sound_traffic() -> list[Tuple]:
    """Two hundred trips both ways, two of them one vehicle's, an accident of 11 minutes, five requests."""
    tuples = []
    for vehicle in range(1, 200):
        entry, exit = 7 * vehicle % 90 + 5, 7 * vehicle % 90 + (9 if vehicle % 2 else 1)
        tuples += trip(vehicle, vehicle * 7 % 600, entry, exit)
    tuples += trip(1, 900, 20, 24)
    # Detected at the second one's fourth report, 61 + 90; cleared when the first moves on, 60 + 30 * 25.
    tuples += crash(901, 60, 25) + crash(902, 61, 26)
    for number, asker in enumerate(tuples[3:8]):
        tuples.append(request(number, asker, 2 + number % 3))
    return tuples


def request(number: int, asker: Tuple, type: int) -> Tuple:
    details = {
        2: {},
        3: {"XWay": 0, "Day": 69},
        4: {"XWay": 0, "Sinit": 3, "Send": 99, "DOW": 7, "TOD": 1440},
    }[type]
    return {"Type": type, "Time": asker["Time"], "VID": asker["VID"], "QID": number} | details


def workload(folder: Path, tuples: list[Tuple], **facts: Any) -> Workload:
    described = {
        "source": "generated",
        "format": "parquet",
        "expressways": 1.0,
        "minutes": MINUTES,
        "seed": 1,
    }
    made = Workload(folder=folder, **(described | facts))
    made.stream.mkdir(parents=True)
    rows = sorted(tuples, key=lambda fields: fields["Time"])
    table = pa.table(
        {name: [row.get(name, ABSENT) for row in rows] for name in INPUT_COLUMNS}, schema=INPUT_SCHEMA
    )
    if made.format == "csv":
        without_names = pa.csv.WriteOptions(include_header=False)
        pa.csv.write_csv(table, made.stream / "part-00000.csv", without_names)
    else:
        pa.parquet.write_table(table, made.stream / "part-00000.parquet")
    return made


def figure(inspection: Inspection, name: str) -> Figure:
    found = [f for f in inspection.figures if f.name == name]
    found = found or [f for f in inspection.figures if f.name.startswith(name)]
    assert len(found) == 1, [f.name for f in inspection.figures]
    return found[0]


@pytest.fixture(scope="module")
def sound(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Inspection:
    return inspect_workload(spark, workload(tmp_path_factory.mktemp("sound"), sound_traffic()))


def test_sound_traffic_is_out_only_by_its_volume(sound: Inspection) -> None:
    out = [f.name for f in sound.figures if f.verdict is Verdict.OUT]
    assert out == ["in the first minute"]
    assert not sound.holds


def test_an_accident_of_known_length(sound: Inspection) -> None:
    assert sound.accidents == (Accident(0, 0, 2, 30, PLACE, 151, 810, False),)
    assert figure(sound, "minutes until cleared").measured == "11.0 to 11.0"
    assert figure(sound, "still standing").value == 0


def test_counts_of_sound_traffic(sound: Inspection) -> None:
    tuples = sound_traffic()
    reports = [t for t in tuples if t["Type"] == 0]
    assert figure(sound, "position reports").value == len(reports)
    assert figure(sound, "vehicles on several trips").value == 1
    assert figure(sound, "trips").verdict is Verdict.NOT_JUDGED
    for minute in sound.series:
        speeds = [t["Spd"] for t in reports if t["Time"] // 60 + 1 == minute.minute]
        assert minute.reports == len(speeds)
        assert minute.mean_speed == (pytest.approx(sum(speeds) / len(speeds)) if speeds else None)
    assert len(sound.series) == MINUTES


Fault = Callable[[list[Tuple]], None]


def of(vehicle: int, tuples: list[Tuple]) -> list[Tuple]:
    return [t for t in tuples if t["VID"] == vehicle and t["Type"] == 0]


def change(vehicle: int, which: int, **fields: int) -> Fault:
    return lambda tuples: of(vehicle, tuples)[which].update(fields)


def add(*made: Tuple) -> Fault:
    return lambda tuples: tuples.extend(made)


def drop(vehicle: int, *which: int) -> Fault:
    def mutate(tuples: list[Tuple]) -> None:
        for gone in [of(vehicle, tuples)[i] for i in which]:
            tuples.remove(gone)

    return mutate


def ask(number: int, type: int, **fields: int) -> Fault:
    return lambda tuples: tuples.append(request(number, of(5, tuples)[2], type) | fields)


def speed_past_the_accident(tuples: list[Tuple]) -> None:
    for passing in tuples:
        if passing.get("Seg") == 30 and passing["Lane"] == 2:
            passing["Spd"] = 100


# Odd vehicles go four segments east, half a mile at a time; number 3 enters at segment 26 and second 21,
# number 5 at segment 40 and second 35. The faults of one group leave each other's figures alone.
FAULTS: dict[str, tuple[list[Fault], dict[str, float], dict[str, float]]] = {
    "a wrong segment, and two reports at one time": (
        [change(3, 1, Seg=27), add(report(95, 5, 5280 * 60))],
        {"Seg is not": 1, "in two places": 1, "reports under 30 s": 1},
        {"vehicles lost": 0},
    ),
    "a segment left out, a report in between, an accident cleared too soon": (
        [
            change(3, 8, Pos=5280 * 31 + 4000, Seg=31),
            add(report(97, 5, 5280 * 41 + 1100)),
            drop(901, *range(9, 28)),
        ],
        {"moves that skip": 1, "reports under 30 s": 2, "minutes until": (270 - 151) / 60},
        {"moves the wrong": 0, "in two places": 0},
    ),
    "a report lost, and none from the exit lane": (
        [drop(3, 3), drop(5, -1)],
        {"vehicles lost": 1, "trips ended in exit lane": 200 / 202},
        {"reports under 30 s": 0},
    ),
}


@pytest.mark.parametrize("group", FAULTS)
def test_a_fault_turns_its_figure_out(
    group: str, spark: SparkSession, sound: Inspection, tmp_path: Path
) -> None:
    faults, out, holding = FAULTS[group]
    tuples = sound_traffic()
    for fault in faults:
        fault(tuples)
    inspection = inspect_workload(spark, workload(tmp_path, tuples))
    for expected, verdict in ((out, Verdict.OUT), (holding, Verdict.HOLDS)):
        for name, value in expected.items():
            assert figure(sound, name).verdict is Verdict.HOLDS, name
            assert figure(inspection, name).verdict is verdict, name
            assert figure(inspection, name).value == pytest.approx(value), name


def test_faults_that_leave_each_other_alone(spark: SparkSession, sound: Inspection, tmp_path: Path) -> None:
    faults = [
        change(3, 2, Spd=101),
        change(5, 2, Spd=-5),
        change(7, 0, Spd=41),
        change(9, 0, Lane=1),
        change(11, 2, Pos=5280 * 82 + 1001, Seg=82),
        change(13, 4, Lane=0, Spd=30),
        change(15, 3, Lane=4, Spd=30),
        speed_past_the_accident,
        add({"Type": 9, "Time": 5, "VID": 1}, *trip(500, 1195, 50, 51)),
        ask(70, 3, Day=71),
        ask(71, 4, Send=100),
        ask(72, 4, DOW=8),
        ask(73, 4, TOD=0),
        ask(74, 4, XWay=1),
        ask(3, 2),
        ask(75, 2, Time=1),
    ]
    expected = {
        "top speed": 101,
        "lowest speed": -5,
        "top speed on ramps": 41,
        "trips begun in entry lane": 202 / 203,
        "moves the wrong way": 1,
        "moves back over a ramp": 2,
        "mean speed at accidents": None,
        "tuples out of domain": 1,
        "second of the last report": 1255,
        "unanswerable requests": 5,
        "requests that share a QID": 1,
        "requests without a report": 1,
    }
    tuples = sound_traffic()
    for fault in faults:
        fault(tuples)
    inspection = inspect_workload(spark, workload(tmp_path, tuples))
    for name, value in expected.items():
        assert figure(sound, name).verdict is Verdict.HOLDS, name
        assert figure(inspection, name).verdict is Verdict.OUT, name
        assert value is None or figure(inspection, name).value == pytest.approx(value), name
    untouched = {"Seg is not", "moves that skip", "vehicles lost", "reports under"}
    assert all(figure(inspection, name).verdict is Verdict.HOLDS for name in untouched)


def test_two_expressways_and_a_vehicle_on_both(spark: SparkSession, tmp_path: Path) -> None:
    tuples = trip(1, 0, 10, 14) + trip(1, 600, 10, 14, XWay=1)
    # The second of these begins 15 s after the first does: the vehicle is in two places.
    tuples += trip(2, 0, 10, 12) + trip(2, 15, 50, 52, XWay=1)
    tuples += crash(901, 60, 36) + crash(902, 61, 37)
    for passed in range(0, 1200, 30):
        tuples += trip(100 + passed, passed, 60, 61)
    tuples = [t for t in tuples if t["Time"] < 1100]
    inspection = inspect_workload(spark, workload(tmp_path, tuples, expressways=2.0))
    assert figure(inspection, "directions in use").value == 2
    assert figure(inspection, "vehicles on several roads").value == 2
    assert figure(inspection, "in two places").verdict is Verdict.OUT
    assert figure(inspection, "still standing at the end").value == 1
    assert [accident.standing for accident in inspection.accidents] == [True]
    assert figure(inspection, "minutes until cleared").verdict is Verdict.NOT_JUDGED


@pytest.mark.parametrize("expressways", [0.5, 1.5, 2.5])
def test_a_half_expressway_has_no_western_direction(
    expressways: float, spark: SparkSession, tmp_path: Path
) -> None:
    roads = [(xway, direction) for xway in range(4) for direction in (0, 1)]
    tuples = [report(0, n, 5280, XWay=xway, Dir=direction) for n, (xway, direction) in enumerate(roads)]
    made = workload(tmp_path, tuples, expressways=expressways)
    inside = read_tuples(spark, made).where("in_domain").select("XWay", "Dir").collect()
    assert sorted(map(tuple, inside)) == roads[: int(2 * expressways)]


def test_one_and_a_half_expressways(spark: SparkSession, tmp_path: Path) -> None:
    tuples = sound_traffic() + trip(1000, 90, 40, 44, XWay=1) + trip(1001, 90, 44, 40, XWay=1)
    inspection = inspect_workload(spark, workload(tmp_path, tuples, expressways=1.5))
    assert figure(inspection, "directions in use").value == 3
    assert figure(inspection, "directions in use").verdict is Verdict.HOLDS
    assert figure(inspection, "tuples out of domain").value == len(trip(1001, 90, 44, 40))
    assert figure(inspection, "in the first minute").expected == "1,650 ± 300"


def test_an_imported_slice_of_text_begins_in_the_middle_of_trips(
    spark: SparkSession, sound: Inspection, tmp_path: Path
) -> None:
    tuples = [t for t in sound_traffic() if t["Time"] >= 30]
    made = workload(tmp_path / "slice [1]", tuples, format="csv", source="imported")
    inspection = inspect_workload(spark, made)
    assert figure(inspection, "trips begun in entry lane").verdict is Verdict.HOLDS
    verdicts = {f.name: f.verdict for f in inspection.figures}
    assert verdicts == {f.name: f.verdict for f in sound.figures}
    assert inspection.accidents == sound.accidents


def test_congestion_counts_from_the_minute_after(spark: SparkSession, tmp_path: Path) -> None:
    """Sixty vehicles crawl through one segment for five minutes; fifty through another are too few."""
    crawling = [
        report(start + 30 * i, number, 5280 * segment + 20 * i, speed=20)
        for segment, numbers in ((7, range(60)), (9, range(100, 150)))
        for number in numbers
        for start in [number % 30]
        for i in range(10)
    ]
    inspection = inspect_workload(spark, workload(tmp_path, crawling))
    assert [m.minute for m in inspection.series if m.congested_segments] == [2, 3, 4, 5, 6]
    assert figure(inspection, "congested segment-minutes").value == 5


def random_traffic(seed: int) -> list[Tuple]:
    """Sixteen times two expressways with few vehicles on few places, so that they often stop together.

    Some make several trips. None of the sixteen has a vehicle or an expressway of another.
    """
    luck = random.Random(seed)
    tuples = []
    for city in range(CITIES):
        for vehicle in range(luck.randint(6, 30)):
            time = luck.randint(0, 200)
            for _ in range(luck.randint(1, 2)):
                fields = {"XWay": 2 * city + luck.randint(0, 1), "Dir": luck.randint(0, 1)}
                step = luck.randint(0, 6)
                for _ in range(luck.randint(1, 25)):
                    position = 5280 * (50 + (1 - 2 * fields["Dir"]) * step // 2)
                    lane = luck.choices([2, 3, 4, 0], [20, 1, 1, 1])[0]
                    speed = luck.randint(0, 100)
                    tuples.append(report(time, 100 * city + vehicle, position, lane, speed, **fields))
                    step += luck.random() < 0.15
                    time += 30
                time += luck.randint(1, 300)
    return tuples


def oracle(tuples: list[Tuple]) -> tuple[set[tuple[int, ...]], int, int]:
    """Accidents, toll notifications and alerts, straight from the words of the rules and second by second."""
    at = {(t["VID"], t["Time"]): t for t in tuples}
    place = {key: (t["XWay"], t["Dir"], t["Lane"], t["Pos"]) for key, t in at.items()}
    stopped: dict[tuple[Any, ...], int] = defaultdict(int)
    for (vehicle, time), where in place.items():
        if where[2] in (1, 2, 3) and all(place.get((vehicle, time - 30 * i)) == where for i in range(4)):
            for second in range(time, time + 30):
                if second > time and (vehicle, second) in at:
                    break
                stopped[where, second] += 1
    crashed = {key for key, vehicles in stopped.items() if vehicles >= 2}
    accidents = set()
    standing = set()
    for where, second in crashed:
        standing.add((where[0], where[1], where[3] // 5280, second // 60 + 1))
        if (where, second - 1) not in crashed:
            end = second
            while (where, end) in crashed:
                end += 1
            accidents.add((*where, second, end))
    notified = [
        t
        for t in tuples
        if t["Lane"] != 4
        and ((t["VID"], t["Time"] - 30) not in at or at[t["VID"], t["Time"] - 30]["Seg"] != t["Seg"])
    ]
    alerts = sum(
        any(
            (t["XWay"], t["Dir"], t["Seg"] + (i if t["Dir"] == 0 else -i), t["Time"] // 60) in standing
            for i in range(5)
        )
        for t in notified
    )
    return accidents, len(notified), alerts


def test_the_oracle_finds_the_same(spark: SparkSession, tmp_path: Path) -> None:
    tuples = random_traffic(seed=0)
    made = workload(tmp_path, tuples, expressways=2.0 * CITIES, minutes=30)
    inspection = inspect_workload(spark, made)
    accidents, notifications, alerts = oracle(tuples)
    found = {
        (a.expressway, a.direction, a.lane, a.position, a.detected, a.cleared) for a in inspection.accidents
    }
    assert found == accidents
    assert figure(inspection, "toll notifications").value == notifications
    assert figure(inspection, "accident alerts").value == alerts


def test_the_random_traffic_has_accidents_and_alerts() -> None:
    for seed in range(3):
        accidents, _, alerts = oracle(random_traffic(seed))
        assert len(accidents) > 5
        assert alerts > 5


def test_figures_are_written_for_programs(sound: Inspection, tmp_path: Path) -> None:
    write_figures(sound, tmp_path / "inspection.json")
    facts = json.loads((tmp_path / "inspection.json").read_text())
    assert facts["holds"] is False
    assert {f["name"]: f["verdict"] for f in facts["figures"]}["top speed"] == "holds"
    assert facts["accidents"][0]["detected"] == 151
