"""Groups of rows by an identifier, without sorting."""

from __future__ import annotations

from typing import Final

import numpy as np

from causeway.nexmark.operators.kernels import Longs
from causeway.runtime.compiled import kernel

__all__ = ["groups_of", "numbered", "sums_of"]

_SPREAD: Final = 16
"""Identifiers that may be skipped for each row, before sorting is faster than looking at all of them.

Those of a slice are close to each other.
"""
# The golden ratio: a product with it spreads neighbours over its upper bits.
_MIXER: Final = np.uint64(0x9E3779B97F4A7C15)


def groups_of(identifiers: Longs) -> tuple[Longs, Longs]:
    """The identifiers that there are, in order, and for each row the place of its own among them."""
    if not len(identifiers):
        return identifiers, identifiers
    low = int(identifiers.min())
    size = int(identifiers.max()) - low + 1
    if size > _SPREAD * len(identifiers):
        found, place = np.unique(identifiers, return_inverse=True)
        return found, place
    offsets = identifiers - low
    seen = np.zeros(size, np.bool_)
    seen[offsets] = True
    place_of = np.cumsum(seen) - 1
    return np.flatnonzero(seen) + low, place_of[offsets]


@kernel
def sums_of(place: Longs, numbers: Longs, groups: int) -> Longs:
    """The sum of each group's numbers, exact."""
    found = np.zeros(groups, np.int64)
    for row in range(len(place)):
        found[place[row]] += numbers[row]
    return found


def numbered(values: Longs) -> tuple[Longs, int]:
    """For each row the number of its value, in the order in which values first come; how many there are."""
    bits = max(4, int(2 * len(values) - 1).bit_length())
    return _numbered(values, bits)


@kernel
def _numbered(values: Longs, bits: int) -> tuple[Longs, int]:
    """With a table of two to the power of `bits` places, at least twice as many as rows."""
    table = np.full(1 << bits, -1, np.int64)
    first = np.empty(len(values), np.int64)
    found = np.empty(len(values), np.int64)
    shift = np.uint64(64 - bits)
    last = (1 << bits) - 1
    count = 0
    for row in range(len(values)):
        place = np.int64((np.uint64(values[row]) * _MIXER) >> shift)
        while table[place] >= 0 and first[table[place]] != values[row]:
            place = (place + 1) & last
        if table[place] < 0:
            table[place] = count
            first[count] = values[row]
            count += 1
        found[row] = table[place]
    return found, count
