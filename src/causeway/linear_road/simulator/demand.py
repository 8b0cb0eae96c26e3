"""Who travels and when: trips drawn as section 3.1.1 says, before any traffic is simulated."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from causeway.linear_road.model.expressway import (
    DOWNTOWN_SEGMENT,
    EAST,
    EXIT_SEGMENT_DEVIATION,
    FEET_PER_SECOND_PER_MPH,
    SEGMENTS,
    WEST,
)
from causeway.linear_road.simulator.road import RAMP_SPEED, Accidents, Trips

__all__ = ["departures_per_second", "draw_accidents", "draw_trips"]

# Vehicles that set out on an expressway each second, at these minutes and in between. In the first
# minute a vehicle reports 1.5 times on average, which makes the paper's 1,100; the rest gives the 150,000
# vehicles of three hours, and fills the road until its reports reach 100,000 a minute at the end.
_DEMAND_MINUTES = (0, 15, 90, 180)
_DEMAND_PER_SECOND = (12.4, 12.8, 12.8, 15.8)
_MINUTES_BETWEEN_ACCIDENTS = 20
_CLEARED_AFTER = (10 * 60, 20 * 60 - 30)


def departures_per_second(seconds: int) -> npt.NDArray[np.int64]:
    """How many trips of one expressway begin in each second, spread evenly."""
    minute = np.arange(seconds) / 60
    planned = np.cumsum(np.interp(minute, _DEMAND_MINUTES, _DEMAND_PER_SECOND))
    return np.diff(np.floor(planned), prepend=0).astype(np.int64)


def draw_trips(seed: int, expressway: int, direction: int, minutes: int) -> Trips:
    """Draw the trips of one direction of an expressway, ordered by departure.

    Both directions are drawn from the same sequence, so that entries over the whole expressway are
    uniform and exits normal, whichever direction is asked for.
    """
    random = np.random.default_rng([seed, expressway, 0])
    counts = departures_per_second(60 * minutes)
    departure = np.repeat(np.arange(counts.size, dtype=np.int32), counts)
    entry = random.integers(0, SEGMENTS, departure.size)
    exit_ = _exit_segments(random, entry)
    desired = np.clip(random.normal(42.2, 4, departure.size), 38, 75) * FEET_PER_SECOND_PER_MPH
    ramp = random.uniform(0.8, 1.0, departure.size) * RAMP_SPEED
    mine = (exit_ > entry) == (direction == EAST)
    if direction == WEST:
        entry, exit_ = SEGMENTS - 1 - entry, SEGMENTS - 1 - exit_
    size = int(mine.sum())
    return Trips(
        departure=departure[mine],
        entry=entry[mine].astype(np.int8),
        exit=exit_[mine].astype(np.int8),
        desired_speed=desired[mine],
        ramp_speed=ramp[mine],
        first_report=np.full(size, -1, np.int32),
        last_report=np.full(size, -1, np.int32),
        waiting_after=np.full(size, -1, np.int32),
    )


def _exit_segments(random: np.random.Generator, entry: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Draw exits from N(50, 20), again where one lies off the road or is the entry itself."""
    exit_ = np.full(entry.size, -1, np.int64)
    while True:
        again = np.flatnonzero((exit_ < 0) | (exit_ >= SEGMENTS) | (exit_ == entry))
        if again.size == 0:
            return exit_
        drawn = random.normal(DOWNTOWN_SEGMENT, EXIT_SEGMENT_DEVIATION, again.size)
        exit_[again] = np.rint(drawn).astype(np.int64)


def draw_accidents(seed: int, expressway: int, direction: int, minutes: int) -> Accidents:
    """Plan one accident for every 20 minutes of an expressway, in turns east and west."""
    random = np.random.default_rng([seed, expressway, 1])
    count = minutes // _MINUTES_BETWEEN_ACCIDENTS
    window = 60 * _MINUTES_BETWEEN_ACCIDENTS
    begin = np.arange(count) * window + random.integers(60, window // 2, count)
    segment = random.integers(2, SEGMENTS - 2, count)
    lane = random.integers(1, 4, count)
    # Most are cleared soon, few take long.
    shortest, longest = _CLEARED_AFTER
    duration = shortest + (longest - shortest) * random.random(count) ** 3
    directions = (np.arange(count) + random.integers(0, 2)) % 2
    mine = directions == direction
    if direction == WEST:
        segment = SEGMENTS - 1 - segment
    size = int(mine.sum())
    return Accidents(
        begin=begin[mine].astype(np.int32),
        segment=segment[mine].astype(np.int8),
        lane=lane[mine].astype(np.int8),
        duration=duration[mine].astype(np.int32),
        state=np.zeros(size, np.int8),
        detected=np.full(size, -1, np.int32),
        position=np.zeros(size),
        trips=np.full((size, 2), -1, np.int32),
        reports=np.zeros((size, 2), np.int8),
    )
