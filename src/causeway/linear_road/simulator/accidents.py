"""Accidents (section 3.1.1): two vehicles that stand at one place until they are cleared away."""

from __future__ import annotations

import numpy as np

from causeway.linear_road.model.expressway import (
    ENTRY_LANE,
    FEET_PER_SECOND_PER_MPH,
    FEET_PER_SEGMENT,
    MAX_SPEED,
    RIGHT_LANE,
    SEGMENTS,
)
from causeway.linear_road.simulator.road import CRASHED, DISTRACTED, DIVERGE_AT, F64, MOVING, Accidents, Road
from causeway.runtime.compiled import kernel

__all__ = ["count_stop", "speed_limits", "step_accidents"]

_PLANNED, _STANDING, _DETECTED, _CLEARED = 0, 1, 2, 3

# "Once an accident occurs in a given segment, traffic proceeds in that segment at a reduced speed".
_SPEED_IN_SEGMENT = 20 * FEET_PER_SECOND_PER_MPH
# Table 3: stopped is who reports the same place four times.
_REPORTS_TO_STOP = 4
# Table 4: drivers are alerted in the accident's segment and the four before it, and so have "the
# opportunity to exit". So many of so many take it, at the first exit they can reach from their lane.
_ALERTED_SEGMENTS = 5
_WARY_DRIVERS = (2, 3)
_REACH_PER_LANE = 0.6 * FEET_PER_SEGMENT
_SLOWEST_TO_COLLIDE = 10.0


@kernel
def step_accidents(road: Road, accidents: Accidents, second: int) -> None:
    """Let accidents happen when their time has come, drivers avoid them, and clear them away."""
    for a in range(accidents.begin.size):
        if accidents.state[a] == _PLANNED and second >= accidents.begin[a]:
            if (second - accidents.begin[a]) % 60 == 59:
                # Nobody was there to collide for a minute: look downstream.
                accidents.segment[a] = (accidents.segment[a] + 1) % SEGMENTS
            _collide(road, accidents, a)
        if accidents.state[a] == _DETECTED:
            if second >= accidents.detected[a] + accidents.duration[a]:
                _clear(road, accidents, a)
            else:
                _leave_early(road, accidents.segment[a])


@kernel
def _collide(road: Road, accidents: Accidents, a: int) -> None:
    """Stop the first vehicle of a pair in the accident's lane; the one behind does not see it in time."""
    begin = accidents.segment[a] * FEET_PER_SEGMENT
    lane = accidents.lane[a]
    first = -1
    for i in range(road.size[0]):
        if road.position[i] < begin:
            return
        inside = road.position[i] < begin + FEET_PER_SEGMENT
        if not inside or road.lane[i] != lane or road.condition[i] != MOVING:
            continue
        if first >= 0 and road.speed[i] > _SLOWEST_TO_COLLIDE:
            road.condition[first] = CRASHED
            road.speed[first] = 0.0
            road.accident[first] = a
            road.condition[i] = DISTRACTED
            road.accident[i] = a
            accidents.position[a] = road.position[first]
            accidents.state[a] = _STANDING
            return
        first = i


@kernel
def _leave_early(road: Road, segment: int) -> None:
    """Send wary drivers who are on their way to the accident to an exit before it."""
    front = segment * FEET_PER_SEGMENT
    back = (segment - _ALERTED_SEGMENTS + 1) * FEET_PER_SEGMENT
    wary, of = _WARY_DRIVERS
    for i in range(road.size[0]):
        x = road.position[i]
        if x < back:
            return
        if x >= front or road.exit_at[i] < front or road.lane[i] == ENTRY_LANE or road.trip[i] % of >= wary:
            continue
        reach = x + _REACH_PER_LANE * (RIGHT_LANE - road.lane[i] + 0.5)
        nearest = np.ceil((reach - DIVERGE_AT) / FEET_PER_SEGMENT) * FEET_PER_SEGMENT + DIVERGE_AT
        road.exit_at[i] = min(road.exit_at[i], nearest)


@kernel
def _clear(road: Road, accidents: Accidents, a: int) -> None:
    accidents.state[a] = _CLEARED
    for i in range(road.size[0]):
        if road.condition[i] == CRASHED and road.accident[i] == a:
            road.condition[i] = MOVING


@kernel
def count_stop(accidents: Accidents, a: int, trip: int, second: int) -> None:
    """Count a vehicle's report from the accident, which is detected when both are stopped."""
    mine = 0 if accidents.trips[a, 0] == trip or accidents.trips[a, 0] < 0 else 1
    accidents.trips[a, mine] = trip
    if accidents.reports[a, mine] < _REPORTS_TO_STOP:
        accidents.reports[a, mine] += 1
    both = min(accidents.reports[a, 0], accidents.reports[a, 1])
    if accidents.state[a] == _STANDING and both == _REPORTS_TO_STOP:
        accidents.state[a] = _DETECTED
        accidents.detected[a] = second


@kernel
def speed_limits(accidents: Accidents) -> F64:
    """How fast one may go in each segment."""
    limits = np.full(SEGMENTS, MAX_SPEED * FEET_PER_SECOND_PER_MPH)
    for a in range(accidents.begin.size):
        if accidents.state[a] == _STANDING or accidents.state[a] == _DETECTED:
            limits[accidents.segment[a]] = _SPEED_IN_SEGMENT
    return limits
