"""What a shard knows of vehicles: the last report of each, and what each has been charged.

Both are open-addressing hash tables in plain arrays, for compiled kernels to look up and change.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from causeway.linear_road.model.array_types import I32, I64
from causeway.runtime.compiled import inlined, kernel

__all__ = ["NEVER", "VEHICLE", "Accounts", "Vehicles", "account_of", "key_of", "row_of"]

VEHICLE: Final = np.dtype(
    [
        ("key", "<i8"),  # vehicle and road, see `key_of`
        ("time", "<i4"),  # of its last report from the road
        ("pos", "<i4"),
        ("quote", "<i4"),  # the toll it was told on entering its segment; -1 if it was told none
        ("irregular", "<i4"),  # the last minute in which it was counted apart, see `traffic`
        ("balance", "<i4"),  # what it had been charged on all roads of the shard, when it last was
        ("seg", "<i2"),
        ("spd", "<i2"),
        ("before_seg", "<i2"),  # its report 30 s earlier, if that was in the same minute; -1 if not
        ("before_spd", "<i2"),
        ("lane", "<i2"),
        ("repeats", "<i2"),  # consecutive reports from where it is
    ]
)
"""One vehicle on one road. A vehicle on two roads has two rows: roads know nothing of each other."""

Rows = NDArray[np.void]

NEVER: Final = -(1 << 30)
"""The time of the last report of a vehicle that has made none."""

_EMPTY: Final = -1
_ROAD_BITS: Final = 20
_FIRST_ROWS: Final = 1 << 10


@inlined
def key_of(vid: int, road: int) -> int:
    """A vehicle on a road, in one number."""
    return (vid << 20) | road


@inlined
def _hash(key: int, mask: int) -> int:
    # Multiplicative hashing: the high bits of the product depend on all bits of the key.
    return ((key * -7046029254386353131) >> 20) & mask


@kernel
def row_of(key: int, vehicles: Any, index: I32, count: I64) -> Any:
    """The row of a vehicle on a road, a new one if it has none; there must be room."""
    mask = len(index) - 1
    place = _hash(key, mask)
    while True:
        row = index[place]
        if row == _EMPTY:
            break
        if vehicles[row]["key"] == key:
            return row
        place = (place + 1) & mask
    row = count[0]
    count[0] += 1
    index[place] = row
    vehicles[row]["key"] = key
    vehicles[row]["time"] = NEVER
    vehicles[row]["irregular"] = NEVER
    vehicles[row]["before_seg"] = -1
    vehicles[row]["repeats"] = 0
    vehicles[row]["balance"] = 0
    return row


@kernel
def account_of(vid: int, vids: I64) -> int:
    """The place of a vehicle's account; that of an empty one if it has none."""
    mask = len(vids) - 1
    place = _hash(vid, mask)
    while vids[place] != _EMPTY and vids[place] != vid:
        place = (place + 1) & mask
    return place


@kernel
def _rebuild(vehicles: Any, index: I32, count: int) -> None:
    mask = len(index) - 1
    for row in range(count):
        place = _hash(vehicles[row]["key"], mask)
        while index[place] != _EMPTY:
            place = (place + 1) & mask
        index[place] = row


@kernel
def _restore(rows: Any, vehicles: Any, index: I32, count: I64, found: I32) -> None:
    for i in range(len(rows)):
        row = row_of(rows[i]["key"], vehicles, index, count)
        found[i] = row
        if rows[i]["time"] >= vehicles[row]["time"]:
            vehicles[row] = rows[i]


@kernel
def _settle(vid: I64, balance: I64, vids: I64, balances: I64, count: I64) -> None:
    """Accounts only grow, so that of several balances of a vehicle the largest is the latest."""
    for i in range(len(vid)):
        place = account_of(vid[i], vids)
        if vids[place] == _EMPTY:
            vids[place] = vid[i]
            balances[place] = 0
            count[0] += 1
        balances[place] = max(balances[place], balance[i])


class Vehicles:
    """The table of last reports. Rows are numbers that stay the same until `make_room` says otherwise."""

    def __init__(self) -> None:
        self.rows: Rows = np.zeros(_FIRST_ROWS, VEHICLE)
        self.index: I32 = np.full(2 * _FIRST_ROWS, _EMPTY, np.int32)
        self.count: I64 = np.zeros(1, np.int64)

    def make_room(self, newcomers: int, keep_since: int, in_use: list[I32]) -> list[I32]:
        """Make room for that many more; returns `in_use`, lists of rows, as the rows are now numbered.

        Where the table has to grow, rows older than `keep_since` that are not in use are dropped first.
        """
        count = int(self.count[0])
        if count + newcomers <= len(self.rows):
            return in_use
        keep = self.rows["time"][:count] >= keep_since
        for rows in in_use:
            keep[rows] = True
        kept = int(np.count_nonzero(keep))
        capacity = _FIRST_ROWS
        while capacity < 2 * (kept + newcomers):
            capacity *= 2
        fresh: Rows = np.zeros(capacity, VEHICLE)
        fresh[:kept] = self.rows[:count][keep]
        renumbered = (np.cumsum(keep) - 1).astype(np.int32)
        self.rows = fresh
        self.index = np.full(2 * capacity, _EMPTY, np.int32)
        self.count[0] = kept
        _rebuild(self.rows, self.index, kept)
        return [renumbered[rows] for rows in in_use]

    def restore(self, rows: Rows) -> I32:
        """Take over rows of state, each where it is newer than what is known; returns where they are."""
        found = np.empty(len(rows), np.int32)
        _restore(rows, self.rows, self.index, self.count, found)
        return found


class Accounts:
    """What each vehicle has been charged on the shard's roads; no row for those who never were."""

    def __init__(self) -> None:
        self.vids: I64 = np.full(2 * _FIRST_ROWS, _EMPTY, np.int64)
        self.balances: I64 = np.zeros(2 * _FIRST_ROWS, np.int64)
        self.count: I64 = np.zeros(1, np.int64)

    def make_room(self, newcomers: int) -> None:
        """Make room for that many more accounts."""
        if 2 * (int(self.count[0]) + newcomers) <= len(self.vids):
            return
        there = self.vids != _EMPTY
        vids, balances = self.vids[there], self.balances[there]
        capacity = len(self.vids)
        while capacity < 3 * (len(vids) + newcomers):
            capacity *= 2
        self.vids = np.full(capacity, _EMPTY, np.int64)
        self.balances = np.zeros(capacity, np.int64)
        self.count[0] = 0
        _settle(vids, balances, self.vids, self.balances, self.count)

    def restore(self, rows: Rows) -> None:
        """Take over the balances in rows of state."""
        charged = rows[rows["balance"] > 0]
        self.make_room(len(charged))
        _settle(
            charged["key"] >> _ROAD_BITS,
            charged["balance"].astype(np.int64),
            self.vids,
            self.balances,
            self.count,
        )
