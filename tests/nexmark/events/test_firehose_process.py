"""The firehose as a process: what it releases, its clock, and that another goes on where one was killed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from causeway.nexmark.events.firehose_process import FirehoseClock, FirehoseProcess, begin_spool
from causeway.nexmark.events.slices import Slices
from causeway.nexmark.generator.firehose import Firehose

FIREHOSE = Firehose("modern", events=200, rate=100)


def wait(until: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 300
    while not until():
        assert time.monotonic() < give_up
        time.sleep(0.01)


def firehose(tmp_path: Path, interval: float, slice_events: int = 50) -> FirehoseProcess:
    return FirehoseProcess(tmp_path / "spool", FIREHOSE, interval, slice_events, tmp_path / "log.txt")


def test_slices_are_released_after_the_start_and_another_process_goes_on(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    begin_spool(spool, FIREHOSE)
    slices = Slices.of(spool, "modern")
    first = firehose(tmp_path, interval=0.2)
    try:
        wait(lambda: first.ready)
        assert (slices.released, slices.total) == (0, None)
        first.start()
        wait(lambda: slices.released > 0)
    finally:
        first.stop()
    clock = FirehoseClock.load(spool)
    assert first.failure() is None
    begin_spool(spool, FIREHOSE)
    second = firehose(tmp_path, interval=0.2)
    try:
        second.start()
        wait(lambda: slices.total is not None)
        assert (slices.released, slices.total) == (4, 4)
        assert second.outcome()["slices"] == 4
        assert asdict(FirehoseClock.load(spool)) == asdict(clock)
    finally:
        second.stop()
    rows = [slices.read(number, {"bid": ["price"]}).tables["bid"].num_rows for number in range(4)]
    assert sum(rows) == 184


def test_the_clock_maps_slices_and_event_time_to_moments() -> None:
    clock = FirehoseClock(100.0, 0.5, 50, 4, 1_000, 2_000.0)
    assert [clock.due(number) for number in (0, 2, 4)] == pytest.approx([100.0, 101.0, 102.0])
    assert clock.wall(5_000) == pytest.approx(102.0)


def test_a_failure_says_why_and_where_the_log_is(tmp_path: Path) -> None:
    begin_spool(tmp_path / "spool", FIREHOSE)
    (tmp_path / "spool" / "bid").rmdir()
    process = firehose(tmp_path, interval=0.2)
    try:
        wait(lambda: process.failure() is not None)
        failure = process.failure()
        assert failure is not None
        assert failure.startswith("the firehose ended with exit code 1: ")
        assert str(tmp_path / "log.txt") in failure
    finally:
        process.stop()
