"""What `causeway.berlinmod.run` returns: a run's figures as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["QueryResult", "RunResult", "run_result"]


@dataclass(frozen=True)
class QueryResult:
    """The figures of one query in one representation."""

    query: str
    representation: str
    answers: int
    first_seconds: float
    """Of the first run; it may load and compile."""
    seconds: float
    """Median of all runs."""
    cpu_seconds: float
    """Of the median run; all processes."""
    rows_read: int
    """Rows of the data set; a row is a vehicle, a trip, or a row of a small relation."""
    bytes_read: int
    table_12: float | None
    """What the paper's Table 12 has, in seconds."""
    best_published: float | None
    passed: bool | None
    """Whether the checks passed; `None` where none was made."""
    differences: tuple[str, ...]
    file: Path
    """The answers, as Parquet."""

    def table(self) -> pa.Table:
        """The answers."""
        return pq.read_table(self.file)


@dataclass(frozen=True)
class RunResult:
    """A finished run."""

    folder: Path
    queries: tuple[QueryResult, ...]
    report: Path
    """A page with all figures, and maps of some answers."""
    facts: Mapping[str, Any] = field(repr=False)
    """Everything that `result.json` has."""

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return all(one.passed is not False for one in self.queries)

    def __getitem__(self, name: tuple[str, str] | str) -> QueryResult:
        """The figures of a query, as `run["q5"]` or `run["q5", "tba"]`."""
        query, representation = (name, None) if isinstance(name, str) else name
        return next(
            one for one in self.queries if one.query == query and representation in (None, one.representation)
        )


def run_result(folder: Path, facts: Mapping[str, Any], report: Path) -> RunResult:
    """The result of a run from what its `result.json` has."""
    return RunResult(folder, tuple(_query(folder, one) for one in facts["queries"]), report, facts)


def _query(folder: Path, facts: Mapping[str, Any]) -> QueryResult:
    checks = [one for one in (facts.get("check"), facts.get("agreement")) if one]
    return QueryResult(
        query=facts["query"],
        representation=facts["representation"],
        answers=facts["answers"],
        first_seconds=facts["first_seconds"],
        seconds=facts["seconds"],
        cpu_seconds=facts["cpu_seconds"],
        rows_read=facts["rows_read"],
        bytes_read=facts["bytes_read"],
        table_12=facts["table_12"],
        best_published=facts["best_published"],
        passed=all(one["passed"] for one in checks) if checks else None,
        differences=tuple(text for one in checks for text in one["differences"]),
        file=folder / facts["file"],
    )
