"""How a delivering process and a run agree by files."""

from __future__ import annotations

from pathlib import Path

from causeway.streaming.delivery import SpoolControl


def test_a_start_is_requested_when_the_process_is_ready(tmp_path: Path) -> None:
    process, run = SpoolControl(tmp_path), SpoolControl(tmp_path)
    assert not run.ready
    process.announce_ready()
    process.announce_ready()
    assert run.ready
    assert not process.start_requested
    run.request_start()
    assert process.start_requested


def test_a_new_process_starts_afresh_and_finds_the_earlier_ones_state(tmp_path: Path) -> None:
    earlier = SpoolControl(tmp_path)
    earlier.announce_ready()
    earlier.request_start()
    earlier.save("running", started_at=12.5)
    later = SpoolControl(tmp_path)
    later.reset()
    assert not later.ready
    assert not later.start_requested
    assert later.load() == {"state": "running", "started_at": 12.5}


def test_nothing_is_known_before_the_process_has_said_anything(tmp_path: Path) -> None:
    assert SpoolControl(tmp_path).load() is None
