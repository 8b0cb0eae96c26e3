"""A run's folder: facts, lock, log."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from causeway.runtime.errors import UserError
from causeway.streaming.run_folder import RunFolder, refuse_other_settings


def test_facts_are_kept_with_their_layout(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    with folder.locked():
        folder.begin({"speed": 2.0})
    assert folder.facts() == {"state": "new", "speed": 2.0}
    folder.save({"state": "running"}, durable=False)
    assert folder.resumable_facts() == {"state": "running"}
    assert json.loads(folder.facts_file.read_text())["layout"] == 1
    folder.save({"state": "finished"})
    with pytest.raises(UserError, match="is finished; there is nothing to resume"):
        folder.resumable_facts()


def test_a_used_folder_and_one_that_is_no_run_are_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").touch()
    with pytest.raises(UserError, match=r"is not empty \(it has letter.txt\)"):
        RunFolder(tmp_path).begin({})
    with pytest.raises(UserError, match=r"is not a run: it has no run\.json"):
        RunFolder(tmp_path).facts()
    with pytest.raises(UserError, match="no such folder"):
        RunFolder(tmp_path / "nowhere").facts()


def test_a_second_process_learns_who_works_on_the_run(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with (
        folder.locked(),
        pytest.raises(UserError, match=rf"in use by process {os.getpid()} \(causeway\)"),
        RunFolder(tmp_path).locked(),
    ):
        pytest.fail("two are inside")
    with folder.locked():
        pass


def test_the_log_has_every_attempt_and_why_it_failed(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with pytest.raises(ValueError, match="no such second"), folder.logged("attempt 1"):
        raise ValueError("no such second")
    with pytest.raises(KeyboardInterrupt), folder.logged("attempt 2"):
        raise KeyboardInterrupt
    with folder.logged("attempt 3"):
        pass
    log = folder.log.read_text()
    for text in (
        f"attempt 1 begins, process {os.getpid()}",
        "attempt 1 failed\nTraceback",
        "ValueError: no such second",
        "attempt 2 was interrupted\n",
        "attempt 3 is finished\n",
    ):
        assert text in log


def test_the_facts_say_how_the_run_ended(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    for failure, state in ((KeyboardInterrupt(), "stopped"), (ValueError("no such second"), "failed")):
        with pytest.raises(type(failure)), folder.recorded({"rows": 0}):
            assert folder.facts() == {"state": "running", "rows": 0}
            raise failure
        assert folder.resumable_facts() == {"state": state, "rows": 0}
    facts = {"rows": 0}
    with folder.recorded(facts):
        facts["rows"] = 3
    assert folder.facts() == {"state": "finished", "rows": 3}


def test_a_log_that_cannot_be_written_hides_no_failure(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="the reason"), folder.logged("attempt 1"):
        raise ValueError("the reason")


def test_settings_that_disagree_with_the_run_are_refused(tmp_path: Path) -> None:
    kept = {"speed": 2.0, "from_minute": 1}
    refuse_other_settings({"speed": 2.0, "from_minute": None}, kept, tmp_path)
    with pytest.raises(UserError, match="was begun with from minute 1; it cannot be resumed with 0"):
        refuse_other_settings({"from_minute": 0}, kept, tmp_path)


def test_facts_that_a_killed_process_was_saving_are_removed(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.begin({})
    (tmp_path / ".run.json-abc123").write_text("{")
    with folder.locked():
        assert {path.name for path in tmp_path.iterdir()} == {".lock", "run.json"}
