"""The data driver (section 3.1): delivers a workload in real time into a folder that a Spark stream reads.

    SPOOL/seconds-000000000030-000000000031.parquet  the tuples of simulated seconds 30 to 31
    SPOOL/_drive.json                                when simulated time started, its speed, how it ended
    SPOOL/.ahead/                                    files not yet due; gone at the end

A tuple of simulated second t is readable t / speed seconds after the start: never earlier, and at most 100 ms
later. A thread merges and encodes a few seconds ahead; at the due moment a file is only renamed.
"""

from __future__ import annotations

import json
import math
import os
import queue
import shutil
import signal
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final

from causeway.linear_road.driver.encoder import AheadFile, Encoder
from causeway.linear_road.driver.spool import delivered_until
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import write_json
from causeway.runtime.progress import ProgressBar, progress_bar

__all__ = ["DRIVE_FILE", "PROMISED_LATENESS_MS", "Delivery", "drive"]

DRIVE_FILE: Final = "_drive.json"
"""The state of a drive, in the spool; Spark skips names with an underscore or a dot in front."""

PROMISED_LATENESS_MS: Final = 100.0

_AHEAD_FOLDER: Final = ".ahead"
_AHEAD_SECONDS: Final = 4.0
"""How far the encoding runs ahead of the clock, in seconds of wall time."""

_GROUPED_SECONDS: Final = 0.05
"""The wall time that a tuple may wait for later ones of its file: half of what is promised."""

_START_DELAY: Final = 0.25
"""From the writing of the drive file to its `started_at`, so that even the first release is punctual."""

_STOP_POLL: Final = 0.1


@dataclass(frozen=True)
class Delivery:
    """What a drive delivered and how punctually; the past that `from_minute` skips over is never late.

    Lateness is that of a file's earliest second, taken after the rename that made it readable. No tuple is
    ever early: a file is renamed only after the due moment of its last second.
    """

    tuples: int
    files: int
    seconds: int
    """Simulated seconds that had tuples."""
    last_second: int | None
    """The last simulated second delivered; None where nothing was."""
    worst_lateness_ms: float
    mean_lateness_ms: float
    p99_lateness_ms: float
    stopped: bool
    """Ended by SIGTERM or SIGINT before all was delivered."""

    @property
    def kept_promise(self) -> bool:
        """Whether every tuple was readable within 100 ms of its time."""
        return self.worst_lateness_ms <= PROMISED_LATENESS_MS


class _StopRequest:
    """Set by a signal; a plain flag, since a threading.Event set in a handler can deadlock with its wait."""

    requested = False

    def __call__(self, _signal: int, _frame: FrameType | None) -> None:
        self.requested = True


def drive(
    workload: Workload,
    spool: Path,
    *,
    speed: float = 1.0,
    from_minute: int = 0,
    start_when: Callable[[], bool] | None = None,
    resume: bool = False,
) -> Delivery:
    """Deliver `workload` into `spool`, `speed` simulated seconds per second; returns when all is delivered.

    Everything before simulated minute `from_minute` is delivered at once; then real time starts with second
    60 · `from_minute`, if `start_when` is given not before it says so. With an infinite speed, all of it is
    past. When encoding cannot keep up, files are delivered late, in order, and none is left out: ask
    `Delivery.kept_promise`.

    With `resume`, an earlier drive into `spool` that came to no end is gone on with, after the last second
    that it delivered. Real time has not stood still since: what has become due is delivered at once.

    In the main thread, SIGTERM and SIGINT end the drive after the file in hand. `_drive.json` has the state
    "running" from before the first release of real time on, with the moment `started_at` at which it starts;
    however it ends, "finished", "stopped" or "failed".
    """
    if not speed > 0:
        raise UserError(f"a speed of {speed} is not possible; give a number above 0")
    if not 0 <= from_minute < workload.minutes:
        raise UserError(
            f"real time cannot start at minute {from_minute}: {workload.folder} has the minutes "
            f"0 to {workload.minutes - 1}"
        )
    ahead = _prepare_spool(spool, resume)
    try:
        with (
            _stop_on_signal() as stop,
            progress_bar("delivering", workload.minutes * 60, "simulated s") as bar,
        ):
            return _Drive(workload, spool, speed=speed, from_minute=from_minute, stop=stop, bar=bar).run(
                start_when, resume
            )
    finally:
        shutil.rmtree(ahead, ignore_errors=True)


