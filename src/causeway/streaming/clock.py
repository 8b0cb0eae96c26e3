"""The clock of a delivery: which part of the input is due at which moment."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DeliveryClock"]


@dataclass(frozen=True)
class DeliveryClock:
    """Maps positions of the input (simulated seconds, slices, event time) to moments of real time, linearly.

    Moments are seconds since 1970.
    """

    started_at: float
    """The moment at which position `origin` was due."""
    origin: float
    speed: float
    """Positions that become due in one second."""

    def position(self, moment: float) -> float:
        """The position that is due at `moment`; `origin` before the start."""
        return self.origin + max(0.0, moment - self.started_at) * self.speed

    def due(self, position: float) -> float:
        """The moment at which `position` is due."""
        return self.started_at + (position - self.origin) / self.speed
