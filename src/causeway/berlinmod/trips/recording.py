"""What is recorded of a history: errors of the device, trips and pauses, lengths and boxes."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from causeway.berlinmod.model.arrays import BOOL, F64, I64
from causeway.runtime.compiled import inlined, kernel
from causeway.runtime.randomness import draw, share

__all__ = ["UNITS_PER_BOX", "Boxes", "cumulate_lengths", "disturb", "make_boxes", "split_at_pauses"]

UNITS_PER_BOX: Final = 64
_MS_PER_HOUR: Final = 3_600_000.0
_ERROR_KEY: Final = 1
"""Which draw of a vehicle's key is the key of its errors. Days count from far above."""


class Boxes(NamedTuple):
    """Bounding boxes of every 64 units of some movements, one movement after the other."""

    offsets: I64
    """The boxes of movement i are those from `offsets[i]` to `offsets[i + 1]` - 1."""
    t: I64
    """When each begins."""
    x_min: F64
    x_max: F64
    y_min: F64
    y_max: F64


@inlined
def _step(key: np.uint64, counter: int, largest: float) -> float:
    return largest * (2.0 * share(draw(key, counter)) - 1.0)


@kernel
def disturb(x: F64, y: F64, vehicle_key: np.uint64, total: float, step: float) -> tuple[F64, F64]:
    """Positions with errors (section 7.6): the first within ± `total` an axis, then a walk of ± `step`.

    While a vehicle stands, its error stays, so that standing is still one unit and still standing.
    """
    key = draw(vehicle_key, _ERROR_KEY)
    disturbed_x = np.empty_like(x)
    disturbed_y = np.empty_like(y)
    error_x = _step(key, 0, total)
    error_y = _step(key, 1, total)
    for i in range(x.size):
        if i > 0 and (x[i] != x[i - 1] or y[i] != y[i - 1]):
            error_x = min(max(error_x + _step(key, 2 * i, step), -total), total)
            error_y = min(max(error_y + _step(key, 2 * i + 1, step), -total), total)
        disturbed_x[i] = x[i] + error_x
        disturbed_y[i] = y[i] + error_y
    return disturbed_x, disturbed_y


@kernel
def split_at_pauses(t: I64, x: F64, y: F64, min_pause: int, min_velocity: float) -> tuple[I64, BOOL]:
    """First unit of every trip and, at the end, the number of units; and whether each trip moves.

    Standing for at least `min_pause` milliseconds, over several units if need be, is a trip of its own
    (section 7.5.4); shorter standing stays inside of its trip. A unit slower than `min_velocity` metres an
    hour stands.
    """
    units = t.size - 1
    first = np.empty(units + 1, np.int64)
    moving = np.empty(units, np.bool_)
    trips = 0
    begin = 0
    unit = 0
    while unit < units:
        end = unit
        while end < units:
            metres = math.hypot(x[end + 1] - x[end], y[end + 1] - y[end])
            if metres > 0.0 and metres * _MS_PER_HOUR >= min_velocity * (t[end + 1] - t[end]):
                break
            end += 1
        if end > unit and t[end] - t[unit] >= min_pause:
            if unit > begin:
                first[trips], moving[trips] = begin, True
                trips += 1
            first[trips], moving[trips] = unit, False
            trips += 1
            begin = end
        unit = max(end, unit + 1)
    if units > begin:
        first[trips], moving[trips] = begin, True
        trips += 1
    first[trips] = units
    return first[: trips + 1].copy(), moving[:trips].copy()


@kernel
def cumulate_lengths(offsets: I64, x: F64, y: F64) -> F64:
    """Metres from the start of its movement to each instant; movement i has those from `offsets[i]` on."""
    length = np.empty_like(x)
    for movement in range(offsets.size - 1):
        total = 0.0
        for i in range(offsets[movement], offsets[movement + 1]):
            if i > offsets[movement]:
                total += math.hypot(x[i] - x[i - 1], y[i] - y[i - 1])
            length[i] = total
    return length


@kernel
def make_boxes(offsets: I64, t: I64, x: F64, y: F64) -> Boxes:
    """The boxes of movements, whose instants are cut by `offsets`."""
    movements = offsets.size - 1
    box_offsets = np.zeros(movements + 1, np.int64)
    for i in range(movements):
        units = offsets[i + 1] - offsets[i] - 1
        box_offsets[i + 1] = box_offsets[i] + (units + UNITS_PER_BOX - 1) // UNITS_PER_BOX
    count = box_offsets[movements]
    begin = np.empty(count, np.int64)
    x_min, x_max = np.full(count, np.inf), np.full(count, -np.inf)
    y_min, y_max = np.full(count, np.inf), np.full(count, -np.inf)
    for i in range(movements):
        for box in range(box_offsets[i], box_offsets[i + 1]):
            first = offsets[i] + UNITS_PER_BOX * (box - box_offsets[i])
            begin[box] = t[first]
            for k in range(first, min(first + UNITS_PER_BOX + 1, offsets[i + 1])):
                x_min[box], x_max[box] = min(x_min[box], x[k]), max(x_max[box], x[k])
                y_min[box], y_max[box] = min(y_min[box], y[k]), max(y_max[box], y[k])
    return Boxes(box_offsets, begin, x_min, x_max, y_min, y_max)
