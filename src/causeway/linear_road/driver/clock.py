"""Simulated time, as the data driver sets it."""

from __future__ import annotations

import json
from pathlib import Path

from causeway.linear_road.driver.deliver import DRIVE_FILE

__all__ = ["SimulatedClock"]


class SimulatedClock:
    """Seconds since the start of the simulation, of a moment in real time.

    The clock stands at the end of the past that is delivered at once until real time starts. Where nothing is
    delivered in real time (`speed` is None), it counts real seconds from when it was made.
    """

    def __init__(self, spool: Path, speed: float | None, from_minute: int, made_at: float) -> None:
        self._file = spool / DRIVE_FILE
        self._speed = speed
        self._origin = 60.0 * from_minute
        self._started_at = made_at if speed is None else None

    @property
    def started_at(self) -> float | None:
        """When real time started (seconds since 1970), None before."""
        if self._started_at is None:
            try:
                self._started_at = json.loads(self._file.read_text())["started_at"]
            except (FileNotFoundError, KeyError):
                return None
        return self._started_at

    def at(self, moment: float) -> float:
        """What the clock shows at `moment` (seconds since 1970)."""
        if self.started_at is None:
            return self._origin
        return self._origin + max(0.0, moment - self.started_at) * (self._speed or 1.0)
