"""Tables III to VI of the Streaming Tables paper with our figures beside them, on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.table import Table

from causeway.linear_road.model.answers import ANSWER_NAMES
from causeway.linear_road.queries.paper import (
    PROFILE,
    QUERY_TIMES,
    RESPONSES,
    STATE_OF_THE_ART,
    Profile,
    Times,
)
from causeway.linear_road.queries.record import load_sessions
from causeway.linear_road.queries.statements import SELECTIVITIES
from causeway.linear_road.report.run_measurements import Responses, RunMeasurements, measure_run

__all__ = ["TABLES_WIDTH", "cell_of", "delay_at", "history_tables", "profile_of"]

TABLES_WIDTH: Final = 120
"""Characters that the widest of the tables needs."""

_DELAY_MINUTES: Final = (60, 90, 120)
_NONE: Final = "—"


def history_tables(run: Path) -> list[Table]:
    """The four tables for the run in the folder `run`, as far as it has come."""
    measured = measure_run(run)
    sessions = load_sessions(run)
    return [
        _responses_table(measured),
        _profile_table(measured),
        _query_table(measured, sessions),
        _freshness_table(sessions),
    ]


def _load_name(run: RunMeasurements) -> str:
    return f"L{run.facts.get('expressways') or 0:g}+"


def _responses_table(run: RunMeasurements) -> Table:
    table = Table(title="Table III: response times (s)", title_justify="left")
    for heading in ("", "answer", "min", "max", "mean", "late", "late"):
        table.add_column(heading, justify="left" if heading in ("", "answer") else "right")
    for load, lines in RESPONSES.items():
        for number, line in lines.items():
            table.add_row(
                f"paper, {load}" if number == 0 else "",
                ANSWER_NAMES[number],
                *(f"{value:.3f}" for value in (line.least, line.worst, line.mean)),
                f"{100 * line.late_share:.3f} %",
                f"{line.late:,}",
            )
    for number, name in ANSWER_NAMES.items():
        responses = run.responses.get(number)
        figures = [_NONE] * 5 if responses is None else _response_figures(responses)
        table.add_row(f"ours, {_load_name(run)}" if number == 0 else "", name, *figures, style="bold")
    return table


def _response_figures(responses: Responses) -> list[str]:
    return [
        *(f"{value:.3f}" for value in (responses.least, responses.worst, responses.mean)),
        f"{100 * responses.late / responses.answers:.3f} %",
        f"{responses.late:,}",
    ]


def profile_of(facts: Mapping[str, Any]) -> dict[str, Profile]:
    """Least, largest and mean of a run's memory and processor use; in real time if it had any."""
    samples = np.array(facts.get("resources") or [], float).reshape(-1, 3)
    if facts.get("speed"):
        samples = samples[samples[:, 0] > 60 * int(facts.get("from_minute") or 0)]
    if not len(samples):
        return {}
    return {
        name: Profile(*(float(figure) for figure in (column.min(), column.max(), column.mean())))
        for name, column in (("cpu", samples[:, 1]), ("memory", samples[:, 2]))
    }


def _profile_table(run: RunMeasurements) -> Table:
    table = Table(title="Table IV: memory and processor", title_justify="left")
    for heading in ("", "", "min", "max", "mean"):
        table.add_column(heading, justify="right" if heading else "left")
    ours = {f"ours, {_load_name(run)}": profile_of(run.facts)}
    for load, profiles in [*((f"paper, {name}", one) for name, one in PROFILE.items()), *ours.items()]:
        for number, (name, words) in enumerate((("memory", "MB"), ("cpu", "% of all cores"))):
            profile = profiles.get(name)
            figures = [_NONE] * 3 if profile is None else [f"{value:,.1f}" for value in profile]
            style = "bold" if load.startswith("ours") else None
            table.add_row(load if number == 0 else "", words, *figures, style=style)
    return table


def cell_of(
    sessions: Sequence[Mapping[str, Any]], rate: float, selectivity: str, *, index: bool
) -> Mapping[str, Any] | None:
    """The figures of the last session with this rate that asked queries of this selectivity."""
    for session in reversed(sessions):
        if session["rate"] == rate and session["index"] == index:
            cell: Mapping[str, Any] = session["cells"].get(selectivity) or {}
            if cell.get("count"):
                return cell
    return None


def _query_table(run: RunMeasurements, sessions: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(title="Table V: one-time queries, min / max / mean (s)", title_justify="left")
    for heading in ("", "queries a minute", *(f"{one} selectivity" for one in SELECTIVITIES)):
        table.add_column(heading, justify="right" if heading.endswith("selectivity") else "left")
    for load, rates in QUERY_TIMES.items():
        for number, (rate, cells) in enumerate(rates.items()):
            first = f"paper, {load}" if number == 0 else ""
            table.add_row(first, f"{rate:g}", *(_times(cells[one]) for one in SELECTIVITIES))
    for index in (True, False):
        our_rates = sorted({session["rate"] for session in sessions if session["index"] == index})
        for number, rate in enumerate(our_rates):
            name = f"ours, {_load_name(run)}+{'' if index else ', no index'}" if number == 0 else ""
            ours = [cell_of(sessions, rate, one, index=index) for one in SELECTIVITIES]
            table.add_row(name, f"{rate:g}", *(_cell(cell) for cell in ours), style="bold")
    return table


def _times(times: Times) -> str:
    return " / ".join(f"{value:.3f}" for value in times)


def _cell(cell: Mapping[str, Any] | None) -> str:
    if cell is None:
        return _NONE
    return " / ".join(f"{cell[name]:.3f}" for name in ("min", "max", "mean"))


def delay_at(sessions: Sequence[Mapping[str, Any]], minute: int) -> list[float]:
    """Delays of rows that were asked for when they arrived, from a minute before `minute` to two after."""
    return [
        seconds
        for session in sessions
        for second, seconds, _ in session["just_arrived"]
        if minute - 1 <= second / 60 < minute + 2
    ]


def _freshness_table(sessions: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(
        title="Table VI: delay of rows that just arrived, and times for older ones (s)", title_justify="left"
    )
    headings = [f"delay@{minute}" for minute in _DELAY_MINUTES]
    for heading in ("", *headings, "all live", "min", "max", "mean"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, (delays, times) in STATE_OF_THE_ART.items():
        table.add_row(name, *(f"{delay:g}" for delay in delays), _NONE, *(f"{value:.3f}" for value in times))
    every = [seconds for session in sessions for _, seconds, _ in session["just_arrived"]]
    old = [query[3] for session in sessions if session["index"] for query in session["queries"]]
    older = [min(old), max(old), sum(old) / len(old)] if old else []
    table.add_row(
        "ours, mean / worst",
        *(_mean_and_worst(delay_at(sessions, minute)) for minute in _DELAY_MINUTES),
        _mean_and_worst(every),
        *([f"{value:.3f}" for value in older] or [_NONE] * 3),
        style="bold",
    )
    return table


def _mean_and_worst(delays: Sequence[float]) -> str:
    return f"{sum(delays) / len(delays):.3f} / {max(delays):.3f}" if delays else _NONE
