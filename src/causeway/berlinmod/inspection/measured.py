"""What is measured of some vehicles, and how it adds up."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

__all__ = ["Measured", "add_measured"]


@dataclass
class Measured:
    """Sums over vehicles; arrays with a value for each vehicle are in the order of vehicles."""

    units: list[int] = field(default_factory=list)
    trips: list[int] = field(default_factory=list)
    metres: list[float] = field(default_factory=list)
    moving_trips: int = 0
    top_speed: float = 0.0
    """km/h"""
    too_fast: int = 0
    """Units that are faster than the streets at their start, middle and end allow."""
    off_street: int = 0
    """Instants that are more than 1 cm off all streets."""
    farthest: float = 0.0
    """Metres from a street."""
    slow_samples: int = 0
    """Moving units that last longer than the interval of samples."""
    not_rising: int = 0
    """Instants that are not after the one before."""
    not_merged: int = 0
    """Standing units that follow a standing unit."""
    not_padded: int = 0
    """Histories that do not begin a day before and end a day after the observation."""
    not_equal: int = 0
    """Vehicles whose trips, one after the other, are not their history."""
    wrong_length: int = 0
    """Rows whose prefix sums of lengths are not those of their units."""
    wrong_box: int = 0
    """Rows with a box that is not the box of its units."""
    split_wrong: int = 0
    """Trips that pause for long, and pauses that are short or move."""
    standing_ms: int = 0
    observed_ms: int = 0
    stops: int = 0
    """Standstills inside of trips."""
    stop_ms: int = 0
    under_way: Any = 0
    """Milliseconds that vehicles drove, in each bin of 15 minutes of the observation."""
    presence: Any = 0
    """Milliseconds that vehicles drove, in each cell of the city."""
    durations: Any = 0
    """Drives of each kind by their minutes."""
    duration_ms: Any = 0
    drives: Any = 0
    """Drives of each kind that go somewhere."""
    longest_ms: int = 0
    legs: int = 0
    dropped_days: int = 0
    blocks: Any = 0
    """Spare-time trips with 1, 2 and 3 destinations."""
    destinations: int = 0
    """Of spare-time trips, homes not counted."""
    nearby: int = 0
    """Of these in the neighbourhood of the home."""
    labour_legs: Any = 0
    """Planned drives to work, and from work."""
    departure_ms: Any = 0
    """Sum of their departures, since midnight."""


def add_measured(parts: list[Measured]) -> Measured:
    """All parts together."""
    total = Measured()
    for one in fields(Measured):
        values = [getattr(part, one.name) for part in parts]
        if one.name in ("top_speed", "farthest", "longest_ms"):
            setattr(total, one.name, max(values))
        else:
            setattr(total, one.name, sum(values[1:], values[0]))
    return total
