"""Where the answers to be judged are: in a folder that `run` has made, or in another system's files.

How fast time went is needed to judge response times. A run's folder says it; of other answers, the user must.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from causeway.linear_road.runner.run_folder import RunFolder
from causeway.runtime.errors import UserError

__all__ = ["READINGS", "AnswersLocation", "Conditions", "locate_answers"]

READINGS: Final = ("vldb2004",)
"""The dialects of the benchmark whose rules the judge knows."""


@dataclass(frozen=True)
class Conditions:
    """Under which conditions a system gave its answers."""

    speed: float | None = 1.0
    """Simulated seconds that passed in one of real time; `None` where response times say nothing."""
    from_minute: int = 0
    """The minute at which real time began; all before was delivered at once."""
    rules: str = READINGS[0]

    def __post_init__(self) -> None:
        if self.speed is not None and not 0 < self.speed < math.inf:
            raise UserError(
                f"time cannot have gone at a speed of {self.speed:g}; give a number above 0, or max"
            )
        if self.from_minute < 0:
            raise UserError(f"real time cannot have begun at minute {self.from_minute}")


@dataclass(frozen=True)
class AnswersLocation:
    """Answers, the conditions under which they were given, and where the judgement on them is kept."""

    answers: Path
    conditions: Conditions
    validation: Path
    is_run: bool
    """Whether they are in a folder of a run of ours."""


def locate_answers(path: Path, conditions: Conditions | None = None) -> AnswersLocation:
    """Find the answers of a run's folder, or take `path` for the answers themselves.

    `run.json` has the conditions of a run; to name them as well is the user's mistake. Other answers are
    taken to be given in real time from the start, unless `conditions` say otherwise.
    """
    if not path.exists():
        raise UserError(
            f"{path}: no such file or folder; give a run's folder, or answers as a flat file or Parquet"
        )
    run = RunFolder(path)
    if run.facts_file.exists():
        if conditions is not None:
            raise UserError(f"{run.facts_file} says how the run was made; leave out speed and start minute")
        return _answers_of_run(run)
    for answers in (path / "answers.csv", path / "answers"):
        if answers.exists():
            raise UserError(
                f"{path} has no {run.facts_file.name} that says how its answers were made; "
                f"give {answers} itself, with the speed that it was made at"
            )
    return AnswersLocation(path, conditions or Conditions(), _beside(path), is_run=False)


def _answers_of_run(run: RunFolder) -> AnswersLocation:
    facts = run.facts()
    try:
        speed = None if facts["speed"] is None else float(facts["speed"])
        conditions = Conditions(speed, int(facts["from_minute"]), str(facts["rules"]))
    except (KeyError, TypeError, ValueError, UserError):
        raise UserError(
            f"{run.facts_file} does not say how time went: expected are `speed` (a number above 0, or null), "
            "`from_minute` (a whole number) and `rules` (a name)"
        ) from None
    for answers in (run.path / "answers", run.path / "answers.csv"):
        if answers.exists():
            return AnswersLocation(answers, conditions, run.path / "validation.json", is_run=True)
    raise UserError(f"{run.path} has no answers yet, neither answers nor answers.csv; resume the run first")


def _beside(answers: Path) -> Path:
    name = answers.name if answers.is_dir() else answers.stem
    return answers.resolve().with_name(f"{name}.validation.json")
