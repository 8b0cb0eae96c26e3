"""The parts of a run's page about its history and its use of the machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from causeway.linear_road.model.answers import ANSWER_NAMES
from causeway.linear_road.queries.paper import PROFILE, QUERY_TIMES
from causeway.linear_road.queries.record import load_sessions
from causeway.linear_road.queries.statements import ROWS, SELECTIVITIES
from causeway.linear_road.report.history_tables import cell_of, profile_of
from causeway.linear_road.report.run_measurements import Responses, RunMeasurements
from causeway.report.page import mapping, table_html
from causeway.report.plots import (
    AMBER,
    BLUE,
    GREY,
    LIGHT_BLUE,
    SIMULATED_MINUTES,
    TEAL,
    VIOLET,
    area,
    figure_html,
    lay_out,
)
from causeway.runtime.errors import UserError

__all__ = ["history_section", "resources_section"]

_COLOURS: Final = {"high": TEAL, "medium": BLUE, "low": VIOLET}


def history_section(run: RunMeasurements) -> str | None:
    """What the history holds and how it was asked; None for a run that keeps none."""
    if not run.facts.get("history_table"):
        return None
    try:
        sessions = load_sessions(run.folder)
    except UserError as unreadable:
        run.notes.append(str(unreadable))
        sessions = []
    parts = [_kept(run), _freshness(run, sessions)]
    if not sessions:
        parts.append(
            '<p class="remark">Nobody has asked for its rows yet: '
            f"<code>causeway linear-road query {escape(str(run.folder))}</code></p>"
        )
        return "".join(parts)
    parts += [
        _cells(sessions),
        figure_html(_queries_plot(run, sessions), "history-queries"),
        _with_and_without(run, sessions),
        _scans(sessions),
        _checks(sessions),
    ]
    return "".join(parts)


def _kept(run: RunMeasurements) -> str:
    kept = mapping(run.facts.get("kept"))
    table = escape(str(run.facts["history_table"]))
    if not kept:
        return f'<p class="remark">Every position report enters the streaming table {table}.</p>'
    rows, size = int(kept.get("rows") or 0), float(kept.get("bytes") or 0)
    cpu = float(kept.get("keeper_cpu_seconds") or 0)
    # Statements over streaming tables keep the reports themselves; then no process has a share to be told.
    cost = (
        f" Keeping them took {cpu:,.1f} s of one core, {1e6 * cpu / max(rows, 1):.2f} µs a row."
        if cpu
        else ""
    )
    return (
        f'<p class="remark">The streaming table {table} holds {rows:,} position reports in '
        f"{size / 1e6:,.1f} MB ({size / max(rows, 1):.1f} bytes a row) and {int(kept.get('files') or 0):,} "
        f"files; {int(kept.get('rows_in_log') or 0):,} rows are in its log.{cost}</p>"
    )


def _freshness(run: RunMeasurements, sessions: Sequence[Mapping[str, Any]]) -> str:
    visible = mapping(mapping(run.facts.get("kept")).get("visible_ms"))
    rows = []
    if visible.get("appends"):
        figures = [float(visible[name]) for name in ("p50", "p99", "worst")]
        rows.append(_freshness_row("release to readable, noted by the writer", visible["appends"], figures))
    for session in sessions:
        seen = mapping(session.get("visible"))
        if seen.get("count"):
            figures = [1000 * float(seen[name]) for name in ("p50", "p99", "max")]
            words = f"due to visible in another process, {session['rate']:g} queries a minute"
            rows.append(_freshness_row(words, seen["count"], figures))
        probes = [seconds * 1000 for _, seconds, _ in session.get("just_arrived") or []]
        if probes:
            figures = [float(figure) for figure in (*np.percentile(probes, [50, 99]), max(probes))]
            words = f"due to answered: rows asked for as they arrived, {session['rate']:g} queries a minute"
            rows.append(_freshness_row(words, len(probes), figures))
    headings = ["how soon a report can be read (ms)", "measured", "p50", "p99", "worst"]
    return table_html(headings, rows) if rows else ""


def _freshness_row(words: str, count: int, figures: Sequence[float]) -> str:
    return (
        f"<td>{escape(words)}</td><td>{count:,}</td>"
        + "".join(f"<td>{figure:,.0f}</td>" for figure in figures)
    )  # fmt: skip


def _cells(sessions: Sequence[Mapping[str, Any]]) -> str:
    """Table V, our cells beside the paper's of the same rate."""
    rows = []
    for index in (True, False):
        paper = QUERY_TIMES["L2++" if index else "L1++, no index"]
        for rate in sorted({session["rate"] for session in sessions if session["index"] == index}):
            for selectivity in SELECTIVITIES:
                cell = cell_of(sessions, rate, selectivity, index=index)
                if cell is None:
                    continue
                theirs = paper.get(int(rate), {}).get(selectivity)
                faster = theirs is not None and cell["mean"] <= theirs.mean
                style = "" if theirs is None else ' class="holds"' if faster else ' class="out"'
                rows.append(
                    f"<td>{rate:g} a minute{'' if index else ', no index'}</td>"
                    f"<td>{selectivity} ({cell['rows']:,.0f} rows)</td><td>{cell['count']:,}</td>"
                    + "".join(f"<td>{cell[name]:.3f}</td>" for name in ("min", "p50", "p99", "max"))
                    + f"<td{style}>{cell['mean']:.3f}</td>"
                    + (
                        f"<td>{theirs.mean:.3f}</td><td>{theirs.worst:.3f}</td>"
                        if theirs
                        else '<td class="none">—</td>' * 2
                    )
                )
    headings = ["queries", "selectivity", "asked", "min", "p50", "p99", "max", "mean"]
    return (
        '<p class="remark">One-time queries, in seconds from the moment at which they were due to their last '
        "row. The paper's times are those of L2++ on four cores of 2009 (Table V).</p>"
        + table_html([*headings, "paper's mean", "paper's max"], rows)
    )


