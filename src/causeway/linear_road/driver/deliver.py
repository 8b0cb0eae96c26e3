"""The data driver (section 3.1): delivers a workload in real time into a folder that a Spark stream reads.

    SPOOL/seconds-000000000030-000000000031.parquet  the tuples of simulated seconds 30 to 31
    SPOOL/_delivery.json                             when simulated time started, its speed, how it ended
    SPOOL/_lateness.json                             lateness so far; gone when all is delivered
    SPOOL/.ahead/                                    files not yet due; gone at the end

A tuple of simulated second t is readable t / speed seconds after the start: never earlier, and at most 100 ms
later. A thread merges and encodes a few seconds ahead; at the due moment a file is only renamed.
"""

from __future__ import annotations

import math
import os
import queue
import shutil
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

from causeway.linear_road.driver.encoder import AheadFile, Encoder
from causeway.linear_road.driver.punctuality import PROMISED_LATENESS_MS, PunctualityFile
from causeway.linear_road.driver.spool import delivered_until, spool_files
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError
from causeway.runtime.progress import ProgressBar, progress_bar
from causeway.streaming.delivery import SpoolControl

__all__ = ["PROMISED_LATENESS_MS", "DriveResult", "drive"]

_AHEAD_FOLDER: Final = ".ahead"
_AHEAD_SECONDS: Final = 4.0
"""How far the encoding runs ahead of the clock, in seconds of wall time."""

_GROUPED_SECONDS: Final = 0.05
"""The wall time that a tuple may wait for later ones of its file: half of what is promised."""

_START_DELAY: Final = 0.25
"""From the saving of the state "running" to its `started_at`, so that even the first release is punctual."""

_POLL: Final = 0.01
_STOP_POLL: Final = 0.1


