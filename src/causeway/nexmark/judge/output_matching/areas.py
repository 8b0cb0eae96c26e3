"""Output Matching (section 5.1): the area between the ideal system's output and ours, divided by time.

Both outputs are step functions of the seconds of one clock. What lies between them at a time is their
distance, by one of four measures, and a step function too. Arrays in, arrays out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = [
    "F64",
    "I64",
    "Emissions",
    "Matching",
    "Span",
    "Steps",
    "match_answers",
    "match_counts",
    "match_sets",
    "match_values",
]

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Span:
    """The seconds over which the area is taken; what was emitted before counts as emitted."""

    begin: float
    end: float


@dataclass(frozen=True)
class Steps:
    """A step function: `values[i]` holds from `times[i]` to the next, and 0 before the first."""

    times: F64
    values: F64

    def at(self, times: F64) -> F64:
        """The values at some times, a step at that very time included."""
        place = np.searchsorted(self.times, times, side="right")
        values: F64 = np.r_[0.0, self.values][place]
        return values

    def within(self, span: Span) -> Steps:
        """The same between the ends of a span, with a step at its begin."""
        inside = (self.times > span.begin) & (self.times < span.end)
        times = np.r_[span.begin, self.times[inside]]
        return Steps(times, self.at(times))

    def mean(self, span: Span) -> float:
        """The area below, divided by time."""
        if span.end <= span.begin:
            return 0.0
        inside = self.within(span)
        widths = np.diff(np.r_[inside.times, span.end])
        return float(inside.values @ widths) / (span.end - span.begin)

    def thinned(self, span: Span, limit: int) -> Steps:
        """At most `limit` steps between the ends of a span: the steps themselves, or values at even times."""
        inside = self.within(span)
        if len(inside.times) <= limit:
            return inside
        times = np.linspace(span.begin, span.end, limit)
        return Steps(times, inside.at(times))


@dataclass(frozen=True)
class Emissions:
    """What a system emitted: at a time, of a key, a value. Keys are numbers from 0 on, the same for both."""

    times: F64
    keys: I64
    values: F64


@dataclass(frozen=True)
class Matching:
    """How far ours was from the ideal."""

    metric: float
    """The area between both, divided by time: the mean of the distance."""
    distance: Steps
    ideal: Steps
    """What a figure shows of the ideal system; the area between it and `ours` is the metric's, unless it is
    the values of one key of several."""
    ours: Steps
    key: int | None = None
    """Whose values the figure shows: the key of which the ideal system emitted the most values."""


def match_counts(ideal: tuple[F64, F64], ours: tuple[F64, F64], span: Span) -> Matching:
    """How many answers one has emitted and the other has not.

    Both are times and how many answers were emitted then. Of two systems that emit the same answers, one
    later than the other, the difference of their numbers is how many one lacks.
    """
    wanted, found = _counted(*ideal), _counted(*ours)
    times = np.union1d(wanted.times, found.times)
    distance = Steps(times, np.abs(wanted.at(times) - found.at(times)))
    return Matching(distance.mean(span), distance, wanted, found)


def match_answers(ideal: Emissions, ours: Emissions, span: Span) -> Matching:
    """How many keys have another answer than they should, or one has an answer and the other has not."""
    merged = _merged(ideal, ours)
    differs = (merged.ideal != merged.ours) | (merged.ideal_emitted != merged.ours_emitted)
    distance, keys = _over_keys(merged, differs.astype(np.float64))
    right = Steps(keys.times, keys.values - distance.values)
    return Matching(distance.mean(span), distance, keys, right)


def match_values(ideal: Emissions, ours: Emissions, span: Span) -> Matching:
    """How far the current value of a key is from what it should be, mean over the keys that either emitted.

    A value that was not emitted is 0.
    """
    merged = _merged(ideal, ours)
    total, keys = _over_keys(merged, np.abs(merged.ideal - merged.ours))
    distance = Steps(total.times, total.values / np.maximum(keys.values, 1))
    if not len(ideal.keys):
        nothing = Steps(np.zeros(0), np.zeros(0))
        return Matching(distance.mean(span), distance, nothing, nothing)
    shown = int(np.bincount(ideal.keys).argmax())
    of_it = merged.keys == shown
    wanted, found = (Steps(merged.times[of_it], values[of_it]) for values in (merged.ideal, merged.ours))
    return Matching(distance.mean(span), distance, wanted, found, key=shown)


def match_sets(ideal: tuple[F64, I64], ours: tuple[F64, I64], span: Span) -> Matching:
    """The share of the members of both systems' current sets that only one of them has.

    Both are times and keys; the keys of one time are the set that replaces the one before, at first an empty
    one. Of two empty sets it is 0.
    """
    times = np.union1d(ideal[0], ours[0])
    in_ideal, in_ours = _Sets.of(*ideal), _Sets.of(*ours)
    which, other = in_ideal.current(times), in_ours.current(times)
    sizes = in_ideal.sizes[which]
    # Every member of each moment's ideal set, and whether it is in ours of that moment.
    moment = np.repeat(np.arange(len(times)), sizes)
    place = np.arange(len(moment)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    member = in_ideal.keys[in_ideal.begins[which][moment] + place]
    shared = np.bincount(moment[in_ours.has(other[moment], member)], minlength=len(times))
    either = sizes + in_ours.sizes[other] - shared
    distance = Steps(times, np.where(either > 0, 1 - shared / np.maximum(either, 1), 0.0))
    alike = Steps(np.r_[span.begin, times], np.r_[1.0, 1 - distance.values])
    if len(times) and times[0] <= span.begin:
        alike = Steps(times, 1 - distance.values)
    return Matching(distance.mean(span), distance, Steps(np.array([span.begin]), np.ones(1)), alike)


def _counted(times: F64, counts: F64) -> Steps:
    order = np.argsort(times, kind="stable")
    return _last_of_each(times[order], np.cumsum(counts[order]))


def _last_of_each(times: F64, values: F64) -> Steps:
    """One step for each time, where sorted times repeat: the last."""
    last = np.r_[times[1:] != times[:-1], True][: len(times)]
    return Steps(times[last], values[last])


@dataclass(frozen=True)
class _Merged:
    """Both systems' output by key and time, with the current value of each; the last of a key's moment."""

    times: F64
    keys: I64
    ideal: F64
    ideal_emitted: npt.NDArray[np.bool_]
    ours: F64
    ours_emitted: npt.NDArray[np.bool_]
    first: npt.NDArray[np.bool_]


def _merged(ideal: Emissions, ours: Emissions) -> _Merged:
    times, keys = np.r_[ideal.times, ours.times], np.r_[ideal.keys, ours.keys]
    order = np.lexsort((times, keys))
    times, keys = times[order], keys[order]
    first = np.r_[True, keys[1:] != keys[:-1]][: len(keys)]
    start = np.maximum.accumulate(np.where(first, np.arange(len(keys)), 0))
    values = np.r_[ideal.values, ours.values][order]
    from_ideal = order < len(ideal.times)
    current = []
    for mine in (from_ideal, ~from_ideal):
        newest = np.maximum.accumulate(np.where(mine, np.arange(len(keys)), -1))
        emitted = newest >= start
        current += [np.where(emitted, values[newest], 0.0), emitted]
    last = np.r_[(keys[1:] != keys[:-1]) | (times[1:] != times[:-1]), True][: len(keys)]
    keys = keys[last]
    return _Merged(
        times[last],
        keys,
        current[0][last],
        current[1][last],
        current[2][last],
        current[3][last],
        np.r_[True, keys[1:] != keys[:-1]][: len(keys)],
    )


def _over_keys(merged: _Merged, distance: F64) -> tuple[Steps, Steps]:
    """The sum over keys of a distance that each has from a moment on, and how many keys have one."""
    before = np.where(merged.first, 0.0, np.r_[0.0, distance[:-1]][: len(distance)])
    order = np.argsort(merged.times, kind="stable")
    times = merged.times[order]
    # Sums of many changes are exact but for the last bits, which must not make a distance negative.
    total = np.maximum(np.cumsum((distance - before)[order]), 0.0)
    known = np.cumsum(merged.first[order]).astype(np.float64)
    return _last_of_each(times, total), _last_of_each(times, known)


@dataclass(frozen=True)
class _Sets:
    """Sets one after the other; number 0 is the empty one, before the first."""

    times: F64
    keys: I64
    begins: I64
    sizes: I64

    @staticmethod
    def of(times: F64, keys: I64) -> _Sets:
        members = np.unique(np.stack([times, keys.astype(np.float64)], axis=1), axis=0)
        moments, begins, sizes = np.unique(members[:, 0], return_index=True, return_counts=True)
        return _Sets(
            moments,
            members[:, 1].astype(np.int64),
            np.r_[0, begins].astype(np.int64),
            np.r_[0, sizes].astype(np.int64),
        )

    def current(self, times: F64) -> I64:
        """The number of the set at each time."""
        number: I64 = np.searchsorted(self.times, times, side="right").astype(np.int64)
        return number

    def has(self, number: I64, key: I64) -> npt.NDArray[np.bool_]:
        """Whether the set of a number has a key."""
        if not len(self.keys):
            return np.zeros(len(key), bool)
        width = max(int(self.keys.max()), int(key.max(initial=0))) + 1
        members = np.repeat(np.arange(len(self.sizes)), self.sizes) * width + self.keys
        found: npt.NDArray[np.bool_] = np.isin(number * width + key, members)
        return found