def _queries_plot(run: RunMeasurements, sessions: Sequence[Mapping[str, Any]]) -> go.Figure | None:
    """Each query's time, at the simulated minute in which it was asked."""
    figure = make_subplots(rows=1, cols=1, subplot_titles=["<b>Time of each query</b>, seconds"])
    found = False
    for selectivity in SELECTIVITIES:
        times = [
            (query[2], query[3])
            for session in sessions
            if session["index"] and session["live"]
            for query in session["queries"]
            if query[0] == selectivity
        ]
        if not times:
            continue
        found = True
        points = np.array(times, np.float32)
        figure.add_scattergl(
            x=points[:, 0],
            y=points[:, 1],
            name=f"about {ROWS[selectivity]:,} rows",
            mode="markers",
            marker={"color": _COLOURS[selectivity], "size": 4},
            hovertemplate="%{y:.3f} s",
        )
    if not found:
        return None
    lay_out(figure, 330)
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(title_text=SIMULATED_MINUTES)
    figure.update_yaxes(title_text="seconds", rangemode="tozero")
    return figure


def _with_and_without(run: RunMeasurements, sessions: Sequence[Mapping[str, Any]]) -> str:
    """Response times of the benchmark's answers in the time of live sessions, and in the rest."""
    spans = [
        (session["newest"][0] / 60, session["newest"][1] / 60) for session in sessions if session["live"]
    ]
    if not spans or not run.responses:
        return ""
    rows = []
    for number, responses in run.responses.items():
        inside = np.zeros(len(responses.bin_minutes), bool)
        for first, last in spans:
            inside |= (responses.bin_minutes >= first) & (responses.bin_minutes <= last)
        rows.append(
            f"<td>{ANSWER_NAMES[number]}</td>"
            + _mean_and_worst(responses, inside)
            + _mean_and_worst(responses, ~inside)
        )
    headings = ["response times (s)", "with queries: mean", "worst", "without: mean", "worst"]
    return table_html(headings, rows)


