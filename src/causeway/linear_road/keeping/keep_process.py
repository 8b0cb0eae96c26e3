"""The keeper as a process of its own, beside a run: `python -m causeway…keeping.keep_process`.

When the process that started it is gone, it ends too. It can be killed at any moment.
"""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any, Final

from causeway.linear_road.keeping.keeper import KeepingRecord, keep_reports
from causeway.linear_road.keeping.kept_mark import KeptMark
from causeway.linear_road.keeping.reports_table import open_reports_table
from causeway.runtime.child_process import ChildProcess, run_as_child
from causeway.runtime.errors import CausewayError

__all__ = ["KeepProcess"]

_POLL: Final = 0.002
_FAILURE_POLL: Final = 0.2


class KeepProcess:
    """A keeper at work: it takes the reports of `spool` into the table `table` of `warehouse`."""

    def __init__(
        self,
        spool: Path,
        warehouse: Path,
        table: str,
        *,
        record: Path,
        log: Path,
        real_time_from: int | None,
    ) -> None:
        """The process appends what it has to say to `log`, and keeps its figures in `record`."""
        self.mark = KeptMark(spool / "_kept")
        self._process = ChildProcess(
            __name__,
            {
                "spool": str(spool.resolve()),
                "warehouse": str(warehouse.resolve()),
                "table": table,
                "record": str(record.resolve()),
                "real_time_from": real_time_from,
            },
            log,
            name="the process that keeps the position reports",
        )

    def failure(self) -> str | None:
        """Why it ended before everything was kept; None if it works or finished."""
        return self._process.failure()

    def wait_until_kept(self, second: int) -> None:
        """Return when the reports up to `second` are readable, that second included."""
        asked_at = time.monotonic()
        while self.mark.read() <= second:
            if time.monotonic() - asked_at > _FAILURE_POLL:
                asked_at = time.monotonic()
                if failure := self.failure():
                    raise CausewayError(failure)
                if self._process.ended and self.mark.read() <= second:
                    raise CausewayError(f"the reports of second {second} were not kept")
            time.sleep(_POLL)

    def finish(self) -> None:
        """Wait until everything that was delivered is kept."""
        self._process.wait()
        if failure := self.failure():
            raise CausewayError(failure)

    def stop(self) -> None:
        """End it, whatever it does."""
        self._process.stop()


def _keep(arguments: dict[str, Any]) -> None:
    # Ctrl-C goes to all processes of a terminal. The run stops this one when its query has stopped.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    spool = Path(arguments["spool"])
    keep_reports(
        open_reports_table(Path(arguments["warehouse"]), arguments["table"]),
        spool,
        KeptMark(spool / "_kept"),
        KeepingRecord.continued(Path(arguments["record"])),
        real_time_from=arguments["real_time_from"],
    )


if __name__ == "__main__":
    run_as_child(_keep)
