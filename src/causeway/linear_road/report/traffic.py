"""A workload's inspection as a table for the terminal and as one page that needs no network."""

from __future__ import annotations

from html import escape
from pathlib import Path

import plotly.graph_objects as go
from plotly.subplots import make_subplots
from rich.table import Table

from causeway.linear_road.inspection.expectations import (
    FIRST_MINUTE,
    FULL_MINUTES,
    LAST_MINUTE,
    LAST_MINUTES,
    TOLERANCE,
)
from causeway.linear_road.inspection.inspect import Inspection
from causeway.linear_road.inspection.traffic import Accident
from causeway.linear_road.model.expressway import EAST, SEGMENTS
from causeway.report.figures import FIGURES_STYLE, count_verdicts, figures_html, figures_table
from causeway.report.page import page_html, write_page
from causeway.report.plots import AMBER, BLUE, MUTED, RED, SIMULATED_MINUTES, TEAL, area, figure_html, lay_out

__all__ = ["inspection_table", "write_traffic_page"]

# More shaded spans than this would colour the whole plot.
_SHADED_ACCIDENTS = 40

_STYLE = ".verdict { font-weight: 600; margin: 0 0 12px; }" + FIGURES_STYLE


def inspection_table(inspection: Inspection) -> Table:
    """The figures, group by group, in a table that fits 80 columns (up to L = 10)."""
    return figures_table(_title(inspection), inspection.figures)


def write_traffic_page(inspection: Inspection, path: Path) -> None:
    """Write the plots and the figures as one HTML file that carries everything it needs."""
    out, judged = count_verdicts(inspection.figures)
    verdict = (
        f'<p class="verdict out">{out} of {judged} judged figures out</p>'
        if out
        else f'<p class="verdict holds">all {judged} judged figures hold</p>'
    )
    body = (
        f'<h1>Linear Road traffic</h1><p class="facts">{escape(_title(inspection))}</p>{verdict}'
        f"{figure_html(_plots(inspection), 'traffic')}{figures_html(inspection.figures)}"
    )
    write_page(path, page_html(_title(inspection), body, _STYLE))


def _title(inspection: Inspection) -> str:
    return (
        f"{inspection.folder}: L = {inspection.expressways:g}, {inspection.minutes} "
        f"minute{'' if inspection.minutes == 1 else 's'}, {inspection.source}"
    )


def _plots(inspection: Inspection) -> go.Figure:
    figure = make_subplots(
        rows=4,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=0.05,
        row_heights=[0.32, 0.22, 0.26, 0.2],
        subplot_titles=[
            "<b>Position reports</b> per minute",
            "<b>Mean speed</b>, mph",
            "<b>Congested segments</b>",
            "<b>Accidents</b> by segment",
        ],
    )
    minutes = [minute.minute for minute in inspection.series]
    for row, name, colour, values, shown in (
        (1, "reports", BLUE, [m.reports for m in inspection.series], ",d"),
        (2, "mean speed", TEAL, [m.mean_speed for m in inspection.series], ".1f"),
        (3, "congested", AMBER, [m.congested_segments for m in inspection.series], ",d"),
    ):
        figure.add_scatter(
            x=minutes,
            y=values,
            name=name,
            mode="lines" if len(minutes) > 1 else "markers",
            line={"color": colour, "width": 2},
            fill=None if row == 2 else "tozeroy",
            fillcolor=area(colour),
            hovertemplate=f"%{{y:{shown}}}",
            row=row,
            col=1,
        )
    _add_promises(figure, inspection)
    for accident in inspection.accidents:
        _add_accident(figure, accident, shaded=len(inspection.accidents) <= _SHADED_ACCIDENTS)
    # A plot without accidents must still show its axis.
    figure.add_scatter(x=[None], y=[None], showlegend=False, row=4, col=1)
    lay_out(figure, height=900)
    figure.update_layout(hoversubplots="axis", showlegend=False, margin_t=44)
    figure.update_xaxes(
        range=[0, inspection.minutes + 1], hoverformat="d", unifiedhovertitle_text="minute %{x}"
    )
    figure.update_xaxes(title_text=SIMULATED_MINUTES, row=4, col=1)
    figure.update_yaxes(rangemode="tozero", row=1, col=1)
    figure.update_yaxes(rangemode="tozero", row=2, col=1)
    figure.update_yaxes(rangemode="tozero", row=3, col=1)
    figure.update_yaxes(range=[-2, SEGMENTS + 1], title_text="segment", row=4, col=1)
    return figure


def _add_promises(figure: go.Figure, inspection: Inspection) -> None:
    """Mark the paper's figures for the first minute and, in a full run, for the last ten."""
    first = FIRST_MINUTE * inspection.expressways
    figure.add_scatter(
        x=[1],
        y=[first],
        name="expected",
        mode="markers",
        marker={"color": MUTED, "symbol": "diamond-open", "size": 10},
        hovertemplate="%{y:,d} expected<extra></extra>",
        row=1,
        col=1,
    )
    # The arrow keeps the words off the line, which begins at the same point.
    figure.add_annotation(
        x=1,
        y=first,
        text=f"{first:,.0f} expected",
        showarrow=True,
        arrowcolor=MUTED,
        arrowwidth=1,
        ax=24,
        ay=-64,
        xanchor="left",
        font={"color": MUTED},
        row=1,
        col=1,
    )
    if inspection.minutes == FULL_MINUTES:
        last = LAST_MINUTE * inspection.expressways
        high = last * (1 + TOLERANCE)
        figure.add_shape(
            type="rect",
            x0=FULL_MINUTES - LAST_MINUTES + 0.5,
            x1=FULL_MINUTES + 0.5,
            y0=last * (1 - TOLERANCE),
            y1=high,
            line={"color": MUTED, "dash": "dot", "width": 1.5},
            row=1,
            col=1,
        )
        figure.add_annotation(
            x=FULL_MINUTES + 0.5,
            y=high,
            text=f"{last:,.0f} ± {TOLERANCE:.0%} expected",
            showarrow=False,
            xanchor="right",
            yanchor="bottom",
            font={"color": MUTED},
            row=1,
            col=1,
        )
        peak = max((minute.reports for minute in inspection.series), default=0)
        figure.update_yaxes(range=[0, 1.15 * max(high, peak)], row=1, col=1)


def _add_accident(figure: go.Figure, accident: Accident, shaded: bool) -> None:
    # Minute 1 is the seconds 0 to 59, and its point stands at 1: the middle of a minute is its number.
    start, end = accident.detected / 60 + 0.5, accident.cleared / 60 + 0.5
    if shaded:
        for row in (1, 2, 3):
            shade = {"fillcolor": RED, "opacity": 0.07, "line_width": 0, "layer": "below"}
            figure.add_vrect(x0=start, x1=end, row=row, col=1, **shade)
    direction = "east" if accident.direction == EAST else "west"
    length = (
        "not cleared by the end"
        if accident.standing
        else f"{(accident.cleared - accident.detected) / 60:.1f} min"
    )
    words = (
        f"accident on expressway {accident.expressway} {direction}, "
        f"segment {accident.segment}, lane {accident.lane}: {length}"
    )
    figure.add_scatter(
        x=[start, end],
        y=[accident.segment, accident.segment],
        mode="lines",
        line={"color": RED, "width": 5, "dash": "dot" if accident.standing else "solid"},
        hovertemplate=f"{words}<extra></extra>",
        row=4,
        col=1,
    )
