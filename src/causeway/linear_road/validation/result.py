"""What a validation found, as plain facts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import Any

from causeway.linear_road.model.answers import ANSWER_NAMES, DEADLINES

__all__ = ["Difference", "ResponseTimes", "TypeResult", "Validation", "response_times"]


@dataclass(frozen=True)
class ResponseTimes:
    """Of answers that have a deadline, in seconds of real time; percentiles are answers' own values."""

    answers: int
    least: float
    mean: float
    p50: float
    p95: float
    p99: float
    worst: float


@dataclass(frozen=True)
class TypeResult:
    """One type's answers against what was expected. A failure is counted under the first name that fits."""

    type: int
    expected: int
    answered: int
    """Well-formed answers that were judged, right or not."""
    missing: int
    extra: int
    """Answers that nothing called for."""
    doubled: int
    """Answers beyond the first to the same tuple."""
    wrong: int
    late: int
    early: int
    """Answers that say they were given before they were asked for: the clock cannot be right."""
    response: ResponseTimes | None
    """`None` where no answer has a deadline."""

    @property
    def name(self) -> str:
        """What such an answer is called."""
        return ANSWER_NAMES[self.type]

    @property
    def deadline(self) -> int:
        """Seconds of real time that an answer may take."""
        return DEADLINES[self.type]

    @property
    def passed(self) -> bool:
        """Whether all of the type is complete, accurate and on time."""
        return not (self.missing or self.extra or self.doubled or self.wrong or self.late or self.early)


@dataclass(frozen=True)
class Difference:
    """One failure, in words that say what to look at."""

    type: int | None
    """`None` for a line that is no answer."""
    kind: str
    """`malformed`, `missing`, `extra`, `doubled`, `wrong`, `late` or `early`."""
    time: int | None
    words: str


@dataclass(frozen=True)
class Validation:
    """A judgement on an answers file."""

    workload: Path
    answers: Path
    xways: tuple[int, ...] | None
    """The expressways whose vehicles were judged; `None` for all."""
    speed: float | None
    """`None` where response times were not judged."""
    from_minute: int
    reports: int
    types: tuple[TypeResult, ...]
    malformed: int
    differences: tuple[Difference, ...]
    """The first of each type and kind."""
    notes: tuple[str, ...]
    """What was not judged, and why."""
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether every answer is there once, right and on time, and nothing else is."""
        return self.malformed == 0 and all(result.passed for result in self.types)

    def facts(self) -> dict[str, Any]:
        """All of it for JSON."""
        facts = asdict(self) | {"workload": str(self.workload), "answers": str(self.answers)}
        facts["types"] = [
            {"type": result.type, "name": result.name, "passed": result.passed, "deadline": result.deadline}
            | asdict(result)
            for result in self.types
        ]
        return {"passed": self.passed} | facts


def response_times(milliseconds: dict[int, int]) -> ResponseTimes | None:
    """Sum up how many answers took how many milliseconds."""
    answers = sum(milliseconds.values())
    if not answers:
        return None
    ordered = sorted(milliseconds.items())

    def percentile(share: float) -> float:
        rank, seen = ceil(share * answers), 0
        for value, count in ordered:
            seen += count
            if seen >= rank:
                return value / 1000
        return ordered[-1][0] / 1000

    return ResponseTimes(
        answers=answers,
        least=ordered[0][0] / 1000,
        mean=round(sum(value * count for value, count in ordered) / answers / 1000, 6),
        p50=percentile(0.50),
        p95=percentile(0.95),
        p99=percentile(0.99),
        worst=ordered[-1][0] / 1000,
    )
