"""A run's plots over simulated time: response times against their deadlines, and the load and its batches."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from causeway.linear_road.report.run_measurements import Batches, Responses, RunMeasurements
from causeway.linear_road.validation.result import DEADLINES, TYPES

__all__ = ["load_plot", "response_plot"]

_P50, _P99, _WORST, _DEADLINE = "#1d4ed8", "#60a5fa", "#94a3b8", "#dc2626"
_TUPLES, _REAL_TIME = "#2563eb", "#64748b"
_PART_COLOURS: Final = {"work": "#0d9488", "commits": "#d97706", "planning": "#a78bfa"}
_PART_NAMES: Final = {"work": "answering", "commits": "commits", "planning": "planning, finding input"}
_MINUTES: Final = "simulated minutes since the start"

# Toll notifications are most of the answers and get the width; the rest share it.
_PLACES: Final = {0: (1, 1), 1: (2, 1), 2: (2, 2), 3: (3, 1), 4: (3, 2)}


def response_plot(run: RunMeasurements) -> go.Figure:
    """A panel for each type: p50, p99 and the worst of each time bin, and what is allowed."""
    figure = make_subplots(
        rows=3,
        cols=2,
        specs=[[{"colspan": 2}, None], [{}, {}], [{}, {}]],
        row_heights=[0.4, 0.3, 0.3],
        vertical_spacing=0.1,
        horizontal_spacing=0.07,
        subplot_titles=[_panel_title(number, run.responses.get(number)) for number in _PLACES],
    )
    for number, (row, col) in _PLACES.items():
        _add_panel(figure, number, run.responses.get(number), row, col)
    _lay_out(figure, run, height=800)
    figure.update_xaxes(title_text=_MINUTES, row=3)
    figure.update_yaxes(title_text="seconds", col=1)
    return figure


def _panel_title(number: int, responses: Responses | None) -> str:
    name = f"{TYPES[number].capitalize()}s"
    if responses is None:
        return f"<b>{name}</b>: none with a deadline"
    late = f", <span style='color:{_DEADLINE}'>{responses.late:,} late</span>" if responses.late else ""
    return f"<b>{name}</b>: {responses.answers:,}, worst {_seconds(responses.worst)}{late}"


def _seconds(value: float) -> str:
    return f"{value:,.2f} s" if value < 100 else f"{value:,.0f} s"


def _add_panel(figure: go.Figure, number: int, responses: Responses | None, row: int, col: int) -> None:
    deadline = DEADLINES[number]
    top = deadline * 1.12
    if responses is None:
        figure.add_scatter(x=[None], y=[None], showlegend=False, row=row, col=col)
    else:
        top = max(top, responses.worst * 1.06)
        broken = _has_gaps(responses.bin_worst)
        for rank, (name, values, colour, width) in enumerate(
            (
                ("worst", responses.bin_worst, _WORST, 1.2),
                ("99th percentile", responses.bin_p99, _P99, 1.6),
                ("median", responses.bin_p50, _P50, 2.2),
            )
        ):
            figure.add_scatter(
                x=responses.bin_minutes.astype(np.float32),
                y=values.astype(np.float32),
                name=name,
                legendgroup=name,
                legendrank=-rank,
                showlegend=(row, col) == (1, 1),
                mode="lines+markers" if broken else "lines",
                marker={"size": 3.5},
                line={"color": colour, "width": width},
                # Plotly would fill the gaps as well.
                fill=None if broken else "tozeroy",
                fillcolor=f"{colour}22",
                hovertemplate="%{y:.3f} s",
                row=row,
                col=col,
            )
        _add_late_bins(figure, responses, deadline, row, col)
    figure.add_hline(
        y=deadline,
        line={"color": _DEADLINE, "width": 1.5, "dash": "dash"},
        annotation={
            "text": f"{deadline} s allowed",
            "font": {"color": _DEADLINE, "size": 12},
            "bgcolor": "rgba(255,255,255,0.75)",
        },
        # Where there is room for it: below a line at the top, above one at the bottom.
        annotation_position="bottom right" if top < 1.5 * deadline else "top right",
        row=row,
        col=col,
    )
    figure.update_yaxes(range=[0, top], row=row, col=col)


def _has_gaps(values: npt.NDArray[np.float64]) -> bool:
    """Whether bins without answers lie between others."""
    there = np.flatnonzero(np.isfinite(values))
    return bool(len(there) <= there[-1] - there[0])


def _add_late_bins(figure: go.Figure, responses: Responses, deadline: int, row: int, col: int) -> None:
    late = np.flatnonzero(responses.bin_worst > deadline)
    if len(late):
        figure.add_scatter(
            x=responses.bin_minutes[late].astype(np.float32),
            y=responses.bin_worst[late].astype(np.float32),
            mode="markers",
            marker={"color": _DEADLINE, "size": 5},
            showlegend=False,
            hoverinfo="skip",
            row=row,
            col=col,
        )


def load_plot(run: RunMeasurements) -> go.Figure:
    """Tuples per second, and where the time of each batch went against the time that it had."""
    batches = run.batches.since(60 * run.from_minute)
    delivered = run.speed is not None
    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=0.1,
        subplot_titles=[
            "<b>Tuples per second</b>, " + ("as delivered" if delivered else "as taken by each batch"),
            "<b>Time of a batch</b>, seconds",
        ],
    )
    # A step lasts as long as the seconds whose tuples the batch took, the last one too.
    starts = (np.append(batches.first_second, batches.last_second[-1] + 1) / 60).astype(np.float32)
    figure.add_scatter(
        x=starts,
        y=_steps(run.rates(batches)),
        name="tuples per second",
        mode="lines",
        line={"color": _TUPLES, "width": 1.6, "shape": "hv"},
        fill="tozeroy",
        fillcolor=f"{_TUPLES}22",
        showlegend=False,
        hovertemplate="%{y:,.0f} tuples/s<extra></extra>",
        row=1,
        col=1,
    )
    for name, values, colour in _parts(batches):
        figure.add_scatter(
            x=starts,
            y=_steps(values),
            name=name,
            mode="lines",
            stackgroup="batch",
            line={"color": colour, "width": 0.6, "shape": "hv"},
            hovertemplate="%{y:.3f} s",
            row=2,
            col=1,
        )
    if run.speed is not None:
        figure.add_scatter(
            x=starts,
            y=_steps(batches.covered / run.speed),
            name="real time that its tuples cover: longer batches fall behind",
            mode="lines",
            line={"color": _REAL_TIME, "width": 1.4, "dash": "dot", "shape": "hv"},
            hovertemplate="%{y:.1f} s covered<extra></extra>",
            row=2,
            col=1,
        )
    _lay_out(figure, run, height=560)
    figure.update_xaxes(title_text=_MINUTES, row=2)
    figure.update_yaxes(rangemode="tozero")
    return figure


def _steps(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    return np.append(values, values[-1:]).astype(np.float32)


def _parts(batches: Batches) -> list[tuple[str, npt.NDArray[np.float64], str]]:
    """Name, seconds and colour of what a batch did; only all of it where Spark did not say more."""
    known = [name for name, seconds in batches.parts.items() if np.isfinite(seconds).any()]
    if "work" not in known:
        return [("the whole batch", batches.seconds, _PART_COLOURS["work"])]
    return [(_PART_NAMES[name], batches.parts[name], _PART_COLOURS[name]) for name in known]


def _lay_out(figure: go.Figure, run: RunMeasurements, height: int) -> None:
    begin, end = run.from_minute, run.minutes
    axis: dict[str, Any] = {"range": [begin, max(end, begin + 1)], "hoverformat": ".2f"}
    figure.update_layout(
        template="plotly_white",
        height=height,
        margin={"l": 60, "r": 20, "t": 66, "b": 50},
        hovermode="x unified",
        legend={
            "orientation": "h",
            "x": 0,
            "y": 0.995,
            "yanchor": "top",
            "yref": "container",
            "traceorder": "normal",
        },
        font={"family": "system-ui, -apple-system, Segoe UI, sans-serif", "size": 13, "color": "#0f172a"},
    )
    figure.update_xaxes(**axis, unifiedhovertitle_text="minute %{x}", title_font_size=13)
    figure.update_yaxes(ticksuffix=" ", title_font_size=13)
    for annotation in figure.layout.annotations:
        if annotation.xanchor == "center":
            annotation.update(xanchor="left", x=_left_edge(figure, annotation.x), font={"size": 14})


def _left_edge(figure: go.Figure, middle: float) -> float:
    """Where the panel begins that has its middle there, as plotly puts a title."""
    domains = [axis.domain for axis in figure.select_xaxes()]
    return float(min((domain for domain in domains), key=lambda d: abs((d[0] + d[1]) / 2 - middle))[0])
