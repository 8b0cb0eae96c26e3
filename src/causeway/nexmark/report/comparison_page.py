"""Several NEXMark runs on one page that needs no network: rates, ratios, latencies, checks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

import plotly.graph_objects as go

from causeway.nexmark.queries.files import query_title
from causeway.nexmark.report.comparison import (
    FIGURES,
    ComparedRun,
    Spread,
    common_queries,
    comparison_notes,
    known_figures,
    mean_ratio,
    ratio,
)
from causeway.nexmark.report.table import check_words, figure_words
from causeway.report.page import (
    headline_html,
    mapping,
    page_html,
    section_html,
    settings_html,
    table_html,
    tile,
    write_page,
)
from causeway.report.plots import AMBER, BLUE, GREY, RED, TEAL, VIOLET, figure_html, lay_out

__all__ = ["write_comparison_page"]

_COLOURS: Final = (GREY, BLUE, AMBER, TEAL, VIOLET, RED)
_STYLE: Final = """
td small { color: #64748b; font-weight: 400; font-size: 13px; display: block; }
td.ratio { font-weight: 600; } td:first-child { font-weight: 600; }
"""
_MEANING: Final = {
    "events/s": "Events per second of the streams that a query reads; more is better.",
    "events/CPU s": "Events per second of CPU time, of all processes together; more is better.",
    "p50 latency, s": "Median time from when an event was due to when it was answered; less is better.",
    "p99 latency, s": "The time that 99 of 100 events needed at most; less is better.",
}


def write_comparison_page(page: Path, runs: Sequence[ComparedRun]) -> Path:
    """Write the page; returns where it is."""
    names = [run.name for run in runs]
    sections = []
    for number, figure in enumerate(known_figures(runs)):
        plots = figure_html(_bars(runs, figure), f"bars-{number}")
        plots += figure_html(_ratios(runs, figure), f"ratios-{number}")
        remark = f'<p class="remark">{escape(_MEANING[figure.heading])}</p>'
        sections.append((figure.heading, remark + _table(runs, figure) + plots))
    sections += [("Checks", _checks(runs)), ("Runs", _settings(runs))]
    body = "".join(section_html(heading, html) for heading, html in sections if html)
    headline = headline_html(
        f"NEXMark: {', '.join(names[1:])} beside {names[0]}",
        [f"{run.name}: {run.description}" for run in runs],
        _tiles(runs),
        comparison_notes(runs),
    )
    return write_page(page, page_html(f"NEXMark: {' · '.join(names)}", headline + body, _STYLE))


def _tiles(runs: Sequence[ComparedRun]) -> list[str]:
    tiles = []
    for run in runs[1:]:
        for figure in FIGURES:
            found = mean_ratio(run, runs[0], figure)
            if found is None:
                continue
            mean, ratios = found
            lowest, highest = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
            words = f"{figure.heading.removesuffix(', s')}, {run.name} : {runs[0].name}"
            if len(ratios) > 1:
                words += (
                    f", geometric mean of {len(ratios)} queries; {figure_words(ratios[lowest])} in {lowest}, "
                    f"{figure_words(ratios[highest])} in {highest}"
                )
            tiles.append(tile(f"{figure_words(mean)}", words))
            break
    checked = [check_words(facts)[0] for run in runs for facts in run.queries.values()]
    passed, wrong = checked.count("holds"), checked.count("out")
    if wrong:
        tiles.append(tile(f"{wrong} differ", f"of {passed + wrong} answers that were checked", "out"))
    elif passed:
        words = f"of {len(checked)} answers were checked; all are those of the batch statement"
        tiles.append(tile(f"{passed}", words, "holds" if passed == len(checked) else "open"))
    else:
        tiles.append(tile("not checked", "it is not known whether the answers are right", "open"))
    return tiles


def _table(runs: Sequence[ComparedRun], figure: Any) -> str:
    first = runs[0].name
    headings = ["query", *(run.name for run in runs), *(f"{run.name} : {first}" for run in runs[1:])]
    rows = []
    for name in common_queries(runs):
        spreads = [run.spread(name, figure) for run in runs]
        if any(spreads):
            title = query_title(str(runs[0].facts.get("model")), name)
            cells = [f"<td>{escape(name)} <small>{escape(title)}</small></td>"]
            cells += [_cell(spread) for spread in spreads]
            cells += [_cell(ratio(spread, spreads[0]), "ratio") for spread in spreads[1:]]
            rows.append("".join(cells))
    return table_html(headings, rows)


def _cell(spread: Spread | None, style: str = "") -> str:
    if spread is None:
        return '<td class="none">—</td>'
    middle, _, limits = spread.words.partition(" ")
    small = f"<small>{limits.strip('()')}</small>" if limits else ""
    return f'<td class="{style}">{middle}{small}</td>'


def _bars(runs: Sequence[ComparedRun], figure: Any) -> go.Figure:
    names = common_queries(runs)
    drawn = go.Figure()
    for at, run in enumerate(runs):
        known = {name: spread for name in names if (spread := run.spread(name, figure)) is not None}
        drawn.add_bar(
            x=list(known),
            y=[spread.middle for spread in known.values()],
            error_y=_error_bars(list(known.values())),
            name=run.name,
            marker_color=_COLOURS[at % len(_COLOURS)],
            hovertemplate="%{y:,.4~g}",
        )
    lay_out(drawn, height=340)
    drawn.update_xaxes(type="category", categoryorder="array", categoryarray=names)
    drawn.update_yaxes(tickformat="~s", rangemode="tozero", title_text=figure.heading)
    return drawn


def _ratios(runs: Sequence[ComparedRun], figure: Any) -> go.Figure | None:
    """Each run's ratio to the first, query by query, on a log axis; a line where they are equal."""
    names = common_queries(runs)
    drawn = go.Figure()
    for at, run in enumerate(runs[1:], 1):
        known = {
            name: found
            for name in names
            if (found := ratio(run.spread(name, figure), runs[0].spread(name, figure))) is not None
        }
        if known:
            drawn.add_scatter(
                x=list(known),
                y=[spread.middle for spread in known.values()],
                error_y=_error_bars(list(known.values())),
                name=f"{run.name} : {runs[0].name}",
                mode="markers",
                marker={"color": _COLOURS[at % len(_COLOURS)], "size": 10},
                hovertemplate="%{y:.3g}",
            )
    if not drawn.data:
        return None
    lay_out(drawn, height=300)
    drawn.update_layout(showlegend=True, shapes=[_line_at_one()])
    drawn.update_xaxes(type="category", categoryorder="array", categoryarray=names)
    drawn.update_yaxes(type="log", dtick="D2", tickformat=",~g", title_text="ratio (log scale)")
    return drawn


def _line_at_one() -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": 1,
        "y1": 1,
        "line": {"color": GREY, "dash": "dot"},
    }


