"""The traffic on one direction of one expressway, second by second: arrays in, arrays out, no Spark.

Vehicles of all lanes stand in one list, ordered from the front of the road to its back. One sweep over
it meets every vehicle after its leaders in all lanes and before its followers, so that whom a driver
sees costs nothing to find and a lane change moves no data. Distances are feet in the direction of
travel, speeds feet per second; steps are one second.
"""

from __future__ import annotations

import numpy as np

from causeway.compiled import inlined, kernel
from causeway.linear_road.expressway import (
    ENTRY_LANE,
    EXIT_LANE,
    FEET_PER_EXPRESSWAY,
    FEET_PER_SECOND_PER_MPH,
    FEET_PER_SEGMENT,
    LEFT_LANE,
    MAX_SPEED,
    RAMP_FEET,
    REPORT_INTERVAL,
    RIGHT_LANE,
    SEGMENTS,
)
from causeway.linear_road.simulator.car_following import (
    ACCELERATION,
    DAWDLING,
    DECELERATION,
    STANDING_GAP,
    VEHICLE_LENGTH,
    following_speed,
)
from causeway.linear_road.simulator.road import F64, Accidents, Reports, Road, Trips

__all__ = ["RAMP_SPEED", "simulate_minute"]

_LANES = 5
_FAR = 1.0e9

# A ramp is 1,760 ft long: at 38 mph it takes over 30 s, so that every trip reports from both its ramps.
RAMP_SPEED = 38 * FEET_PER_SECOND_PER_MPH
# Vehicles merge past the first quarter of the entry ramp; its end is a wall.
_MERGE_FROM = RAMP_FEET / 4
_DIVERGE_AT = FEET_PER_SEGMENT - RAMP_FEET
_BRAKING_FOR_RAMP = 6.0
_BRAKE_FROM = 700.0
# A driver heads for the right lane this far before his exit, from each lane.
_EXIT_ZONE = 0.6 * FEET_PER_SEGMENT
# Braking that a driver imposes on the one behind him: when he wishes to change lanes, and when he must.
_POLITE_BRAKING = 8.0
_FIRM_BRAKING = 13.0
_FALLING_BACK = 1.0
# Of the standing gap, so much does for a while to one who must come in.
_SQUEEZE = 4.0
# A lane must promise this much more speed, and is looked at every so many seconds. Who stays on the
# road leaves the right lane to those who come and go.
_GAIN_TO_THE_LEFT = -3.0
_GAIN_TO_THE_RIGHT = 10.0
_LOOK_INTERVAL = 4
_SEE_ACCIDENT = 1500.0
# Section 3.1.1: "Once an accident occurs in a given segment, traffic proceeds in that segment at a
# reduced speed".
ACCIDENT_SPEED = 20 * FEET_PER_SECOND_PER_MPH
_REPORTS_TO_DETECT = 4
_ALERTED_SEGMENTS = 5
# Of the drivers alerted, so many of so many leave before the accident.
_WARY_DRIVERS = (2, 3)

_MOVING, _CRASHED, _DISTRACTED = 0, 1, 2
_PLANNED, _STANDING, _DETECTED, _CLEARED = 0, 1, 2, 3


@kernel
def simulate_minute(road: Road, trips: Trips, accidents: Accidents, minute: int, reports: Reports) -> int:
    """Move the traffic on by one minute; fill `reports` and return how many there are."""
    ramp_tail = np.empty(SEGMENTS)
    written = 0
    for second in range(60 * minute, 60 * minute + 60):
        _step_accidents(road, accidents, second)
        ramp_tail[:] = _FAR
        _drive(road, accidents, second, ramp_tail)
        written = _reorder_and_report(road, trips, accidents, second, reports, written)
        written = _enter(road, trips, second, ramp_tail, reports, written)
    return written


