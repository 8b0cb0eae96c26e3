"""What the simulation of one direction of one expressway works on: plain arrays, each a named column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from causeway.linear_road.model.expressway import (
    FEET_PER_SECOND_PER_MPH,
    FEET_PER_SEGMENT,
    RAMP_FEET,
    SEGMENTS,
)

__all__ = [
    "CRASHED",
    "DISTRACTED",
    "DIVERGE_AT",
    "F64",
    "I8",
    "I32",
    "MOVING",
    "RAMP_SPEED",
    "Accidents",
    "Reports",
    "Road",
    "Trips",
    "empty_road",
    "no_reports",
]

I8 = npt.NDArray[np.int8]
I32 = npt.NDArray[np.int32]
F64 = npt.NDArray[np.float64]

# Where a segment's exit ramp begins.
DIVERGE_AT = FEET_PER_SEGMENT - RAMP_FEET
# A ramp is 1,760 ft long: at 38 mph it takes over 30 s, so that every trip reports from both its ramps.
RAMP_SPEED = 38 * FEET_PER_SECOND_PER_MPH

MOVING, CRASHED, DISTRACTED = 0, 1, 2
"""A vehicle's condition; a distracted one is about to crash into the one ahead."""

# As many vehicles as three lanes and all ramps of one direction hold bumper to bumper.
_CAPACITY = 110_000


class Trips(NamedTuple):
    """Who will travel, ordered by departure; segments are counted in the direction of travel."""

    departure: I32
    entry: I8
    exit: I8
    desired_speed: F64
    ramp_speed: F64
    first_report: I32
    """Filled by the simulation; -1 while the trip waits before its ramp."""
    last_report: I32
    waiting_after: I32
    """The trip next in line before the same ramp, or -1."""


class Accidents(NamedTuple):
    """Accidents to come, ordered by time, and what became of them."""

    begin: I32
    segment: I8
    lane: I8
    duration: I32
    """Seconds from detection until the vehicles move again."""
    state: I8
    detected: I32
    """Second in which both vehicles are stopped; -1 before."""
    position: F64
    trips: I32
    """The two vehicles' trips, one column for each; -1 until they report from the place."""
    reports: I8
    """Their reports from the place so far, at most the four that it takes to be stopped."""


class Road(NamedTuple):
    """Vehicles under way, front to back; the first `size[0]` entries are in use."""

    size: I32
    position: F64
    speed: F64
    lane: I8
    trip: I32
    exit_at: F64
    """Where the vehicle's exit ramp begins."""
    desired_speed: F64
    ramp_speed: F64
    phase: I8
    """Second of the half minute in which it reports."""
    condition: I8
    accident: I8
    next_trip: I32
    """First trip that has not departed."""
    line_head: I32
    """First trip waiting before each entry ramp, or -1."""
    line_tail: I32
    random: npt.NDArray[np.uint64]
    """State of the generator that makes drivers dawdle."""


class Reports(NamedTuple):
    """Position reports of one minute, in time order."""

    time: I32
    trip: I32
    position: I32
    speed: I8
    lane: I8


def empty_road(seed: int) -> Road:
    """A road at midnight."""
    return Road(
        size=np.zeros(1, np.int32),
        position=np.zeros(_CAPACITY),
        speed=np.zeros(_CAPACITY),
        lane=np.zeros(_CAPACITY, np.int8),
        trip=np.zeros(_CAPACITY, np.int32),
        exit_at=np.zeros(_CAPACITY),
        desired_speed=np.zeros(_CAPACITY),
        ramp_speed=np.zeros(_CAPACITY),
        phase=np.zeros(_CAPACITY, np.int8),
        condition=np.zeros(_CAPACITY, np.int8),
        accident=np.zeros(_CAPACITY, np.int8),
        next_trip=np.zeros(1, np.int32),
        line_head=np.full(SEGMENTS, -1, np.int32),
        line_tail=np.full(SEGMENTS, -1, np.int32),
        random=np.array([seed | 1], np.uint64),
    )


def no_reports() -> Reports:
    """Room for one minute's reports of a full road, to be used again for every minute."""
    room = 2 * _CAPACITY + 10_000
    return Reports(
        time=np.zeros(room, np.int32),
        trip=np.zeros(room, np.int32),
        position=np.zeros(room, np.int32),
        speed=np.zeros(room, np.int8),
        lane=np.zeros(room, np.int8),
    )
