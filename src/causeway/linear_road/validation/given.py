"""What a judge is given: a folder that `run` has made, or the answers of another system.

How fast time went is needed to judge response times. A run knows it; of other answers, somebody must tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from causeway.linear_road.runner.run_folder import RunFolder
from causeway.runtime.errors import UserError

__all__ = ["GivenAnswers", "HowItWas", "given_answers"]


@dataclass(frozen=True)
class HowItWas:
    """How time went while answers were given."""

    speed: float | None = 1.0
    """Simulated seconds that passed in one of real time; `None` where response times say nothing."""
    from_minute: int = 0
    """The minute at which real time began; all before was delivered at once."""

    def __post_init__(self) -> None:
        if self.speed is not None and not 0 < self.speed < math.inf:
            raise UserError(
                f"time cannot have gone at a speed of {self.speed}; give a number above 0, or max"
            )
        if self.from_minute < 0:
            raise UserError(f"real time cannot have begun at minute {self.from_minute}")


@dataclass(frozen=True)
class GivenAnswers:
    """Answers, how they were come by, and where the judgement on them is kept."""

    answers: Path
    how: HowItWas
    validation: Path
    is_run: bool
    """Whether they are in a folder of a run of ours."""


def given_answers(given: Path, told: HowItWas | None = None) -> GivenAnswers:
    """Find the answers of a run's folder, or take `given` for the answers themselves.

    `run.json` says how a run was made; to tell it as well is the user's mistake. Other answers are taken to
    be given in real time from the start, unless somebody has `told` otherwise.
    """
    if not given.exists():
        raise UserError(
            f"{given}: no such file or folder; give a run's folder, or answers as a flat file or Parquet"
        )
    run = RunFolder(given)
    if run.facts_file.exists():
        if told is not None:
            raise UserError(
                f"{run.facts_file} says how the run was made; leave out --speed and --from-minute"
            )
        return _answers_of_run(run)
    for answers in (given / "answers.csv", given / "answers"):
        if answers.exists():
            raise UserError(
                f"{given} has no {run.facts_file.name} that says how its answers were come by; "
                f"give {answers} itself, with the --speed that it was made at"
            )
    return GivenAnswers(given, told or HowItWas(), _beside(given), is_run=False)


def _answers_of_run(run: RunFolder) -> GivenAnswers:
    facts = run.facts()
    try:
        speed = None if facts["speed"] is None else float(facts["speed"])
        how = HowItWas(speed, int(facts["from_minute"]))
    except (KeyError, TypeError, ValueError, UserError):
        raise UserError(
            f"{run.facts_file} does not say how time went: expected are `speed` (a number above 0, or null) "
            "and `from_minute` (a whole number)"
        ) from None
    for answers in (run.path / "answers", run.path / "answers.csv"):
        if answers.exists():
            return GivenAnswers(answers, how, run.path / "validation.json", is_run=True)
    raise UserError(
        f"{run.path} has no answers yet, neither answers nor answers.csv; finish it with "
        "`causeway linear-road run --resume`"
    )


def _beside(answers: Path) -> Path:
    name = answers.name if answers.is_dir() else answers.stem
    return answers.resolve().with_name(f"{name}.validation.json")
