"""Where answers are, and how they were come by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from causeway.linear_road.validation import GivenAnswers, HowItWas, given_answers
from causeway.runtime.errors import UserError


def run_folder(folder: Path, facts: object, *answers: str) -> Path:
    (folder / "run.json").write_text(facts if isinstance(facts, str) else json.dumps(facts))
    for name in answers:
        (folder / name).mkdir() if name == "answers" else (folder / name).write_text("")
    return folder


@pytest.mark.parametrize(("speed", "judged"), [(1, 1.0), (2.5, 2.5), (None, None)])
def test_a_run_says_how_it_was_made(tmp_path: Path, speed: float | None, judged: float | None) -> None:
    run = run_folder(tmp_path, {"speed": speed, "from_minute": 150, "more": []}, "answers.csv")
    how = HowItWas(judged, 150)
    assert given_answers(run) == GivenAnswers(run / "answers.csv", how, run / "validation.json", True)
    (run / "answers").mkdir()
    assert given_answers(run).answers == run / "answers"


def test_other_answers_are_taken_for_real_time(tmp_path: Path) -> None:
    flat, folder = tmp_path / "theirs.csv", tmp_path / "theirs.d"
    flat.write_text("")
    folder.mkdir()
    assert given_answers(flat) == GivenAnswers(
        flat, HowItWas(1.0, 0), tmp_path / "theirs.validation.json", False
    )
    told = HowItWas(None, 3)
    assert given_answers(folder, told) == GivenAnswers(
        folder, told, tmp_path / "theirs.d.validation.json", False
    )


@pytest.mark.parametrize(
    ("facts", "answers", "told"),
    [
        ({"speed": 1, "from_minute": 0}, [], "has no answers yet"),
        ({"speed": 1}, ["answers.csv"], "does not say how time went"),
        ({"from_minute": 0}, ["answers.csv"], "does not say how time went"),
        ({"speed": 0, "from_minute": 0}, ["answers.csv"], "does not say how time went"),
        ({"speed": "fast", "from_minute": 0}, ["answers.csv"], "does not say how time went"),
        ({"speed": 1, "from_minute": -1}, ["answers.csv"], "does not say how time went"),
        ("[nonsense", ["answers.csv"], "run.json cannot be read"),
        ([], ["answers.csv"], "does not say how time went"),
    ],
)
def test_a_run_that_says_too_little(tmp_path: Path, facts: object, answers: list[str], told: str) -> None:
    with pytest.raises(UserError, match=told):
        given_answers(run_folder(tmp_path, facts, *answers))


def test_what_cannot_be_judged(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file or folder"):
        given_answers(tmp_path / "nowhere")
    with pytest.raises(UserError, match="leave out --speed"):
        given_answers(run_folder(tmp_path, {"speed": 1, "from_minute": 0}, "answers.csv"), HowItWas())
    (tmp_path / "run.json").unlink()
    with pytest.raises(UserError, match=r"give .*answers\.csv itself"):
        given_answers(tmp_path)


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan"), float("inf")])
def test_speeds_that_there_are_not(speed: float) -> None:
    with pytest.raises(UserError, match="cannot have gone at a speed"):
        HowItWas(speed)
