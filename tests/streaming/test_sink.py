"""Batches in a folder: what counts, what a crash leaves, what is done again."""

from __future__ import annotations

from pathlib import Path

import pytest

from causeway.streaming.sink import BatchFolder


@pytest.fixture
def batches(tmp_path: Path) -> BatchFolder:
    return BatchFolder(tmp_path / "answers")


def test_a_batch_counts_from_its_note_on(batches: BatchFolder) -> None:
    batches.begin(3).write_text("rows")
    assert batches.numbers() == []
    assert batches.note(3) is None
    batches.finish(3, {"rows": 1})
    assert batches.numbers() == [3]
    assert batches.note(3) == {"rows": 1}


def test_notes_are_in_the_order_of_the_numbers(batches: BatchFolder) -> None:
    for number in (10, 2, 1_000_000_000_000):
        batches.begin(number)
        batches.finish(number, {"batch": number})
    assert [note["batch"] for note in batches.notes()] == [2, 10, 1_000_000_000_000]


def test_a_batch_that_is_done_again_replaces_what_a_crash_left(batches: BatchFolder) -> None:
    output = batches.begin(0)
    output.mkdir()
    (output / "part-0.parquet").write_text("half of it")
    batches.finish(0, {})
    again = batches.begin(0)
    assert again == output
    assert not output.exists()
    assert batches.numbers() == [], "an old note must not speak for new output"
    again.write_text("all of it")
    batches.finish(0, {"rows": 2})
    assert batches.notes() == [{"rows": 2}]


def test_other_files_are_no_batches(batches: BatchFolder) -> None:
    batches.begin(1)
    (batches.folder / ".batch-000000001.json").write_text("{")
    (batches.folder / "batch-1.json").write_text("{}")
    (batches.folder / "batch-000000002.parquet").write_text("")
    assert batches.notes() == []


def test_a_folder_that_is_not_there_has_no_batches(batches: BatchFolder) -> None:
    assert batches.numbers() == []


def test_output_without_a_note_is_unfinished(tmp_path: Path) -> None:
    batches = BatchFolder(tmp_path / "batches")
    assert batches.unfinished() == []
    for number in (3, 12, 5):
        batches.begin(number).write_text("rows")
    batches.finish(12, {})
    assert (batches.numbers(), batches.unfinished()) == ([12], [3, 5])
    assert batches.note_file(12).exists() and not batches.note_file(3).exists()
