"""Rates and latencies from what a run noted."""

from __future__ import annotations

from pathlib import Path

import pytest

from causeway.nexmark.events.firehose_process import FirehoseClock
from causeway.nexmark.operators.slice_notes import SliceNote, SliceNotes
from causeway.nexmark.runner.measurements import Mark, latencies, throughput


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Ten slices, the first of them the largest."""
    for number in range(10):
        SliceNotes(tmp_path, "bid").write(number, SliceNote(number, 910 if number == 0 else 10, 1_000_000))
    return tmp_path


def test_a_rate_is_that_of_all_events(notes: Path) -> None:
    facts = throughput(notes, Mark(100.0, 0, 7.0), Mark(110.0, 11, 9.0))
    assert (facts["events"], facts["measured_events"], facts["seconds"]) == (1000, 1000, 10.0)
    assert (facts["events_per_second"], facts["events_per_cpu_second"]) == (100, 500)
    assert (facts["megabytes_per_second"], facts["megabytes_per_cpu_second"]) == (1.0, 5.0)


def test_a_resumed_run_has_the_rate_of_what_it_answered_since(notes: Path) -> None:
    facts = throughput(notes, Mark(100.0, 1, 7.0), Mark(110.0, 11, 9.0))
    assert (facts["events"], facts["measured_events"]) == (1000, 90)
    assert (facts["events_per_second"], facts["megabytes_per_second"]) == (9, 0.9)


def test_nothing_measured_is_no_rate(notes: Path) -> None:
    facts = throughput(notes, Mark(100.0, 10, None), Mark(100.0, 11, None))
    assert facts["events"] == 1000
    assert facts["events_per_second"] is facts["events_per_cpu_second"] is facts["cpu_seconds"] is None


def test_several_readers_of_a_query_are_added(tmp_path: Path) -> None:
    for reader in ("bid", "person"):
        SliceNotes(tmp_path, reader).write(0, SliceNote(5, 100, 10))
    assert throughput(tmp_path, Mark(0.0, 0, 0.0), Mark(1.0, 2, 1.0))["events"] == 200


def test_the_watermark_is_that_of_the_slices_before(tmp_path: Path) -> None:
    notes = SliceNotes(tmp_path, "bid")
    assert notes.newest_before(0) is None
    for number, newest in enumerate([50, None, 40, 90]):
        SliceNotes(tmp_path, "bid").write(number, SliceNote(newest, 1, 1))
    assert [notes.newest_before(number) for number in (1, 2, 3, 4)] == [50, 50, 50, 90]
    assert notes.newest_before(3) == 50
    assert SliceNotes(tmp_path, "person").newest_before(4) is None


def test_latencies_count_from_when_events_were_due() -> None:
    clock = FirehoseClock(1000.0, 1.0, 10, 4, 0, 1000.0)
    batches = [{"slices": 2, "readable": 1003.0}, {"slices": 5, "readable": 1006.0}]
    facts = latencies(clock, batches, warm_up=1.0)
    assert facts["slices"] == 3
    assert facts["min"] == pytest.approx(1003.0 - 1002.0 + 0.005)
    assert facts["max"] == pytest.approx(1006.0 - 1002.0 - 0.005)
