"""What a driver sees of each lane, and how he changes into another.

The sweep over the road (see `traffic`) meets vehicles from front to back. `lanes` is what it knows at the
point it has come to: who was met last in each lane, and who wants to come into a lane before the next one
in it. The incentive and the safety of a lane change are those of MOBIL (A. Kesting, M. Treiber,
D. Helbing: "General lane-changing model MOBIL for car-following models", Transportation Research Record
1999, 86, 2007), stated in speeds rather than accelerations since the car-following model is one of speeds.
"""

from __future__ import annotations

import numpy as np

from causeway.linear_road.model.expressway import ENTRY_LANE, EXIT_LANE, LEFT_LANE, RIGHT_LANE
from causeway.linear_road.simulator.car_following import (
    DECELERATION,
    STANDING_GAP,
    VEHICLE_LENGTH,
    following_speed,
)
from causeway.linear_road.simulator.road import F64, MOVING, Road
from causeway.runtime.compiled import inlined, kernel

__all__ = [
    "ENTRANT",
    "FAR",
    "LEADER_AT",
    "LEADER_MOVES",
    "LEADER_SPEED",
    "MUST",
    "NO",
    "WISH",
    "WRECK_AT",
    "admit",
    "admit_rest",
    "ask_for_lane",
    "empty_lanes",
    "speed_behind",
    "wreck_seen",
]

FAR = 1.0e9
_LANES = 5

NO, WISH, MUST = 0, 1, 2
"""Whether a driver thinks of another lane: not now, for its speed, or because his lane ends for him."""

# Braking, in ft/s², that a driver imposes on the one behind him: when he wishes, and when he must.
_POLITE_BRAKING = 8.0
_FIRM_BRAKING = 13.0
# One who must change slows down by this much, and not to less than a crawl, to fall in behind another.
_FALLING_BACK = 1.0
_CRAWL = 3.0
# Of the standing gap, so much will do for a moment to one who must come in.
_SQUEEZE = 4.0
# What a lane must promise in ft/s over one's own. Who stays on the road leaves the right lane to those
# who come and go: he moves left even at a small loss.
_GAIN_TO_THE_LEFT = -3.0
_GAIN_TO_THE_RIGHT = 10.0
# A wreck is seen, and its lane left, from this far.
_WRECK_SEEN_FROM = 1500.0


# What is known of each lane: rows of one array (a tuple of arrays would cost the sweep half its speed).
LEADER_AT, LEADER_SPEED, LEADER_MOVES, WRECK_AT = 0, 1, 2, 3
"""The last vehicle met: where it was and its speed before this second, and how far it moves in it."""
ENTRANT, ENTRANT_AT, ENTRANT_SPEED, ENTRANT_FITS, ENTRANT_MUST = 4, 5, 6, 7, 8
"""Who wants to come in behind it, or -1."""
_ROWS = 9


@kernel
def empty_lanes() -> F64:
    """Nobody has been met yet."""
    lanes = np.zeros((_ROWS, _LANES))
    lanes[LEADER_AT] = FAR
    lanes[LEADER_MOVES] = FAR
    lanes[WRECK_AT] = FAR
    lanes[ENTRANT] = -1
    return lanes


@inlined
def room_behind(place: float, x: float) -> float:
    """Gap from a vehicle at `x` to one at `place`, less the standing gap."""
    return place - VEHICLE_LENGTH - STANDING_GAP - x


@inlined
def speed_behind(lanes: F64, lane: int, x: float, v: float) -> float:
    """Speed for the next second of a vehicle at `x` with speed `v`, behind the last one met in `lane`."""
    return following_speed(
        room_behind(lanes[LEADER_AT, lane], x), lanes[LEADER_SPEED, lane], lanes[LEADER_MOVES, lane], v
    )


@inlined
def wreck_seen(lanes: F64, lane: int, x: float) -> bool:
    """Whether an accident blocks `lane` ahead of `x`."""
    return bool(lanes[WRECK_AT, lane] - x < _WRECK_SEEN_FROM)