@dataclass(frozen=True)
class DriveResult:
    """What a drive delivered and how punctually; the past that `from_minute` skips over is never late.

    Lateness is that of a file's earliest tuple, taken after the rename that made it readable. No tuple is
    ever early: a file is renamed only after the due moment of its last second. After a resume, the lateness
    is that of all attempts, and the counts are those since the resume.
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
        """Whether every tuple that became due while a driver ran was readable within 100 ms."""
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
    spool_limit: int | None = None,
) -> DriveResult:
    """Deliver `workload` into `spool`, `speed` simulated seconds per second; returns when all is delivered.

    Everything before simulated minute `from_minute` is delivered at once; then real time starts with second
    60 · `from_minute`, if `start_when` is given not before it returns True. With an infinite speed, all of it
    is past. When encoding cannot keep up, files are delivered late, in order, and none is left out: see
    `DriveResult.kept_promise`.

    With a `spool_limit` (bytes), delivery of the past waits while the spool holds more, for a reader that
    removes what it has answered. Real time is never held back: a reader that falls behind is late, not the
    driver.

    With `resume`, an earlier drive into `spool` that came to no end is continued after the last second that
    it delivered. Real time has not stood still since: what has become due is delivered at once. It does not
    count as late delivery, since no driver ran; what becomes due from then on does. Of a drive that had
    finished, the result is returned again.

    In the main thread, SIGTERM and SIGINT end the drive after the file in hand. `_delivery.json` has the
    state "starting" while the start is waited for, "running" from before the first release of real time on,
    with the moment `started_at` at which it starts; however it ends, "finished", "stopped" or "failed".
    """
    if not speed > 0:
        raise UserError(f"a speed of {speed:g} is not possible; give a number above 0")
    if not 0 <= from_minute < workload.minutes:
        raise UserError(
            f"real time cannot start at minute {from_minute}: {workload.folder} has the minutes "
            f"0 to {workload.minutes - 1}"
        )
    ahead = _prepare_spool(spool, resume)
    try:
        if resume and (finished := _finished_result(spool)) is not None:
            return finished
        with (
            _stop_on_signal() as stop,
            progress_bar("delivering", workload.minutes * 60, "simulated s") as bar,
        ):
            one = _Drive(workload, spool, speed=speed, from_minute=from_minute, stop=stop, bar=bar)
            return one.run(start_when, resume, spool_limit)
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
        self._control = SpoolControl(spool)
        self._speed = speed
        self._in_real_time = math.isfinite(speed)
        self._from_minute = from_minute
        self._origin = from_minute * 60 if self._in_real_time else workload.minutes * 60
        self._stop = stop
        self._bar = bar
        self._bar_due = 0.0
        self._started_at: float | None = None
        self._start = math.inf
        self._resumed = -math.inf
        self._modified_ns = 0
        self._tuples = self._files = self._seconds = 0
        self._last_second: int | None = None

    def run(
        self, start_when: Callable[[], bool] | None, resume: bool, spool_limit: int | None
    ) -> DriveResult:
        first = delivered_until(self._spool) if resume else 0
        if resume:
            self._started_at = (self._control.load() or {}).get("started_at")
        lateness = PunctualityFile(self._spool, resume=resume)
        encoder = self._encoder(first)
        try:
            with lateness, encoder:
                file = self._deliver_past(encoder, spool_limit)
                self._await(lambda: encoder.is_ahead)
                if self._in_real_time:
                    # This waits for the disk to take the past, which could otherwise make the saving after
                    # the start, on which the first release depends, last for seconds.
                    self._save_state("starting")
                if self._started_at is None:
                    self._await(start_when)
                if self._in_real_time and not self._stop.requested:
                    self._start_real_time()
                while file is not None and self._sleep_until_due(file):
                    released = self._release(file)
                    if self._due(file.earliest) >= self._resumed:
                        lateness.add((released - self._due(file.earliest)) * 1000)
                    file = self._next_file(encoder)
        except BaseException as failure:
            with suppress(OSError):
                self._save_state("failed", error=str(failure))
            raise
        return self._finish(lateness)

    def _encoder(self, first: int) -> Encoder:
        seconds_per_file = math.floor(_GROUPED_SECONDS * self._speed) + 1 if self._in_real_time else 1
        files_ahead = math.ceil(_AHEAD_SECONDS * self._speed / seconds_per_file) if self._in_real_time else 2
        return Encoder(
            self._workload,
            self._spool / _AHEAD_FOLDER,
            first=first,
            origin=self._origin,
            seconds_per_file=seconds_per_file,
            files_ahead=max(2, files_ahead),
        )

    def _deliver_past(self, encoder: Encoder, spool_limit: int | None) -> AheadFile | None:
        """Deliver the past; returns the first file of real time, None where there is none."""
        room = _SpoolRoom(self._spool, spool_limit)
        file = self._next_file(encoder)
        while file is not None and file.past:
            self._await(partial(room.has_room_for, file.size))
            if self._stop.requested:
                return None
            self._release(file)
            room.add(self._spool / file.name, file.size)
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
            time.sleep(_POLL)

    def _start_real_time(self) -> None:
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

    def _release(self, file: AheadFile) -> float:
        """Make `file` readable; returns the moment, on the monotonic clock, at which it was."""
        # A rename keeps the time of the writing, and Spark takes files in the order of their modification
        # times, of which it sees milliseconds: each file gets its release time, and a millisecond of its own.
        self._modified_ns = max(time.time_ns(), (self._modified_ns // 1_000_000 + 1) * 1_000_000)
        os.utime(file.path, ns=(self._modified_ns, self._modified_ns))
        file.path.rename(self._spool / file.name)
        now = time.monotonic()
        self._tuples += file.tuples
        self._files += 1
        self._seconds += file.seconds
        self._last_second = file.last
        if now >= self._bar_due:
            self._bar_due = now + 0.3
            self._bar.update(file.last + 1)
        return now

    def _finish(self, lateness: PunctualityFile) -> DriveResult:
        punctuality = lateness.punctuality
        result = DriveResult(
            tuples=self._tuples,
            files=self._files,
            seconds=self._seconds,
            last_second=self._last_second,
            worst_lateness_ms=punctuality.worst_ms,
            mean_lateness_ms=punctuality.mean_ms,
            p99_lateness_ms=punctuality.p99_ms,
            stopped=self._stop.requested,
        )
        facts = asdict(result)
        stopped = facts.pop("stopped")
        self._save_state("stopped" if stopped else "finished", **facts, kept_promise=result.kept_promise)
        if not stopped:
            lateness.remove()
        return result

    def _save_state(self, state: str, **facts: Any) -> None:
        self._control.save(
            state,
            started_at=self._started_at,
            speed=self._speed if self._in_real_time else None,
            from_minute=self._from_minute,
            workload=str(self._workload.folder.resolve()),
            **facts,
        )


class _SpoolRoom:
    """How much of the spool is not yet removed by its reader, which removes the oldest files first."""

    def __init__(self, spool: Path, limit: int | None) -> None:
        self._limit = limit
        self._files: deque[tuple[Path, int]] = deque()
        self._size = 0
        for file in spool_files(spool):
            # The reader of a resumed run may be at work already.
            with suppress(FileNotFoundError):
                self.add(file.path, file.path.stat().st_size)

    def add(self, path: Path, size: int) -> None:
        """Count a file that was released."""
        self._files.append((path, size))
        self._size += size

    def has_room_for(self, size: int) -> bool:
        """Whether a file of that size fits; always beside the newest one, which readers never remove."""
        if self._limit is None:
            return True
        while self._files and not self._files[0][0].exists():
            self._size -= self._files.popleft()[1]
        return len(self._files) <= 1 or self._size + size <= self._limit


def _finished_result(spool: Path) -> DriveResult | None:
    """The result of an earlier drive that delivered everything; None of any other."""
    facts = SpoolControl(spool).load() or {}
    if facts.get("state") != "finished":
        return None
    return DriveResult(
        **{field.name: facts[field.name] for field in fields(DriveResult) if field.name != "stopped"},
        stopped=False,
    )


def _prepare_spool(spool: Path, resume: bool) -> Path:
    """Make the folder, and in it the one for files not yet due; refuse a used spool unless it is resumed."""
    try:
        spool.mkdir(parents=True, exist_ok=True)
        if resume:
            shutil.rmtree(spool / _AHEAD_FOLDER, ignore_errors=True)
        left_by_a_drive = (SpoolControl(spool).state_file.name, _AHEAD_FOLDER)
        used = sorted(
            entry.name
            for entry in spool.iterdir()
            if entry.suffix == ".parquet" or entry.name in left_by_a_drive
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
    handlers = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
