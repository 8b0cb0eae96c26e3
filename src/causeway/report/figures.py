"""Measured figures beside what was promised: verdicts, and their table for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from itertools import groupby
from typing import Final, NamedTuple

from rich import box
from rich.table import Table
from rich.text import Text

__all__ = [
    "FIGURES_STYLE",
    "Figure",
    "Ledger",
    "Verdict",
    "VerdictCounts",
    "count_text",
    "count_verdicts",
    "figures_html",
    "figures_table",
]


class Verdict(StrEnum):
    """What became of a promise."""

    HOLDS = "holds"
    OUT = "out"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    group: str
    name: str
    measured: str
    expected: str
    verdict: Verdict
    value: float | None
    """The measured number, where there is one."""


class VerdictCounts(NamedTuple):
    """Figures that are out, of those that were judged."""

    out: int
    judged: int


FIGURES_STYLE: Final = """
.figures th { text-align: left; padding: 16px 10px 4px; }
.figures td { padding: 4px 10px; text-align: left; white-space: normal; }
.figures td:nth-child(2) { text-align: right; white-space: nowrap; }
.figures td.not-judged { color: #94a3b8; white-space: nowrap; }
@media (max-width: 600px) {
  .figures td { padding: 4px; font-size: 13px; } .figures td:nth-child(2) { white-space: normal; }
}
"""
"""What a page with `figures_html` adds to the style of all pages."""

_TERMINAL_STYLE: Final = {Verdict.HOLDS: "green", Verdict.OUT: "bold red", Verdict.NOT_JUDGED: "dim"}


def count_text(number: float) -> str:
    """A number without its fraction."""
    return f"{number:,.0f}"


class Ledger:
    """The figures, group by group; a figure without a verdict is not judged."""

    def __init__(self) -> None:
        self.figures: list[Figure] = []
        self.group = ""

    def enter(
        self,
        name: str,
        value: float | None,
        expected: str = "—",
        holds: bool | None = None,
        show: Callable[[float], str] = count_text,
    ) -> None:
        """Add a figure to the group."""
        verdict = Verdict.NOT_JUDGED if holds is None else Verdict.HOLDS if holds else Verdict.OUT
        measured = "—" if value is None else show(value)
        self.figures.append(Figure(self.group, name, measured, expected, verdict, value))

    def enter_none(self, name: str, value: int) -> None:
        """Add a count that must be zero."""
        self.enter(name, value, "0", value == 0)


def count_verdicts(figures: Sequence[Figure]) -> VerdictCounts:
    """How many are out, and how many were judged."""
    return VerdictCounts(
        sum(figure.verdict is Verdict.OUT for figure in figures),
        sum(figure.verdict is not Verdict.NOT_JUDGED for figure in figures),
    )


def figures_table(title: str, figures: Sequence[Figure]) -> Table:
    """The figures, group by group, for a terminal."""
    table = Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("figure", no_wrap=True)
    table.add_column("measured", justify="right")
    table.add_column("expected")
    table.add_column("", no_wrap=True)
    for group, members in groupby(figures, key=lambda figure: figure.group):
        table.add_row(Text(group, style="bold"))
        for figure in members:
            judged = figure.verdict is not Verdict.NOT_JUDGED
            verdict = Text(figure.verdict.value if judged else "—", style=_TERMINAL_STYLE[figure.verdict])
            table.add_row(f"  {figure.name}", figure.measured, figure.expected, verdict)
    return table


def figures_html(figures: Sequence[Figure]) -> str:
    """The same table for a page."""
    rows = []
    for group, members in groupby(figures, key=lambda figure: figure.group):
        rows.append(f'<tr><th colspan="4">{escape(group)}</th></tr>')
        for figure in members:
            style = figure.verdict.value.replace(" ", "-")
            rows.append(
                f"<tr><td>{escape(figure.name)}</td><td>{escape(figure.measured)}</td>"
                f'<td>{escape(figure.expected)}</td><td class="{style}">{figure.verdict.value}</td></tr>'
            )
    return f'<div class="wide"><table class="figures">{"".join(rows)}</table></div>'
