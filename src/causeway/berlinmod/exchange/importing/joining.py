"""From the units of a file to histories without gaps, and to trips."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from causeway.berlinmod.dataset import Movements
from causeway.berlinmod.model.arrays import BOOL, F64, I32, I64
from causeway.runtime.compiled import kernel

__all__ = [
    "JOIN_REASONS",
    "Histories",
    "Trips",
    "Units",
    "cut_into_trips",
    "join_units",
    "pair_instants",
    "sorted_units",
    "take_units",
    "units_of_instants",
]

JOIN_REASONS: Final = {
    1: "the movement begins before the one before it ends",
    2: "the movement begins more than a metre from where the one before it ends",
    3: "the vehicle is at two places at this moment",
}
_NEAR: Final = 1.0
_BETWEEN: Final = -1
"""In place of a trip's number: what lies between two trips."""


class Units(NamedTuple):
    """Linear movements; sorted by vehicle, then time."""

    vehicle: I32
    trip: I64
    line: I64
    """Where they come from."""
    t0: I64
    t1: I64
    x0: F64
    y0: F64
    x1: F64
    y1: F64


class Histories(NamedTuple):
    """A movement for each vehicle."""

    movements: Movements
    trip: I64
    """For each instant but the last of a movement: the trip of the unit that begins there."""
    reasons: I64
    """For each unit that was given: 0, or why it was not used."""
    gaps: int
    """How many gaps had to be filled."""


class Trips(NamedTuple):
    """The rows of dataMtrip."""

    movements: Movements
    history: I64
    """Which history each is of."""
    number: I64
    """Its number there."""
    moving: BOOL


def units_of_instants(instants: Units) -> tuple[Units, I64]:
    """Units between the instants of each trip (given as units of no time), and lines that repeat a moment."""
    at = take_units(instants, np.lexsort((instants.line, instants.t0, instants.trip, instants.vehicle)))
    fresh = _trip_begins(at)
    repeated: BOOL = np.zeros(fresh.size, np.bool_)
    repeated[1:] = ~fresh[1:] & (np.diff(at.t0) == 0)
    repeats = at.line[repeated]
    at = take_units(at, np.flatnonzero(~repeated))
    first, last, end = pair_instants(_trip_begins(at), at.t0)
    from_here, to_there = take_units(at, first), take_units(at, last)
    units = from_here._replace(line=to_there.line, t1=end, x1=to_there.x0, y1=to_there.y0)
    return sorted_units(units), repeats


def _trip_begins(units: Units) -> BOOL:
    begins: BOOL = np.ones(units.t0.size, np.bool_)
    begins[1:] = (np.diff(units.vehicle) != 0) | (np.diff(units.trip) != 0)
    return begins


def take_units(units: Units, places: I64 | BOOL) -> Units:
    """Some of the units."""
    columns: list[Any] = [column[places] for column in units]
    return Units(*columns)


def pair_instants(fresh: BOOL, t: I64) -> tuple[I64, I64, I64]:
    """Of instants, trip by trip, the units between them: first and last instant, and when they end.

    `fresh` says where a trip begins. A trip of a single instant is a stand of a millisecond.
    """
    starts = np.flatnonzero(fresh)
    alone = starts[np.diff(np.append(starts, t.size)) == 1]
    joined = np.flatnonzero(~fresh[1:])
    first = np.concatenate((joined, alone))
    last = np.concatenate((joined + 1, alone))
    return first, last, t[last] + (first == last)


def sorted_units(units: Units) -> Units:
    """Sorted by vehicle and time; of those that begin together, the first in the file is first."""
    return take_units(units, np.lexsort((units.line, units.t0, units.vehicle)))


def join_units(units: Units, vehicles: int) -> Histories:
    """The histories of vehicles 0 to `vehicles` - 1, of which each has a unit.

    A gap is filled by straight, even movement from where the vehicle was to where it is next, which is
    standing if that is the same place. What would be at two places at once is left out.
    """
    found = _join(units, vehicles)
    return Histories(Movements(*found[:4]), *found[4:])


@kernel
def _join(units: Units, vehicles: int) -> Any:
    count = units.t0.size
    t = np.empty(2 * count + 1, np.int64)
    x, y = np.empty(2 * count + 1), np.empty(2 * count + 1)
    trip = np.empty(2 * count + 1, np.int64)
    offsets = np.zeros(vehicles + 1, np.int64)
    reasons = np.zeros(count, np.int64)
    size = 0
    gaps = 0
    current = -1
    label = np.int64(0)
    for i in range(count):
        if units.vehicle[i] != current:
            current = units.vehicle[i]
            offsets[current] = size
            t[size], x[size], y[size] = units.t0[i], units.x0[i], units.y0[i]
            size += 1
        elif units.t0[i] < t[size - 1]:
            reasons[i] = 1
            continue
        elif units.t0[i] == t[size - 1]:
            if math.hypot(units.x0[i] - x[size - 1], units.y0[i] - y[size - 1]) > _NEAR:
                reasons[i] = 2
                continue
            # Units are open at their ends, so that the one which begins here says where the vehicle is.
            x[size - 1], y[size - 1] = units.x0[i], units.y0[i]
        else:
            gaps += 1
            trip[size - 1] = label if label == units.trip[i] else _BETWEEN
            t[size], x[size], y[size] = units.t0[i], units.x0[i], units.y0[i]
            size += 1
        label = units.trip[i]
        trip[size - 1] = label
        t[size], x[size], y[size] = units.t1[i], units.x1[i], units.y1[i]
        trip[size] = label
        size += 1
    offsets[vehicles] = size
    return offsets, t[:size].copy(), x[:size].copy(), y[:size].copy(), trip[:size].copy(), reasons, gaps


def cut_into_trips(histories: Histories) -> Trips:
    """A trip wherever the number of the trip changes; the instant at which two meet is in both."""
    offsets, t, x, y = histories.movements
    inside = np.ones(t.size, np.bool_)
    inside[offsets[1:] - 1] = False
    units = np.flatnonzero(inside)
    history = np.repeat(np.arange(offsets.size - 1), np.diff(offsets) - 1)
    fresh = np.ones(units.size, np.bool_)
    fresh[1:] = (np.diff(histories.trip[units]) != 0) | (np.diff(history) != 0)
    first = np.flatnonzero(fresh)
    sizes = np.diff(np.append(first, units.size))
    new_offsets = np.concatenate(([0], np.cumsum(sizes + 1))).astype(np.int64)
    take = np.repeat(units[first] - new_offsets[:-1], sizes + 1) + np.arange(new_offsets[-1])
    moves = (x[units] != x[units + 1]) | (y[units] != y[units + 1])
    owner = history[first]
    place = np.arange(first.size)
    begins = np.maximum.accumulate(np.where(np.diff(owner, prepend=-1) != 0, place, 0))
    return Trips(
        Movements(new_offsets, t[take], x[take], y[take]),
        owner.astype(np.int64),
        (place - begins).astype(np.int64),
        np.logical_or.reduceat(moves, first),
    )
