"""Event time: when the event with a number happens, and which event a time has come to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causeway.runtime.compiled import kernel
from causeway.runtime.randomness import I64

__all__ = ["Clock", "first_event_at", "first_events_at", "time_of", "times_of"]


class Clock(NamedTuple):
    """Events come evenly, `rate` a second, after those that are there at the start."""

    start: int
    """Milliseconds since 1970."""
    rate: float
    preloaded: int


@kernel
def time_of(clock: Clock, event: int) -> int:
    """Milliseconds since 1970 at which `event` happens; never less than the event before."""
    # The product is exact, so that a quotient which is a whole number comes out as that number.
    return clock.start + int(np.floor(max(event - clock.preloaded, 0) * 1000.0 / clock.rate))


@kernel
def first_event_at(clock: Clock, time: int) -> int:
    """The first event that does not happen before `time`."""
    if time <= clock.start:
        return 0
    event = clock.preloaded + int((time - clock.start) * clock.rate / 1000.0)
    while time_of(clock, event) >= time:
        event -= 1
    while time_of(clock, event) < time:
        event += 1
    return event


@kernel
def times_of(clock: Clock, events: I64) -> I64:
    """`time_of` of many."""
    times = np.empty(events.size, np.int64)
    for i in range(events.size):
        times[i] = time_of(clock, events[i])
    return times


@kernel
def first_events_at(clock: Clock, times: I64) -> I64:
    """`first_event_at` of many."""
    events = np.empty(times.size, np.int64)
    for i in range(times.size):
        events[i] = first_event_at(clock, times[i])
    return events
