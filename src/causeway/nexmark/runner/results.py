"""What `causeway.nexmark.run` returns: a run's figures as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Check", "Latency", "QueryResult", "RunResult", "run_result"]


@dataclass(frozen=True)
class Latency:
    """Tuple Latency in seconds: from when an event was due until its batch's answers were readable."""

    min: float
    mean: float
    p50: float
    p95: float
    p99: float
    max: float


@dataclass(frozen=True)
class Check:
    """How the final answers compare with the batch statement."""

    passed: bool
    rows: int
    """Rows that both have."""
    missing: int
    extra: int
    differences: tuple[str, ...]
    """The first ones, in words."""


@dataclass(frozen=True)
class QueryResult:
    """The figures of one query."""

    query: str
    rules: str
    events: int
    """Events of the streams that it reads."""
    seconds: float
    """Measured time; of a resumed query, since it was resumed."""
    events_per_second: float | None
    megabytes_per_second: float | None
    events_per_cpu_second: float | None
    malformed: int
    """Lines that were no events."""
    late: int
    """Events that were too late to count."""
    resumed: bool
    latency: Latency | None
    """Of a run at a rate."""
    output_matching: float | None
    """Mean distance to an ideal system's output, of a run at a rate; `facts` has its unit."""
    check: Check | None
    """If a check was requested."""
    answers: Path
    """The folder of its answers, a Parquet folder for each batch."""
    facts: Mapping[str, Any] = field(repr=False)
    """Everything that `result.json` has about it."""


@dataclass(frozen=True)
class RunResult:
    """A finished run."""

    folder: Path
    model: str
    rules: str
    queries: tuple[QueryResult, ...]
    report: Path
    """A page with all figures."""
    facts: Mapping[str, Any] = field(repr=False)
    """Everything that `result.json` has."""

    @property
    def passed(self) -> bool:
        """Whether no requested check failed."""
        return all(one.check is None or one.check.passed for one in self.queries)

    def __getitem__(self, query: str) -> QueryResult:
        """The figures of a query by its name, such as `q5`."""
        return {one.query: one for one in self.queries}[query]


def run_result(folder: Path, facts: Mapping[str, Any], report: Path) -> RunResult:
    """The result of a run from what its `result.json` has."""
    return RunResult(
        folder=folder,
        model=facts["model"],
        rules=facts["rules"],
        queries=tuple(_query_result(folder, one) for one in facts["queries"]),
        report=report,
        facts=facts,
    )


def _query_result(folder: Path, facts: Mapping[str, Any]) -> QueryResult:
    latency = facts.get("latency") or {}
    check = facts.get("check")
    return QueryResult(
        query=facts["query"],
        rules=facts["rules"],
        events=facts["events"],
        seconds=facts["seconds"],
        events_per_second=facts["events_per_second"],
        megabytes_per_second=facts["megabytes_per_second"],
        events_per_cpu_second=facts["events_per_cpu_second"],
        malformed=facts["rejects"]["malformed"],
        late=facts["rejects"]["late"],
        resumed=facts["resumed"],
        latency=Latency(**{name: latency[name] for name in Latency.__match_args__})
        if "mean" in latency
        else None,
        output_matching=(facts.get("output_matching") or {}).get("metric"),
        check=None
        if check is None
        else Check(
            passed=check["passed"],
            rows=check["rows"],
            missing=check["missing"],
            extra=check["extra"],
            differences=tuple(check["differences"]),
        ),
        answers=folder / facts["query"] / "answers",
        facts=facts,
    )
