"""Who has the smallest aggregate distance to a group of moving members, and when: a certified search.

A sum of distances has no formula for where two sums are equal. But no distance changes faster than the two
move towards each other, so in an interval around an instant most candidates are ruled out by their values
there. Where more than one is left, the interval is halved, down to half a millisecond.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from causeway.berlinmod.model.arrays import BOOL, F64, I64
from causeway.berlinmod.neighbours.slabs import Tracks
from causeway.moving_objects.kernels.spans import grown
from causeway.runtime.compiled import kernel

__all__ = ["AGGREGATES", "smallest_aggregate"]

AGGREGATES: Final = {"sum": 0, "min": 1, "max": 2}

_LEAST: Final = 0.0005
"""Seconds: an interval of this length is not halved."""
_SAME: Final = 1e-9
"""Metres, and parts of the value: sums that are as near as this are equal."""


def smallest_aggregate(
    candidates: Tracks, members: Tracks, spans: F64, aggregate: str
) -> tuple[I64, F64, F64]:
    """Candidate, begin and end of each interval in which its aggregate distance is the smallest.

    `spans` are times at which all tracks are defined.
    """
    who, times = _search(*candidates, *members, spans, AGGREGATES[aggregate])
    return who, times[:, 0].copy(), times[:, 1].copy()


@kernel
def _units(offsets: I64, t: F64, now: float, unit: I64) -> None:
    for k in range(len(offsets) - 1):
        first = offsets[k]
        last = offsets[k + 1] - 1
        u = first + np.searchsorted(t[first : last + 1], now, "right") - 1
        unit[k] = min(max(u, first), last - 1)


@kernel
def _advance(offsets: I64, t: F64, now: float, unit: I64, until: float) -> Any:
    """Go to the units that `now` is in; gives the next instant of any, or `until`."""
    for k in range(len(unit)):
        while t[unit[k] + 1] <= now and unit[k] + 2 < offsets[k + 1]:
            unit[k] += 1
        if now < t[unit[k] + 1] < until:
            until = t[unit[k] + 1]
    return until


@kernel
def _movements(t: F64, x: F64, y: F64, unit: I64, now: float, out: F64) -> None:
    """Position at `now` and speed of each track."""
    for k in range(len(unit)):
        u = unit[k]
        lasts = t[u + 1] - t[u]
        out[k, 2] = (x[u + 1] - x[u]) / lasts
        out[k, 3] = (y[u + 1] - y[u]) / lasts
        out[k, 0] = x[u] + (now - t[u]) * out[k, 2]
        out[k, 1] = y[u] + (now - t[u]) * out[k, 3]


@kernel
def _value(one: F64, members: F64, s: float, half: float, aggregate: int) -> Any:
    """The aggregate distance of a candidate s seconds on, and between what it is `half` seconds around."""
    total = np.inf if aggregate == 1 else 0.0
    low = total
    high = total
    for m in range(len(members)):
        wx = one[2] - members[m, 2]
        wy = one[3] - members[m, 3]
        dx = one[0] - members[m, 0] + s * wx
        dy = one[1] - members[m, 1] + s * wy
        metres = np.sqrt(dx * dx + dy * dy)
        change = half * np.sqrt(wx * wx + wy * wy)
        least = max(metres - change, 0.0)
        if aggregate == 0:
            total += metres
            low += least
            high += metres + change
        elif aggregate == 1:
            total = min(total, metres)
            low = min(low, least)
            high = min(high, metres + change)
        else:
            total = max(total, metres)
            low = max(low, least)
            high = max(high, metres + change)
    return total, low, high


@kernel
def _switch(now: float, chosen: BOOL, since: F64, who: I64, times: F64, n: int) -> Any:
    """From `now` on the chosen ones are the smallest: write the intervals of those that were until now."""
    for c in range(len(chosen)):
        was = not np.isnan(since[c])
        if was and not chosen[c]:
            if n == len(who):
                who = grown(who, n + 1)
                longer = np.empty((len(who), 2))
                longer[:n] = times[:n]
                times = longer
            who[n] = c
            times[n, 0] = since[c]
            times[n, 1] = now
            n += 1
            since[c] = np.nan
        elif chosen[c] and not was:
            since[c] = now
    return who, times, n


@kernel
def _search(
    offsets: I64,
    t: F64,
    x: F64,
    y: F64,
    member_offsets: I64,
    mt: F64,
    mx: F64,
    my: F64,
    spans: F64,
    aggregate: int,
) -> Any:
    count = len(offsets) - 1
    who = np.empty(64, np.int64)
    times = np.empty((64, 2))
    n = 0
    unit = np.empty(count, np.int64)
    member_unit = np.empty(len(member_offsets) - 1, np.int64)
    here = np.empty((count, 4))
    there = np.empty((len(member_offsets) - 1, 4))
    since = np.full(count, np.nan)
    chosen = np.zeros(count, np.bool_)
    none = np.zeros(count, np.bool_)
    value = np.empty(count)
    low = np.empty(count)
    high = np.empty(count)
    stack = np.empty((64, 2))
    for p in range(len(spans)):
        now = spans[p, 0]
        _units(offsets, t, now, unit)
        _units(member_offsets, mt, now, member_unit)
        while now < spans[p, 1]:
            after = _advance(offsets, t, now, unit, spans[p, 1])
            after = _advance(member_offsets, mt, now, member_unit, after)
            _movements(t, x, y, unit, now, here)
            _movements(mt, mx, my, member_unit, now, there)
            stack[0, 0] = 0.0
            stack[0, 1] = after - now
            depth = 1
            while depth > 0:
                depth -= 1
                begin = stack[depth, 0]
                end = stack[depth, 1]
                middle = 0.5 * (begin + end)
                half = 0.5 * (end - begin)
                best = np.inf
                bound = np.inf
                for c in range(count):
                    value[c], low[c], high[c] = _value(here[c], there, middle, half, aggregate)
                    best = min(best, value[c])
                    bound = min(bound, high[c])
                same = _SAME * (1.0 + best)
                alive = 0
                first = -1
                alike = True
                for c in range(count):
                    chosen[c] = low[c] <= bound + same
                    if chosen[c]:
                        alive += 1
                        if first < 0:
                            first = c
                        else:
                            # What moves with the first one stays equal to it.
                            alike = (
                                alike
                                and here[c, 0] == here[first, 0]
                                and here[c, 1] == here[first, 1]
                                and here[c, 2] == here[first, 2]
                                and here[c, 3] == here[first, 3]
                            )
                if alive > 1 and not alike:
                    still = True
                    for c in range(count):
                        still = still and (not chosen[c] or low[c] == high[c])
                    if not still and end - begin > _LEAST:
                        stack[depth, 0] = middle
                        stack[depth, 1] = end
                        stack[depth + 1, 0] = begin
                        stack[depth + 1, 1] = middle
                        depth += 2
                        continue
                    for c in range(count):
                        chosen[c] = value[c] <= best + same
                who, times, n = _switch(now + begin, chosen, since, who, times, n)
            now = after
        who, times, n = _switch(spans[p, 1], none, since, who, times, n)
    return who[:n].copy(), times[:n].copy()
