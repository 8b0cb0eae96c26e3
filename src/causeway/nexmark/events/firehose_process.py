"""The firehose in real time, as a process of its own: `python -m causeway.nexmark.events.firehose_process`.

    SPOOL/<stream>/.000012          a slice that was made ahead of its time
    SPOOL/<stream>/000012.parquet   a slice, whole; it gets this name just before it is released
    SPOOL/_released                 how many slices can be read
    SPOOL/_ready, SPOOL/_start      see `streaming.delivery`: the first slices are made; let real time start
    SPOOL/_delivery.json            state, and once started the clock; at the end the number of slices and how
                                    late they were

Slice k has the events of the interval from k to k + 1 times its length, and is released when that has passed.
One that is overdue, after a crash for instance, is released at once: its events have waited since they were
due. When the process that started it is gone, it ends too.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq

from causeway.nexmark.events.slices import release_slices, released_slices
from causeway.nexmark.generator.firehose import Firehose
from causeway.nexmark.generator.goods import categories
from causeway.runtime.child_process import ChildProcess, run_as_child
from causeway.streaming.clock import DeliveryClock
from causeway.streaming.delivery import SpoolControl

__all__ = ["FirehoseClock", "FirehoseProcess", "begin_spool"]

_LEAD: Final = 4
"""Slices that are made ahead of their time."""


@dataclass(frozen=True)
class FirehoseClock:
    """When each slice and each event time is due."""

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

    @cached_property
    def _by_slice(self) -> DeliveryClock:
        return DeliveryClock(self.started, 0, 1 / self.interval)

    @cached_property
    def _by_event_time(self) -> DeliveryClock:
        return DeliveryClock(self.started, self.first_time, self.time_per_second)

    def due(self, slices: int) -> float:
        """When so many slices are to be readable."""
        return self._by_slice.due(slices)

    def wall(self, event_time: float) -> float:
        """When an event of that time is due."""
        return self._by_event_time.due(event_time)

    @staticmethod
    def load(spool: Path) -> FirehoseClock:
        """The clock of a spool that has been started."""
        facts = SpoolControl(spool).load() or {}
        return FirehoseClock(**facts["clock"])


def begin_spool(spool: Path, firehose: Firehose) -> None:
    """Make the folders, with nothing released; leaves what an earlier process has delivered."""
    for stream in firehose.streams:
        (spool / stream).mkdir(parents=True, exist_ok=True)
    if firehose.model == "paper":
        pq.write_table(categories(firehose.categories), spool / "category.parquet")
    control = SpoolControl(spool)
    if control.load() is None:
        control.save("starting")


class FirehoseProcess:
    """A firehose at work on `spool`; goes on after the newest released slice. It has a log of its own."""

    def __init__(
        self, spool: Path, firehose: Firehose, interval: float, slice_events: int, log: Path
    ) -> None:
        self._control = SpoolControl(spool)
        self._control.reset()
        self._process = ChildProcess(
            __name__,
            {
                "spool": str(spool.resolve()),
                "firehose": asdict(firehose),
                "interval": interval,
                "slice_events": slice_events,
            },
            log,
            name="the firehose",
        )

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def start(self) -> None:
        """Let real time start."""
        self._control.request_start()

    @property
    def ready(self) -> bool:
        """Whether only the start is waited for."""
        return self._control.ready

    def failure(self) -> str | None:
        """Why it ended before its last slice."""
        return self._process.failure()

    def outcome(self) -> dict[str, Any]:
        """How late its slices were, once it has finished."""
        facts = self._control.load() or {}
        return {"slices": facts["slices"], "worst_lateness_ms": facts["worst_lateness_ms"]}

    def stop(self) -> None:
        """End it, whatever it does."""
        self._process.stop()


def main() -> None:
    """Deliver as the one argument, in JSON, says."""
    run_as_child(_deliver)


def _deliver(arguments: dict[str, Any]) -> None:
    spool, firehose = Path(arguments["spool"]), Firehose(**arguments["firehose"])
    slice_events = int(arguments["slice_events"])
    control = SpoolControl(spool)
    facts = control.load() or {}
    slices = -(-firehose.events // slice_events)
    first = made = released_slices(spool)
    worst = float(facts.get("worst_lateness_ms", 0.0))
    clock = FirehoseClock(**facts["clock"]) if "clock" in facts else None
    for number in range(first, slices):
        while made < min(slices, number + _LEAD):
            _write_slice(spool, firehose, made, slice_events)
            made += 1
        if number == first:
            _wait_for_start(control)
            clock = clock or FirehoseClock(
                started=time.time(),
                interval=arguments["interval"],
                slice_events=slice_events,
                slices=slices,
                first_time=firehose.first_time,
                time_per_second=1000 * slice_events / arguments["interval"] / firehose.rate,
            )
            control.save("running", clock=asdict(clock))
        assert clock is not None
        time.sleep(max(0.0, clock.due(number + 1) - time.time()))
        _name_slice(spool, firehose, number)
        release_slices(spool, number + 1)
        worst = max(worst, round(1000 * (time.time() - clock.due(number + 1)), 1))
    assert clock is not None, "a run that is resumed has a clock, any other has slices to deliver"
    control.save("finished", clock=asdict(clock), slices=slices, worst_lateness_ms=worst)


def _wait_for_start(control: SpoolControl) -> None:
    control.announce_ready()
    while not control.start_requested:
        time.sleep(0.005)


def _write_slice(spool: Path, firehose: Firehose, number: int, slice_events: int) -> None:
    first = number * slice_events
    for stream, table in firehose.deliver(first, min(first + slice_events, firehose.events)).items():
        path = _unnamed(spool, stream, number)
        pq.write_table(table, path, compression="none", use_dictionary=False, write_statistics=False)


def _name_slice(spool: Path, firehose: Firehose, number: int) -> None:
    """Let Spark's file source, which knows nothing of releases, see the slice."""
    for stream in firehose.streams:
        _unnamed(spool, stream, number).replace(spool / stream / f"{number:06d}.parquet")


def _unnamed(spool: Path, stream: str, number: int) -> Path:
    return spool / stream / f".{number:06d}"


if __name__ == "__main__":
    main()
