"""Several NEXMark runs beside each other: their figures, ratios to the first run, and the terminal's tables.

A figure of a run with rounds (`run --rounds`) is their median, with the least and the most of them. A ratio
is that of two medians. Its spread is the widest that the rounds allow: the least of one run by the most of
the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from statistics import median
from typing import Any, Final

from rich.box import SIMPLE
from rich.console import Group
from rich.table import Table
from rich.text import Text

from causeway.nexmark.report.table import check_words, figure_words
from causeway.nexmark.runner.run_all import NexmarkRunFolder
from causeway.report.page import mapping
from causeway.runtime.errors import UserError

__all__ = [
    "FIGURES",
    "ComparedRun",
    "Spread",
    "common_queries",
    "comparison_notes",
    "comparison_table",
    "known_figures",
    "load_runs",
    "mean_ratio",
    "ratio",
]

_NONE: Final = "—"


@dataclass(frozen=True)
class _Figure:
    """What is compared, under its heading."""

    heading: str
    path: tuple[str, ...]
    at_rate: bool
    """Whether a run over a folder lacks it, or else one at a rate, where it only says the rate."""


FIGURES: Final = (
    _Figure("events/s", ("events_per_second",), False),
    _Figure("events/CPU s", ("events_per_cpu_second",), False),
    _Figure("p50 latency, s", ("latency", "p50"), True),
    _Figure("p99 latency, s", ("latency", "p99"), True),
)


@dataclass(frozen=True)
class Spread:
    """A median with the least and the most."""

    middle: float
    low: float
    high: float

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        """The spread of measured values."""
        return Spread(median(values), min(values), max(values))

    @property
    def words(self) -> str:
        """In three figures, with its range where there is one."""
        middle = figure_words(self.middle)
        if self.low == self.high:
            return middle
        return f"{middle} ({figure_words(self.low)} to {figure_words(self.high)})"


@dataclass(frozen=True)
class ComparedRun:
    """A run and what it is called."""

    name: str
    facts: Mapping[str, Any]

    @property
    def queries(self) -> dict[str, Mapping[str, Any]]:
        """The facts of its queries by their names."""
        known = [mapping(facts) for facts in self.facts.get("queries") or []]
        return {str(facts["query"]): facts for facts in known if facts.get("query")}

    @property
    def description(self) -> str:
        """Engine, versions and machine."""
        machine, versions = mapping(self.facts.get("machine")), mapping(self.facts.get("versions"))
        parts = [str(self.engine), f"rules {self.facts.get('rules', '?')}"]
        named = {"flink": "Flink", "pyspark": "Spark", "java": "Java", "causeway": "Causeway"}
        parts += [f"{words} {versions[name]}" for name, words in named.items() if name in versions]
        parts.append(
            f"{machine.get('processor', 'unknown processor')}, {machine.get('cores', '?')} cores, "
            f"{machine.get('memory_gib', '?')} GiB"
        )
        return ", ".join(parts)

    @property
    def engine(self) -> str:
        """What answered the queries."""
        return str(
            self.facts.get("engine") or mapping(self.facts.get("settings")).get("engine") or "columnar"
        )

    @property
    def is_at_rate(self) -> bool:
        """Whether its events came at a fixed rate."""
        return mapping(self.facts.get("source")).get("kind") == "generator"

    def spread(self, query: str, figure: _Figure) -> Spread | None:
        """A figure of a query over its rounds."""
        facts = self.queries.get(query)
        if facts is None or (self.is_at_rate and not figure.at_rate):
            return None
        rounds = [mapping(one) for one in facts.get("rounds") or []] or [facts]
        values = [value for one in rounds if (value := _value(one, figure.path)) is not None]
        return Spread.of(values) if values else None


def _value(facts: Mapping[str, Any], path: Iterable[str]) -> float | None:
    found: Any = facts
    for name in path:
        found = mapping(found).get(name)
    return float(found) if isinstance(found, (int, float)) and found > 0 else None


def load_runs(folders: Sequence[Path]) -> list[ComparedRun]:
    """The runs in these folders, called by the shortest end of their paths that tells them apart."""
    paths = [folder.absolute() for folder in folders]
    if len(set(paths)) < len(paths):
        raise UserError("a run cannot be compared with itself: the same folder is named twice")
    parts = next(
        many
        for many in range(1, max(len(path.parts) for path in paths) + 1)
        if len({path.parts[-many:] for path in paths}) == len(paths)
    )
    runs = [
        ComparedRun("/".join(path.parts[-parts:]), NexmarkRunFolder(folder).facts())
        for path, folder in zip(paths, folders, strict=True)
    ]
    models = {str(run.facts.get("model")) for run in runs}
    if len(models) > 1:
        raise UserError(
            f"these runs are of different models ({', '.join(sorted(models))}): no query is in both"
        )
    return runs


def ratio(one: Spread | None, other: Spread | None) -> Spread | None:
    """How many times the other one is the first, and the range that the rounds allow."""
    if one is None or other is None:
        return None
    return Spread(one.middle / other.middle, one.low / other.high, one.high / other.low)


def common_queries(runs: Sequence[ComparedRun]) -> list[str]:
    """The queries that a run has, in their order."""
    names = {name for run in runs for name in run.queries}
    return sorted(names, key=lambda name: (int((re.findall(r"\d+", name) or ["0"])[0]), name))


def known_figures(runs: Sequence[ComparedRun]) -> list[_Figure]:
    """The figures that at least one run has."""
    names = common_queries(runs)
    return [figure for figure in FIGURES if any(run.spread(name, figure) for run in runs for name in names)]


def mean_ratio(
    run: ComparedRun, first: ComparedRun, figure: _Figure
) -> tuple[float, dict[str, float]] | None:
    """The geometric mean of the ratios over the queries that both have, and each of them."""
    ratios = {
        name: found.middle
        for name in common_queries([first, run])
        if (found := ratio(run.spread(name, figure), first.spread(name, figure))) is not None
    }
    if not ratios:
        return None
    return exp(sum(map(log, ratios.values())) / len(ratios)), ratios


def comparison_notes(runs: Sequence[ComparedRun]) -> Iterator[str]:
    """What is not the same in these runs, and what is not known to be right."""
    for heading, values in {
        "rules": {run.name: str(run.facts.get("rules")) for run in runs},
        "machines": {run.name: str(mapping(run.facts.get("machine")).get("processor")) for run in runs},
        "numbers of cores": {run.name: str(mapping(run.facts.get("machine")).get("cores")) for run in runs},
    }.items():
        if len(set(values.values())) > 1:
            named = ", ".join(f"{name}: {value}" for name, value in values.items())
            yield f"The runs have different {heading} ({named})."
    other_events = []
    for name in common_queries(runs):
        numbers = {int(facts["events"]) for run in runs if (facts := run.queries.get(name, {})).get("events")}
        if len(numbers) > 1:
            other_events.append(name)
    if other_events:
        yield f"The runs read different numbers of events in {', '.join(other_events)}."
    for run in runs:
        if run.facts.get("state") not in (None, "finished"):
            yield f"{run.name} is not finished ({run.facts['state']})."
        wrong = [name for name, facts in run.queries.items() if check_words(facts)[0] == "out"]
        if wrong:
            yield f"Answers of {run.name} that differ from the batch statement: {', '.join(wrong)}."


def comparison_table(runs: Sequence[ComparedRun]) -> Group:
    """The runs for a terminal: a table for each figure, a line for each query."""
    tables: list[Table | Text] = []
    first = runs[0]
    for figure in known_figures(runs):
        table = Table(box=SIMPLE, pad_edge=False, title=figure.heading, title_justify="left")
        table.add_column("query")
        for run in runs:
            table.add_column(run.name, justify="right")
        for run in runs[1:]:
            table.add_column(f"{run.name} : {first.name}", justify="right")
        for name in common_queries(runs):
            spreads = [run.spread(name, figure) for run in runs]
            if any(spreads):
                ratios = [ratio(spread, spreads[0]) for spread in spreads[1:]]
                table.add_row(name, *(_NONE if one is None else one.words for one in (*spreads, *ratios)))
        tables.append(table)
    tables += [Text(f"{run.name}: {run.description}") for run in runs]
    tables += [Text(note, style="yellow") for note in comparison_notes(runs)]
    if any(run.queries[name].get("rounds") for run in runs for name in run.queries):
        tables.append(Text("In brackets: the least and the most of the rounds.", style="dim italic"))
    return Group(*tables)
