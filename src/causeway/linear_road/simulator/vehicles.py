"""Which vehicle makes which trip: some make several, on several expressways, never two at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from causeway.linear_road.simulator.road import I32
from causeway.runtime.compiled import kernel

__all__ = ["deal_vehicles"]

# A vehicle that has left the road may set out again after these seconds; less than 30 would join two
# trips into one, since a trip goes on for as long as reports are 30 s apart.
_PAUSE = 300
# Of all trips, this share is made by a vehicle that has made one before, as soon as there is one.
_RETURNING = 0.03


def deal_vehicles(first_report: I32, last_report: I32, seed: int) -> I32:
    """Give each trip a vehicle, numbered from 0 in the order in which they first set out.

    A returning trip takes the vehicle that has been off the road the longest, whatever expressway it was
    on.
    """
    returning = np.random.default_rng([seed, 2]).random(first_report.size) < _RETURNING
    by_start = np.argsort(first_report, kind="stable").astype(np.int32)
    by_end = np.argsort(last_report, kind="stable").astype(np.int32)
    return _deal(first_report, last_report, returning, by_start, by_end)


@kernel
def _deal(
    first_report: I32, last_report: I32, returning: npt.NDArray[np.bool_], by_start: I32, by_end: I32
) -> I32:
    vehicle = np.full(first_report.size, -1, np.int32)
    vehicles = 0
    next_free = 0
    for trip in by_start:
        if returning[trip]:
            free = by_end[next_free]
            if last_report[free] + _PAUSE <= first_report[trip]:
                vehicle[trip] = vehicle[free]
                next_free += 1
                continue
        vehicle[trip] = vehicles
        vehicles += 1
    return vehicle
