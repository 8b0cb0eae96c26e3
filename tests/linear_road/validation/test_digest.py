"""The digest against plain loops over the same reports."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.linear_road.literal_reading import Reading, Tuple, place
from tests.linear_road.made_traffic import report, standing
from tests.linear_road.random_traffic import InputTuple, traffic

from causeway.linear_road.validation.digest import AVERAGE_UNIT, digest


def digested(tuples: list[InputTuple], unknown: int = 0) -> list[dict[str, Any]]:
    """Pack reports as the judge's SQL does, and digest them."""
    reports = [Tuple(*fields) for fields in tuples if fields[0] == 0]
    moments = [p.VID << 20 | p.Time % 30 << 15 | p.Time // 30 for p in reports]
    whereabouts = [_place(p) << 7 | p.Spd for p in reports]
    batches = digest(
        np.array(moments + [-1] * unknown, np.int64), np.array(whereabouts + [-1] * unknown, np.int64)
    )
    rows: list[dict[str, Any]] = pa.Table.from_batches(list(batches)).to_pylist()
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def _segment(p: Tuple) -> int:
    return p.XWay << 8 | p.Dir << 7 | p.Seg


def _place(p: Tuple) -> int:
    return _segment(p) << 16 | p.Pos % 5280 << 3 | p.Lane


@given(traffic(orderly=False), st.randoms(use_true_random=False))
def test_stays_are_those_of_the_literal_reading(tuples: list[InputTuple], random: Any) -> None:
    reading = Reading([Tuple(*fields) for fields in tuples if fields[0] == 0])
    random.shuffle(tuples)
    expected = []
    for p in reading.P:
        before = reading.before(p)
        if before is not None and before.Seg == p.Seg:
            continue
        stay = {"VID": p.VID, "Time": p.Time, "segment": _segment(p), "lane": p.Lane}
        if before is not None:
            left = reading.entered(before)
            stay |= {"left_Time": left.Time, "left_segment": _segment(left)}
            stay |= {"left_lane": left.Lane, "left_last_lane": before.Lane}
        expected.append(stay)
    found = [row for row in digested(tuples) if "VID" in row]
    assert sorted(found, key=_who_and_when) == sorted(expected, key=_who_and_when)


@given(traffic(orderly=False))
def test_traffic_is_that_of_the_literal_reading(tuples: list[InputTuple]) -> None:
    reading = Reading([Tuple(*fields) for fields in tuples if fields[0] == 0])
    found = [row["traffic"] for row in digested(tuples) if "traffic" in row]
    keys = {(p.Time // 60 + 1, p.XWay, p.Seg, p.Dir): _segment(p) for p in reading.P}
    assert {(row["minute"], row["segment"]): (row["cars"], row["average_speeds"]) for row in found} == {
        (minute, segment): (
            len(reading.cars(minute, *road)),
            sum(AVERAGE_UNIT * reading.Avgsv(v, minute, *road) for v in reading.cars(minute, *road)),
        )
        for (minute, *road), segment in keys.items()
    }
    assert len(found) == len(keys)


@given(traffic(orderly=False))
def test_standing_is_four_reports_from_a_place(tuples: list[InputTuple]) -> None:
    reading = Reading([Tuple(*fields) for fields in tuples if fields[0] == 0])
    stopped = defaultdict(set)
    for v in {p.VID for p in reading.P}:
        for where, seconds in reading.Stop(v):
            stopped[v, where] |= set(seconds)
    found: dict[tuple[int, Any], set[int]] = defaultdict(set)
    places = {_place(p): place(p) for p in reading.P}
    for row in (row["standing"] for row in digested(tuples) if "standing" in row):
        for since in range(row["first"] + 90, row["last"] + 1, 30):
            until = min([since + 30, *(moment for moment in row["elsewhere"] if moment > since)])
            found[row["VID"], places[row["place"]]] |= set(range(since, until))
    assert found == stopped


def test_reports_from_elsewhere_on_the_same_road() -> None:
    tuples = standing(7, 0, 5)
    tuples += [report(time, 7, seg=20) for time in (89, 95, 149, 150)]
    tuples += [report(100, 7, xway=1), report(101, 7, direction=1), report(102, 7, pos=52 * 5280)]
    tuples += [report(103, 8, seg=20), report(104, 6, seg=20)]
    (row,) = [row["standing"] for row in digested(tuples) if "standing" in row]
    assert (row["VID"], row["first"], row["last"], sorted(row["elsewhere"])) == (7, 0, 120, [95, 149])


def test_counts() -> None:
    tuples = [report(0, 7), report(0, 7, seg=51), report(30, 7), report(0, 8)]
    for order in (tuples, tuples[::-1]):
        rows = digested(order, unknown=3)
        assert rows[-1] == {"counts": {"reports": 7, "unknown": 3, "twice": 1}}
        # Which of two reports of a second is the one before depends on no order.
        assert [row["Time"] for row in rows if row.get("VID") == 7] == [0, 0, 30]


def test_nothing_to_digest() -> None:
    assert digested([]) == [{"counts": {"reports": 0, "unknown": 0, "twice": 0}}]
    assert digested([], unknown=2) == [{"counts": {"reports": 2, "unknown": 2, "twice": 0}}]


def _who_and_when(row: dict[str, Any]) -> tuple[int, int]:
    return row["VID"], row["Time"]
