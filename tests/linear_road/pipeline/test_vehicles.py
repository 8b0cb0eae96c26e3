"""The tables of vehicles and accounts against dictionaries, from tables so small that they always grow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.linear_road.pipeline import vehicles as module
from causeway.linear_road.pipeline.vehicles import (
    NEVER,
    VEHICLE,
    Accounts,
    Vehicles,
    account_of,
    key_of,
    row_of,
)

# Keys whose hashes meet: few vehicles, on roads of all sizes.
KEYS = st.builds(
    lambda vid, road: (vid << 20) | road, st.integers(0, 2**31 - 1) | st.integers(0, 30), st.integers(0, 40)
)


@pytest.fixture(autouse=True, scope="module")
def _small_tables() -> Iterator[None]:
    with patch.object(module, "_FIRST_ROWS", 4):
        yield


@dataclass
class Model:
    """What a table should know: the last report of each key, as (time, balance)."""

    table: Vehicles = field(default_factory=Vehicles)
    known: dict[int, tuple[int, int]] = field(default_factory=dict)
    in_use: list[np.ndarray] = field(default_factory=lambda: [np.zeros(0, np.int32)] * 2)
    used: list[list[int]] = field(default_factory=lambda: [[], []])

    def row(self, key: int) -> int:
        return int(row_of(key, self.table.rows, self.table.index, self.table.count))

    def report(self, keys: list[int], time: int) -> None:
        """Vehicles report at `time`; half of them are in use from now on."""
        self.make_room(len(keys), time - 120)
        for key in keys:
            row = self.row(key)
            if key not in self.known:
                fresh = self.table.rows[row]
                assert (fresh["time"], fresh["repeats"], fresh["before_seg"]) == (NEVER, 0, -1)
                assert (fresh["balance"], fresh["irregular"]) == (0, NEVER)
            self.table.rows[row]["time"] = time
            self.table.rows[row]["balance"] = key % 97
            self.known[key] = (time, key % 97)
        which = time % 2
        self.used[which] = sorted(set(keys[::2]))
        self.in_use[which] = np.array([self.row(key) for key in self.used[which]], np.int32)

    def make_room(self, newcomers: int, keep_since: int) -> None:
        capacity = len(self.table.rows)
        self.in_use = self.table.make_room(newcomers, keep_since, self.in_use)
        if len(self.table.rows) != capacity or self.table.count[0] < len(self.known):
            kept = {key for keys in self.used for key in keys}
            self.known = {
                key: facts for key, facts in self.known.items() if facts[0] >= keep_since or key in kept
            }
        assert self.table.count[0] + newcomers <= len(self.table.rows)

    def restore(self, given: list[tuple[int, int]]) -> None:
        rows = np.zeros(len(given), VEHICLE)
        for row, (key, time) in zip(rows, given, strict=True):
            row["key"], row["time"], row["balance"] = key, time, time % 89
            if time >= self.known.get(key, (NEVER, 0))[0]:
                self.known[key] = (time, time % 89)
        found = self.table.restore(rows)
        assert found.tolist() == [self.row(key) for key, _ in given]

    def check(self) -> None:
        count = int(self.table.count[0])
        assert count == len(self.known)
        assert sorted(self.table.rows["key"][:count].tolist()) == sorted(self.known)
        for key, facts in self.known.items():
            found = self.table.rows[self.row(key)]
            assert (found["key"], (found["time"], found["balance"])) == (key, facts)
        assert self.table.count[0] == count
        for rows, keys in zip(self.in_use, self.used, strict=True):
            assert self.table.rows["key"][rows].tolist() == keys


@given(
    st.lists(
        st.tuples(st.sampled_from(["report", "restore"]), st.lists(KEYS, max_size=12), st.integers(1, 100)),
        max_size=20,
    )
)
@settings(max_examples=100)
def test_a_table_of_vehicles_is_a_dictionary(steps: list[tuple[str, list[int], int]]) -> None:
    model, now = Model(), 0
    for what, keys, passed in steps:
        now += passed
        if what == "report":
            model.report(keys, now)
        else:
            model.make_room(len(keys), now - 120)
            # Some rows of state are older than what is known, some newer.
            model.restore([(key, now - 60 + (key % 120)) for key in keys])
            now += 60
        model.check()


def test_vehicles_that_are_long_gone_make_room() -> None:
    model, random = Model(), Random(1)
    for now in range(0, 30 * 200, 30):
        model.report([(now + i) << 20 for i in range(random.randint(1, 20))], now)
    model.check()
    assert len(model.table.rows) <= 1024
    assert len(model.table.index) == 2 * len(model.table.rows)


@given(st.integers(0, 2**31 - 1), st.integers(0, 2**19 - 1))
def test_a_key_holds_vehicle_and_road(vid: int, road: int) -> None:
    key = int(key_of(np.int32(vid), np.int32(road)))
    assert (key >> 20, key & ((1 << 20) - 1)) == (vid, road)
    assert 0 <= key < 2**63


def charge(accounts: Accounts, vid: int, toll: int) -> None:
    """As the kernel does it."""
    place = account_of(vid, accounts.vids)
    if accounts.vids[place] < 0:
        accounts.vids[place] = vid
        accounts.count[0] += 1
    accounts.balances[place] += toll


def balance(accounts: Accounts, vid: int) -> int | None:
    place = account_of(vid, accounts.vids)
    return int(accounts.balances[place]) if accounts.vids[place] >= 0 else None


@given(
    st.lists(
        st.tuples(st.booleans(), st.lists(st.tuples(st.integers(0, 60), st.integers(1, 500)), max_size=15)),
        max_size=15,
    )
)
def test_accounts_are_a_dictionary(steps: list[tuple[bool, list[tuple[int, int]]]]) -> None:
    accounts, known = Accounts(), dict[int, int]()
    for restores, given_ in steps:
        if restores:
            # Balances only grow: those in state are of any time, on any road.
            rows = np.zeros(len(given_), VEHICLE)
            rows["key"] = [(vid << 20) | amount % 7 for vid, amount in given_]
            rows["balance"] = [amount if amount % 3 else 0 for _, amount in given_]
            accounts.restore(rows)
            for vid, amount in given_:
                if amount % 3:
                    known[vid] = max(known.get(vid, 0), amount)
        else:
            accounts.make_room(len(given_))
            for vid, toll in given_:
                charge(accounts, vid, toll)
                known[vid] = known.get(vid, 0) + toll
        assert accounts.count[0] == len(known)
        assert 2 * len(known) <= len(accounts.vids)
        assert {vid: balance(accounts, vid) for vid in known} == known
        assert balance(accounts, 61) is None
        assert balance(accounts, -1) is None
