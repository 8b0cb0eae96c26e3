from __future__ import annotations

from pathlib import Path

import pytest

from causeway.linear_road.driver.clock import SimulatedClock
from causeway.streaming.delivery import SpoolControl


def starts(spool: Path, started_at: float | None) -> None:
    SpoolControl(spool).save("running", started_at=started_at)


@pytest.mark.parametrize(("speed", "from_minute"), [(1.0, 0), (10.0, 0), (0.5, 3), (60.0, 150)])
def test_it_shows_what_the_driver_delivers(tmp_path: Path, speed: float, from_minute: int) -> None:
    clock = SimulatedClock(tmp_path, speed, from_minute, made_at=17.0)
    starts(tmp_path, 1000.0)
    # Simulated time at wall time w is 60 · from_minute + (w - started_at) · speed.
    assert clock.at(1000.0) == 60 * from_minute
    assert clock.at(1012.5) == 60 * from_minute + 12.5 * speed


def test_it_stands_at_the_end_of_the_past_until_real_time_starts(tmp_path: Path) -> None:
    clock = SimulatedClock(tmp_path, 2.0, 5, made_at=17.0)
    assert (clock.at(1000.0), clock.started_at) == (300.0, None)
    starts(tmp_path, None)
    assert (clock.at(2000.0), clock.started_at) == (300.0, None)
    starts(tmp_path, 2000.0)
    # The start is announced a moment before.
    assert clock.at(1999.9) == 300.0
    assert (clock.at(2001.0), clock.started_at) == (302.0, 2000.0)


def test_a_start_does_not_change(tmp_path: Path) -> None:
    clock = SimulatedClock(tmp_path, 1.0, 0, made_at=17.0)
    starts(tmp_path, 1000.0)
    assert clock.at(1001.0) == 1.0
    starts(tmp_path, 5000.0)
    assert clock.at(1001.0) == 1.0


def test_a_clock_made_later_shows_the_same(tmp_path: Path) -> None:
    """As after a restart."""
    starts(tmp_path, 1000.0)
    clocks = [SimulatedClock(tmp_path, 3.0, 1, made_at=made_at) for made_at in (10.0, 1e9)]
    assert [clock.at(1234.5) for clock in clocks] == [763.5, 763.5]


def test_without_real_time_it_counts_seconds_since_it_was_made(tmp_path: Path) -> None:
    clock = SimulatedClock(tmp_path, None, 0, made_at=100.0)
    starts(tmp_path, None)
    assert clock.started_at == 100.0
    assert (clock.at(100.0), clock.at(107.25)) == (0.0, 7.25)
