"""The data driver as a process of its own, beside a run: `python -m causeway…driver.drive_process`.

Run and driver agree by the files of `causeway.streaming.delivery`. When the process that started it is gone,
the driver ends too.
"""

from __future__ import annotations

import gc
import math
import sys
from pathlib import Path
from typing import Any, Final

from causeway.linear_road.driver.deliver import drive
from causeway.linear_road.driver.spool import SPOOL_BYTES, delivered_until
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.child_process import ChildProcess, run_as_child
from causeway.streaming.delivery import SpoolControl

__all__ = ["DriveProcess", "SpoolDelivery"]

_SWITCH_SECONDS: Final = 0.001


class DriveProcess:
    """A driver at work on `spool`.

    Start it before Spark: until `start` it encodes the first seconds ahead, and waits as long as it takes. A
    past that is larger than the spool may be (`spool_limit`) is delivered only as fast as it is answered, so
    that `ready` must not be waited for before the query runs.
    """

    def __init__(
        self,
        workload: Workload,
        spool: Path,
        *,
        speed: float | None,
        from_minute: int,
        resume: bool,
        log: Path,
        spool_limit: int = SPOOL_BYTES,
    ) -> None:
        """`speed` None delivers everything at once. The process appends what it has to say to `log`."""
        self._control = SpoolControl(spool)
        self._control.reset()
        self._stopped = False
        self._process = ChildProcess(
            __name__,
            {
                "workload": str(workload.folder.resolve()),
                "spool": str(spool.resolve()),
                "speed": speed,
                "from_minute": from_minute,
                "resume": resume,
                "spool_limit": spool_limit,
            },
            log,
            name="the data driver",
        )

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    @property
    def ready(self) -> bool:
        """Whether the past is delivered, the first seconds are encoded, and it waits for `start`.

        Never so where everything is delivered at once, or a resumed driver's real time has already started.
        """
        return self._control.ready

    def start(self) -> None:
        """Let real time start."""
        self._control.request_start()

    @property
    def ended(self) -> bool:
        """Whether it is no longer at work, however it ended."""
        return self._process.ended

    @property
    def finished(self) -> bool:
        """Whether it has ended with everything delivered."""
        return self.ended and self._process.failure() is None and self.outcome().get("state") == "finished"

    def failure(self) -> str | None:
        """Why it ended before everything was delivered; None if it works, finished, or `stop` ended it."""
        if not self.ended or self._stopped:
            return None
        if reason := self._process.failure():
            return reason
        return None if self.finished else "the data driver was stopped before all was delivered"

    def outcome(self) -> dict[str, Any]:
        """Wait for its end; returns the facts of `_delivery.json`, without meaning if it failed."""
        self._process.wait()
        return self._control.load() or {}

    def stop(self) -> None:
        """End it, whatever it does."""
        self._stopped = self._stopped or not self.ended
        self._process.stop()


class SpoolDelivery:
    """A driver and its spool as the delivery of a run; positions are simulated seconds."""

    def __init__(self, process: DriveProcess, spool: Path) -> None:
        self._process = process
        self._spool = spool

    @property
    def delivered(self) -> int:
        """The second up to which tuples can be read, not including it."""
        return delivered_until(self._spool)

    @property
    def finished(self) -> bool:
        """Whether everything has been delivered."""
        return self._process.finished

    def failure(self) -> str | None:
        """Why nothing more will come although not everything has been delivered."""
        return self._process.failure()

    def stop(self) -> None:
        """End it, whatever it does."""
        self._process.stop()


def _deliver(arguments: dict[str, Any]) -> None:
    spool = Path(arguments["spool"])
    control = SpoolControl(spool)
    # The releasing thread must never wait long for the encoding one: neither for its turn nor for a
    # collection of everything that was imported.
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.freeze()

    def start_requested() -> bool:
        control.announce_ready()
        return control.start_requested

    drive(
        Workload.load(Path(arguments["workload"])),
        spool,
        speed=arguments["speed"] or math.inf,
        from_minute=arguments["from_minute"],
        start_when=start_requested if arguments["speed"] else None,
        resume=arguments["resume"],
        spool_limit=arguments["spool_limit"],
    )


if __name__ == "__main__":
    run_as_child(_deliver)
