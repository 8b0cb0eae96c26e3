"""A NEXMark run's plots: all queries at a glance, and of each query Figure 4, its latency and its batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from causeway.nexmark.events.firehose_process import FirehoseClock
from causeway.report.page import mapping
from causeway.report.plots import (
    AMBER,
    BLUE,
    DARK_BLUE,
    GREY,
    INK,
    LIGHT_BLUE,
    MUTED,
    RED,
    TEAL,
    VIOLET,
    area,
    lay_out,
)

__all__ = ["latency_overview", "query_plot", "throughput_overview"]

Facts = Mapping[str, Any]

_AREA, _MEAN = area(RED), "#b45309"
_CLOCK: Final = "seconds since the firehose was opened"
_FEW_STEPS, _EXCERPT_STEPS = 30, 12
_SHORTEST_EXCERPT: Final = 6.0
_BATCH_LIMIT: Final = 1500


def latency_overview(queries: Sequence[Facts]) -> go.Figure | None:
    """From the shortest to the longest latency of every query, with its percentiles; a log axis."""
    timed = [facts for facts in queries if "p50" in mapping(facts.get("latency"))]
    if not timed:
        return None
    names = [str(facts["query"]) for facts in timed]
    values = {name: [float(facts["latency"][name]) for facts in timed] for name in ("min", "max")}
    figure = go.Figure()
    figure.add_bar(
        y=names,
        x=[high - low for low, high in zip(values["min"], values["max"], strict=True)],
        base=values["min"],
        orientation="h",
        width=0.28,
        marker={"color": "#dbeafe", "line": {"width": 0}},
        name="min to max",
        hoverinfo="skip",
    )
    for name, colour, symbol in (
        ("min", GREY, "line-ns-open"),
        ("p50", DARK_BLUE, "circle"),
        ("mean", TEAL, "x-thin-open"),
        ("p95", LIGHT_BLUE, "diamond"),
        ("p99", AMBER, "triangle-right"),
        ("max", RED, "line-ns-open"),
    ):
        figure.add_scatter(
            y=names,
            x=[float(facts["latency"][name]) for facts in timed],
            mode="markers",
            marker={"color": colour, "symbol": symbol, "size": 10, "line": {"width": 2, "color": colour}},
            name=name,
            hovertemplate="%{x:.3f} s",
        )
    lay_out(figure, height=110 + 26 * max(len(names), 3))
    figure.update_layout(hovermode="y unified", bargap=0.3)
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_xaxes(type="log", title_text="seconds (log scale)", dtick="D2", tickformat=",~g")
    return figure


def throughput_overview(queries: Sequence[Facts]) -> go.Figure | None:
    """Events per second of every query, and per second of CPU time."""
    known = [facts for facts in queries if facts.get("events_per_second") and "latency" not in facts]
    if not known:
        return None
    figure = go.Figure()
    for key, name, colour in (
        ("events_per_second", "events per second", BLUE),
        ("events_per_cpu_second", "events per CPU second", VIOLET),
    ):
        figure.add_bar(
            x=[str(facts["query"]) for facts in known],
            y=[facts.get(key) for facts in known],
            name=name,
            marker_color=colour,
            hovertemplate="%{y:,.0f}",
        )
    lay_out(figure, height=340)
    figure.update_xaxes(type="category")
    figure.update_yaxes(tickformat="~s", rangemode="tozero", title_text="events per second")
    return figure


def query_plot(facts: Facts) -> go.Figure | None:
    """What is known of one query: Figure 4 and the distance, latency over time, and its batches."""
    matching, clock = mapping(facts.get("output_matching")), mapping(facts.get("clock"))
    batches = [mapping(batch) for batch in facts.get("batches") or []]
    panels: list[tuple[str, float]] = []
    if matching:
        panels += [(_figure_4_title(matching), 0.36), (_distance_title(matching), 0.22)]
    if clock and batches:
        panels.append((_latency_title(mapping(facts.get("latency"))), 0.22))
    if batches:
        panels.append(("<b>Batches</b>: duration of each, seconds", 0.2))
    if not panels:
        return None
    figure = make_subplots(
        rows=len(panels),
        cols=1,
        row_heights=[height for _, height in panels],
        vertical_spacing=0.1 / len(panels) + 0.05,
        subplot_titles=[title for title, _ in panels],
    )
    row = 1
    end = float(matching.get("to_second") or 0)
    if matching:
        _add_figure_4(figure, matching, row)
        _add_distance(figure, matching, row + 1)
        row += 2
    if clock and batches:
        end = max(end, _add_latency(figure, facts, FirehoseClock(**clock), batches, row))
        row += 1
    if batches:
        began = float(clock["started"]) if clock else float(batches[0]["began"])
        end = max(end, _add_batches(figure, batches, began, row))
    lay_out(figure, height=60 + round(780 * sum(height for _, height in panels)))
    warm_up = float(mapping(facts.get("firehose")).get("warm_up_seconds") or 0)
    for number in range(1 if not matching else 2, len(panels) + 1):
        figure.update_xaxes(range=[0, end * 1.01], row=number)
        if number > 2 or not matching:
            figure.update_xaxes(matches=None if number == 1 else "x2" if matching else "x", row=number)
        if warm_up:
            _shade_warm_up(figure, warm_up, number, labelled=number == (2 if matching else 1))
    figure.update_xaxes(title_text=_CLOCK if clock else "seconds since the first batch", row=len(panels))
    return figure


def _figure_4_title(matching: Facts) -> str:
    of = mapping(matching.get("timeline")).get("of")
    what = {
        "rows": f"{matching['unit']} emitted so far",
        "value": f"{matching['unit']}, of {of}" if of else str(matching["unit"]),
        "set": "share of both sets that is equal",
    }[str(matching["distance"])]
    return f"<b>The ideal system and ours</b>: {what}"


def _distance_title(matching: Facts) -> str:
    return f"<b>Distance</b>, {matching['unit']}: its mean is Output Matching"


def _latency_title(latency: Facts) -> str:
    if "p50" not in latency:
        return "<b>Tuple Latency</b>, seconds"
    figures = ", ".join(f"{name} {latency[name]:.2f}" for name in ("p50", "p99", "max"))
    return f"<b>Tuple Latency</b>, seconds: {figures}"


def _add_figure_4(figure: go.Figure, matching: Facts, row: int) -> None:
    """The ideal solid, ours dotted, the area between them shaded, as the paper draws it."""
    timeline, end = matching["timeline"], float(matching["to_second"])
    lines = {name: _line(timeline[name], end) for name in ("ideal", "ours")}
    for name, words, colour, dash in (
        ("ideal", "an ideal system", INK, "solid"),
        ("ours", "ours", RED, "dot"),
    ):
        seconds, values = lines[name]
        figure.add_scatter(
            x=seconds,
            y=values,
            name=words,
            mode="lines",
            line={"color": colour, "width": 2, "dash": dash, "shape": "hv"},
            fill="tonexty" if name == "ours" else None,
            fillcolor=_AREA,
            hovertemplate="%{y:,.6~g}",
            row=row,
            col=1,
        )
    begin, finish = _excerpt(lines["ours"][0], float(matching["from_second"]), end)
    figure.update_xaxes(range=[begin, finish], row=row)
    shown = [
        values[(seconds >= begin) & (seconds <= finish)] if which else _at(seconds, values, begin)
        for seconds, values in lines.values()
        for which in (True, False)
    ]
    both = np.concatenate(shown)
    low, high = float(both.min()), float(both.max())
    margin = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    figure.update_yaxes(range=[low - margin, high + margin], row=row)


def _line(points: Facts, end: float) -> tuple[np.ndarray, np.ndarray]:
    """The steps up to the end of the span; one that begins later was 0 before."""
    seconds, values = np.array(points["seconds"], float), np.array(points["values"], float)
    return np.append(seconds, end), np.append(values, values[-1:])


def _at(seconds: np.ndarray, values: np.ndarray, second: float) -> np.ndarray:
    place = max(int(np.searchsorted(seconds, second, side="right")) - 1, 0)
    return values[place : place + 1]


def _excerpt(seconds: np.ndarray, begin: float, end: float) -> tuple[float, float]:
    """A part from the middle in which single steps can be told apart."""
    if len(seconds) <= _FEW_STEPS:
        return begin, end
    long = max(_EXCERPT_STEPS * float(np.median(np.diff(seconds))), _SHORTEST_EXCERPT)
    if long >= 0.8 * (end - begin):
        return begin, end
    middle = (begin + end) / 2
    return middle - long / 2, middle + long / 2


def _add_distance(figure: go.Figure, matching: Facts, row: int) -> None:
    seconds, values = _line(matching["timeline"]["distance"], float(matching["to_second"]))
    figure.add_scatter(
        x=seconds,
        y=values,
        name="distance",
        mode="lines",
        line={"color": RED, "width": 1.2, "shape": "hv"},
        fill="tozeroy",
        fillcolor=_AREA,
        showlegend=False,
        hovertemplate="%{y:,.6~g}",
        row=row,
        col=1,
    )
    figure.add_scatter(
        x=[matching["from_second"], matching["to_second"]],
        y=[matching["metric"]] * 2,
        name="mean",
        mode="lines",
        line={"color": _MEAN, "width": 1.6, "dash": "dash"},
        showlegend=False,
        hovertemplate="%{y:,.6~g} on average",
        row=row,
        col=1,
    )
    figure.update_yaxes(rangemode="tozero", row=row)


def _add_latency(
    figure: go.Figure, facts: Facts, clock: FirehoseClock, batches: Sequence[Facts], row: int
) -> float:
    """What the events of each slice waited on average; returns the last second."""
    answered = np.array([min(int(batch.get("slices") or 0), clock.slices) for batch in batches])
    answered = np.maximum.accumulate(answered)
    readable = np.array([float(batch["readable"]) for batch in batches])
    numbers = np.arange(answered[-1])
    at = np.searchsorted(answered, numbers, side="right")
    due = (numbers + 0.5) * clock.interval
    waited = readable[at] - clock.started - due
    figure.add_scatter(
        x=np.round(due, 3).astype(np.float32),
        y=np.round(waited, 4).astype(np.float32),
        name="latency",
        mode="lines",
        line={"color": BLUE, "width": 1.4},
        fill="tozeroy",
        fillcolor=area(BLUE),
        showlegend=False,
        hovertemplate="%{y:.3f} s",
        row=row,
        col=1,
    )
    p99 = mapping(facts.get("latency")).get("p99")
    if p99 is not None:
        figure.add_hline(y=p99, line={"color": _MEAN, "width": 1.2, "dash": "dash"}, row=row, col=1)
    figure.update_yaxes(rangemode="tozero", row=row)
    return clock.slices * clock.interval


def _add_batches(figure: go.Figure, batches: Sequence[Facts], start: float, row: int) -> float:
    """A block for each batch, as wide and as high as it took; returns the last second."""
    shown = batches[:: -(-len(batches) // _BATCH_LIMIT)]
    began = np.array([float(batch["began"]) for batch in shown]) - start
    took = np.array([float(batch["readable"]) for batch in shown]) - start - began
    figure.add_bar(
        x=np.round(began, 3),
        y=np.round(took, 4),
        width=np.maximum(took, 0.01),
        offset=0,
        marker={"color": f"{TEAL}66", "line": {"color": TEAL, "width": 0.8}},
        name="batch",
        showlegend=False,
        hovertemplate="%{y:.3f} s",
        row=row,
        col=1,
    )
    figure.update_yaxes(rangemode="tozero", row=row)
    return float((began + took).max())


def _shade_warm_up(figure: go.Figure, until: float, row: int, labelled: bool) -> None:
    label: dict[str, Any] = {}
    if labelled:
        label = {
            "annotation_text": "warm-up, not counted",
            "annotation_position": "top left",
            "annotation_font": {"size": 12, "color": MUTED},
        }
    figure.add_vrect(
        x0=0, x1=until, fillcolor="#e2e8f0", opacity=0.5, line_width=0, layer="below", row=row, col=1, **label
    )