@inlined
def admit(lanes: F64, road: Road, i: int) -> float:
    """Let the one who wants to come in ahead of vehicle `i` do so, if `i` can bear it.

    Returns the speed that courtesy leaves to `i`. Who comes in has moved in his old lane this second and
    is the leader of `i` from now on.
    """
    lane = road.lane[i]
    entrant = int(lanes[ENTRANT, lane])
    lanes[ENTRANT, lane] = -1
    v = road.speed[i]
    must = lanes[ENTRANT_MUST, lane]
    room = room_behind(lanes[ENTRANT_AT, lane], road.position[i])
    behind = following_speed(room, lanes[ENTRANT_SPEED, lane], road.speed[entrant], v)
    squeeze = _SQUEEZE if must else 0.0
    bearable = behind >= v - (_FIRM_BRAKING if must else _POLITE_BRAKING)
    if lanes[ENTRANT_FITS, lane] and room >= -squeeze and bearable and road.condition[i] == MOVING:
        lanes[LEADER_AT, lane] = lanes[ENTRANT_AT, lane]
        lanes[LEADER_SPEED, lane] = lanes[ENTRANT_SPEED, lane]
        lanes[LEADER_MOVES, lane] = road.speed[entrant]
        road.lane[entrant] = lane
        return FAR
    from_ramp = road.lane[entrant] == ENTRY_LANE
    every_other = (road.trip[i] ^ road.trip[entrant]) & 1
    if must and room > -VEHICLE_LENGTH and (from_ramp or every_other):
        return float(max(behind, v - _POLITE_BRAKING, 0.0))
    return FAR


@kernel
def admit_rest(lanes: F64, road: Road) -> None:
    """Let in those behind whom nobody drives."""
    for lane in range(LEFT_LANE, EXIT_LANE):
        if lanes[ENTRANT, lane] >= 0 and lanes[ENTRANT_FITS, lane]:
            road.lane[int(lanes[ENTRANT, lane])] = lane


@inlined
def ask_for_lane(
    lanes: F64, i: int, lane: int, towards_exit: bool, x: float, v: float, own: float, urge: int
) -> tuple[float, float]:
    """Announce vehicle `i` in the lane beside it that promises most, if any does.

    Returns the two speeds that this leaves to it: one that it would rather not exceed, in order to fall
    in, and one that it must not exceed, since it may be there in the next second.
    """
    first, last = lane - 1, lane + 1
    if lane == ENTRY_LANE:
        first = last = RIGHT_LANE
    elif towards_exit or lane == LEFT_LANE:
        first = lane + 1
    elif lane == RIGHT_LANE:
        last = lane - 1
    best = lane
    best_speed = -FAR if urge == MUST else own
    best_room = 0.0
    for beside in (first, last):
        wrecked = wreck_seen(lanes, beside, x) and not wreck_seen(lanes, lane, x)
        if lanes[ENTRANT, beside] >= 0 or (wrecked and lane != ENTRY_LANE):
            continue
        room = room_behind(lanes[LEADER_AT, beside], x)
        there = speed_behind(lanes, beside, x, v)
        if urge != MUST:
            there -= _GAIN_TO_THE_LEFT if beside < lane else _GAIN_TO_THE_RIGHT
        if there > best_speed and (urge == MUST or room > 0.0):
            best, best_speed, best_room = beside, there, room
    if best == lane:
        return FAR, FAR
    squeeze = _SQUEEZE if urge == MUST else 0.0
    fits = best_room >= -squeeze and best_speed >= v - DECELERATION
    lanes[ENTRANT, best] = i
    lanes[ENTRANT_AT, best] = x
    lanes[ENTRANT_SPEED, best] = v
    lanes[ENTRANT_MUST, best] = urge == MUST
    lanes[ENTRANT_FITS, best] = fits
    falling_in = max(best_speed, v - _FALLING_BACK, _CRAWL) if urge == MUST else FAR
    return falling_in, max(best_room + lanes[LEADER_MOVES, best], 0.0) if fits else FAR
