"""What vehicles do on their days: labour trips (section 4.2) and trips in spare time (Algorithm 2).

A plan says where a vehicle drives. When a leg begins follows from the one before it, which has to be driven
first.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from causeway.berlinmod.model.arrays import I32, I64
from causeway.berlinmod.model.calendar import DAY_MS, NULL_DAY_MS
from causeway.berlinmod.model.rules import (
    NEIGHBOURHOOD_SHARE,
    PAUSE_DEVIATION_MS,
    PAUSE_LIMIT_MS,
    PAUSE_MEAN_MS,
    SPARE_TIME_SHARE,
    STOPS_CUMULATED,
    WEEKDAY_BLOCK_MS,
    WEEKDAY_BLOCK_SPREAD_MS,
    WEEKEND_BLOCK_SPREAD_MS,
    WEEKEND_BLOCKS_MS,
    WORK_DEVIATION_MS,
    WORK_END_MS,
    WORK_LIMIT_MS,
    WORK_START_MS,
)
from causeway.berlinmod.trips.chance import bounded_normal
from causeway.runtime.compiled import kernel
from causeway.runtime.randomness import below, draw, key_of, share

__all__ = ["KINDS", "SPARE_TIME", "TO_HOME", "TO_WORK", "Legs", "day_key", "plan_days"]

TO_WORK: Final = 0
TO_HOME: Final = 1
SPARE_TIME: Final = 2
KINDS: Final = ("to work", "to home", "spare time")
"""Names of the kinds of legs."""

_LEGS_A_DAY: Final = 8
"""Two blocks of spare time with three destinations and the way home; no day has more."""

# Which draw of a day decides what.
_TO_WORK_DRAW: Final = 0
_TO_HOME_DRAW: Final = 2
_BLOCK_DRAW: Final = 16
_BLOCK_DRAWS: Final = 32
_STOP_DRAWS: Final = 4


class Legs(NamedTuple):
    """Legs of one vehicle in the order of time; each is a drive from node to node."""

    day: I32
    kind: I32
    block: I32
    """Legs of a day with the same block follow one another: 0 and 1 are labour trips, 2 and 3 spare time."""
    stop: I32
    """Number of the leg in its block."""
    origin: I32
    destination: I32
    departure: I64
    """When the first leg of a block begins, in milliseconds since 1970; -1 for the others."""
    pause: I64
    """How long the vehicle pauses before a leg that is not the first of its block."""


@kernel
def day_key(vehicle_key: np.uint64, day: int) -> np.uint64:
    """The key of a vehicle's day; `vehicle_key` is `key_of(seeded(trip seed), vehicle)`."""
    # Days before 2000-01-03 have negative numbers.
    return key_of(vehicle_key, day + 2_000_000)


@kernel
def plan_days(
    vehicle_key: np.uint64, first_day: int, days: int, home: int, work: int, neighbours: I32, nodes: int
) -> Legs:
    """The plan of a vehicle; `neighbours` are the nodes around its home, the home included."""
    size = days * _LEGS_A_DAY
    numbers = np.empty((6, size), np.int32)
    times = np.empty((2, size), np.int64)
    count = 0
    for day in range(first_day, first_day + days):
        key = day_key(vehicle_key, day)
        midnight = NULL_DAY_MS + day * DAY_MS
        weekend = day % 7 >= 5
        if not weekend and home != work:
            for kind in (TO_WORK, TO_HOME):
                mean = WORK_START_MS if kind == TO_WORK else WORK_END_MS
                field = _TO_WORK_DRAW if kind == TO_WORK else _TO_HOME_DRAW
                low, high = float(mean - WORK_LIMIT_MS), float(mean + WORK_LIMIT_MS)
                departure = bounded_normal(key, field, float(mean), float(WORK_DEVIATION_MS), low, high)
                numbers[0, count] = day
                numbers[1, count] = kind
                numbers[2, count] = kind
                numbers[3, count] = 0
                numbers[4, count] = home if kind == TO_WORK else work
                numbers[5, count] = work if kind == TO_WORK else home
                times[0, count] = midnight + np.int64(departure)
                times[1, count] = 0
                count += 1
        for block in range(2 if weekend else 1):
            field = _BLOCK_DRAW + block * _BLOCK_DRAWS
            if share(draw(key, field)) >= SPARE_TIME_SHARE:
                continue
            begin = WEEKEND_BLOCKS_MS[block] if weekend else WEEKDAY_BLOCK_MS
            spread = WEEKEND_BLOCK_SPREAD_MS if weekend else WEEKDAY_BLOCK_SPREAD_MS
            departure_ms = midnight + begin + below(draw(key, field + 1), spread + 1)
            chance = share(draw(key, field + 2))
            stops = 1 if chance < STOPS_CUMULATED[0] else 2 if chance < STOPS_CUMULATED[1] else 3
            place = home
            for stop in range(stops + 1):
                mine = field + 3 + stop * _STOP_DRAWS
                if stop == stops:
                    destination = home
                elif share(draw(key, mine)) < NEIGHBOURHOOD_SHARE:
                    destination = neighbours[below(draw(key, mine + 1), neighbours.size)]
                else:
                    destination = below(draw(key, mine + 1), nodes)
                pause = 0.0
                if stop > 0:
                    pause = bounded_normal(
                        key,
                        mine + 2,
                        float(PAUSE_MEAN_MS),
                        float(PAUSE_DEVIATION_MS),
                        0.0,
                        float(PAUSE_LIMIT_MS),
                    )
                numbers[0, count] = day
                numbers[1, count] = SPARE_TIME
                numbers[2, count] = 2 + block
                numbers[3, count] = stop
                numbers[4, count] = place
                numbers[5, count] = destination
                times[0, count] = departure_ms if stop == 0 else -1
                times[1, count] = np.int64(pause)
                place = destination
                count += 1
    return Legs(
        numbers[0, :count],
        numbers[1, :count],
        numbers[2, :count],
        numbers[3, :count],
        numbers[4, :count],
        numbers[5, :count],
        times[0, :count],
        times[1, :count],
    )
