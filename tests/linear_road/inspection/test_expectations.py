"""Verdicts on numbers: a full run that keeps every promise, and each promise broken by its number."""

from __future__ import annotations

import math
import random
import statistics
from dataclasses import replace
from typing import Any

import pytest

from causeway.linear_road.inspection.expectations import judge, travel_law
from causeway.linear_road.inspection.traffic import Accident, Traffic
from causeway.report.figures import Figure, Verdict


def accident(lasts: int = 900, standing: bool = False) -> Accident:
    return Accident(0, 0, 2, 50, 264_000, 1000, 1000 + lasts, standing)


def full_run(expressways: float = 1.0) -> Traffic:
    law = travel_law(expressways)
    trips = int(180_000 * expressways)
    return Traffic(
        reports=int(12_000_000 * expressways),
        reports_per_minute=[int(1_100 * expressways), *[50_000] * 169, *[int(100_000 * expressways)] * 10],
        reports_per_phase=[400_000] * 30,
        last_second=10_799,
        directions=int(2 * expressways),
        vehicles=int(150_000 * expressways),
        trips=trips,
        vehicles_with_several_trips=20_000,
        vehicles_on_several_expressways=500,
        two_at_once=0,
        too_soon=0,
        vanished=0,
        outside_domain=0,
        wrong_segment=0,
        out_of_sequence=0,
        backwards=0,
        wrong_ramp=0,
        top_speed=100,
        lowest_speed=0,
        top_ramp_speed=40,
        trips_to_enter=trips,
        trips_entered=trips,
        trips_to_exit=130_000,
        trips_exited=130_000,
        entries_per_segment=[round(share * trips) for share in law.entries],
        exits_per_segment=[round(share * 130_000) for share in law.exits],
        requests_per_type={
            kind: int(n * expressways) for kind, n in {2: 60_000, 3: 12_000, 4: 48_000}.items()
        },
        requests_unanswerable=0,
        requests_sharing_a_number=0,
        requests_without_report=0,
        accidents=[accident()] * round(9 * expressways),
        toll_notifications=int(2_000_000 * expressways),
        accident_alerts=int(28_000 * expressways),
        mean_speed=50.0,
        dense_speed=20.0,
        sparse_speed=60.0,
        accident_speed=15.0,
        congested=4000,
    )


def figure(figures: tuple[Figure, ...], name: str) -> Figure:
    found = [f for f in figures if f.name == name] or [f for f in figures if f.name.startswith(name)]
    assert len(found) == 1, name
    return found[0]


def test_a_full_run_as_promised_holds() -> None:
    assert [f for f in judge(full_run(), 1.0, 180) if f.verdict is Verdict.OUT] == []


BROKEN: list[tuple[str, dict[str, Any]]] = [
    ("position reports", {"reports": 13_300_000}),
    ("position reports", {"reports": 10_700_000}),
    ("in the first minute", {"reports_per_minute": [1_301] + [100_000] * 179}),
    ("in the first minute", {"reports_per_minute": [899] + [100_000] * 179}),
    ("in each of last", {"reports_per_minute": [1_100] + [100_000] * 178 + [89_000]}),
    (
        "in each of last",
        {"reports_per_minute": [1_100, *[100_000] * 178, 111_000]},
    ),
    ("vehicles", {"vehicles": 134_000}),
    ("vehicles on several trips", {"vehicles_with_several_trips": 0}),
    ("stagger", {"reports_per_phase": [450_000] + [400_000] * 29}),
    ("directions in use", {"directions": 1}),
    ("requests per report", {"reports": 13_500_000}),
    ("type 3", {"requests_per_type": {2: 60_000, 3: 14_000, 4: 48_000}}),
    ("type 4", {"requests_per_type": {2: 60_000, 3: 12_000, 4: 20_000}}),
    ("entries", {"entries_per_segment": [1_800] * 90 + [2_100] * 10}),
    ("exit segments: mean", {"exits_per_segment": [0] * 60 + [100] * 40}),
    ("exit segments: deviation", {"exits_per_segment": [100] * 100}),
    ("accidents", {"accidents": [accident()] * 7}),
    ("accidents", {"accidents": [accident()] * 11}),
    ("minutes until cleared", {"accidents": [accident(569)] + [accident()] * 8}),
    ("minutes until cleared", {"accidents": [accident(1231)] + [accident()] * 8}),
    ("mean speed where dense", {"dense_speed": 61.0}),
    ("mean speed at accidents", {"accident_speed": 50.0}),
    ("congested segment-minutes", {"congested": 0}),
    ("toll notifications", {"toll_notifications": 3_100_000}),
    ("accident alerts", {"accident_alerts": 18_000}),
]


