"""What the calls of `api` return."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from causeway.linear_road.inspection.inspect import Inspection
    from causeway.linear_road.validation import Validation

__all__ = ["InspectionResult", "QueryResult", "RunResult", "ValidationResult"]


@dataclass(frozen=True)
class InspectionResult:
    """What was measured in a workload, and the files that show it."""

    inspection: Inspection
    figures: Path
    """All figures, as JSON."""
    report: Path
    """The traffic over time, as a page."""

    @property
    def holds(self) -> bool:
        """Whether every figure is what the paper says."""
        return self.inspection.holds


@dataclass(frozen=True)
class RunResult:
    """A finished run."""

    folder: Path
    seconds: float
    """How long it took, over all attempts, without Spark's start."""
    tuples: int
    answers: dict[str, int]
    """The number of answers by the name of their type."""
    kept_promise: bool | None
    """Whether all input was delivered within 100 ms of its due moment; `None` without real time."""
    answers_file: Path
    """Every answer, in the flat file that all validators read."""
    report: Path
    log: Path
    facts: dict[str, Any] = field(repr=False)
    """All of `run.json`."""


@dataclass(frozen=True)
class QueryResult:
    """A session of one-time queries over a run's history."""

    session: dict[str, Any] = field(repr=False)
    """All figures, as they are in `file`."""
    file: Path
    """The sessions of the run, as JSON."""
    report: Path
    """The run's page with the sessions on it."""

    @property
    def wrong(self) -> list[str]:
        """What is wrong with the answers that were checked, in words; empty if they are right."""
        return list(self.session["wrong"])


@dataclass(frozen=True)
class ValidationResult:
    """A judgement on answers, and where it is kept."""

    validation: Validation
    file: Path
    report: Path | None
    """The run's page with the judgement on it; `None` for another system's answers."""

    @property
    def passed(self) -> bool:
        """Whether every answer is there once, right and on time, and nothing else is."""
        return self.validation.passed
