"""Input Stream Rate and Tuple Latency (sections 5 and 5.2) from what a run noted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from causeway.nexmark.events.firehose_process import FirehoseClock
from causeway.nexmark.operators.slice_notes import slice_totals

__all__ = ["Mark", "latencies", "throughput"]

_PERCENTILES = (50, 95, 99)


@dataclass(frozen=True)
class Mark:
    """A moment of a measurement."""

    time: float
    """Seconds since 1970."""
    slices: int
    """Slices that were answered by then."""
    cpu_seconds: float | None


def throughput(notes: Path, begin: Mark, end: Mark) -> dict[str, Any]:
    """Events and megabytes a second, in all and for each second of CPU, between two marks.

    `notes` is the folder with the notes of the slices that were read. A run that was resumed is measured from
    then on: what it had answered before is neither in its events nor in its time. `None` stands for a rate
    of nothing.
    """
    events, size = slice_totals(notes, 0)
    measured, measured_size = slice_totals(notes, begin.slices)
    seconds = max(end.time - begin.time, 1e-9)
    cpu = None
    if begin.cpu_seconds is not None and end.cpu_seconds is not None:
        cpu = max(end.cpu_seconds - begin.cpu_seconds, 1e-9)
    facts: dict[str, Any] = {
        "events": events,
        "bytes": size,
        "measured_events": measured,
        "started": begin.time,
        "seconds": round(seconds, 3),
        "cpu_seconds": None if cpu is None else round(cpu, 2),
    }
    for unit, spent in (("second", seconds), ("cpu_second", cpu)):
        known = measured > 0 and spent is not None
        facts[f"events_per_{unit}"] = round(measured / spent) if known and spent else None
        facts[f"megabytes_per_{unit}"] = round(measured_size / spent / 1e6, 2) if known and spent else None
    return facts


def latencies(clock: FirehoseClock, batches: Sequence[Mapping[str, Any]], warm_up: float) -> dict[str, Any]:
    """From when each event was due to when the answers of its batch were readable, in seconds.

    Events are evenly spread over a slice, and so are a slice's latencies. Those that were due in the first
    `warm_up` seconds do not count.
    """
    found = []
    before = 0
    for batch in batches:
        last = min(int(batch["slices"]), clock.slices)
        for number in range(before, last):
            # A hundredth of the slice's events each: their due times are spread over its length.
            due = clock.due(number) + (np.arange(100) + 0.5) / 100 * clock.interval
            if clock.due(number) - clock.started >= warm_up:
                found.append(float(batch["readable"]) - due)
        before = max(before, last)
    if not found:
        return {"slices": 0}
    seconds = np.concatenate(found)
    percentiles = {f"p{part}": float(np.percentile(seconds, part)) for part in _PERCENTILES}
    return {
        "slices": len(found),
        "min": float(seconds.min()),
        "mean": float(seconds.mean()),
        **percentiles,
        "max": float(seconds.max()),
    }
