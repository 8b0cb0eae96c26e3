"""Each rule by hand, where another reading of it would answer differently.

All cases become one workload, each on expressways of its own. What is answered to the probe, and to requests,
was worked out by hand; answers to all who only make the traffic are the literal reading's.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession
from tests.linear_road.literal_reading import Tuple, expected_answers
from tests.linear_road.made_traffic import PROBE, balance_request, crowd, report, standing
from tests.linear_road.random_traffic import InputTuple
from tests.linear_road.validation.made_workload import (
    answer_lines,
    write_answers,
    write_segment_history,
    write_toll_history,
    write_workload,
)

from causeway.linear_road.validation import validate
from causeway.linear_road.workload.workload import Workload

Answer = tuple[int, ...]
"""Type, Time, then VID or QID, and the values answered."""


def toll(time: int, lav: int, amount: int) -> Answer:
    return 0, time, PROBE, lav, amount


def alert(time: int, seg: int) -> Answer:
    return 1, time, PROBE, seg


def balance(time: int, tau: int, amount: int, qid: int = 1) -> Answer:
    return 2, time, qid, tau, amount


@dataclass(frozen=True)
class Case:
    """Traffic, the right answers to the probe, and those of another reading."""

    name: str
    tuples: list[InputTuple]
    right: tuple[Answer, ...]
    wrong: tuple[Answer, ...]
    fails: dict[tuple[int, str], int] = field(default_factory=dict)
    """What is wrong with those, by type and kind."""


WRONG_TOLL, NO_TOLL, EXTRA_TOLL = {(0, "wrong"): 1}, {(0, "missing"): 1}, {(0, "extra"): 1}
WRONG_BALANCE = {(2, "wrong"): 1}

ACCIDENT = [*standing(7, 0, 4), *standing(8, 10, 4)]
"""Stopped in [90, 120) and [100, 130) of segment 52: an accident in [100, 120), minute 2."""


def after(*times: int, **where: int) -> list[InputTuple]:
    """The probe sets out in segment 50 at each of these times."""
    return [report(time, **where) for time in times]


PAYS = [*crowd(1, 51), report(60), report(90, seg=51)]
"""The probe is quoted 2 at 60, and pays it at 90. What it is told at 90 is (-1, 0)."""
PAID = (toll(60, 30, 2), toll(90, -1, 0))

CASES = [
    Case(
        "Lav is the mean over vehicles, not over reports",
        [report(0, 7, spd=0), report(30, 7, spd=100), report(1, 8, spd=100), report(60)],
        (toll(60, 75, 0),),
        (toll(60, 66, 0),),
        WRONG_TOLL,
    ),
    Case(
        "a vehicle with two trips in a minute has one mean of all its reports",
        [report(0, 7, spd=0), report(30, 7, spd=0), report(40, 7, spd=99), report(1, 8, spd=67), report(60)],
        (toll(60, 50, 0),),
        (toll(60, 55, 0),),
        WRONG_TOLL,
    ),
    Case(
        "of the five minutes, those without vehicles do not count",
        [report(0, 7, spd=10), *(report(120 + v, v, spd=51) for v in (7, 8, 9)), report(180)],
        (toll(180, 30, 0),),
        (toll(180, 12, 0),),
        WRONG_TOLL,
    ),
    Case(
        "minutes weigh alike, whatever their vehicles",
        [report(0, 7, spd=10), *(report(60 + v, v, spd=50) for v in (7, 8, 9)), report(120)],
        (toll(120, 30, 0),),
        (toll(120, 40, 0),),
        WRONG_TOLL,
    ),
    Case(
        "the minute itself and the sixth before do not count",
        [report(0, 7, spd=10), report(60, 8, spd=20), report(360, 9, spd=90), report(361)],
        (toll(361, 20, 0),),
        (toll(361, 40, 0),),
        WRONG_TOLL,
    ),
    Case(
        "nobody in five minutes is -1, and no toll",
        [*crowd(1, 60), report(360)],
        (toll(360, -1, 0),),
        (toll(360, 0, 0),),
        WRONG_TOLL,
    ),
    Case(
        "Lav is rounded down",
        [*crowd(1, 50, spd=40), report(3, 7, spd=39), report(60)],
        (toll(60, 39, 2),),
        (toll(60, 40, 0),),
        WRONG_TOLL,
    ),
    Case(
        "40 mph is free",
        [*crowd(1, 51, spd=40), report(60)],
        (toll(60, 40, 0),),
        (toll(60, 40, 2),),
        WRONG_TOLL,
    ),
    Case(
        "50 vehicles are free",
        [*crowd(1, 50), report(60)],
        (toll(60, 30, 0),),
        (toll(60, 30, 2),),
        WRONG_TOLL,
    ),
    Case(
        "a vehicle with two trips in a minute is one vehicle",
        [*crowd(1, 50), report(7, 5000), report(60)],
        (toll(60, 30, 0),),
        (toll(60, 30, 2),),
        WRONG_TOLL,
    ),
    Case(
        "vehicles on the ramps count",
        [*crowd(1, 30, lane=0), *crowd(1, 51, lane=4)[30:], report(60)],
        (toll(60, 30, 2),),
        (toll(60, -1, 0),),
        WRONG_TOLL,
    ),
    Case(
        "cars are those of the last minute, not the mean of five",
        [*crowd(1, 60), *crowd(2, 51), report(120)],
        (toll(120, 30, 2),),
        (toll(120, 30, 50),),
        WRONG_TOLL,
    ),
    Case(
        "who goes on in a segment is told nothing",
        [report(0), report(30)],
        (toll(0, -1, 0),),
        (toll(0, -1, 0), toll(30, -1, 0)),
        EXTRA_TOLL,
    ),
    Case(
        "31 s later another trip begins",
        [report(0), report(31)],
        (toll(0, -1, 0), toll(31, -1, 0)),
        (toll(0, -1, 0),),
        NO_TOLL,
    ),
    Case(
        "another expressway is another trip",
        [report(0), report(30, xway=1)],
        (toll(0, -1, 0), toll(30, -1, 0)),
        (toll(0, -1, 0),),
        NO_TOLL,
    ),
    Case(
        "another direction is another trip",
        [report(0), report(30, direction=1)],
        (toll(0, -1, 0), toll(30, -1, 0)),
        (toll(0, -1, 0),),
        NO_TOLL,
    ),
    Case(
        "nobody is told in the exit lane",
        [report(0), report(30, seg=51, lane=4)],
        (toll(0, -1, 0),),
        (toll(0, -1, 0), toll(30, -1, 0)),
        EXTRA_TOLL,
    ),
    Case(
        "an alert is for the minute after the accident",
        [*ACCIDENT, *after(119, 120, 179, 180, seg=51)],
        (
            toll(119, -1, 0),
            toll(120, 30, 0),
            toll(179, 30, 0),
            toll(180, 30, 0),
            alert(120, 52),
            alert(179, 52),
        ),
        (
            toll(119, -1, 0),
            toll(120, 30, 0),
            toll(179, 30, 0),
            toll(180, 30, 0),
            alert(119, 52),
            alert(180, 52),
        ),
        {(1, "missing"): 2, (1, "extra"): 2},
    ),
    Case(
        "one second of a minute is enough",
        [*standing(7, 1, 4), *standing(8, 10, 4), *after(239, seg=51)],
        (toll(239, -1, 0), alert(239, 52)),
        (toll(239, -1, 0),),
        {(1, "missing"): 1},
    ),
    Case(
        "three reports are no stop",
        [*standing(7, 0, 9), *standing(8, 0, 3), *after(120, seg=51)],
        (toll(120, -1, 0),),
        (toll(120, -1, 0), alert(120, 52)),
        {(1, "extra"): 1},
    ),
    Case(
        "on a ramp there is no accident",
        [*standing(7, 0, 9, lane=4), *standing(8, 0, 9, lane=4), *after(120, seg=51)],
        (toll(120, -1, 0),),
        (toll(120, -1, 0), alert(120, 52)),
        {(1, "extra"): 1},
    ),
    Case(
        "who is seen elsewhere is no longer stopped",
        [*standing(7, 5, 5), *standing(8, 10, 4), report(115, 8, seg=20), *after(180, seg=51)],
        (toll(180, -1, 0),),
        (toll(180, -1, 0), alert(180, 52)),
        {(1, "extra"): 1},
    ),
    Case(
        "who is seen on another expressway is",
        [*standing(7, 5, 5), *standing(8, 10, 4), report(115, 8, seg=20, xway=1), *after(180, seg=51)],
        (toll(180, -1, 0), alert(180, 52)),
        (toll(180, -1, 0),),
        {(1, "missing"): 1},
    ),
    Case(
        "a stop goes on with the next report from there",
        [*standing(7, 25, 4), *standing(8, 10, 5), report(115, 8, seg=20), *after(180, seg=51)],
        (toll(180, -1, 0), alert(180, 52)),
        (toll(180, -1, 0),),
        {(1, "missing"): 1},
    ),
    Case(
        "accidents four segments ahead are told, of those five ahead nothing",
        [*ACCIDENT, report(120, seg=48), report(151, seg=47)],
        (toll(120, -1, 0), alert(120, 52), toll(151, -1, 0)),
        (toll(120, -1, 0), toll(151, -1, 0), alert(151, 52)),
        {(1, "missing"): 1, (1, "extra"): 1},
    ),
    Case(
        "ahead is down the numbers in the west",
        [
            *standing(7, 0, 4, direction=1),
            *standing(8, 10, 4, direction=1),
            report(120, seg=56, direction=1),
            report(151, seg=51, direction=1),
        ],
        (toll(120, -1, 0), alert(120, 52), toll(151, -1, 0)),
        (toll(120, -1, 0), toll(151, -1, 0), alert(151, 52)),
        {(1, "missing"): 1, (1, "extra"): 1},
    ),
    Case(
        "any of several accidents ahead may be named, but a segment with one",
        [
            *(
                tuple_
                for vid, seg in ((7, 52), (8, 52), (9, 54), (10, 54))
                for tuple_ in standing(vid, 0, 9, pos=5280 * seg)
            ),
            *after(120, 151, 182),
        ],
        (
            toll(120, -1, 0),
            toll(151, -1, 0),
            toll(182, 30, 0),
            alert(120, 52),
            alert(151, 54),
            alert(182, 52),
        ),
        (
            toll(120, -1, 0),
            toll(151, -1, 0),
            toll(182, 30, 0),
            alert(120, 53),
            alert(151, 55),
            alert(182, 50),
        ),
        {(1, "wrong"): 3},
    ),
    Case(
        "an accident ahead lifts the toll",
        [*ACCIDENT, *crowd(2, 51, seg=48), report(120, seg=48)],
        (toll(120, 30, 0), alert(120, 52)),
        (toll(120, 30, 2), alert(120, 52)),
        WRONG_TOLL,
    ),
    Case(
        "the quoted toll is paid, not that of the last report",
        [*crowd(1, 51), *crowd(2, 60), *after(60, 90, 120), report(150, seg=51), balance_request(150)],
        (toll(60, 30, 2), toll(150, -1, 0), balance(150, 150, 2)),
        (toll(60, 30, 2), toll(150, -1, 0), balance(150, 150, 242)),
        WRONG_BALANCE,
    ),
    Case(
        "a segment is paid for when it is left, not when it is entered",
        [*crowd(1, 51), report(60), balance_request(80)],
        (toll(60, 30, 2), balance(80, 80, 0)),
        (toll(60, 30, 2), balance(80, 80, 2)),
        WRONG_BALANCE,
    ),
    Case(
        "who enters the next segment in its exit lane pays",
        [*crowd(1, 51), report(60), report(90, seg=51, lane=4), balance_request(90)],
        (toll(60, 30, 2), balance(90, 90, 2)),
        (toll(60, 30, 2), balance(90, 90, 0)),
        WRONG_BALANCE,
    ),
    Case(
        "who leaves by the exit ramp does not",
        [*crowd(1, 51), report(60), report(90, lane=4), report(120, seg=51), balance_request(130)],
        (toll(60, 30, 2), toll(120, -1, 0), balance(130, 130, 0)),
        (toll(60, 30, 2), toll(120, -1, 0), balance(130, 130, 2)),
        WRONG_BALANCE,
    ),
    Case(
        "a segment entered in the exit lane was not quoted",
        [*crowd(1, 51), report(60, lane=4), report(90), report(120, seg=51), balance_request(130)],
        (toll(120, -1, 0), balance(130, 130, 0)),
        (toll(120, -1, 0), balance(130, 130, 2)),
        WRONG_BALANCE,
    ),
    Case(
        "another expressway is no crossing",
        [*crowd(1, 51), report(60), report(90, seg=51, xway=1), balance_request(130)],
        (toll(60, 30, 2), toll(90, -1, 0), balance(130, 130, 0)),
        (toll(60, 30, 2), toll(90, -1, 0), balance(130, 130, 2)),
        WRONG_BALANCE,
    ),
    Case(
        "balances are of all expressways",
        [
            *PAYS,
            *crowd(3, 53, xway=1, direction=1),
            report(180, xway=1, direction=1),
            report(210, seg=49, xway=1, direction=1),
            balance_request(220),
        ],
        (*PAID, toll(180, 30, 18), toll(210, -1, 0), balance(220, 220, 20)),
        (*PAID, toll(180, 30, 18), toll(210, -1, 0), balance(220, 220, 18)),
        WRONG_BALANCE,
    ),
    Case(
        "a balance may be of any second of the last minute, and is that second's",
        [*PAYS, *(balance_request(149, qid=qid) for qid in range(1, 5))],
        (
            *PAID,
            balance(149, 89, 0, 1),
            balance(149, 90, 2, 2),
            balance(149, 149, 2, 3),
            balance(149, 120, 2, 4),
        ),
        (
            *PAID,
            balance(149, 89, 2, 1),
            balance(149, 90, 0, 2),
            balance(149, 149, 0, 3),
            balance(149, 120, 1, 4),
        ),
        {(2, "wrong"): 4},
    ),
    Case(
        "but of no other second, even if it is right",
        [*PAYS, balance_request(151, qid=1), balance_request(149, qid=2)],
        (*PAID, balance(151, 91, 2, 1), balance(149, 149, 2, 2)),
        (*PAID, balance(151, 90, 2, 1), balance(149, 150, 2, 2)),
        {(2, "wrong"): 2},
    ),
    Case(
        "before the first minute is over, τ may be below 0",
        [balance_request(10)],
        (balance(10, -50, 0),),
        (balance(10, -51, 0),),
        WRONG_BALANCE,
    ),
    Case(
        "who never reported has paid nothing",
        [*PAYS, balance_request(100, vid=99)],
        (*PAID, balance(100, 100, 0)),
        (*PAID, balance(100, 100, 2)),
        WRONG_BALANCE,
    ),
    Case(
        "expenditure is that of the day and expressway, 0 where there is none",
        [
            (3, 5, PROBE, -1, 0, *[-1] * 4, 1, *[-1] * 4, 2),
            (3, 5, PROBE, -1, 0, *[-1] * 4, 2, *[-1] * 4, 3),
            (3, 5, PROBE, -1, 1, *[-1] * 4, 3, *[-1] * 4, 2),
        ],
        ((3, 5, 1, 77), (3, 5, 2, 0), (3, 5, 3, 0)),
        ((3, 5, 1, 0), (3, 5, 2, 77), (3, 5, 3, 77)),
        {(3, "wrong"): 3},
    ),
    Case(
        "a travel time may be a second off, its toll may not",
        [(4, 5, PROBE, -1, 0, *[-1] * 4, qid, 10, 13, 1, 600, -1) for qid in range(1, 7)],
        # 90 + 180 + 180 s; of Lav 40, 20 and 20 with 51 vehicles, the second and third cost 2.
        tuple((4, 5, qid, 450 + qid % 3 - 1, 4) for qid in range(1, 7)),
        (
            (4, 5, 1, 452, 4),
            (4, 5, 2, 448, 4),
            (4, 5, 3, 450, 3),
            (4, 5, 4, 450, 5),
            (4, 5, 5, 450, 6),
            (4, 5, 6, 0, 0),
        ),
        {(4, "wrong"): 6},
    ),
    Case(
        "no journey takes no time and costs nothing; the way back goes west",
        [
            (4, 5, PROBE, -1, 0, *[-1] * 4, 1, 11, 11, 1, 600, -1),
            (4, 5, PROBE, -1, 0, *[-1] * 4, 2, 12, 10, 1, 600, -1),
        ],
        # Westwards all of segments 12 and 11 is driven at 60 mph.
        ((4, 5, 1, 0, 0), (4, 5, 2, 120, 0)),
        ((4, 5, 1, 180, 2), (4, 5, 2, 360, 4)),
        {(4, "wrong"): 2},
    ),
    Case(
        "of a way that the history does not know, nothing is asked but an answer",
        [(4, 5, PROBE, -1, 0, *[-1] * 4, qid, 10, 20, 1, 600, -1) for qid in (1, 2)],
        ((4, 5, 1, 0, 0), (4, 5, 2, 999, 1)),
        ((4, 5, 1, 0, 0),),
        {(4, "missing"): 1},
    ),
]


def placed(fields: InputTuple, number: int) -> InputTuple:
    """Move a case's tuple to expressways, vehicles and requests of its own."""
    z = Tuple(*fields)
    z = z._replace(VID=z.VID + 100_000 * number)
    if z.Type:
        z = z._replace(QID=z.QID + 10 * number)
    return z if z.XWay < 0 else z._replace(XWay=z.XWay + 2 * number)


