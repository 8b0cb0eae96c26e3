"""The traffic on one direction of one expressway, second by second: arrays in, arrays out, no Spark.

Vehicles of all lanes stand in one list, ordered from the front of the road to its back. One sweep over
it meets every vehicle after its leaders in all lanes and before its followers, so that whom a driver
sees costs nothing to find and a lane change moves no data. Distances are feet in the direction of
travel, speeds feet per second; steps are one second.
"""

from __future__ import annotations

import numpy as np

from causeway.linear_road.model.expressway import (
    ENTRY_LANE,
    EXIT_LANE,
    FEET_PER_EXPRESSWAY,
    FEET_PER_SECOND_PER_MPH,
    FEET_PER_SEGMENT,
    LEFT_LANE,
    RAMP_FEET,
    REPORT_INTERVAL,
    RIGHT_LANE,
    SEGMENTS,
)
from causeway.linear_road.simulator.accidents import count_stop, speed_limits, step_accidents
from causeway.linear_road.simulator.car_following import (
    ACCELERATION,
    DAWDLING,
    STANDING_GAP,
    VEHICLE_LENGTH,
    following_speed,
)
from causeway.linear_road.simulator.lanes import (
    ENTRANT,
    FAR,
    LEADER_AT,
    LEADER_MOVES,
    LEADER_SPEED,
    MUST,
    NO,
    WISH,
    WRECK_AT,
    admit,
    admit_rest,
    ask_for_lane,
    empty_lanes,
    speed_behind,
    wreck_seen,
)
from causeway.linear_road.simulator.road import (
    CRASHED,
    DISTRACTED,
    DIVERGE_AT,
    F64,
    MOVING,
    RAMP_SPEED,
    Accidents,
    Reports,
    Road,
    Trips,
)
from causeway.runtime.compiled import inlined, kernel

__all__ = ["simulate_minute"]

# Vehicles merge past the first quarter of the entry ramp; shortly before its end is a wall.
_MERGE_FROM = RAMP_FEET / 4
_WALL_AT = RAMP_FEET - 5.0
_ENTRY_SPEED = 0.8
"""Speed at the start of the entry ramp, as a share of that on ramps."""
# A driver heads for the right lane this far before his exit, for each lane that he has to cross.
_EXIT_ZONE = 0.6 * FEET_PER_SEGMENT
_BRAKE_FOR_RAMP_FROM = 700.0
_BRAKING_FOR_RAMP = 6.0
# Every so many seconds a driver looks at the lanes beside him.
_LOOK_INTERVAL = 4


@kernel
def simulate_minute(road: Road, trips: Trips, accidents: Accidents, minute: int, reports: Reports) -> int:
    """Move the traffic on by one minute; fill `reports` and return how many there are."""
    ramp_tail = np.empty(SEGMENTS)
    written = 0
    for second in range(60 * minute, 60 * minute + 60):
        step_accidents(road, accidents, second)
        ramp_tail[:] = FAR
        _drive(road, accidents, second, ramp_tail)
        written = _reorder_and_report(road, trips, accidents, second, reports, written)
        written = _enter(road, trips, second, ramp_tail, reports, written)
    return written


