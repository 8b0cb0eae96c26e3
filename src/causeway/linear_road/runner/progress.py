"""An engine and a driver at work: what each batch took, kept in `run.json` while the run goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from causeway.linear_road.driver.clock import SimulatedClock
from causeway.linear_road.driver.drive_process import DriveProcess
from causeway.linear_road.driver.spool import SpoolGapError
from causeway.linear_road.runner.engine import Answering
from causeway.linear_road.runner.run_folder import RunFolder
from causeway.linear_road.runner.settings import RunSettings
from causeway.runtime.errors import CausewayError, UserError
from causeway.runtime.progress import ProgressBar, progress_bar
from causeway.streaming.delivery import Delivery

__all__ = ["BatchRecord", "wait_for_answers"]

_POLL: Final = 0.1
_SAVE_SECONDS: Final = 2.0
_SAVE_SHARE: Final = 0.02
"""The most of a run's time that is spent on saving its batches: a long run has many."""

_FROM_NOTE: Final = ("batch", "first_second", "last_second", "tuples", "spent")
_OUTCOME: Final = ("kept_promise", "tuples", "files")


class BatchRecord:
    """The batches of a run, by number: as the sink noted them, with what Spark says of their durations."""

    def __init__(
        self, folder: RunFolder, settings: RunSettings, clock: SimulatedClock, facts: dict[str, Any]
    ) -> None:
        """Begin with the batches in `facts`, and those that a killed attempt had no time to save."""
        self._folder = folder
        self._settings = settings
        self._clock = clock
        self._facts = facts
        self._end = 60 * facts["minutes"]
        self._batches: dict[int, dict[str, Any]] = {
            note["batch"]: {name: note[name] for name in _FROM_NOTE} for note in folder.batches.notes()
        }
        self._batches |= {batch["batch"]: batch for batch in facts["batches"]}
        self._worst_response = 0.0
        self._saved_at = time.monotonic()
        self._save_seconds = 0.0

    def all(self) -> list[dict[str, Any]]:
        """All batches, in their order."""
        return [self._batches[number] for number in sorted(self._batches)]

    def add(self, progress: Mapping[str, Any], bar: ProgressBar) -> bool:
        """Add a batch that Spark reports as done; whether it had input."""
        note = self._folder.batches.note(progress["batchId"])
        if note is None:
            return False
        durations = dict(progress["durationMs"])
        seconds = durations.get("triggerExecution", 0) / 1000
        self._batches[note["batch"]] = {
            **{name: note[name] for name in _FROM_NOTE},
            "started_at": note["readable"] - seconds,
            "seconds": seconds,
            "durations_ms": durations,
        }
        left: float | None = None
        text = f"batch {seconds:.2f} s, {note['tuples'] / max(seconds, 0.001):,.0f} tuples/s"
        if self._settings.speed is not None and self._clock.started_at is not None:
            response = (note["readable_simulated"] - note["first_second"]) / self._settings.speed
            if note["first_second"] >= 60 * self._settings.from_minute:
                self._worst_response = max(self._worst_response, response)
            text += f", worst response {self._worst_response:.2f} s"
            until_end = self._clock.due(self._end) - time.time()
            left = until_end if until_end > 0 else None
        bar.update(note["last_second"] + 1, text, left)
        return True

    def save_if_due(self) -> None:
        """Save the batches so far every few seconds, so that a run that is killed has them."""
        began = time.monotonic()
        if began - self._saved_at < max(_SAVE_SECONDS, self._save_seconds / _SAVE_SHARE):
            return
        # Waiting for the disk would make the driver's files wait too.
        self._folder.save(self._facts | {"batches": self.all()}, durable=False)
        self._saved_at = time.monotonic()
        self._save_seconds = self._saved_at - began


def wait_for_answers(
    watch: Answering,
    delivery: Delivery,
    driver: DriveProcess,
    record: BatchRecord,
    seconds: int,
    first_batch: Callable[[], None],
    failures: Sequence[Callable[[], str | None]] = (),
    before_real_time: Callable[[], None] | None = None,
) -> dict[str, Any]:
    """Let the driver deliver `seconds` of simulated time, and wait for the last answer.

    Calls `first_batch` after the first batch, and `before_real_time` when the past is answered and the driver
    is about to go on. `failures` tell why other processes that the run needs have
    ended, None while they work. Returns how punctual the driver was.
    """
    started = False
    batches = 0
    with progress_bar("answering", seconds, "simulated s") as bar:
        while True:
            time.sleep(_POLL)
            finished = delivery.finished
            for failed in failures:
                if reason := failed():
                    raise CausewayError(reason)
            watch.check()
            for progress in watch.new_progress():
                if record.add(progress, bar):
                    batches += 1
                    if batches == 1:
                        first_batch()
            record.save_if_due()
            all_answered = watch.answered >= delivery.delivered
            if not started and driver.ready and all_answered:
                if before_real_time is not None:
                    before_real_time()
                driver.start()
                started = True
            if failure := delivery.failure():
                raise UserError(failure)
            if finished and all_answered:
                outcome = driver.outcome()
                _check_end(watch.answered, outcome.get("last_second"))
                return {name: outcome[name] for name in outcome if name.endswith("_ms") or name in _OUTCOME}


def _check_end(answered: int, last_second: int | None) -> None:
    """Notice that the newest file is missing: the source only sees gaps between files."""
    if last_second is not None and answered <= last_second:
        raise SpoolGapError(
            f"the spool lacks the seconds {answered} to {last_second}; files were removed before they were "
            "answered"
        )
