"""The delivery: what brings a run's input, at once or in real time.

A run needs three things of it: how much of the input there is (delivered), which part is due when (the
clock), and whether more will come (finished). Files in a folder, filled by a process of its own, are the one
implementation today; a broker such as Kafka would be another.

A process that delivers in real time and the run that reads from it agree by files in the spool, whose names
begin with an underscore so that Spark's file sources pass over them:

    SPOOL/_ready        the process waits for the start: everything that is delivered at once is there
    SPOOL/_start        the run wants real time to start
    SPOOL/_delivery.json  state ("starting", "running", "finished", "stopped", "failed"), clock, outcome
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, Protocol

from causeway.runtime.output_folder import write_json

__all__ = ["Delivery", "SpoolControl"]

_READY: Final = "_ready"
_START: Final = "_start"
_STATE: Final = "_delivery.json"


class Delivery(Protocol):
    """Brings the input of one run. Positions are whole numbers that grow; the query's offsets have them."""

    @property
    def delivered(self) -> int:
        """The position up to which input can be read, not including it."""

    @property
    def finished(self) -> bool:
        """Whether everything has been delivered."""

    def failure(self) -> str | None:
        """Why nothing more will come although not everything has been delivered."""

    def stop(self) -> None:
        """End it, whatever it does."""


class SpoolControl:
    """The agreement between a delivering process and the run that reads its spool."""

    def __init__(self, spool: Path) -> None:
        self._ready = spool / _READY
        self._start = spool / _START
        self.state_file = spool / _STATE

    def reset(self) -> None:
        """Forget an earlier process: the run is about to start a new one. Its state stays."""
        for path in (self._ready, self._start):
            path.unlink(missing_ok=True)

    def announce_ready(self) -> None:
        """Called by the process: only the start is waited for."""
        if not self._ready.exists():
            self._ready.touch()

    @property
    def ready(self) -> bool:
        """Whether the process waits for the start."""
        return self._ready.exists()

    def request_start(self) -> None:
        """Called by the run: let real time start."""
        self._start.touch()

    @property
    def start_requested(self) -> bool:
        return self._start.exists()

    def save(self, state: str, **facts: Any) -> None:
        """Replace what is known of the delivery, whole."""
        write_json(self.state_file, {"state": state, **facts})

    def load(self) -> dict[str, Any] | None:
        """What is known of the delivery; None before it has said anything."""
        try:
            facts: dict[str, Any] = json.loads(self.state_file.read_text())
        except FileNotFoundError:
            return None
        return facts