@kernel
def _drive(road: Road, accidents: Accidents, second: int, ramp_tail: F64) -> None:
    """Choose every vehicle's speed from what is ahead of it, and move it by one second."""
    lanes = empty_lanes()
    limits = speed_limits(accidents)
    random = road.random[0]
    for i in range(road.size[0]):
        x = road.position[i]
        v = road.speed[i]
        lane = road.lane[i]
        allowed = admit(lanes, road, i) if lanes[ENTRANT, lane] >= 0 else FAR
        if road.condition[i] == MOVING:
            own = speed_behind(lanes, lane, x, v)
            wished = min(v + ACCELERATION, road.desired_speed[i])
            segment = int(x / FEET_PER_SEGMENT)
            urge = NO
            towards_exit = False
            if lane == ENTRY_LANE:
                ramp_tail[segment] = x
                offset = x - segment * FEET_PER_SEGMENT
                wished = min(wished, road.ramp_speed[i])
                own = min(own, following_speed(_WALL_AT - offset, 0.0, 0.0, v))
                if offset >= _MERGE_FROM:
                    urge = MUST
            elif lane == EXIT_LANE:
                wished = min(wished, road.ramp_speed[i])
            else:
                wished = min(wished, limits[segment])
                to_exit = road.exit_at[i] - x
                if to_exit < _EXIT_ZONE * (RIGHT_LANE - lane + 1):
                    if lane != RIGHT_LANE:
                        urge = MUST
                        towards_exit = True
                    elif to_exit < _BRAKE_FOR_RAMP_FROM:
                        wished = min(wished, _speed_before_ramp(road.ramp_speed[i], max(to_exit, 0.0)))
                        if to_exit < 2.0 * v:
                            own = min(own, speed_behind(lanes, EXIT_LANE, x, v))
                elif (second + road.trip[i]) % _LOOK_INTERVAL == 0 and own < wished:
                    urge = WISH
                if wreck_seen(lanes, lane, x):
                    urge = MUST
                    towards_exit = False
            if urge != NO:
                falling_in, limit = ask_for_lane(lanes, i, lane, towards_exit, x, v, own, urge)
                wished = min(wished, falling_in)
                own = min(own, limit)
            random ^= random << np.uint64(13)  # xorshift64 (Marsaglia 2003)
            random ^= random >> np.uint64(7)
            random ^= random << np.uint64(17)
            dawdling = DAWDLING * ACCELERATION * (random >> np.uint64(11)) * (1.0 / 9007199254740992.0)
            moves = max(min(wished, own, allowed) - dawdling, 0.0)
            road.speed[i] = moves
        elif road.condition[i] == DISTRACTED:
            moves = min(v, accidents.position[road.accident[i]] - x)
        else:
            lanes[WRECK_AT, lane] = x
            moves = 0.0
        road.position[i] = x + moves
        lanes[LEADER_AT, lane] = x
        lanes[LEADER_SPEED, lane] = v
        lanes[LEADER_MOVES, lane] = moves
    admit_rest(lanes, road)
    road.random[0] = random


@inlined
def _speed_before_ramp(ramp_speed: float, distance: float) -> float:
    """Highest speed from which one slows down to `ramp_speed` within `distance`."""
    return np.sqrt(ramp_speed * ramp_speed + 2.0 * _BRAKING_FOR_RAMP * distance)  # type: ignore[no-any-return]


@kernel
def _reorder_and_report(
    road: Road, trips: Trips, accidents: Accidents, second: int, reports: Reports, written: int
) -> int:
    """Take exits, drop who has left, restore the order by position, and report who is due."""
    kept = 0
    for i in range(road.size[0]):
        x = road.position[i]
        lane = road.lane[i]
        trip = road.trip[i]
        exit_at = road.exit_at[i]
        condition = road.condition[i]
        accident = road.accident[i]
        if condition == DISTRACTED and x >= accidents.position[accident]:
            condition = CRASHED
            road.speed[i] = 0.0
        v = road.speed[i]
        if LEFT_LANE <= lane <= RIGHT_LANE and x >= exit_at and condition == MOVING:
            if lane == RIGHT_LANE or exit_at + FEET_PER_SEGMENT >= FEET_PER_EXPRESSWAY:
                lane = EXIT_LANE
                v = min(v, RAMP_SPEED)
            else:
                exit_at += FEET_PER_SEGMENT  # missed: the next one, then
        elif lane == EXIT_LANE and x >= exit_at + RAMP_FEET:
            continue
        if road.phase[i] == second % REPORT_INTERVAL:
            _report(reports, written, second, trip, x, v, lane)
            written += 1
            trips.last_report[trip] = second
            if condition == CRASHED:
                count_stop(accidents, accident, trip, second)
        desired, ramp, phase = road.desired_speed[i], road.ramp_speed[i], road.phase[i]
        j = kept
        while j > 0 and road.position[j - 1] < x:
            _shift(road, j - 1, j)
            j -= 1
        _place(road, j, x, v, lane, trip, exit_at, desired, ramp, phase, condition, accident)
        kept += 1
    road.size[0] = kept
    return written


