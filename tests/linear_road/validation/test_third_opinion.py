"""The validator against a literal reading of the paper on random traffic: those answers pass, no others.

Spark takes seconds for anything, so many random streams become one workload, each with expressways, vehicles
and requests of its own.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from tests.linear_road.literal_reading import Expected, Tuple, expected_answers, travel_time
from tests.linear_road.random_traffic import (
    InputTuple,
    make_traffic,
    segment_history,
    segment_history_row,
    toll_history,
)
from tests.linear_road.validation.made_workload import (
    answer_lines,
    write_answers,
    write_segment_history,
    write_toll_history,
    write_workload,
)

from causeway.linear_road.validation import validate
from causeway.linear_road.validation.travel_time import Journeys, WeekdaySums, walk
from causeway.linear_road.workload.workload import Workload

STREAMS = 80
WEEKDAY = 3


def several_streams() -> list[list[InputTuple]]:
    """Random streams, apart from one another."""
    return [
        [apart(fields, number) for fields in make_traffic(random.Random(number), orderly=number % 2 == 0)]
        for number in range(STREAMS)
    ]


def apart(fields: InputTuple, number: int) -> InputTuple:
    """Give a stream's tuple its own numbers; travel times all ask for one weekday of expressway 0."""
    z = Tuple(*fields)
    z = z._replace(VID=z.VID + 1_000_000 * number)
    if z.Type == 4:
        return z._replace(QID=z.QID + 1000 * number, XWay=0, DOW=WEEKDAY)
    if z.Type == 2:
        return z._replace(QID=z.QID + 1000 * number)
    return z._replace(XWay=z.XWay + 10 * number, QID=z.QID + 1000 * number if z.Type else -1)


@dataclass(frozen=True)
class Opinion:
    """A workload and what the literal reading says to it."""

    workload: Workload
    streams: list[Expected]

    def lines(self, choose: random.Random) -> list[str]:
        """All answers, each of the valid ones as likely."""
        lines = [line for stream in self.streams for line in answer_lines(stream, choose)]
        choose.shuffle(lines)
        return lines


@pytest.fixture(scope="module")
def opinion(tmp_path_factory: pytest.TempPathFactory) -> Opinion:
    streams = several_streams()
    tuples = [fields for stream in streams for fields in stream]
    workload = write_workload(tmp_path_factory.mktemp("random"), tuples)
    tolls = toll_history(tuples)
    write_toll_history(workload, tolls)
    days = [day for day in range(1, 71) if 1 + (70 - day) % 7 == WEEKDAY]
    grid = np.meshgrid(days, np.arange(1, 1441), [0, 1], np.arange(100), indexing="ij")
    day, minute, direction, segment = (axis.ravel().astype(np.int64) for axis in grid)
    lav, cnt = segment_history_row(day, minute, 0, direction, segment)  # type: ignore[arg-type]
    write_segment_history(workload, 0, [day, minute, direction, segment, lav, cnt])
    return Opinion(workload, [expected_answers(stream, tolls, segment_history) for stream in streams])


def test_random_traffic_has_all_that_the_rules_turn_on(opinion: Opinion) -> None:
    streams = opinion.streams
    assert sum(len(stream.accident_alerts) for stream in streams) > 30
    assert any(len(alert.segments) > 1 for stream in streams for alert in stream.accident_alerts)
    assert sum(toll.toll > 0 for stream in streams for toll in stream.toll_notifications) > 30
    assert sum(len(set(b.balances.values())) > 1 for stream in streams for b in stream.account_balances) > 3
    assert sum(len(stream.travel_times) for stream in streams) > 20


def test_every_valid_choice_of_the_literal_readings_answers_passes(
    opinion: Opinion, spark: SparkSession, tmp_path: Path
) -> None:
    lines = opinion.lines(random.Random(1))
    judged = validate(spark, opinion.workload, write_answers(tmp_path / "answers.csv", lines))
    assert judged.differences == ()
    assert judged.passed
    assert [result.expected for result in judged.types] == [
        sum(line.startswith(f"{number},") for line in lines) for number in range(5)
    ]


def test_one_off_is_caught_wherever_it_is(opinion: Opinion, spark: SparkSession, tmp_path: Path) -> None:
    """Every seventh answer's last number is changed: so many fail, and no others."""
    choose = random.Random(2)
    lines = opinion.lines(choose)
    spoilt: Counter[int] = Counter()
    for i in range(0, len(lines), 7):
        kind = int(lines[i][0])
        head, _, last = lines[i].rpartition(",")
        # A segment one off may be another accident's.
        lines[i] = f"{head},{int(last) + (50 if kind == 1 else choose.choice([-1, 1]))}"
        spoilt[kind] += 1
    judged = validate(spark, opinion.workload, write_answers(tmp_path / "answers.csv", lines))
    assert {result.type: result.wrong for result in judged.types} == dict(spoilt)
    assert all(d.kind == "wrong" for d in judged.differences)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(1, 7), st.integers(1, 1440)),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from([1, 20, 37, 60, 97]),
)
def test_the_walk_reaches_minutes_exactly(journeys: list[tuple[int, int, int, int]], speeds: int) -> None:
    """Speeds that divide a minute often bring a journey to one's very start."""

    def history(day: int, minute: int, xway: int, direction: int, segment: int) -> tuple[int, int, int]:
        return 1 + (minute * 31 + segment * 7 + direction) % speeds, (minute + segment) % 120, 0

    minute, direction, segment = np.ix_(np.arange(1, 1441), [0, 1], np.arange(100))
    lav = np.broadcast_to(1 + (minute * 31 + segment * 7 + direction) % speeds, (7, 1440, 2, 100))
    cnt = np.broadcast_to((minute + segment) % 120, (7, 1440, 2, 100))
    sums = WeekdaySums(np.full_like(lav, 10), 10 * lav, 10 * cnt)
    asked = Journeys(*np.array(journeys, np.int64).T)
    seconds, tolls, known = walk(sums, asked)
    assert known.all()
    for i, (initial, end, weekday, start) in enumerate(journeys):
        request = Tuple(4, 0, 0, -1, 0, -1, -1, -1, -1, 1, initial, end, weekday, start, -1)
        expected = travel_time(request, history)
        assert (seconds[i], tolls[i]) == (expected.travel_time, expected.toll)
