"""The data driver as a process of its own, beside a run: `python -m causeway…driver.drive_process`.

It says by a file that the past is delivered, starts real time when another one appears, and leaves a third if
it fails. When the process that started it is gone, it ends too.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from causeway.linear_road.driver.deliver import DRIVE_FILE, drive
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.child_process import end_with

__all__ = ["DriveProcess"]

_PAST_DELIVERED: Final = "_past_delivered"
_START: Final = "_start"
_FAILURE: Final = "_failure"


class DriveProcess:
    """A driver at work on `spool`."""

    def __init__(
        self, workload: Workload, spool: Path, *, speed: float | None, from_minute: int, resume: bool
    ) -> None:
        self._spool = spool
        for name in (_PAST_DELIVERED, _START, _FAILURE):
            (spool / name).unlink(missing_ok=True)
        arguments = {
            "workload": str(workload.folder.resolve()),
            "spool": str(spool.resolve()),
            "speed": speed,
            "from_minute": from_minute,
            "resume": resume,
            "parent": os.getpid(),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, json.dumps(arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @property
    def past_delivered(self) -> bool:
        """Whether it waits for `start`."""
        return (self._spool / _PAST_DELIVERED).exists()

    def start(self) -> None:
        """Let real time start."""
        (self._spool / _START).touch()

    @property
    def ended(self) -> bool:
        """Whether it is no longer at work."""
        return self._process.poll() is not None

    def outcome(self) -> dict[str, Any]:
        """What it says of itself at the end: see `_drive.json`."""
        code = self._process.wait()
        if code:
            # `_drive.json` may be of an earlier one, or of when it was still well.
            told = self._spool / _FAILURE
            reason = f"it was killed by signal {-code}" if code < 0 else f"it ended with exit code {code}"
            return {"state": "failed", "error": told.read_text() if told.exists() else reason}
        facts: dict[str, Any] = json.loads((self._spool / DRIVE_FILE).read_text())
        return facts

    def stop(self) -> None:
        """End it, whatever it does."""
        if not self.ended:
            self._process.terminate()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


def main() -> None:
    """Deliver as the one argument, in JSON, says."""
    arguments = json.loads(sys.argv[1])
    spool = Path(arguments["spool"])
    end_with(arguments["parent"])

    def may_start() -> bool:
        if not (spool / _PAST_DELIVERED).exists():
            (spool / _PAST_DELIVERED).touch()
        return (spool / _START).exists()

    try:
        drive(
            Workload.load(Path(arguments["workload"])),
            spool,
            speed=arguments["speed"] or math.inf,
            from_minute=arguments["from_minute"],
            start_when=may_start if arguments["speed"] else None,
            resume=arguments["resume"],
        )
    except Exception as failure:
        (spool / _FAILURE).write_text(str(failure) or type(failure).__name__)
        sys.exit(1)


if __name__ == "__main__":
    main()