def line(answer: Answer, number: int) -> str:
    kind, time, who, *values = answer
    if kind == 0:
        return f"0,{who + 100_000 * number},{time},{time}.5,{values[0]},{values[1]}"
    who += 100_000 * number if kind == 1 else 10 * number
    return ",".join(map(str, (kind, time, f"{time}.5", who, *values)))


def others(case: Case) -> list[str]:
    """The right answers to everybody but the probe."""
    reports = [fields for fields in case.tuples if fields[0] == 0]
    number = CASES.index(case)
    expected = expected_answers([placed(fields, number) for fields in reports], {}, {})
    mine = PROBE + 100_000 * number
    return [
        line
        for line in answer_lines(expected)
        if int(line.split(",")[1 if line.startswith("0") else 3]) != mine
    ]


@pytest.fixture(scope="module")
def workload(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    tuples = [placed(fields, number) for number, case in enumerate(CASES) for fields in case.tuples]
    made = write_workload(tmp_path_factory.mktemp("rules"), tuples)
    for number, case in enumerate(CASES):
        if any(fields[0] == 3 for fields in case.tuples):
            write_toll_history(made, {(PROBE + 100_000 * number, 2, 2 * number): 77})
        if any(fields[0] == 4 for fields in case.tuples):
            write_segment_history(made, 2 * number, slow_east())
    return made


def slow_east() -> list[np.ndarray]:
    """Segments 10 to 13, the ten Mondays, minutes 600 to 610: east at 40, 20, 20 mph with 51 vehicles.

    Minutes 601 and 604, which the journey reaches after 90 and 270 s, are those in which it is 20.
    """
    rows = []
    for day in range(7, 71, 7):
        for minute in range(600, 611):
            for seg in range(10, 14):
                rows.append((day, minute, 0, seg, 20 if minute in (601, 604) else 40, 51))
                rows.append((day, minute, 1, seg, 60, 51))
    return [np.array(column) for column in zip(*rows, strict=True)]


def test_right_answers_by_hand(workload: Workload, spark: SparkSession, tmp_path: Path) -> None:
    lines = [text for case in CASES for text in others(case)]
    lines += [line(answer, number) for number, case in enumerate(CASES) for answer in case.right]
    judged = validate(spark, workload, write_answers(tmp_path / "answers.csv", lines))
    assert judged.differences == ()
    assert judged.passed
    assert [note for note in judged.notes if "2 travel times were accepted" in note]


def test_answers_of_other_readings(workload: Workload, spark: SparkSession, tmp_path: Path) -> None:
    lines = [text for case in CASES for text in others(case)]
    lines += [line(answer, number) for number, case in enumerate(CASES) for answer in case.wrong]
    judged = validate(spark, workload, write_answers(tmp_path / "answers.csv", lines))
    fails: Counter[tuple[int, str]] = Counter()
    for case in CASES:
        assert case.fails, case.name
        fails.update(case.fails)
    kinds = ("missing", "extra", "doubled", "wrong", "late", "early")
    found = Counter({(result.type, kind): getattr(result, kind) for result in judged.types for kind in kinds})
    assert +found == fails
