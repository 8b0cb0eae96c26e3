"""Where answers are, and under which conditions they were given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from causeway.linear_road.model.rules import RULES
from causeway.linear_road.validation import READINGS, AnswersLocation, Conditions, locate_answers, validate
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError


def run_folder(folder: Path, facts: object, *answers: str) -> Path:
    if isinstance(facts, dict):
        facts = {"rules": "vldb2004", "layout": 1} | facts
    (folder / "run.json").write_text(facts if isinstance(facts, str) else json.dumps(facts))
    for name in answers:
        (folder / name).mkdir() if name == "answers" else (folder / name).write_text("")
    return folder


@pytest.mark.parametrize(("speed", "judged"), [(1, 1.0), (2.5, 2.5), (None, None)])
def test_a_run_says_how_it_was_made(tmp_path: Path, speed: float | None, judged: float | None) -> None:
    run = run_folder(tmp_path, {"speed": speed, "from_minute": 150, "more": []}, "answers.csv")
    conditions = Conditions(judged, 150)
    assert locate_answers(run) == AnswersLocation(
        run / "answers.csv", conditions, run / "validation.json", True
    )
    (run / "answers").mkdir()
    assert locate_answers(run).answers == run / "answers"


def test_other_answers_are_taken_for_real_time(tmp_path: Path) -> None:
    flat, folder = tmp_path / "theirs.csv", tmp_path / "theirs.d"
    flat.write_text("")
    folder.mkdir()
    assert locate_answers(flat) == AnswersLocation(
        flat, Conditions(1.0, 0), tmp_path / "theirs.validation.json", False
    )
    conditions = Conditions(None, 3)
    assert locate_answers(folder, conditions) == AnswersLocation(
        folder, conditions, tmp_path / "theirs.d.validation.json", False
    )


@pytest.mark.parametrize(
    ("facts", "answers", "message"),
    [
        ({"speed": 1, "from_minute": 0}, [], "has no answers yet"),
        ({"speed": 1}, ["answers.csv"], "does not say how time went"),
        ({"from_minute": 0}, ["answers.csv"], "does not say how time went"),
        ({"speed": 0, "from_minute": 0}, ["answers.csv"], "does not say how time went"),
        ({"speed": "fast", "from_minute": 0}, ["answers.csv"], "does not say how time went"),
        ({"speed": 1, "from_minute": -1}, ["answers.csv"], "does not say how time went"),
        ("[nonsense", ["answers.csv"], "run.json cannot be read"),
        ([], ["answers.csv"], "layout None is not one that this version reads"),
        ({"speed": 1, "from_minute": 0, "layout": 99}, ["answers.csv"], "layout 99 is not one"),
    ],
)
def test_a_run_that_says_too_little(tmp_path: Path, facts: object, answers: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        locate_answers(run_folder(tmp_path, facts, *answers))


def test_what_cannot_be_judged(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file or folder"):
        locate_answers(tmp_path / "nowhere")
    with pytest.raises(UserError, match="leave out speed"):
        locate_answers(run_folder(tmp_path, {"speed": 1, "from_minute": 0}, "answers.csv"), Conditions())
    (tmp_path / "run.json").unlink()
    with pytest.raises(UserError, match=r"give .*answers\.csv itself"):
        locate_answers(tmp_path)


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan"), float("inf")])
def test_speeds_that_there_are_not(speed: float) -> None:
    with pytest.raises(UserError, match="cannot have gone at a speed"):
        Conditions(speed)


def test_rules_without_a_reading_are_refused(tmp_path: Path) -> None:
    """Before anything is read: answers by other rules would be judged wrong, or right, by mistake."""
    facts = {"speed": 1, "from_minute": 0, "rules": "thesis2003"}
    location = locate_answers(run_folder(tmp_path, facts, "answers.csv"))
    assert location.conditions.rules == "thesis2003"
    workload = Workload(tmp_path, "generated", "parquet", 1, 1, 1)
    with pytest.raises(UserError, match=r"rules thesis2003, which cannot be judged; .*: vldb2004"):
        validate(None, workload, location.answers, conditions=location.conditions)  # type: ignore[arg-type]


def test_every_dialect_of_the_pipeline_has_a_reading() -> None:
    assert set(READINGS) == set(RULES)
