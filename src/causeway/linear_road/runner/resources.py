"""Processor and memory of a run over time: this process, the driver, the keeper, Java and its workers."""

from __future__ import annotations

import os
import threading
import time
from typing import Any, Final

from causeway.linear_road.driver.clock import SimulatedClock
from causeway.runtime.cpu_time import CpuMeter, memory_bytes

__all__ = ["ResourceSampler"]

_SECONDS: Final = 5.0


class ResourceSampler:
    """Adds a sample every few seconds to `facts["resources"]`, for the length of a `with` block.

    A sample is [simulated second, percent of the machine's cores, memory in MB].
    """

    def __init__(self, clock: SimulatedClock, facts: dict[str, Any]) -> None:
        self._clock = clock
        self._facts = facts
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="resources", daemon=True)

    def __enter__(self) -> ResourceSampler:
        self._facts.setdefault("resources", [])
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        meter = CpuMeter()
        cores = os.cpu_count() or 1
        before, spent = time.monotonic(), meter.read()
        while not self._stop.wait(_SECONDS):
            now, total = time.monotonic(), meter.read()
            memory = memory_bytes(os.getpid())
            if spent is None or total is None or memory is None:
                return
            percent = 100 * (total - spent) / (now - before) / cores
            second = round(self._clock.at(time.time()), 1)
            self._facts["resources"].append([second, round(percent, 1), round(memory / 1e6, 1)])
            before, spent = now, total
