"""What an inspection measures of a workload's traffic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Accident", "Traffic"]


@dataclass(frozen=True)
class Accident:
    """Two or more vehicles stopped at one place, by the 2004 rules; times are seconds."""

    expressway: int
    direction: int
    lane: int
    segment: int
    position: int
    detected: int
    cleared: int
    """First second without it; where `standing`, only the second up to which its reports vouch for it."""
    standing: bool
    """Not yet cleared when the stream ends."""


@dataclass(frozen=True)
class Traffic:
    """What was measured, over all expressways together; sequences by minute begin with minute 1."""

    reports: int
    reports_per_minute: Sequence[int]
    reports_per_phase: Sequence[int]
    """Reports at each second modulo 30."""
    last_second: int
    directions: int
    """Directions of expressways that were reported from."""
    vehicles: int
    trips: int
    vehicles_with_several_trips: int
    vehicles_on_several_expressways: int
    two_at_once: int
    too_soon: int
    """Reports less than 30 s after the same vehicle's one before."""
    vanished: int
    """Reports more than 30 s after the same vehicle's one before, though that was not from the exit lane."""
    outside_domain: int
    wrong_segment: int
    out_of_sequence: int
    backwards: int
    wrong_ramp: int
    top_speed: int
    lowest_speed: int
    top_ramp_speed: int
    trips_to_enter: int
    """Trips that begin inside the stream; those cut by the start of a slice are none."""
    trips_entered: int
    trips_to_exit: int
    """Trips that end before the stream does."""
    trips_exited: int
    entries_per_segment: Sequence[int]
    exits_per_segment: Sequence[int]
    requests_per_type: dict[int, int]
    requests_unanswerable: int
    requests_sharing_a_number: int
    requests_without_report: int
    accidents: Sequence[Accident]
    toll_notifications: int
    accident_alerts: int
    mean_speed: float | None
    dense_speed: float | None
    """Mean speed in the travel lanes of segments and minutes with more than 150 vehicles."""
    sparse_speed: float | None
    """The same with fewer than 50."""
    accident_speed: float | None
    """Mean speed in the segments of accidents while they stand."""
    congested: int
    """Segments and minutes with Lav below 40 and more than 50 vehicles in the minute before."""
