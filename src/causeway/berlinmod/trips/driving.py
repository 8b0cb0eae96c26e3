"""Algorithm 1: one drive along a route, as a GPS device that knows the streets would record it.

Every piece of 5 m has one speed. A sample is taken at each change of direction, at both ends of a
standstill, and between those on a clock of 2 s that starts anew with each of them. Times are whole
milliseconds: where the drive reaches a corner or a stop in between two, it is recorded at the later one and
goes on from there, so that no unit is faster than the vehicle was.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from causeway.berlinmod.model.arrays import F64, I32, I64
from causeway.berlinmod.model.rules import (
    ACCELERATION,
    CORNER_METRES,
    LOWEST_SPEED,
    MAIN_STREET_SPEED,
    MEAN_WAIT_MS,
    PIECE_METRES,
    SIDE_STREET_SPEED,
    STOP_AT_CROSSING,
    STOP_SHARE,
)
from causeway.berlinmod.trips.chance import braking, exponential
from causeway.runtime.compiled import inlined, kernel
from causeway.runtime.randomness import draw, share

__all__ = ["Streets", "Track", "begin_track", "drive", "stand"]

_STRAIGHT = 1e-9
"""Segments whose directions differ by less (as a sine) are one straight line."""
_CAPACITY = 4096
"""Instants that a new track has room for; it grows at need."""
_MS_HOURS = 3600.0
"""A metre at 1 km/h takes so many milliseconds."""


class Streets(NamedTuple):
    """What a drive needs of the road map; see `RoadMap`."""

    offsets: I64
    x: F64
    y: F64
    vmax: F64


class Track(NamedTuple):
    """Instants of a movement; only the first `size` of each array are in use."""

    t: I64
    x: F64
    y: F64
    size: int


@kernel
def begin_track(t: int, x: float, y: float) -> Track:
    """A track that begins at a place and time."""
    size = np.int64(1)  # a plain 1 would be a type of its own to numba
    track = Track(np.empty(_CAPACITY, np.int64), np.empty(_CAPACITY), np.empty(_CAPACITY), int(size))
    track.t[0] = t
    track.x[0] = x
    track.y[0] = y
    return track


@kernel
def _append(track: Track, t: int, x: float, y: float) -> Track:
    size = track.size
    if size == track.t.size:
        track = Track(
            np.concatenate((track.t, np.empty(size, np.int64))),
            np.concatenate((track.x, np.empty(size, np.float64))),
            np.concatenate((track.y, np.empty(size, np.float64))),
            size,
        )
    track.t[size] = t
    track.x[size] = x
    track.y[size] = y
    return Track(track.t, track.x, track.y, size + 1)


@kernel
def stand(track: Track, until: int) -> Track:
    """Stay where the track ends until a later moment; standing that follows standing is one unit."""
    last = track.size - 1
    if until <= track.t[last]:
        return track
    x, y = track.x[last], track.y[last]
    if last > 0 and track.x[last - 1] == x and track.y[last - 1] == y:
        track.t[last] = until
        return track
    return _append(track, until, x, y)


@inlined
def _street_class(vmax: float) -> int:
    if vmax <= SIDE_STREET_SPEED:
        return 0
    return 1 if vmax <= MAIN_STREET_SPEED else 2


@kernel
def drive(
    streets: Streets, route: I32, key: np.uint64, interval: int, track: Track
) -> tuple[Track, float, int, int]:
    """Append a drive over the edges of `route`, which begins where and when the track ends.

    Returns the track, the metres driven, how often the vehicle stopped, and for how many milliseconds.
    """
    # The route as one line: its corners, the limit on each segment, and which corners end an edge.
    points = 1
    for edge in route:
        points += streets.offsets[edge + 1] - streets.offsets[edge] - 1
    x = np.empty(points)
    y = np.empty(points)
    at = np.empty(points)
    limit = np.empty(points)
    leaves = np.full(points, -1, np.int64)
    point = 0
    x[0] = streets.x[streets.offsets[route[0]]]
    y[0] = streets.y[streets.offsets[route[0]]]
    at[0] = 0.0
    for number in range(route.size):
        edge = route[number]
        for corner in range(streets.offsets[edge] + 1, streets.offsets[edge + 1]):
            length = math.hypot(streets.x[corner] - x[point], streets.y[corner] - y[point])
            if length > 0.0:
                limit[point] = streets.vmax[edge]
                point += 1
                x[point] = streets.x[corner]
                y[point] = streets.y[corner]
                at[point] = at[point - 1] + length
        leaves[point] = number
    last = point
    # How much of the limit a corner leaves (enclosed angle / 180°), and whether the direction changes there.
    share_left = np.ones(last + 1)
    turns = np.zeros(last + 1, np.bool_)
    for point in range(1, last):
        before_x, before_y = x[point] - x[point - 1], y[point] - y[point - 1]
        after_x, after_y = x[point + 1] - x[point], y[point + 1] - y[point]
        across = before_x * after_y - before_y * after_x
        along = before_x * after_x + before_y * after_y
        if along <= 0.0 or abs(across) > _STRAIGHT * along:
            turns[point] = True
            share_left[point] = 1.0 - abs(math.atan2(across, along)) / math.pi

    counter = 0
    speed = 0.0
    stops = 0
    stood = np.int64(0)
    start = track.t[track.size - 1]  # when the clock started
    elapsed = 0.0  # milliseconds since then
    due = float(interval)  # when the next sample is to be taken
    for point in range(last):
        vmax = limit[point]
        end = at[point + 1]
        step_x = (x[point + 1] - x[point]) / (end - at[point])
        step_y = (y[point + 1] - y[point]) / (end - at[point])
        place = at[point]
        while place < end:
            allowed = vmax
            ahead = point + 1
            while ahead < last and at[ahead] - place <= CORNER_METRES:
                allowed = min(allowed, share_left[ahead] * vmax)
                ahead += 1
            event = share(draw(key, counter))
            counter += 1
            stop = False
            if event * vmax < 1.0:
                stop = share(draw(key, counter)) < STOP_SHARE
                chance = draw(key, counter + 1)
                counter += 2
                if stop:
                    here_x = x[point] + step_x * (place - at[point])
                    here_y = y[point] + step_y * (place - at[point])
                    wait = np.int64(exponential(chance, MEAN_WAIT_MS))
                    now = start + np.int64(math.ceil(elapsed))
                    if now > track.t[track.size - 1]:
                        track = _append(track, now, here_x, here_y)
                    track = stand(track, now + wait)
                    start, elapsed, due = now + wait, 0.0, float(interval)
                    stops += 1
                    stood += wait
                    speed = ACCELERATION
                else:
                    speed *= braking(chance)
            else:
                speed += ACCELERATION
            speed = max(min(speed, allowed), LOWEST_SPEED)
            piece = min(PIECE_METRES, end - place)
            if end - place - piece < 1e-6:
                piece = end - place
            pace = _MS_HOURS / speed
            arrival = elapsed + piece * pace
            while due < arrival:
                where = place + (due - elapsed) / pace - at[point]
                track = _append(
                    track, start + np.int64(due), x[point] + step_x * where, y[point] + step_y * where
                )
                due += interval
            elapsed = arrival
            place = end if piece == end - place else place + piece
        corner = point + 1
        left = leaves[corner]
        wait = np.int64(0)
        stop = False
        if left >= 0 and left + 1 < route.size:
            this, following = streets.vmax[route[left]], streets.vmax[route[left + 1]]
            if share(draw(key, counter)) < STOP_AT_CROSSING[_street_class(this), _street_class(following)]:
                stop = True
                wait = np.int64(exponential(draw(key, counter + 1), MEAN_WAIT_MS))
            counter += 2
        if turns[corner] or stop or corner == last:
            now = start + np.int64(math.ceil(elapsed))
            if now > track.t[track.size - 1]:
                track = _append(track, now, x[corner], y[corner])
            start, elapsed, due = now, 0.0, float(interval)
            if stop:
                track = stand(track, now + wait)
                start = now + wait
                speed = 0.0
                stops += 1
                stood += wait
    return track, at[last], stops, int(stood)
