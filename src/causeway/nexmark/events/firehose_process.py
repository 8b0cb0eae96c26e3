"""The firehose in real time, as a process of its own: `python -m causeway.nexmark.events.firehose_process`.

    SPOOL/<stream>/000012.parquet   a slice, whole, before it is released
    SPOOL/released/newest           how many slices are released
    SPOOL/released/clock.json       when the first slice began, and how long each is: latencies count from it
    SPOOL/released/end              how many slices there are, when there will be no more
    SPOOL/released/outcome.json     how late slices were

Slice k has the events of the interval from k to k + 1 times its length, and is released when that has passed.
One that is overdue, after a crash for instance, is released at once: its events have waited since they were
due. When the process that started it is gone, it ends too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq

from causeway.nexmark.generator.firehose import Firehose
from causeway.nexmark.generator.goods import categories
from causeway.runtime.child_process import end_with

__all__ = ["FirehoseClock", "FirehoseProcess", "begin_spool"]

_LEAD: Final = 4
"""Slices that are made ahead of their time."""


@dataclass(frozen=True)
class FirehoseClock:
    """What is due when."""

    started: float
    """Seconds since 1970."""
    interval: float
    """Seconds of a slice."""
    slice_events: int
    slices: int
    first_time: int
    """Event time of the first event, milliseconds."""
    time_per_second: float
    """Milliseconds of event time that pass in a second."""

    def due(self, slices: int) -> float:
        """When so many slices are to be readable."""
        return self.started + slices * self.interval

    def wall(self, event_time: float) -> float:
        """When an event of that time is due."""
        return self.started + (event_time - self.first_time) / self.time_per_second

    @staticmethod
    def load(spool: Path) -> FirehoseClock:
        """The clock of a spool that has been started."""
        return FirehoseClock(**json.loads((spool / "released" / "clock.json").read_text()))


def begin_spool(spool: Path, firehose: Firehose) -> None:
    """Make the folders, with nothing released."""
    for stream in firehose.streams:
        (spool / stream).mkdir(parents=True, exist_ok=True)
    (spool / "released").mkdir(exist_ok=True)
    if firehose.model == "paper":
        pq.write_table(categories(firehose.categories), spool / "category.parquet")


class FirehoseProcess:
    """A firehose at work on `spool`; goes on after the newest slice that is there."""

    def __init__(self, spool: Path, firehose: Firehose, interval: float, slice_events: int) -> None:
        self._spool = spool
        (spool / "released" / "start").unlink(missing_ok=True)
        arguments = {
            "spool": str(spool.resolve()),
            "firehose": asdict(firehose),
            "interval": interval,
            "slice_events": slice_events,
            "parent": os.getpid(),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, json.dumps(arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self) -> None:
        """Open it."""
        (self._spool / "released" / "start").touch()

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def failure(self) -> str | None:
        """Why it ended, if not by coming to its end."""
        if not self.ended or self._process.returncode == 0:
            return None
        assert self._process.stderr is not None
        told = self._process.stderr.read().decode(errors="replace").strip().splitlines()
        return told[-1] if told else f"exit code {self._process.returncode}"

    def outcome(self) -> dict[str, Any]:
        """How it did."""
        facts: dict[str, Any] = json.loads((self._spool / "released" / "outcome.json").read_text())
        return facts

    def stop(self) -> None:
        """End it, whatever it does."""
        if not self.ended:
            self._process.kill()
        self._process.wait()


def main() -> None:
    """Deliver as the one argument, in JSON, says."""
    arguments = json.loads(sys.argv[1])
    end_with(arguments["parent"])
    _deliver(
        Path(arguments["spool"]),
        Firehose(**arguments["firehose"]),
        arguments["interval"],
        arguments["slice_events"],
    )


def _deliver(spool: Path, firehose: Firehose, interval: float, slice_events: int) -> None:
    released = spool / "released"
    slices = -(-firehose.events // slice_events)
    newest = released / "newest"
    first = int(newest.read_text()) if newest.exists() else 0
    made = first
    clock: FirehoseClock | None = None
    late: list[float] = []
    for number in range(first, slices):
        while made < min(slices, number + _LEAD):
            _write_slice(spool, firehose, made, slice_events)
            made += 1
        if clock is None:
            clock = _started(spool, firehose, interval, slice_events, slices)
        time.sleep(max(0.0, clock.due(number + 1) - time.time()))
        _write_whole(newest, str(number + 1))
        late.append(max(0.0, time.time() - clock.due(number + 1)))
    _write_whole(
        released / "outcome.json",
        json.dumps({"slices": slices - first, "worst_lateness_ms": round(1000 * max(late, default=0.0), 1)}),
    )
    _write_whole(released / "end", str(slices))


def _started(
    spool: Path, firehose: Firehose, interval: float, slice_events: int, slices: int
) -> FirehoseClock:
    path = spool / "released" / "clock.json"
    while not (spool / "released" / "start").exists():
        time.sleep(0.005)
    if path.exists():
        return FirehoseClock.load(spool)
    clock = FirehoseClock(
        started=time.time(),
        interval=interval,
        slice_events=slice_events,
        slices=slices,
        first_time=firehose.first_time,
        time_per_second=1000 * slice_events / interval / firehose.rate,
    )
    _write_whole(path, json.dumps(asdict(clock)))
    return clock


def _write_slice(spool: Path, firehose: Firehose, number: int, slice_events: int) -> None:
    first = number * slice_events
    for stream, table in firehose.deliver(first, min(first + slice_events, firehose.events)).items():
        aside = spool / stream / f".{number:06d}"
        pq.write_table(table, aside, compression="none", use_dictionary=False, write_statistics=False)
        aside.replace(spool / stream / f"{number:06d}.parquet")


def _write_whole(path: Path, text: str) -> None:
    aside = path.with_name(f".{path.name}")
    aside.write_text(text)
    aside.replace(path)


if __name__ == "__main__":
    main()
