"""The clock of a delivery."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from causeway.streaming.clock import DeliveryClock


def test_the_clock_stands_before_the_start() -> None:
    assert DeliveryClock(started_at=1000.0, origin=600.0, speed=4.0).position(990.0) == 600.0


def test_positions_pass_at_the_clocks_speed() -> None:
    clock = DeliveryClock(started_at=1000.0, origin=600.0, speed=4.0)
    assert clock.position(1002.5) == 610.0
    assert clock.due(610.0) == 1002.5


@given(st.floats(0.001, 1e4), st.floats(0, 1e6), st.floats(0, 1e6))
def test_both_directions_agree(speed: float, origin: float, passed: float) -> None:
    clock = DeliveryClock(started_at=1e9, origin=origin, speed=speed)
    assert clock.position(clock.due(origin + passed)) == pytest.approx(origin + passed, abs=1e-3 * speed)
