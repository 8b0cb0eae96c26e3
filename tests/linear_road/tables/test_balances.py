"""The procedure of accounts against a plain reading of the rules, in any cut."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from causeway.linear_road.tables.accounts import Balances

Crossing = tuple[int, int, int, int, bool, int]
"""T, VID, XWAY, LANE, LEAVES, TOLL"""

_CROSSINGS = st.lists(
    st.tuples(
        st.integers(0, 300),
        st.integers(0, 4),
        st.integers(0, 1),
        st.integers(0, 4),
        st.booleans(),
        st.integers(0, 3),
    ),
    max_size=60,
    unique_by=lambda crossing: crossing[:3],
)
_REQUESTS = st.lists(st.tuples(st.integers(0, 310), st.integers(0, 5)), max_size=20)


def _expected(crossings: list[Crossing], time: int, vid: int) -> int:
    """What the vehicle has been charged up to the second before `time`."""
    balance, quotes = 0, {}
    for moment, vehicle, xway, lane, leaves, toll in crossings:
        if vehicle == vid and moment < time:
            balance += quotes.get(xway, 0) if leaves else 0
            quotes[xway] = 0 if lane == 4 else toll
    return balance


@given(_CROSSINGS, _REQUESTS, st.lists(st.integers(0, 310), max_size=4))
def test_balances(crossings: list[Crossing], requests: list[tuple[int, int]], cuts: list[int]) -> None:
    crossings, requests = sorted(crossings), sorted(requests)
    columns = [np.array(column) for column in zip(*crossings, strict=True)] or [np.zeros(0, np.int64)] * 6
    names = ("T", "VID", "XWAY", "LANE", "LEAVES", "TOLL")
    rows = dict(zip(names, columns, strict=True)) | {"DIR": np.zeros(len(crossings), np.int32)}
    rows["LEAVES"] = rows["LEAVES"].astype(bool)
    asked = np.array(requests, np.int64).reshape(-1, 2)
    balances = Balances()
    found: list[int] = []
    for first, last in zip([0, *sorted(cuts)], [*sorted(cuts), 1000], strict=True):
        part = {name: values[(rows["T"] >= first) & (rows["T"] < last)] for name, values in rows.items()}
        now = asked[(asked[:, 0] >= first) & (asked[:, 0] < last)]
        found += balances.follow(part, now[:, 0], now[:, 1].astype(np.int32)).tolist()
    assert found == [_expected(crossings, time, vid) for time, vid in requests]