def _mean_and_worst(responses: Responses, bins: np.ndarray) -> str:
    answers = responses.bin_answers[bins]
    if not answers.sum():
        return '<td class="none">—</td>' * 2
    mean = np.nansum(responses.bin_mean[bins] * answers) / answers.sum()
    return f"<td>{mean:.3f}</td><td>{np.nanmax(responses.bin_worst[bins]):.3f}</td>"


def _scans(sessions: Sequence[Mapping[str, Any]]) -> str:
    """What the indexes left to be read, of the last session that used them."""
    for session in reversed(sessions):
        scan = mapping(session.get("scans"))
        if scan:
            files, groups = scan["files_read"], scan["groups_read"]
            by_time, by_value = scan["files_by_time"], scan["files_by_value"]
            return (
                '<p class="remark">A query read, on average, '
                f"{files:,.1f} of {scan['files']:,.0f} files ({by_time:,.1f} were passed over by time, "
                f"{by_value:,.1f} by value), {groups:,.1f} of {scan['groups']:,.0f} row groups and "
                f"{scan['bytes_read'] / 1e6:,.2f} of {scan['bytes'] / 1e6:,.1f} MB. "
                f"{100 * scan['indexed']:.0f} % of the queries used the value index on VID.</p>"
            )
    return ""


def _checks(sessions: Sequence[Mapping[str, Any]]) -> str:
    checked = sum(session["checked"] for session in sessions)
    wrong = [words for session in sessions for words in session["wrong"]]
    if not wrong:
        return (
            f'<p class="remark">{checked:,} answers were compared with the workload; all are right.</p>'
        )  # fmt: skip
    items = "".join(f"<li>{escape(words)}</li>" for words in wrong[:10])
    return f'<p class="out">{len(wrong):,} of {checked:,} compared answers are wrong:</p><ul>{items}</ul>'


def resources_section(run: RunMeasurements) -> str | None:
    """Processor and memory over simulated time (Fig. 6), beside the paper's; None where nothing is known."""
    profile = profile_of(run.facts)
    samples = np.array(run.facts.get("resources") or [], np.float32).reshape(-1, 3)
    if not profile or not len(samples):
        return None
    if run.speed is not None:
        samples = samples[samples[:, 0] > 60 * run.from_minute]
    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=0.12,
        subplot_titles=["<b>Processor</b>, percent of all cores", "<b>Memory</b>, MB"],
    )
    for row, (column, name, colour) in enumerate(((1, "processor", AMBER), (2, "memory", LIGHT_BLUE)), 1):
        figure.add_scatter(
            x=samples[:, 0] / 60,
            y=samples[:, column],
            name=name,
            mode="lines",
            line={"color": colour, "width": 1.6},
            fill="tozeroy",
            fillcolor=area(colour),
            showlegend=False,
            row=row,
            col=1,
        )
    lay_out(figure, 440)
    figure.update_layout(margin_t=40)
    figure.update_xaxes(title_text=SIMULATED_MINUTES, row=2)
    figure.update_yaxes(rangemode="tozero")
    figure.add_hline(y=100, line={"color": GREY, "width": 1, "dash": "dot"}, row=1, col=1)
    rows = []
    for load, profiles in [
        *((f"paper, {name}", one) for name, one in PROFILE.items()),
        ("this run", profile),
    ]:
        cells = [f"{value:,.1f}" for name in ("memory", "cpu") for value in profiles[name]]
        rows.append(f"<td>{load}</td>" + "".join(f"<td>{cell}</td>" for cell in cells))
    headings = ["", "MB: min", "max", "mean", "% of all cores: min", "max", "mean"]
    return (
        '<p class="remark">All processes of the run together: driver, history, Java and its workers. The '
        "paper's machine had four cores of 2009 (Table IV).</p>"
        + figure_html(figure, "resources")
        + table_html(headings, rows)
    )
