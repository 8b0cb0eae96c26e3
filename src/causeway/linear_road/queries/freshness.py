"""How soon a report can be read by another process: from when it was due to when it was visible there.

The times are counted from the moment at which a second's reports were due from the driver, so they include
the driver's own lateness.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from causeway.linear_road.driver.clock import SimulatedClock
from causeway.linear_road.queries.workload_truth import WorkloadTruth
from causeway.streaming_tables.storage import TableStore

__all__ = ["FreshnessProbe", "JustArrived", "TableFollower"]

_POLL: Final = 0.005
_PAUSE: Final = 2.0
_PATIENCE: Final = 60.0


class TableFollower:
    """Notes, from another process than the writer's, when each second of a table became visible."""

    def __init__(self, store: TableStore, clock: SimulatedClock | None) -> None:
        """Without a clock there is no real time, and nothing is noted."""
        self._store = store
        self._clock = clock
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="follower", daemon=True)
        self.newest = store.snapshot().newest or 0
        self.delays: list[tuple[int, float]] = []
        """A second, and for how many seconds it was due when it was seen."""

    def __enter__(self) -> TableFollower:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _follow(self) -> None:
        state = self._store.state()
        while not self._stop.wait(_POLL):
            fresh = self._store.state()
            if fresh == state:
                continue
            state = fresh
            newest = self._store.snapshot().newest or 0
            seen = time.time()
            if newest > self.newest:
                if self._clock is not None and (started := self._clock.started_at) is not None:
                    for second in range(self.newest + 1, newest + 1):
                        if (delay := seen - self._clock.due(second)) < seen - started:
                            self.delays.append((second, delay))
                self.newest = newest


@dataclass(frozen=True)
class JustArrived:
    """A second whose reports were asked for at the moment at which they were due."""

    second: int
    seconds: float
    """From the due moment to the last row of the first answer that had all of them."""
    attempts: int
    """How often they were asked for; once if they were there at once."""


@dataclass
class FreshnessProbe:
    """Asks for the rows of a second that was just released, every few seconds, until all are there."""

    ask: Callable[[int], int]
    """The number of rows that a statement finds for a second."""
    clock: SimulatedClock
    truth: WorkloadTruth
    end: int
    """The second after the last one of the workload."""
    found: list[JustArrived] = field(default_factory=list)
    failure: BaseException | None = None

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="just arrived", daemon=True)
        self._counted = -1

    def __enter__(self) -> FreshnessProbe:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                second = int(self.clock.at(time.time())) + 1
                if second >= self.end or not self._probe(second):
                    return
                self._stop.wait(_PAUSE)
        except BaseException as failure:
            self.failure = failure

    def _probe(self, second: int) -> bool:
        """Whether all rows came; False if the session ended before."""
        expected = self._expected(second)
        due = self.clock.due(second)
        if time.time() >= due:
            # Counting took too long: this one would not be asked for in time.
            return True
        while (left := due - time.time()) > 0:
            if self._stop.wait(min(left, 0.2)):
                return False
        for attempt in range(1, 1_000_000):
            if self.ask(second) >= expected:
                self.found.append(JustArrived(second, time.time() - due, attempt))
                return True
            if self._stop.is_set() or time.time() - due > _PATIENCE:
                return False
        return False

    def _expected(self, second: int) -> int:
        if self._counted != second // 60:
            self._counted = second // 60
            self._counts = self.truth.reports_in(self._counted)
        return int(self._counts[second % 60])