@kernel
def _drive(road: Road, accidents: Accidents, second: int, ramp_tail: F64) -> None:
    """Choose every vehicle's speed from what stands ahead of it, and move it by one second."""
    position, speed, lanes = road.position, road.speed, road.lane
    # Per lane: the last vehicle met, the nearest wreck ahead, and who wants to come in before the next.
    leader_at = np.full(_LANES, _FAR)
    leader_speed = np.zeros(_LANES)
    leader_moves = np.full(_LANES, _FAR)
    wreck_at = np.full(_LANES, _FAR)
    entrant = np.full(_LANES, -1, np.int32)
    entrant_at = np.zeros(_LANES)
    entrant_speed = np.zeros(_LANES)
    entrant_fits = np.zeros(_LANES, np.bool_)
    entrant_must = np.zeros(_LANES, np.bool_)
    speed_limit = _segment_speed_limits(accidents)
    random = road.random[0]

    for i in range(road.size[0]):
        x = position[i]
        v = speed[i]
        lane = lanes[i]
        condition = road.condition[i]

        allowed = _FAR
        if entrant[lane] >= 0:
            room = entrant_at[lane] - VEHICLE_LENGTH - STANDING_GAP - x
            behind = following_speed(room, entrant_speed[lane], speed[entrant[lane]], v)
            must = entrant_must[lane]
            imposed = _FIRM_BRAKING if must else _POLITE_BRAKING
            squeeze = _SQUEEZE if must else 0.0
            if entrant_fits[lane] and room >= -squeeze and behind >= v - imposed and condition == _MOVING:
                lanes[entrant[lane]] = lane
                leader_at[lane] = entrant_at[lane]
                leader_speed[lane] = entrant_speed[lane]
                leader_moves[lane] = speed[entrant[lane]]
            elif (
                must
                and room > -VEHICLE_LENGTH
                and (lanes[entrant[lane]] == ENTRY_LANE or (road.trip[i] ^ road.trip[entrant[lane]]) & 1)
            ):
                # Make room for one who must come in: always for a ramp's, else every other driver does.
                allowed = max(behind, v - _POLITE_BRAKING, 0.0)
            entrant[lane] = -1

        if condition == _CRASHED:
            wreck_at[lane] = x
            leader_at[lane] = x
            leader_speed[lane] = 0.0
            leader_moves[lane] = 0.0
            continue
        if condition == _DISTRACTED:
            wreck = accidents.position[road.accident[i]]
            position[i] = min(x + v, wreck)
            leader_at[lane] = x
            leader_speed[lane] = v
            leader_moves[lane] = position[i] - x
            continue

        gap = leader_at[lane] - VEHICLE_LENGTH - STANDING_GAP - x
        own = following_speed(gap, leader_speed[lane], leader_moves[lane], v)
        segment = int(x / FEET_PER_SEGMENT)
        wished = min(v + ACCELERATION, road.desired_speed[i])

        look = False
        must = False
        target = lane
        other = lane
        if lane == ENTRY_LANE:
            wished = min(wished, road.ramp_speed[i])
            offset = x - segment * FEET_PER_SEGMENT
            to_wall = RAMP_FEET - offset - 5.0
            own = min(own, following_speed(to_wall, 0.0, 0.0, v))
            ramp_tail[segment] = x
            if offset >= _MERGE_FROM:
                look = True
                must = True
                target = RIGHT_LANE
                other = RIGHT_LANE
        elif lane == EXIT_LANE:
            wished = min(wished, road.ramp_speed[i])
        else:
            wished = min(wished, speed_limit[segment])
            to_exit = road.exit_at[i] - x
            if to_exit < _EXIT_ZONE * (RIGHT_LANE - lane + 1):
                if lane == RIGHT_LANE:
                    if to_exit < _BRAKE_FROM:
                        ramp = road.ramp_speed[i]
                        wished = min(
                            wished, np.sqrt(ramp * ramp + 2.0 * _BRAKING_FOR_RAMP * max(to_exit, 0.0))
                        )
                        if to_exit < 2.0 * v:
                            room = leader_at[EXIT_LANE] - VEHICLE_LENGTH - STANDING_GAP - x
                            own = min(
                                own,
                                following_speed(room, leader_speed[EXIT_LANE], leader_moves[EXIT_LANE], v),
                            )
                else:
                    look = True
                    must = True
                    target = lane + 1
                    other = target
            elif (second + road.trip[i]) % _LOOK_INTERVAL == 0 and own < wished:
                look = True
                target = lane - 1 if lane > LEFT_LANE else lane + 1
                other = lane + 1 if lane < RIGHT_LANE else lane - 1
            if wreck_at[lane] - x < _SEE_ACCIDENT:
                look = True
                must = True
                target = lane - 1 if lane > LEFT_LANE else lane + 1
                other = lane + 1 if lane < RIGHT_LANE else lane - 1

        if look:
            best = lane
            best_speed = -_FAR if must else own
            best_room = 0.0
            for choice in range(2):
                aside = target if choice == 0 else other
                if choice == 1 and other == target:
                    break
                if (
                    wreck_at[aside] - x < _SEE_ACCIDENT
                    and wreck_at[lane] - x >= _SEE_ACCIDENT
                    and lane != ENTRY_LANE
                ):
                    continue
                if entrant[aside] >= 0:
                    continue
                room = leader_at[aside] - VEHICLE_LENGTH - STANDING_GAP - x
                there = following_speed(room, leader_speed[aside], leader_moves[aside], v)
                if not must:
                    there -= _GAIN_TO_THE_LEFT if aside < lane else _GAIN_TO_THE_RIGHT
                if there > best_speed and (must or room > 0.0):
                    best, best_speed, best_room = aside, there, room
            if best != lane:
                entrant[best] = i
                entrant_at[best] = x
                entrant_speed[best] = v
                entrant_must[best] = must
                squeeze = _SQUEEZE if must else 0.0
                entrant_fits[best] = best_room >= -squeeze and best_speed >= v - DECELERATION
                if must:
                    # Fall in behind the one he will follow there.
                    wished = min(wished, max(best_speed, v - _FALLING_BACK, 3.0))
                if entrant_fits[best]:
                    own = min(own, max(best_room + leader_moves[best], 0.0))

        v_new = min(wished, own, allowed)
        random ^= random << np.uint64(13)
        random ^= random >> np.uint64(7)
        random ^= random << np.uint64(17)
        dawdle = (random >> np.uint64(11)) * (1.0 / 9007199254740992.0)
        v_new = max(v_new - DAWDLING * ACCELERATION * dawdle, 0.0)
        leader_at[lane] = x
        leader_speed[lane] = v
        leader_moves[lane] = v_new
        position[i] = x + v_new
        speed[i] = v_new

    for lane in range(LEFT_LANE, EXIT_LANE):
        if entrant[lane] >= 0 and entrant_fits[lane]:
            lanes[entrant[lane]] = lane
    road.random[0] = random


