"""Which of several quadratic functions are among the k smallest, and when: a sweep over their crossings."""

from __future__ import annotations

import math
from typing import Any, Final

from causeway.berlinmod.model.arrays import BOOL, F64
from causeway.moving_objects.kernels.spans import grown
from causeway.runtime.compiled import kernel

__all__ = ["SAME_METRES", "crossings", "smallest"]

SAME_METRES: Final = 1e-8
"""Distances that differ by less are equal. The rounding of positions is some 1e-11."""


@kernel
def _add_root(cuts: F64, count: int, root: float, lasts: float) -> Any:
    if 0.0 < root < lasts:
        cuts[count] = root
        return count + 1
    return count


@kernel
def crossings(functions: F64, count: int, lasts: float, cuts: F64) -> Any:
    """Where any two of the functions a·s² + b·s + c have the same value within (0, lasts), sorted.

    Gives the array (which may have grown) and how many there are, with 0 and `lasts` among them.
    """
    cuts = grown(cuts, 2 + count * (count - 1))
    cuts[0] = 0.0
    cuts[1] = lasts
    n = 2
    for i in range(count):
        for j in range(i):
            a = functions[i, 0] - functions[j, 0]
            b = functions[i, 1] - functions[j, 1]
            c = functions[i, 2] - functions[j, 2]
            if not math.isfinite(c):
                continue
            if a == 0.0:
                if b != 0.0:
                    n = _add_root(cuts, n, -c / b, lasts)
                continue
            inner = b * b - 4.0 * a * c
            if inner < 0.0:
                continue
            total = -0.5 * (b + math.copysign(math.sqrt(inner), b))
            n = _add_root(cuts, n, total / a, lasts)
            if total != 0.0:
                n = _add_root(cuts, n, c / total, lasts)
    cuts[:n].sort()
    return cuts, n


@kernel
def smallest(functions: F64, count: int, s: float, k: int, ranks: F64, chosen: BOOL) -> None:
    """Mark the functions that have fewer than k smaller ones at `s`; equal ones are all marked.

    The functions are squares of distances.
    """
    found = 0
    for i in range(count):
        value = (functions[i, 0] * s + functions[i, 1]) * s + functions[i, 2]
        # The k smallest values so far, in order.
        place = min(found, k)
        while place > 0 and ranks[place - 1] > value:
            if place < k:
                ranks[place] = ranks[place - 1]
            place -= 1
        if place < k:
            ranks[place] = value
            found = min(found + 1, k)
    limit = (math.sqrt(max(ranks[found - 1], 0.0)) + SAME_METRES) ** 2
    for i in range(count):
        value = (functions[i, 0] * s + functions[i, 1]) * s + functions[i, 2]
        chosen[i] = value <= limit and math.isfinite(value)