class _Drive:
    """One drive: the releasing side, in the caller's thread."""

    def __init__(
        self,
        workload: Workload,
        spool: Path,
        *,
        speed: float,
        from_minute: int,
        stop: _StopRequest,
        bar: ProgressBar,
    ) -> None:
        self._workload = workload
        self._spool = spool
        self._speed = speed
        self._from_minute = from_minute
        self._origin = from_minute * 60 if math.isfinite(speed) else workload.minutes * 60
        self._stop = stop
        self._bar = bar
        self._bar_due = 0.0
        self._started_at: float | None = None
        self._start = math.inf
        self._resumed = -math.inf
        self._modified_ns = 0
        self._tuples = self._files = self._seconds = 0
        self._last_second: int | None = None
        self._lateness_ms: list[float] = []

    def run(self, start_when: Callable[[], bool] | None, resume: bool) -> Delivery:
        in_real_time = math.isfinite(self._speed)
        group = math.floor(_GROUPED_SECONDS * self._speed) + 1 if in_real_time else 1
        encoder = Encoder(
            self._workload,
            self._spool / _AHEAD_FOLDER,
            first=delivered_until(self._spool) if resume else 0,
            origin=self._origin,
            group=group,
            files_ahead=max(2, math.ceil(_AHEAD_SECONDS * self._speed / group)) if in_real_time else 2,
        )
        if resume:
            self._started_at = _started_at(self._spool)
        try:
            with encoder:
                file = self._deliver_past(encoder)
                if self._started_at is None:
                    self._await(start_when)
                self._await(lambda: encoder.is_ahead)
                if not self._stop.requested and in_real_time:
                    self._start_real_time()
                while file is not None and self._sleep_until_due(file):
                    self._release(file)
                    file = self._next_file(encoder)
        except BaseException as failure:
            with suppress(OSError):
                self._save_state("failed", error=str(failure))
            raise
        delivery = self._delivery(stopped=self._stop.requested)
        self._save_state(
            "stopped" if delivery.stopped else "finished",
            tuples=delivery.tuples,
            files=delivery.files,
            seconds=delivery.seconds,
            last_second=delivery.last_second,
            worst_lateness_ms=delivery.worst_lateness_ms,
            mean_lateness_ms=delivery.mean_lateness_ms,
            p99_lateness_ms=delivery.p99_lateness_ms,
            kept_promise=delivery.kept_promise,
        )
        return delivery

    def _deliver_past(self, encoder: Encoder) -> AheadFile | None:
        """Deliver the past; returns the first file of real time, None where there is none."""
        file = self._next_file(encoder)
        while file is not None and file.past:
            self._release(file)
            file = self._next_file(encoder)
        return file

    def _next_file(self, encoder: Encoder) -> AheadFile | None:
        """The next file, None at the end of the stream or when asked to stop."""
        while not self._stop.requested:
            try:
                return encoder.next_file(timeout=_STOP_POLL)
            except queue.Empty:
                continue
        return None

    def _await(self, ready: Callable[[], bool] | None) -> None:
        while ready is not None and not (self._stop.requested or ready()):
            time.sleep(0.01)

    def _start_real_time(self) -> None:
        # This waits for the disk to take the past, which could otherwise make the next writing, on which the
        # first release depends, last for seconds.
        self._save_state("starting")
        if self._started_at is not None:
            self._resumed = time.monotonic()
            self._start = self._resumed - (time.time() - self._started_at)
            self._save_state("running")
            return
        # The wall clock is read first: the error of the pair then makes releases later, never earlier.
        self._started_at = time.time() + _START_DELAY
        self._start = time.monotonic() + _START_DELAY
        self._save_state("running")

    def _sleep_until_due(self, file: AheadFile) -> bool:
        """Sleep until the last second of `file` is due; False when asked to stop before."""
        due = self._due(file.last)
        while not self._stop.requested:
            left = due - time.monotonic()
            if left <= 0:
                return True
            time.sleep(min(left, _STOP_POLL))
        return False

    def _due(self, second: int) -> float:
        return self._start + (second - self._origin) / self._speed

    def _release(self, file: AheadFile) -> None:
        # A rename keeps the time of the writing, and Spark takes files in the order of their modification
        # times, of which it sees milliseconds: each file gets its release time, and a millisecond of its own.
        self._modified_ns = max(time.time_ns(), (self._modified_ns // 1_000_000 + 1) * 1_000_000)
        os.utime(file.path, ns=(self._modified_ns, self._modified_ns))
        file.path.rename(self._spool / file.name)
        now = time.monotonic()
        if not file.past and self._due(file.first) >= self._resumed:
            self._lateness_ms.append((now - self._due(file.first)) * 1000)
        self._tuples += file.tuples
        self._files += 1
        self._seconds += file.seconds
        self._last_second = file.last
        if now >= self._bar_due:
            self._bar_due = now + 0.3
            self._bar.update(file.last + 1)

    def _delivery(self, *, stopped: bool) -> Delivery:
        lateness = sorted(self._lateness_ms) or [0.0]
        return Delivery(
            tuples=self._tuples,
            files=self._files,
            seconds=self._seconds,
            last_second=self._last_second,
            worst_lateness_ms=lateness[-1],
            mean_lateness_ms=statistics.fmean(lateness),
            p99_lateness_ms=lateness[math.ceil(0.99 * len(lateness)) - 1],
            stopped=stopped,
        )

    def _save_state(self, state: str, **facts: Any) -> None:
        write_json(
            self._spool / DRIVE_FILE,
            {
                "state": state,
                "started_at": self._started_at,
                "speed": self._speed if math.isfinite(self._speed) else None,
                "from_minute": self._from_minute,
                "workload": str(self._workload.folder.resolve()),
                **facts,
            },
        )


def _started_at(spool: Path) -> float | None:
    """When real time started in an earlier drive, None if it did not get that far."""
    try:
        started_at: float | None = json.loads((spool / DRIVE_FILE).read_text())["started_at"]
    except FileNotFoundError:
        return None
    return started_at


def _prepare_spool(spool: Path, resume: bool) -> Path:
    """Make the folder, and in it the one for files not yet due; refuse a used spool but to resume it."""
    try:
        spool.mkdir(parents=True, exist_ok=True)
        if resume:
            shutil.rmtree(spool / _AHEAD_FOLDER, ignore_errors=True)
        used = sorted(
            entry.name
            for entry in spool.iterdir()
            if entry.suffix == ".parquet" or entry.name in (DRIVE_FILE, _AHEAD_FOLDER)
        )
        if used and not resume:
            raise UserError(
                f"{spool} has been driven into before (it has {used[0]}); "
                "give a new folder, or remove it first"
            )
        ahead = spool / _AHEAD_FOLDER
        ahead.mkdir()
    except FileExistsError:
        raise UserError(f"{spool} is a file; give a folder") from None
    except OSError as refused:
        raise UserError(f"{spool} cannot be made or read: {refused.strerror}") from refused
    return ahead


@contextmanager
def _stop_on_signal() -> Iterator[_StopRequest]:
    stop = _StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
