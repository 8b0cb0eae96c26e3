"""Input Stream Rate and Tuple Latency (sections 5 and 5.2) from what a run noted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from causeway.nexmark.events.firehose_process import FirehoseClock
from causeway.nexmark.events.slices import Slices

__all__ = ["latencies", "throughput"]

_PERCENTILES = (50, 95, 99)


def throughput(
    slices: Slices, streams: Sequence[str], marks: Sequence[tuple[float, int, float | None]]
) -> dict[str, Any]:
    """Events and megabytes a second, in all and for each second of CPU.

    `marks` are times, slices answered by then, and CPU seconds. Only slices of the streams that the query
    reads count. The end of the streams, a slice of its own without events, counts as time.
    """
    total = slices.total or slices.released
    events, size = 0, 0
    for number in range(total):
        rows, stored = slices.size_of(streams, number)
        events, size = events + rows, size + stored
    (began, _, cpu_before), (ended, _, cpu_after) = marks[0], marks[-1]
    seconds = max(ended - began, 1e-9)
    facts: dict[str, Any] = {
        "events": events,
        "bytes": size,
        "seconds": round(seconds, 3),
        "events_per_second": round(events / seconds),
        "megabytes_per_second": round(size / seconds / 1e6, 2),
        "cpu_seconds": None,
    }
    if cpu_before is not None and cpu_after is not None:
        cpu = max(cpu_after - cpu_before, 1e-9)
        facts |= {
            "cpu_seconds": round(cpu, 2),
            "events_per_cpu_second": round(events / cpu),
            "megabytes_per_cpu_second": round(size / cpu / 1e6, 2),
        }
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
    told = {f"p{part}": float(np.percentile(seconds, part)) for part in _PERCENTILES}
    return {
        "slices": len(found),
        "min": float(seconds.min()),
        "mean": float(seconds.mean()),
        **told,
        "max": float(seconds.max()),
    }