@kernel
def _segment_speed_limits(accidents: Accidents) -> F64:
    limits = np.full(SEGMENTS, MAX_SPEED * FEET_PER_SECOND_PER_MPH)
    for a in range(accidents.begin.size):
        if accidents.state[a] == _STANDING or accidents.state[a] == _DETECTED:
            limits[accidents.segment[a]] = ACCIDENT_SPEED
    return limits


@kernel
def _step_accidents(road: Road, accidents: Accidents, second: int) -> None:
    """Let accidents happen when their time has come, and clear those that stood long enough."""
    for a in range(accidents.begin.size):
        if accidents.state[a] == _PLANNED and second >= accidents.begin[a]:
            if (second - accidents.begin[a]) % 60 == 59:
                # Nobody is there to collide: the accident moves downstream.
                accidents.segment[a] = (accidents.segment[a] + 1) % SEGMENTS
            _collide(road, accidents, a)
        if accidents.state[a] == _DETECTED and second >= accidents.detected[a] + accidents.duration[a]:
            accidents.state[a] = _CLEARED
            accidents.cleared[a] = second
            for i in range(road.size[0]):
                if road.condition[i] == _CRASHED and road.accident[i] == a:
                    road.condition[i] = _MOVING
        if accidents.state[a] == _DETECTED:
            _leave_early(road, accidents.segment[a])


@kernel
def _leave_early(road: Road, segment: int) -> None:
    """Let drivers who were alerted take the next exit: section 3.2.2, "the opportunity to exit"."""
    front = segment * FEET_PER_SEGMENT
    back = (segment - _ALERTED_SEGMENTS + 1) * FEET_PER_SEGMENT
    for i in range(road.size[0]):
        x = road.position[i]
        if x < back:
            return
        if (
            x < front
            and road.exit_at[i] > front
            and road.lane[i] != ENTRY_LANE
            and road.trip[i] % _WARY_DRIVERS[1] < _WARY_DRIVERS[0]
        ):
            ahead = x + _EXIT_ZONE * (RIGHT_LANE - road.lane[i] + 0.5) - _DIVERGE_AT
            road.exit_at[i] = np.ceil(ahead / FEET_PER_SEGMENT) * FEET_PER_SEGMENT + _DIVERGE_AT


@kernel
def _collide(road: Road, accidents: Accidents, a: int) -> None:
    """Stop the first vehicle of a pair in the accident's lane; the one behind it does not see it."""
    begin = accidents.segment[a] * FEET_PER_SEGMENT
    lane = accidents.lane[a]
    first = -1
    for i in range(road.size[0]):
        if road.position[i] < begin:
            return
        inside = road.position[i] < begin + FEET_PER_SEGMENT
        if not inside or road.lane[i] != lane or road.condition[i] != _MOVING:
            continue
        if first >= 0 and road.speed[i] > 10.0:
            road.condition[first] = _CRASHED
            road.speed[first] = 0.0
            road.accident[first] = a
            road.condition[i] = _DISTRACTED
            road.accident[i] = a
            accidents.position[a] = road.position[first]
            accidents.state[a] = _STANDING
            return
        first = i


