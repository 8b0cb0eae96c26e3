"""The wait for all answers, with a query and a driver that are not real ones; and the record of batches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from causeway.linear_road.driver.clock import SimulatedClock
from causeway.linear_road.driver.spool import SpoolGapError
from causeway.linear_road.runner import progress
from causeway.linear_road.runner.progress import BatchRecord, wait_for_answers
from causeway.linear_road.runner.run_folder import RunFolder
from causeway.linear_road.runner.settings import RunSettings
from causeway.runtime.errors import UserError


class Run:
    """A query, a delivery and a driver in one; `delivered` and `answered` are simulated seconds."""

    def __init__(self) -> None:
        self.answered = 0
        self.delivered = 0
        self.finished = False
        self.ready = False
        self.started = False
        self.reason: str | None = None
        self.reports: list[dict[str, Any]] = []
        self.last_second: int | None = None
        self.looks = 0

    def check(self) -> None:
        self.looks += 1

    def new_progress(self) -> list[dict[str, Any]]:
        reports, self.reports = self.reports, []
        return reports

    def start(self) -> None:
        self.started = True

    def failure(self) -> str | None:
        return self.reason

    def outcome(self) -> dict[str, Any]:
        return {
            "worst_lateness_ms": 3.5,
            "kept_promise": True,
            "last_second": self.last_second,
            "state": "finished",
        }


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path)
    folder.begin({"batches": [], "minutes": 3})
    return folder


def record(folder: RunFolder) -> BatchRecord:
    return BatchRecord(folder, RunSettings(), SimulatedClock(folder.spool, None, 0, 0.0), folder.facts())


def note(folder: RunFolder, number: int) -> None:
    folder.batches.begin(number)
    seconds = {"first_second": 10 * number, "last_second": 10 * number + 9}
    folder.batches.finish(
        number,
        {"batch": number, "tuples": 5, "spent": {}, "readable": 100.0, "readable_simulated": 30.0} | seconds,
    )


def wait(run: Run, folder: RunFolder, first_batches: list[int] | None = None) -> dict[str, Any]:
    firsts = [] if first_batches is None else first_batches
    return wait_for_answers(run, run, run, record(folder), 60, lambda: firsts.append(run.looks))  # type: ignore[arg-type]


def test_it_ends_when_all_is_delivered_and_answered(folder: RunFolder) -> None:
    run = Run()
    run.finished, run.delivered, run.answered, run.last_second = True, 60, 60, 59
    assert wait(run, folder) == {"worst_lateness_ms": 3.5, "kept_promise": True}


def test_a_newest_file_that_is_missing_is_noticed(folder: RunFolder) -> None:
    """Without it, everything that can be seen in the spool is answered."""
    run = Run()
    run.finished, run.delivered, run.answered, run.last_second = True, 50, 50, 59
    with pytest.raises(SpoolGapError, match="lacks the seconds 50 to 59"):
        wait(run, folder)


def test_real_time_starts_when_the_past_is_answered(folder: RunFolder) -> None:
    class Slow(Run):
        def check(self) -> None:
            super().check()
            assert not self.started or self.answered >= 30
            self.ready = True
            if self.looks == 3:
                self.answered = 30
            if self.started:
                self.finished, self.delivered, self.answered = True, 60, 60

    run = Slow()
    run.delivered = 30
    started_before: list[bool] = []
    wait_for_answers(
        run,  # type: ignore[arg-type]
        run,
        run,
        record(folder),
        60,
        lambda: None,
        before_real_time=lambda: started_before.append(run.started),
    )
    assert run.started
    assert started_before == [False]


def test_a_driver_that_fails_ends_the_wait(folder: RunFolder) -> None:
    run = Run()
    run.reason = "the data driver was killed by SIGKILL"
    with pytest.raises(UserError, match="was killed by SIGKILL"):
        wait(run, folder)


def test_the_first_batch_is_the_first_with_input(folder: RunFolder) -> None:
    durations = {"triggerExecution": 250}
    note(folder, 1)

    class Batches(Run):
        def check(self) -> None:
            super().check()
            if self.looks <= 3:
                self.reports = [{"batchId": self.looks - 1, "durationMs": durations}]
                note(folder, 2) if self.looks == 3 else None
            self.finished = self.looks == 4

    firsts: list[int] = []
    wait(Batches(), folder, firsts)
    assert firsts == [2]


def test_batches_so_far_are_in_the_facts(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a run that is killed has them."""
    monkeypatch.setattr(progress, "_SAVE_SECONDS", 0.0)
    note(folder, 0)
    run = Run()
    run.reports = [{"batchId": 0, "durationMs": {"triggerExecution": 250}}]
    run.finished = True
    wait(run, folder)
    (batch,) = json.loads(folder.facts_file.read_text())["batches"]
    assert (batch["batch"], batch["seconds"], batch["started_at"]) == (0, 0.25, 99.75)


def test_batches_that_a_killed_attempt_did_not_save_are_found(folder: RunFolder) -> None:
    saved = {"batch": 0, "seconds": 0.5}
    folder.save(folder.facts() | {"batches": [saved]})
    for number in range(3):
        note(folder, number)
    batches = record(folder).all()
    assert batches[0] == saved
    assert [(batch["batch"], batch["last_second"]) for batch in batches[1:]] == [(1, 19), (2, 29)]