@pytest.mark.parametrize(("name", "broken"), BROKEN)
def test_a_number_beyond_its_bounds_is_out(name: str, broken: dict[str, Any]) -> None:
    assert figure(judge(full_run(), 1.0, 180), name).verdict is Verdict.HOLDS
    assert figure(judge(replace(full_run(), **broken), 1.0, 180), name).verdict is Verdict.OUT


def test_two_expressways_are_held_against_twice_the_numbers() -> None:
    figures = judge(full_run(2.0), 2.0, 180)
    assert figure(figures, "position reports").verdict is Verdict.HOLDS
    assert figure(figures, "in the first minute").expected == "2,200 ± 400"
    alone = judge(replace(full_run(2.0), vehicles_on_several_expressways=0), 2.0, 180)
    assert figure(alone, "vehicles on several roads").verdict is Verdict.OUT


def test_a_shorter_run_is_not_held_against_what_three_hours_bring() -> None:
    figures = judge(replace(full_run(), last_second=3599), 1.0, 60)
    for name in ("position reports", "vehicles", "toll notifications", "congested segment-minutes"):
        assert figure(figures, name).verdict is Verdict.NOT_JUDGED
        assert figure(figures, name).expected == "—"
    assert figure(figures, "in the first minute").verdict is Verdict.HOLDS


def test_accidents_still_standing_are_counted_apart() -> None:
    figures = judge(replace(full_run(), accidents=[accident(90, standing=True)] * 9), 1.0, 180)
    assert figure(figures, "minutes until cleared").verdict is Verdict.NOT_JUDGED
    assert figure(figures, "still standing").value == 9


def test_few_requests_may_stray_by_chance() -> None:
    figures = judge(replace(full_run(), reports=5_000, requests_per_type={2: 12, 3: 6, 4: 22}), 1.0, 180)
    for name in ("requests per report", "type 2", "type 4"):
        assert figure(figures, name).verdict is Verdict.HOLDS
    assert figure(figures, "type 3").verdict is Verdict.NOT_JUDGED


def test_of_a_few_seconds_no_minute_is_judged() -> None:
    figures = judge(replace(full_run(), reports_per_minute=[279], last_second=20), 1.0, 1)
    assert figure(figures, "in the first minute").verdict is Verdict.NOT_JUDGED


@pytest.mark.parametrize("expressways", [1.5, 2.5])
def test_half_an_expressway_beside_whole_ones_brings_half_of_everything(expressways: float) -> None:
    run = full_run(expressways)
    figures = judge(run, expressways, 180)
    assert [f.name for f in figures if f.verdict is Verdict.OUT] == []
    assert figure(figures, "directions in use").expected == f"{2 * expressways:g}"
    for other in (expressways - 0.5, expressways + 0.5):
        more_or_less = judge(full_run(other), expressways, 180)
        for name in ("position reports", "vehicles", "accidents", "directions in use"):
            assert figure(more_or_less, name).verdict is Verdict.OUT, (name, other)


@pytest.mark.parametrize("expressways", [0.5, 1.0, 1.5, 2.5])
def test_the_law_of_travel_is_what_drawing_gives(expressways: float) -> None:
    luck = random.Random(5)
    drawn = []
    while len(drawn) < 60_000:
        entry, exit = luck.randrange(100), round(luck.gauss(50, 20))
        # Every expressway draws alike, and the last, if it is half a one, drops what does not go east.
        half = luck.randrange(math.ceil(expressways)) >= math.floor(expressways)
        if 0 <= exit < 100 and exit != entry and (not half or exit > entry):
            drawn.append((entry, exit))
    law = travel_law(expressways)
    mean = sum(x * share for x, share in enumerate(law.exits))
    assert sum(law.entries) == pytest.approx(1)
    assert statistics.mean(x for _, x in drawn) == pytest.approx(mean, rel=0.01)
    spread = sum((x - mean) ** 2 * share for x, share in enumerate(law.exits)) ** 0.5
    assert statistics.pstdev(x for _, x in drawn) == pytest.approx(spread, rel=0.02)
    for tens in range(10):
        share = sum(e // 10 == tens for e, _ in drawn) / len(drawn)
        assert share == pytest.approx(sum(law.entries[10 * tens : 10 * tens + 10]), abs=0.005)


def test_a_half_expressway_is_held_against_the_eastern_law() -> None:
    names = ("entries", "exit segments: mean", "exit segments: deviation")
    eastern = judge(full_run(0.5), 0.5, 180)
    assert all(figure(eastern, name).verdict is Verdict.HOLDS for name in names)
    both_ways = replace(
        full_run(0.5), entries_per_segment=[900] * 100, exits_per_segment=full_run().exits_per_segment
    )
    assert figure(judge(both_ways, 0.5, 180), "entries").verdict is Verdict.OUT
    assert figure(judge(both_ways, 0.5, 180), "exit segments: mean").verdict is Verdict.OUT