@kernel
def _reorder_and_report(
    road: Road, trips: Trips, accidents: Accidents, second: int, reports: Reports, written: int
) -> int:
    """Take ramps, drop who has left, restore the order by position, and report who is due."""
    kept = 0
    for i in range(road.size[0]):
        x = road.position[i]
        lane = road.lane[i]
        trip = road.trip[i]
        exit_at = road.exit_at[i]
        condition = road.condition[i]
        accident = road.accident[i]
        if condition == _DISTRACTED and x >= accidents.position[accident]:
            condition = _CRASHED
            road.speed[i] = 0.0
        v = road.speed[i]
        if LEFT_LANE <= lane <= RIGHT_LANE and x >= exit_at and condition == _MOVING:
            at_end = exit_at + FEET_PER_SEGMENT >= FEET_PER_EXPRESSWAY
            if lane == RIGHT_LANE or at_end:
                lane = EXIT_LANE
                v = min(v, RAMP_SPEED)
            else:
                exit_at += FEET_PER_SEGMENT
                road.missed_exits[0] += 1
        elif lane == EXIT_LANE and x >= exit_at + RAMP_FEET:
            continue
        if road.phase[i] == second % REPORT_INTERVAL:
            reports.time[written] = second
            reports.trip[written] = trip
            reports.position[written] = int(x)
            reports.speed[written] = int(v / FEET_PER_SECOND_PER_MPH + 0.5)
            reports.lane[written] = lane
            written += 1
            trips.last_report[trip] = second
            if condition == _CRASHED:
                _count_stop(accidents, accident, trip, second)
        desired, ramp, phase = road.desired_speed[i], road.ramp_speed[i], road.phase[i]
        j = kept
        while j > 0 and road.position[j - 1] < x:
            _shift(road, j - 1, j)
            j -= 1
        _place(road, j, x, v, lane, trip, exit_at, desired, ramp, phase, condition, accident)
        kept += 1
    road.size[0] = kept
    return written


@inlined
def _place(road, j, x, v, lane, trip, exit_at, desired, ramp, phase, condition, accident):  # type: ignore[no-untyped-def]
    road.position[j] = x
    road.speed[j] = v
    road.lane[j] = lane
    road.trip[j] = trip
    road.exit_at[j] = exit_at
    road.desired_speed[j] = desired
    road.ramp_speed[j] = ramp
    road.phase[j] = phase
    road.condition[j] = condition
    road.accident[j] = accident


@inlined
def _shift(road, source, target):  # type: ignore[no-untyped-def]
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


@kernel
def _count_stop(accidents: Accidents, a: int, trip: int, second: int) -> None:
    """Count a report from the accident; it is detected with the fourth of both vehicles (Table 3)."""
    mine = 0 if accidents.trips[a, 0] == trip or accidents.trips[a, 0] < 0 else 1
    accidents.trips[a, mine] = trip
    if accidents.reports[a, mine] < _REPORTS_TO_DETECT:
        accidents.reports[a, mine] += 1
    both = min(accidents.reports[a, 0], accidents.reports[a, 1])
    if accidents.state[a] == _STANDING and both == _REPORTS_TO_DETECT:
        accidents.state[a] = _DETECTED
        accidents.detected[a] = second


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
        start = segment * FEET_PER_SEGMENT
        if trip >= 0 and ramp_tail[segment] - VEHICLE_LENGTH - STANDING_GAP > start:
            entering[entrants] = trip
            entrants += 1
            road.line_head[segment] = trips.waiting_after[trip]
    if entrants == 0:
        return written

    # Both lists run from the front of the road to its back: merge them from the back, in place.
    i = road.size[0] - 1
    e = entrants - 1
    road.size[0] += entrants
    for j in range(road.size[0] - 1, -1, -1):
        if e < 0:
            break
        trip = entering[e]
        start = trips.entry[trip] * float(FEET_PER_SEGMENT)
        if i >= 0 and road.position[i] < start:
            _shift(road, i, j)
            i -= 1
            continue
        room = ramp_tail[trips.entry[trip]] - VEHICLE_LENGTH - STANDING_GAP - start
        v = max(min(0.8 * trips.ramp_speed[trip], room), 0.0)
        exit_at = trips.exit[trip] * float(FEET_PER_SEGMENT) + _DIVERGE_AT
        _place(
            road,
            j,
            start,
            v,
            ENTRY_LANE,
            trip,
            exit_at,
            trips.desired_speed[trip],
            trips.ramp_speed[trip],
            second % REPORT_INTERVAL,
            _MOVING,
            0,
        )
        e -= 1
    for e in range(entrants):
        trip = entering[e]
        start = trips.entry[trip] * float(FEET_PER_SEGMENT)
        room = ramp_tail[trips.entry[trip]] - VEHICLE_LENGTH - STANDING_GAP - start
        v = max(min(0.8 * trips.ramp_speed[trip], room), 0.0)
        reports.time[written] = second
        reports.trip[written] = trip
        reports.position[written] = int(start)
        reports.speed[written] = int(v / FEET_PER_SECOND_PER_MPH + 0.5)
        reports.lane[written] = ENTRY_LANE
        written += 1
        trips.first_report[trip] = second
        trips.last_report[trip] = second
    return written