@kernel
def _enter(road: Road, trips: Trips, second: int, ramp_tail: F64, reports: Reports, written: int) -> int:
    """Put the vehicles whose departure has come on their entry ramps, or in line before them."""
    while road.next_trip[0] < trips.departure.size and trips.departure[road.next_trip[0]] <= second:
        trip = road.next_trip[0]
        segment = trips.entry[trip]
        trips.waiting_after[trip] = -1
        if road.line_head[segment] < 0:
            road.line_head[segment] = trip
        else:
            trips.waiting_after[road.line_tail[segment]] = trip
        road.line_tail[segment] = trip
        road.next_trip[0] += 1

    entering = np.empty(SEGMENTS, np.int32)
    entrants = 0
    for segment in range(SEGMENTS - 1, -1, -1):
        trip = road.line_head[segment]
        if trip >= 0 and _room_on_ramp(ramp_tail, segment) > 0.0:
            entering[entrants] = trip
            entrants += 1
            road.line_head[segment] = trips.waiting_after[trip]

    # Both lists run from the front of the road to its back: merge them from the back, in place.
    i = road.size[0] - 1
    road.size[0] += entrants
    j = road.size[0] - 1
    for e in range(entrants - 1, -1, -1):
        trip = entering[e]
        x = trips.entry[trip] * float(FEET_PER_SEGMENT)
        while i >= 0 and road.position[i] < x:
            _shift(road, i, j)
            i -= 1
            j -= 1
        v = min(_ENTRY_SPEED * trips.ramp_speed[trip], _room_on_ramp(ramp_tail, trips.entry[trip]))
        exit_at = trips.exit[trip] * float(FEET_PER_SEGMENT) + DIVERGE_AT
        desired, ramp = trips.desired_speed[trip], trips.ramp_speed[trip]
        _place(road, j, x, v, ENTRY_LANE, trip, exit_at, desired, ramp, second % REPORT_INTERVAL, MOVING, 0)
        _report(reports, written, second, trip, x, v, ENTRY_LANE)
        written += 1
        trips.first_report[trip] = second
        trips.last_report[trip] = second
        j -= 1
    return written


@inlined
def _room_on_ramp(ramp_tail: F64, segment: int) -> float:
    """Feet free at the start of a segment's entry ramp, up to the last vehicle on it."""
    return ramp_tail[segment] - VEHICLE_LENGTH - STANDING_GAP - segment * FEET_PER_SEGMENT  # type: ignore[no-any-return]


@inlined
def _report(reports: Reports, row: int, second: int, trip: int, x: float, v: float, lane: int) -> None:
    reports.time[row] = second
    reports.trip[row] = trip
    reports.position[row] = int(x)
    reports.speed[row] = int(v / FEET_PER_SECOND_PER_MPH + 0.5)
    reports.lane[row] = lane


@inlined
def _place(
    road: Road,
    i: int,
    x: float,
    v: float,
    lane: int,
    trip: int,
    exit_at: float,
    desired: float,
    ramp: float,
    phase: int,
    condition: int,
    accident: int,
) -> None:
    road.position[i] = x
    road.speed[i] = v
    road.lane[i] = lane
    road.trip[i] = trip
    road.exit_at[i] = exit_at
    road.desired_speed[i] = desired
    road.ramp_speed[i] = ramp
    road.phase[i] = phase
    road.condition[i] = condition
    road.accident[i] = accident


@inlined
def _shift(road: Road, source: int, target: int) -> None:
    road.position[target] = road.position[source]
    road.speed[target] = road.speed[source]
    road.lane[target] = road.lane[source]
    road.trip[target] = road.trip[source]
    road.exit_at[target] = road.exit_at[source]
    road.desired_speed[target] = road.desired_speed[source]
    road.ramp_speed[target] = road.ramp_speed[source]
    road.phase[target] = road.phase[source]
    road.condition[target] = road.condition[source]
    road.accident[target] = road.accident[source]
