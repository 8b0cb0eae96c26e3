from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.linear_road.literal_reading import Tuple
from tests.linear_road.pipeline.tuple_tables import table
from tests.linear_road.random_traffic import InputTuple, make_traffic, traffic

from causeway.linear_road.model.tuples import INPUT_COLUMNS
from causeway.linear_road.pipeline.tuples_by_shard import REPORT_FIELDS, deal
from causeway.streaming.cells import Arrays

ASKED = {
    2: ("balance", ("Time", "VID", "QID")),
    3: ("expenditure", ("Time", "VID", "XWay", "QID", "Day")),
    4: ("journey", ("Time", "XWay", "QID", "Sinit", "Send", "DOW", "TOD")),
}


def rows(arrays: Arrays, names: list[str]) -> list[tuple[int, ...]]:
    return list(zip(*(arrays[name].tolist() for name in names), strict=True))


def fields(tuples: list[InputTuple], kind: int, names: tuple[str, ...]) -> list[tuple[int, ...]]:
    places = [INPUT_COLUMNS.index(name) for name in names]
    return [tuple(given[place] for place in places) for given in tuples if given[0] == kind]


@given(traffic(), st.integers(1, 5))
@settings(max_examples=40)
def test_every_tuple_goes_to_one_shard_and_balances_to_all(tuples: list[InputTuple], shards: int) -> None:
    dealt = deal(table(tuples), shards)
    assert len(dealt) == shards
    reports: Counter[tuple[int, ...]] = Counter()
    for shard, arrays in enumerate(dealt):
        assert all(road % shards == shard for road in arrays["road"].tolist())
        assert (arrays["cell"] == arrays["road"] // shards * 100 + arrays["seg"]).all()
        assert (np.diff(arrays["time"]) >= 0).all()
        reports.update(rows(arrays, [name for name in REPORT_FIELDS if name != "cell"]))
    expected = [
        (z.Time, z.VID, 2 * z.XWay + z.Dir, z.Seg, z.Lane, z.Spd, z.Pos)
        for z in (Tuple(*given) for given in tuples)
        if z.Type == 0
    ]
    assert reports == Counter(expected)
    for kind, (name, asked) in ASKED.items():
        names = [f"{name}_{field.lower()}" for field in asked]
        got = [rows(arrays, names) for arrays in dealt]
        if kind == 2:
            assert all(each == fields(tuples, kind, asked) for each in got)
        else:
            assert Counter(row for each in got for row in each) == Counter(fields(tuples, kind, asked))


def test_the_order_of_tuples_is_kept() -> None:
    tuples = make_traffic(Random(3), crowded=True)
    (alone,) = deal(table(tuples), 1)
    expected = [(given[1], given[2]) for given in tuples if given[0] == 0]
    assert rows(alone, ["time", "vid"]) == expected


def test_cells_of_two_roads_of_a_shard_are_apart() -> None:
    made = [(0, 0, vid, 50, xway, 1, 1, 99, 99 * 5280, *[-1] * 6) for vid, xway in enumerate([0, 1, 2])]
    _, west = deal(table(made), 2)
    assert west["cell"].tolist() == [99, 199, 299]


def test_no_tuples_are_no_tuples_for_every_shard() -> None:
    for arrays in deal(table([]), 3):
        assert {len(values) for values in arrays.values()} == {0}


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("Seg", 100, "seg = 100, which is none of 0 to 99"),
        ("Seg", -1, "seg = -1"),
        ("Pos", 528_000, "pos = 528000"),
        ("Spd", -1, "spd = -1"),
        ("Spd", 101, "spd = 101, which is none of 0 to 100"),
        ("Lane", 5, "lane = 5, which is none of 0 to 4"),
        ("VID", -1, "vid = -1"),
        ("XWay", -1, "road = -2"),
        ("XWay", 1 << 18, "road = 524288"),
    ],
)
def test_a_report_that_no_road_has_is_refused_in_words(field: str, value: int, told: str) -> None:
    right = dict(zip(INPUT_COLUMNS, (0, 77, 4711, 50, 0, 1, 0, 5, 26_400, *[-1] * 6), strict=True))
    wrong = right | {field: value}
    requests = [(2, 77, 1, *[-1] * 6, 1, *[-1] * 5)]
    tuples = [*requests, tuple(right.values()), tuple(wrong.values())]
    with pytest.raises(ValueError, match=f"at second 77 has {told}"):
        deal(table(tuples), 2)
    if field != "VID":
        with pytest.raises(ValueError, match="the report of vehicle 4711"):
            deal(table(tuples), 2)
