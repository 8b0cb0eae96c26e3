"""Results of small NEXMark runs, made without Spark."""

from __future__ import annotations

from typing import Any

__all__ = ["RESULT", "matching", "steady", "throughput"]

STARTED = 1_760_000_000.0
RESULT: dict[str, Any] = {
    "version": "0.1.0",
    "state": "finished",
    "model": "modern",
    "rules": "ours",
    "source": {"kind": "generator", "rate": 10_000, "duration": 10},
    "machine": {"processor": "Fast <& cheap>", "cores": 2, "memory_gib": 23.5},
    "versions": {"pyspark": "4.3.0"},
}


def matching(**facts: Any) -> dict[str, Any]:
    line = {"seconds": [2.0, 4.0, 6.0], "values": [1.0, 5.0, 7.0]}
    later = {"seconds": [2.0, 5.0, 7.0], "values": [1.0, 5.0, 7.0]}
    between = {"seconds": [2.0, 4.0, 5.0, 6.0, 7.0], "values": [0.0, 4.0, 0.0, 2.0, 0.0]}
    told = {"metric": 0.75, "unit": "cents", "distance": "value", "compared": "The mean <price>", "keys": 5}
    told |= {"from_second": 2.0, "to_second": 10.0}
    timeline = {"of": "category 10", "ideal": line, "ours": later, "distance": between}
    return told | {"timeline": timeline} | facts


def steady(query: str, **facts: Any) -> dict[str, Any]:
    batches = [
        {"batch": at, "began": STARTED + at, "readable": STARTED + at + 0.6, "slices": 10 * at}
        for at in range(11)
    ]
    latency = {"slices": 80, "min": 0.6, "mean": 1.1, "p50": 1.125, "p95": 1.5, "p99": 1.55, "max": 1.6}
    clock = {"started": STARTED, "interval": 0.1, "slice_events": 1000, "slices": 100}
    clock |= {"first_time": 1_436_918_400_000, "time_per_second": 1000.0}
    return {
        "query": query,
        "events": 100_000,
        "events_per_second": 9_400,
        "megabytes_per_second": 1.25,
        "events_per_cpu_second": 12_345,
        "batches": batches,
        "latency": latency,
        "clock": clock,
        "firehose": {"rate": 10_000, "warm_up_seconds": 2.0, "worst_lateness_ms": 3.0},
        "rejects": {"malformed": 0, "late": 0},
        "check": {"passed": True, "rows": 5, "missing": 0, "extra": 0, "differences": []},
        "output_matching": matching(),
    } | facts


def throughput(query: str) -> dict[str, Any]:
    left_out = ("latency", "clock", "firehose", "check", "output_matching")
    return {name: value for name, value in steady(query).items() if name not in left_out}
