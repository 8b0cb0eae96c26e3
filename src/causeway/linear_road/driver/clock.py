"""Simulated time, as the data driver sets it."""

from __future__ import annotations

from pathlib import Path

from causeway.streaming.clock import DeliveryClock
from causeway.streaming.delivery import SpoolControl

__all__ = ["SimulatedClock"]


class SimulatedClock:
    """Seconds since the start of the simulation, at a moment of real time.

    Until real time starts, the clock stands at the end of the past that is delivered at once. Where nothing
    is delivered in real time (`speed` is None), it counts real seconds from `made_at`.
    """

    def __init__(self, spool: Path, speed: float | None, from_minute: int, made_at: float) -> None:
        self._control = SpoolControl(spool)
        self._origin = 60.0 * from_minute
        self._speed = 1.0 if speed is None else speed
        self._clock = None if speed is not None else self._started(made_at)

    @property
    def started_at(self) -> float | None:
        """When real time started (seconds since 1970), None before."""
        if self._clock is None:
            started_at = (self._control.load() or {}).get("started_at")
            if started_at is None:
                return None
            self._clock = self._started(started_at)
        return self._clock.started_at

    def at(self, moment: float) -> float:
        """The simulated second at `moment` (seconds since 1970)."""
        if self.started_at is None or self._clock is None:
            return self._origin
        return self._clock.position(moment)

    def due(self, second: float) -> float:
        """The moment at which a simulated second is due; real time must have started."""
        if self.started_at is None or self._clock is None:
            raise RuntimeError("real time has not started")
        return self._clock.due(second)

    def _started(self, started_at: float) -> DeliveryClock:
        return DeliveryClock(started_at, self._origin, self._speed)
