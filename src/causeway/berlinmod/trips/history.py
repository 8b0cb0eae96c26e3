"""A vehicle's history: its planned legs driven one after the other, standing in between, padded by a day."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causeway.berlinmod.model.arrays import BOOL, F64, I32, I64
from causeway.berlinmod.model.calendar import DAY_MS, NULL_DAY_MS
from causeway.berlinmod.model.rules import DAY_END_MS
from causeway.berlinmod.trips.driving import Streets, Track, begin_track, drive, stand
from causeway.berlinmod.trips.plan import Legs, day_key
from causeway.runtime.compiled import kernel
from causeway.runtime.randomness import draw

__all__ = ["DrivenLegs", "History", "Routes", "drive_history"]

_LEG_DRAW = 1000
"""The draws of a day from here on are the keys of its legs."""


class Routes(NamedTuple):
    """The edges of each leg's route; an empty route for a leg to where one is."""

    offsets: I64
    edges: I32


class DrivenLegs(NamedTuple):
    """What became of each planned leg."""

    departure: I64
    arrival: I64
    length: F64
    stops: I32
    standing: I64
    dropped: BOOL
    """Whether the leg's day is left out."""


class History(NamedTuple):
    """A vehicle's instants, and its legs."""

    t: I64
    x: F64
    y: F64
    legs: DrivenLegs


@kernel
def drive_history(
    streets: Streets,
    legs: Legs,
    routes: Routes,
    vehicle_key: np.uint64,
    home_x: float,
    home_y: float,
    first_ms: int,
    last_ms: int,
    interval: int,
) -> History:
    """The history from `first_ms` to `last_ms` of a vehicle that begins at home.

    A day whose last leg ends at 6:00 of the next day or later, or on which a leg would begin before the one
    before it has ended, is left out whole (section 4.2).
    """
    count = legs.day.size
    departure = np.zeros(count, np.int64)
    arrival = np.zeros(count, np.int64)
    length = np.zeros(count)
    stops = np.zeros(count, np.int32)
    standing = np.zeros(count, np.int64)
    dropped = np.zeros(count, np.bool_)
    track = begin_track(first_ms, home_x, home_y)
    begin = 0
    while begin < count:
        day = int(legs.day[begin])
        key = day_key(vehicle_key, day)
        size, before = track.size, track.t[track.size - 1]
        now = before
        overlaps = False
        leg = begin
        while leg < count and legs.day[leg] == day:
            planned = legs.departure[leg]
            if planned < 0:
                planned = now + legs.pause[leg]
            if planned < now:
                overlaps = True
            now = max(now, planned)
            departure[leg] = now
            route = routes.edges[routes.offsets[leg] : routes.offsets[leg + 1]]
            if route.size > 0:
                track = stand(track, now)
                leg_key = draw(key, _LEG_DRAW + leg - begin)
                track, metres, stopped, stood = drive(streets, route, leg_key, interval, track)
                length[leg] = metres
                stops[leg] = stopped
                standing[leg] = stood
                now = track.t[track.size - 1]
            arrival[leg] = now
            leg += 1
        if overlaps or now >= NULL_DAY_MS + day * DAY_MS + DAY_END_MS:
            dropped[begin:leg] = True
            # Standing that was made longer for the day is shortened again.
            track = Track(track.t, track.x, track.y, size)
            track.t[size - 1] = before
        begin = leg
    track = stand(track, last_ms)
    size = track.size
    return History(
        track.t[:size].copy(),
        track.x[:size].copy(),
        track.y[:size].copy(),
        DrivenLegs(departure, arrival, length, stops, standing, dropped),
    )
