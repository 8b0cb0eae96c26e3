"""A NEXMark run's figures: what every column of its tables says, and the table for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from rich.box import SIMPLE
from rich.console import Group
from rich.table import Table
from rich.text import Text

from causeway.report.page import mapping

__all__ = ["LATENCIES", "check_words", "figure_words", "known_columns", "reject_words", "result_table"]

Facts = Mapping[str, Any]

LATENCIES: Final = ("min", "mean", "p50", "p95", "p99", "max")
_NONE: Final = "—"
_MATCHING: Final = "Output Matching"
_OF_TIME: Final = frozenset((*LATENCIES, _MATCHING))


def figure_words(value: object) -> str:
    """A measured number, in three figures or to the whole."""
    if not isinstance(value, (int, float)):
        return _NONE
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:#.3g}" if abs(value) >= 1e-3 else f"{value:.1g}"


def check_words(facts: Facts) -> tuple[str, str]:
    """Whether the answers are those of the batch statement: holds, out or none, and it in a word."""
    check = mapping(facts.get("check"))
    if not check:
        return "none", _NONE
    if check.get("passed"):
        return "holds", "passed"
    return "out", f"{int(check.get('missing') or 0):,} missing, {int(check.get('extra') or 0):,} extra"


def reject_words(facts: Facts) -> str:
    """Input that was no event, and events that came too late."""
    counts = mapping(facts.get("rejects"))
    found = [f"{count:,} {name}" for name, count in counts.items() if count]
    return ", ".join(found) or ("0" if counts else _NONE)


def known_columns(queries: Sequence[Facts]) -> dict[str, Callable[[Facts], str]]:
    """The columns of numbers that at least one query has something for, by their headings."""
    columns: dict[str, Callable[[Facts], str]] = {
        "events/s": lambda facts: figure_words(facts.get("events_per_second")),
        "least to most": _round_words,
        "MB/s": lambda facts: figure_words(facts.get("megabytes_per_second")),
        "events/CPU s": lambda facts: figure_words(facts.get("events_per_cpu_second")),
        **{name: _latency(name) for name in LATENCIES},
        _MATCHING: _matching,
    }
    return {
        heading: words
        for heading, words in columns.items()
        if any(words(facts) != _NONE for facts in queries)
    }


def result_table(result: Facts) -> Group:
    """The run for a terminal, a line for each query: rates and checks, and under them, in seconds, latencies.

    They are two tables so that both fit into eighty columns.
    """
    queries = [mapping(facts) for facts in result.get("queries") or []]
    columns = known_columns(queries)
    rates = {heading: words for heading, words in columns.items() if heading not in _OF_TIME}
    times = {heading: words for heading, words in columns.items() if heading in _OF_TIME}
    table = _table(queries, rates | {"check": _styled_check, "rejects": reject_words})
    if not times:
        return Group(table)
    caption = "min to max: Tuple Latency in seconds. Warm-up is excluded from it and from Output Matching."
    return Group(table, _table(queries, times), Text(caption, style="dim italic"))


def _table(queries: Sequence[Facts], columns: Mapping[str, Callable[[Facts], str | Text]]) -> Table:
    table = Table(box=SIMPLE, pad_edge=False, collapse_padding=True)
    table.add_column("query", overflow="fold", min_width=len("query"))
    for heading in columns:
        table.add_column(heading, justify="left" if heading == _MATCHING else "right", no_wrap=True)
    for facts in queries:
        table.add_row(str(facts.get("query", "?")), *(words(facts) for words in columns.values()))
    return table


def _styled_check(facts: Facts) -> Text:
    verdict, words = check_words(facts)
    return Text(words, style={"holds": "green", "out": "bold red", "none": "dim"}[verdict])


def _round_words(facts: Facts) -> str:
    """The slowest and the fastest of several rounds, in events per second."""
    rates = [mapping(one).get("events_per_second") for one in facts.get("rounds") or []]
    known = [rate for rate in rates if isinstance(rate, (int, float))]
    return f"{figure_words(min(known))} to {figure_words(max(known))}" if known else _NONE


def _latency(name: str) -> Callable[[Facts], str]:
    def words(facts: Facts) -> str:
        seconds = mapping(facts.get("latency")).get(name)
        return f"{seconds:,.3f}" if isinstance(seconds, (int, float)) else _NONE

    return words


def _matching(facts: Facts) -> str:
    matching = mapping(facts.get("output_matching"))
    return f"{figure_words(matching.get('metric'))} {matching.get('unit', '')}" if matching else _NONE
