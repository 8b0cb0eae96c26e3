"""Many random streams in one workload, each with expressways, vehicles and requests of its own.

Spark takes seconds for anything, however small it is. The streams are small enough for the literal reading,
and know nothing of each other, so that each has its own expected answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
from tests.linear_road.literal_reading import Expected, Tuple, expected_answers
from tests.linear_road.random_traffic import (
    InputTuple,
    make_traffic,
    segment_history,
    segment_history_row,
    toll_history,
)
from tests.linear_road.validation.made_workload import (
    write_segment_history,
    write_toll_history,
    write_workload,
)

from causeway.linear_road.workload.workload import Workload

__all__ = ["Answer", "answers_of", "expected_of", "make_random_workload"]

STREAMS = 40
WEEKDAY = 3

Answer = tuple[int, ...]
"""A line of the answers file without its Emit."""


def make_random_workload(folder: Path) -> tuple[Workload, list[Expected]]:
    """Fifteen minutes with all four kinds of tuples, their history, and what is expected of each stream."""
    streams = [
        [_apart(fields, number) for fields in make_traffic(Random(number), orderly=number % 2 == 0)]
        for number in range(STREAMS)
    ]
    tuples = [fields for stream in streams for fields in stream]
    minutes = max(fields[1] for fields in tuples) // 60 + 1
    workload = replace(write_workload(folder, tuples), minutes=minutes)
    workload.save()
    tolls = toll_history(tuples)
    write_toll_history(workload, tolls)
    days = [day for day in range(1, 71) if 1 + (70 - day) % 7 == WEEKDAY]
    grid = np.meshgrid(days, np.arange(1, 1441), [0, 1], np.arange(100), indexing="ij")
    day, minute, direction, segment = (axis.ravel().astype(np.int64) for axis in grid)
    lav, cnt = segment_history_row(day, minute, 0, direction, segment)  # type: ignore[arg-type]
    write_segment_history(workload, 0, [day, minute, direction, segment, lav, cnt])
    return workload, [expected_answers(stream, tolls, segment_history) for stream in streams]


def _apart(fields: InputTuple, number: int) -> InputTuple:
    """Give a stream's tuple its own numbers; travel times all ask for one weekday of expressway 0."""
    z = Tuple(*fields)
    z = z._replace(VID=z.VID + 1_000_000 * number)
    if z.Type != 0:
        z = z._replace(QID=z.QID + 1000 * number)
    if z.Type == 4:
        return z._replace(XWay=0, DOW=WEEKDAY)
    return z._replace(XWay=z.XWay * STREAMS + number) if z.Type in (0, 3) else z


def expected_of(streams: Iterable[Expected]) -> Counter[Answer]:
    """The answers that the pipeline gives: the nearest accident, the balance of the second before."""
    lines: Counter[Answer] = Counter()
    for stream in streams:
        lines.update((0, toll.vid, toll.time, toll.lav, toll.toll) for toll in stream.toll_notifications)
        lines.update((1, alert.time, alert.vid, alert.nearest) for alert in stream.accident_alerts)
        lines.update(
            (2, asked.time, asked.qid, asked.time - 1, asked.balances[asked.time - 1])
            for asked in stream.account_balances
        )
        lines.update((3, asked.time, asked.qid, asked.bal) for asked in stream.daily_expenditures)
        lines.update(
            (4, asked.time, asked.qid, asked.travel_time, asked.toll) for asked in stream.travel_times
        )
    return lines


def answers_of(run: Path) -> Counter[Answer]:
    """The lines of `answers.csv`, without Emit."""
    lines: Counter[Answer] = Counter()
    for line in (run / "answers.csv").read_text().splitlines():
        fields = line.split(",")
        del fields[3 if fields[0] == "0" else 2]
        lines[tuple(map(int, fields))] += 1
    return lines
