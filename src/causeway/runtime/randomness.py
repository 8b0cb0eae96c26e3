"""Chance without a state: every draw is a hash of the seed, the number of a thing and the field drawn.

A sequence of draws would tie each event to all before it, and one generator seeded per event ties events with
near seeds to each other. A hash does neither. The mixer is SplitMix64's (Steele, Lea and Flood, 2014), in
which every bit of the input changes half of the output's.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from causeway.runtime.compiled import inlined, kernel

__all__ = ["I32", "I64", "U64", "below", "draw", "draws_below", "key_of", "keys_of", "seeded", "share"]

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]

# Odd, and far from any regular pattern of bits: the golden ratio's, and the mixer's own two.
_STRIDE = np.uint64(0x9E3779B97F4A7C15)
_FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_FACTOR = np.uint64(0x94D049BB133111EB)


@inlined
def _mixed(bits: np.uint64) -> np.uint64:
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST_FACTOR
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND_FACTOR
    return bits ^ (bits >> np.uint64(31))


@inlined
def draw(key: np.uint64, field: int) -> np.uint64:
    """64 random bits for one field of the thing that has this key."""
    return _mixed(key + np.uint64(field + 1) * _STRIDE)


@inlined
def key_of(seed: np.uint64, number: int) -> np.uint64:
    """The key of thing `number` among those of `seed` (from `seeded`)."""
    return _mixed(seed + np.uint64(number) * _STRIDE)


@inlined
def below(random: np.uint64, bound: int) -> int:
    """A whole number from 0 on and less than `bound`, which is at most 2^32."""
    return np.int64(((random >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))  # type: ignore[return-value]


@inlined
def share(random: np.uint64) -> float:
    """A real number from 0 on and less than 1."""
    return np.float64(random >> np.uint64(11)) * 2.0**-53


def seeded(seed: int, kind: int) -> np.uint64:
    """What `key_of` takes for things of one kind; persons and auctions with equal numbers differ in luck."""
    return np.uint64(_seeded(seed, kind))  # a compiled function gives back a plain int


@kernel
def _seeded(seed: int, kind: int) -> np.uint64:
    return draw(_mixed(np.uint64(seed)), kind)


@kernel
def keys_of(seed: np.uint64, numbers: I64) -> U64:
    """`key_of` of many."""
    keys = np.empty(numbers.size, np.uint64)
    for i in range(numbers.size):
        keys[i] = key_of(seed, numbers[i])
    return keys


@kernel
def draws_below(keys: U64, field: int, bound: int) -> I64:
    """One `below` for each key."""
    drawn = np.empty(keys.size, np.int64)
    for i in range(keys.size):
        drawn[i] = below(draw(keys[i], field), bound)
    return drawn
