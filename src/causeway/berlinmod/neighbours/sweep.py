"""The k nearest of many moving candidates to each of some references, over time.

Time is cut into slabs of five minutes and these into slabs of twenty seconds. In a slab the boxes of the
movements bound each distance from below and above; a candidate that is farther than the k-th upper bound is
out. For those that are left, the squares of the distances are quadratic between any two of their instants.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from causeway.berlinmod.model.arrays import BOOL, F64, I64
from causeway.berlinmod.neighbours.levels import crossings, smallest
from causeway.berlinmod.neighbours.regions import region_cuts, region_function
from causeway.berlinmod.neighbours.slabs import Tracks, box_of, survivors, unit_at
from causeway.moving_objects.kernels.spans import grown
from causeway.runtime.compiled import kernel

__all__ = ["nearest"]

_COARSE: Final = 300.0
_FINE: Final = 20.0
_FINE_SLABS: Final = 15
"""Fine slabs in a coarse one."""


def nearest(
    candidates: Tracks,
    references: Tracks,
    own: I64,
    rings: tuple[I64, F64, F64],
    spans: F64,
    k: int,
    wanted: BOOL,
) -> tuple[I64, I64, F64, F64]:
    """Reference, candidate, begin, end of each interval: a wanted candidate is among the k nearest.

    `own` has for each reference the candidate that it is itself, which does not count, or -1. A reference
    with a ring (offsets, x, y) is that region. `spans` are the times to look at, in order.
    """
    pairs, times = _nearest(*candidates, *references, own, *rings, spans, k, wanted)
    return pairs[:, 0].copy(), pairs[:, 1].copy(), times[:, 0].copy(), times[:, 1].copy()


@kernel
def _emit(pairs: I64, times: F64, n: int, reference: int, candidate: int, begin: float, end: float) -> Any:
    if n == len(pairs):
        more = np.empty((2 * n, 2), np.int64)
        more[:n] = pairs
        pairs = more
        longer = np.empty((2 * n, 2))
        longer[:n] = times
        times = longer
    pairs[n, 0] = reference
    pairs[n, 1] = candidate
    times[n, 0] = begin
    times[n, 1] = end
    return pairs, times, n + 1


@kernel
def _at(t: F64, x: F64, y: F64, first: int, last: int, begin: float, end: float) -> Any:
    """Position at `begin` and speed until `end`, between which no instant is; whether it is defined."""
    if t[first] > begin or t[last] < end:
        return 0.0, 0.0, 0.0, 0.0, False
    u = unit_at(t, first, last, 0.5 * (begin + end))
    lasts = t[u + 1] - t[u]
    vx = (x[u + 1] - x[u]) / lasts
    vy = (y[u + 1] - y[u]) / lasts
    since = begin - t[u]
    return x[u] + since * vx, y[u] + since * vy, vx, vy, True


@kernel
def _cuts(
    offsets: I64,
    t: F64,
    x: F64,
    y: F64,
    among: I64,
    count: int,
    reference: F64,
    rx: F64,
    ry: F64,
    begin: float,
    end: float,
    cuts: F64,
) -> Any:
    """The times between which each square of a distance is one quadratic, sorted; and how many.

    These are the instants of the candidates `among` and of the reference, and where the nearest side of a
    region changes.
    """
    cuts = grown(cuts, 2)
    cuts[0] = begin
    cuts[1] = end
    n = 2
    for q in range(count):
        v = among[q]
        i = offsets[v] + np.searchsorted(t[offsets[v] : offsets[v + 1]], begin, "right")
        while i < offsets[v + 1] and t[i] < end:
            cuts = grown(cuts, n + 1)
            cuts[n] = t[i]
            n += 1
            i += 1
    i = np.searchsorted(reference, begin, "right")
    while i < len(reference) and reference[i] < end:
        cuts = grown(cuts, n + 1)
        cuts[n] = reference[i]
        n += 1
        i += 1
    cuts[:n].sort()
    if len(rx) > 0:
        instants = cuts[:n].copy()
        for c in range(1, len(instants)):
            lasts = instants[c] - instants[c - 1]
            if lasts <= 0.0:
                continue
            for q in range(count):
                v = among[q]
                px, py, vx, vy, known = _at(
                    t, x, y, offsets[v], offsets[v + 1] - 1, instants[c - 1], instants[c]
                )
                if known:
                    cuts, n = region_cuts(rx, ry, px, py, vx, vy, instants[c - 1], lasts, cuts, n)
        cuts[:n].sort()
    return cuts, n


@kernel
def _distances(
    offsets: I64,
    t: F64,
    x: F64,
    y: F64,
    among: I64,
    count: int,
    reference: Any,
    rx: F64,
    ry: F64,
    begin: float,
    end: float,
    functions: F64,
) -> None:
    """The squares of the distances of the candidates `among` between two cuts, as quadratics."""
    qx, qy, qvx, qvy, known_reference = reference
    for q in range(count):
        v = among[q]
        px, py, vx, vy, known = _at(t, x, y, offsets[v], offsets[v + 1] - 1, begin, end)
        if not (known and known_reference):
            functions[q, 0] = 0.0
            functions[q, 1] = 0.0
            functions[q, 2] = np.inf
        elif len(rx) > 0:
            region_function(rx, ry, px, py, vx, vy, 0.5 * (end - begin), functions[q])
        else:
            fx = px - qx
            fy = py - qy
            wx = vx - qvx
            wy = vy - qvy
            functions[q, 0] = wx * wx + wy * wy
            functions[q, 1] = 2.0 * (fx * wx + fy * wy)
            functions[q, 2] = fx * fx + fy * fy


@kernel
def _nearest(
    offsets: I64,
    t: F64,
    x: F64,
    y: F64,
    ref_offsets: I64,
    rt: F64,
    rpx: F64,
    rpy: F64,
    own: I64,
    ring_offsets: I64,
    ring_x: F64,
    ring_y: F64,
    spans: F64,
    k: int,
    wanted: BOOL,
) -> Any:
    n = len(offsets) - 1
    references = len(ref_offsets) - 1
    pairs = np.empty((64, 2), np.int64)
    times = np.empty((64, 2))
    count = 0
    coarse = np.empty((n, 5))
    defined = np.zeros(n, np.bool_)
    fine = np.empty((n, _FINE_SLABS, 5))
    fine_defined = np.zeros((n, _FINE_SLABS), np.bool_)
    fine_made = np.full(n, -1, np.int64)
    fine_box = np.empty((n, 5))
    fine_known = np.zeros(n, np.bool_)
    everyone = np.arange(n)
    left = np.empty(n, np.int64)
    finer = np.empty(n, np.int64)
    ranks = np.empty(k + 1)
    low = np.empty(n)
    functions = np.empty((n, 3))
    chosen = np.zeros(n, np.bool_)
    cuts = np.empty(64)
    inner = np.empty(64)
    box = np.empty(5)
    small = np.empty(5)
    # Who is in at the moment, for each reference, and since when.
    since = np.full((references, n), np.nan)
    members = np.empty((references, n), np.int64)
    member_count = np.zeros(references, np.int64)
    serial = 0
    for p in range(len(spans)):
        begin = spans[p, 0]
        while begin < spans[p, 1]:
            # Slabs are the same whatever the spans are.
            end = min((np.floor(begin / _COARSE) + 1.0) * _COARSE, spans[p, 1])
            serial += 1
            for v in range(n):
                defined[v] = box_of(t, x, y, offsets[v], offsets[v + 1] - 1, begin, end, coarse[v])
            for r in range(references):
                first = ref_offsets[r]
                last = ref_offsets[r + 1] - 1
                rx = ring_x[ring_offsets[r] : ring_offsets[r + 1]]
                ry = ring_y[ring_offsets[r] : ring_offsets[r + 1]]
                here = box_of(rt, rpx, rpy, first, last, begin, end, box)
                m = 0
                if here:
                    m = survivors(coarse, defined, everyone, n, own[r], box, rx, ry, k, left, ranks, low)
                    useful = False
                    for q in range(m):
                        useful = useful or wanted[left[q]]
                    if not useful:
                        m = 0
                if m == 0:
                    for q in range(member_count[r]):
                        v = members[r, q]
                        if since[r, v] < begin:
                            pairs, times, count = _emit(pairs, times, count, r, v, since[r, v], begin)
                        since[r, v] = np.nan
                    member_count[r] = 0
                    continue
                for q in range(m):
                    v = left[q]
                    if fine_made[v] != serial:
                        fine_made[v] = serial
                        for f in range(_FINE_SLABS):
                            b = begin + f * _FINE
                            fine_defined[v, f] = b < end and box_of(
                                t, x, y, offsets[v], offsets[v + 1] - 1, b, min(b + _FINE, end), fine[v, f]
                            )
                for f in range(_FINE_SLABS):
                    b = begin + f * _FINE
                    e = min(b + _FINE, end)
                    if b >= end:
                        break
                    there = box_of(rt, rpx, rpy, first, last, b, e, small)
                    s = 0
                    if there:
                        for q in range(m):
                            v = left[q]
                            fine_known[v] = fine_defined[v, f]
                            if fine_known[v]:
                                fine_box[v] = fine[v, f]
                        s = survivors(
                            fine_box, fine_known, left, m, own[r], small, rx, ry, k, finer, ranks, low
                        )
                    useful = False
                    whole = there and small[4] == 1.0
                    for q in range(s):
                        useful = useful or wanted[finer[q]]
                        whole = whole and fine_box[finer[q], 4] == 1.0
                    if not useful:
                        s = 0
                    # Where there is nothing to decide, the slab is one piece.
                    cut = 2
                    cuts[0] = b
                    cuts[1] = e
                    if s > 0 and not (s <= k and whole):
                        cuts, cut = _cuts(
                            offsets, t, x, y, finer, s, rt[first : last + 1], rx, ry, b, e, cuts
                        )
                    for c in range(1, cut):
                        from_ = cuts[c - 1]
                        lasts = cuts[c] - from_
                        if lasts <= 0.0:
                            continue
                        pieces = 2
                        inner[0] = 0.0
                        inner[1] = lasts
                        decide = s > 0 and not (s <= k and whole)
                        if decide:
                            moves = _at(rt, rpx, rpy, first, last, from_, cuts[c])
                            _distances(offsets, t, x, y, finer, s, moves, rx, ry, from_, cuts[c], functions)
                            inner, pieces = crossings(functions, s, lasts, inner)
                        for piece in range(1, pieces):
                            if inner[piece] <= inner[piece - 1]:
                                continue
                            now = from_ + inner[piece - 1]
                            if decide:
                                middle = 0.5 * (inner[piece - 1] + inner[piece])
                                smallest(functions, s, middle, k, ranks, chosen)
                            # Those who leave.
                            kept = 0
                            for q in range(member_count[r]):
                                v = members[r, q]
                                stays = False
                                for o in range(s):
                                    if finer[o] == v and (not decide or chosen[o]):
                                        stays = True
                                        break
                                if stays:
                                    members[r, kept] = v
                                    kept += 1
                                else:
                                    pairs, times, count = _emit(pairs, times, count, r, v, since[r, v], now)
                                    since[r, v] = np.nan
                            member_count[r] = kept
                            for o in range(s):
                                v = finer[o]
                                if wanted[v] and (not decide or chosen[o]) and np.isnan(since[r, v]):
                                    since[r, v] = now
                                    members[r, member_count[r]] = v
                                    member_count[r] += 1
            begin = end
        for r in range(references):
            for q in range(member_count[r]):
                v = members[r, q]
                pairs, times, count = _emit(pairs, times, count, r, v, since[r, v], spans[p, 1])
                since[r, v] = np.nan
            member_count[r] = 0
    return pairs[:count], times[:count]