def _error_bars(spreads: Sequence[Spread]) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [spread.high - spread.middle for spread in spreads],
        "arrayminus": [spread.middle - spread.low for spread in spreads],
        "visible": any(spread.low < spread.high for spread in spreads),
        "thickness": 1.2,
        "width": 3,
    }


def _checks(runs: Sequence[ComparedRun]) -> str:
    if not any(mapping(facts.get("check")) for run in runs for facts in run.queries.values()):
        return ""
    rows = []
    for name in common_queries(runs):
        cells = [check_words(run.queries.get(name, {})) for run in runs]
        words = "".join(f'<td class="{verdict}">{escape(word)}</td>' for verdict, word in cells)
        rows.append(f"<td>{escape(name)}</td>{words}")
    remark = "Whether the answers are those of the query's batch statement over the same events."
    return f'<p class="remark">{remark}</p>' + table_html(["query", *(run.name for run in runs)], rows)


def _settings(runs: Sequence[ComparedRun]) -> str:
    groups: dict[str, dict[str, Any]] = {}
    for run in runs:
        facts = {"engine": run.engine, "rules": run.facts.get("rules"), "master": run.facts.get("master")}
        for group in ("source", "settings", "machine", "versions"):
            facts |= mapping(run.facts.get(group))
        commands = run.facts.get("commands") or []
        facts |= {f"command {number}": command for number, command in enumerate(commands, 1)}
        groups[run.name] = {name: value for name, value in facts.items() if value is not None}
    return settings_html(groups)
