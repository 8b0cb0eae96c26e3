"""Draws of the distributions that the paper names, from random bits."""

from __future__ import annotations

import math

import numpy as np

from causeway.runtime.compiled import inlined
from causeway.runtime.randomness import draw, share

__all__ = ["bounded_normal", "braking", "exponential", "normal"]


@inlined
def normal(key: np.uint64, field: int) -> float:
    """N(0, 1), by Box and Muller's method; takes two fields."""
    radius = math.sqrt(-2.0 * math.log(1.0 - share(draw(key, field))))
    return radius * math.cos(2.0 * math.pi * share(draw(key, field + 1)))


@inlined
def bounded_normal(
    key: np.uint64, field: int, mean: float, deviation: float, low: float, high: float
) -> float:
    """N(mean, deviation²), what is outside of the bounds moved to the nearer one; takes two fields."""
    return min(max(mean + deviation * normal(key, field), low), high)


@inlined
def exponential(random: np.uint64, mean: float) -> float:
    """Exp(mean)."""
    return -mean * math.log(1.0 - share(random))


@inlined
def braking(random: np.uint64) -> float:
    """B(20, 1/2) / 20: how many of twenty bits are set."""
    bits = random >> np.uint64(44)
    count = 0
    while bits:
        bits &= bits - np.uint64(1)
        count += 1
    return count / 20.0
