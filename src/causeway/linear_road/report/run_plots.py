"""A run's plots over simulated time: response times against their deadlines, and the load and its batches."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from causeway.linear_road.model.answers import ANSWER_NAMES, DEADLINES
from causeway.linear_road.report.run_measurements import Batches, Responses, RunMeasurements
from causeway.report.plots import (
    AMBER,
    BLUE,
    DARK_BLUE,
    GREY,
    LIGHT_BLUE,
    MUTED,
    RED,
    SIMULATED_MINUTES,
    TEAL,
    VIOLET,
    area,
    lay_out,
)

__all__ = ["load_plot", "response_plot"]

_PART_COLOURS: Final = {
    "work": TEAL,
    "commits": AMBER,
    "planning": VIOLET,
    "views": TEAL,
    "procedures": AMBER,
    "insert": VIOLET,
}
_PART_NAMES: Final = {
    "work": "answering",
    "commits": "commits",
    "planning": "planning, finding input",
    "views": "views",
    "procedures": "procedures, answers",
    "insert": "insert",
}


def response_plot(run: RunMeasurements, number: int, wide: bool) -> go.Figure:
    """Response times of one type of answer: median, 99th percentile and worst of each time bin.

    The wide plot has the legend of all.
    """
    responses = run.responses.get(number)
    figure = make_subplots(rows=1, cols=1, subplot_titles=[_panel_title(number, responses)])
    _add_panel(figure, number, responses)
    _lay_out(figure, run, height=330 if wide else 250)
    if not wide:
        figure.update_layout(showlegend=False, margin_t=40)
    figure.update_xaxes(title_text=SIMULATED_MINUTES)
    figure.update_yaxes(title_text="seconds")
    return figure


def _panel_title(number: int, responses: Responses | None) -> str:
    name = f"{ANSWER_NAMES[number].capitalize()}s"
    if responses is None:
        return f"<b>{name}</b>: none with a deadline"
    late = f", <span style='color:{RED}'>{responses.late:,} late</span>" if responses.late else ""
    return f"<b>{name}</b>: {responses.answers:,}, worst {_seconds(responses.worst)}{late}"


def _seconds(value: float) -> str:
    return f"{value:,.2f} s" if value < 100 else f"{value:,.0f} s"


def _add_panel(figure: go.Figure, number: int, responses: Responses | None) -> None:
    deadline = DEADLINES[number]
    top = deadline * 1.12
    if responses is None:
        figure.add_scatter(x=[None], y=[None], showlegend=False)
    else:
        top = max(top, responses.worst * 1.06)
        broken = _has_gaps(responses.bin_worst)
        for rank, (name, values, colour, width) in enumerate(
            (
                ("worst", responses.bin_worst, GREY, 1.2),
                ("99th percentile", responses.bin_p99, LIGHT_BLUE, 1.6),
                ("median", responses.bin_p50, DARK_BLUE, 2.2),
            )
        ):
            figure.add_scatter(
                x=responses.bin_minutes.astype(np.float32),
                y=values.astype(np.float32),
                name=name,
                legendrank=-rank,
                mode="lines+markers" if broken else "lines",
                marker={"size": 3.5},
                line={"color": colour, "width": width},
                # Plotly would fill the gaps as well.
                fill=None if broken else "tozeroy",
                fillcolor=area(colour),
                hovertemplate="%{y:.3f} s",
            )
        _add_late_bins(figure, responses, deadline)
    figure.add_hline(
        y=deadline,
        line={"color": RED, "width": 1.5, "dash": "dash"},
        annotation={
            "text": f"{deadline} s allowed",
            "font": {"color": RED, "size": 12},
            "bgcolor": "rgba(255,255,255,0.75)",
        },
        # Below a line at the top of the panel, above one further down: there is room.
        annotation_position="bottom right" if top < 1.5 * deadline else "top right",
    )
    figure.update_yaxes(range=[0, top])


def _has_gaps(values: npt.NDArray[np.float64]) -> bool:
    """Whether bins without answers lie between others."""
    there = np.flatnonzero(np.isfinite(values))
    return bool(len(there) <= there[-1] - there[0])


def _add_late_bins(figure: go.Figure, responses: Responses, deadline: int) -> None:
    late = np.flatnonzero(responses.bin_worst > deadline)
    if len(late):
        figure.add_scatter(
            x=responses.bin_minutes[late].astype(np.float32),
            y=responses.bin_worst[late].astype(np.float32),
            mode="markers",
            marker={"color": RED, "size": 5},
            showlegend=False,
            hoverinfo="skip",
        )


def load_plot(run: RunMeasurements) -> go.Figure:
    """Tuples per second; and where the time of each batch went, beside the time available to it."""
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
        line={"color": BLUE, "width": 1.6, "shape": "hv"},
        fill="tozeroy",
        fillcolor=area(BLUE),
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
            name="time available",
            mode="lines",
            line={"color": MUTED, "width": 1.4, "dash": "dot", "shape": "hv"},
            hovertemplate="%{y:.1f} s available<extra></extra>",
            row=2,
            col=1,
        )
    _lay_out(figure, run, height=560)
    figure.update_xaxes(title_text=SIMULATED_MINUTES, row=2)
    figure.update_yaxes(rangemode="tozero")
    return figure


def _steps(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    return np.append(values, values[-1:]).astype(np.float32)


def _parts(batches: Batches) -> list[tuple[str, npt.NDArray[np.float64], str]]:
    """Name, seconds and colour of each part of a batch; one part where Spark has not reported more."""
    known = [name for name, seconds in batches.parts.items() if np.isfinite(seconds).any()]
    if not {"work", "views"} & set(known):
        return [("the whole batch", batches.seconds, _PART_COLOURS["work"])]
    return [(_PART_NAMES[name], batches.parts[name], _PART_COLOURS[name]) for name in known]


def _lay_out(figure: go.Figure, run: RunMeasurements, height: int) -> None:
    lay_out(figure, height)
    span = [run.from_minute, max(run.minutes, run.from_minute + 1)]
    figure.update_xaxes(range=span, unifiedhovertitle_text="minute %{x}")
