"""A workload's inspection for people: a table for the terminal and one page that needs no network."""

from __future__ import annotations

from html import escape
from itertools import groupby
from pathlib import Path

import plotly.graph_objects as go
from plotly.subplots import make_subplots
from rich import box
from rich.table import Table
from rich.text import Text

from causeway.linear_road.inspection.expectations import (
    FIRST_MINUTE,
    FULL_MINUTES,
    LAST_MINUTE,
    LAST_MINUTES,
    TOLERANCE,
    Accident,
    Verdict,
)
from causeway.linear_road.inspection.inspect import Inspection, write_figures
from causeway.linear_road.model.expressway import EAST, SEGMENTS

__all__ = ["inspection_table", "write_traffic_page"]

_TERMINAL_STYLE = {Verdict.HOLDS: "green", Verdict.OUT: "bold red", Verdict.NOT_JUDGED: "dim"}
_REPORTS, _SPEED, _CONGESTED, _ACCIDENT, _PROMISE = "#2563eb", "#0d9488", "#d97706", "#dc2626", "#64748b"
# More shaded spans than this colour the whole plot and say nothing.
_SHADED_ACCIDENTS = 40

_STYLE = """
body { margin: 0 auto; max-width: 1180px; padding: 28px 32px 48px; color: #0f172a; background: #fff;
       font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 24px; margin: 0 0 2px; }
.facts { color: #64748b; margin: 0 0 4px; }
.verdict { font-weight: 600; margin: 0 0 12px; }
table { border-collapse: collapse; width: 100%; margin-top: 12px; }
th { text-align: left; padding: 16px 10px 4px; border-bottom: 1px solid #cbd5e1; }
td { padding: 4px 10px; border-bottom: 1px solid #eef2f7; }
td:nth-child(2) { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td:nth-child(4) { white-space: nowrap; }
.holds { color: #15803d; } .out { color: #dc2626; font-weight: 600; } .not-judged { color: #94a3b8; }
"""


def inspection_table(inspection: Inspection) -> Table:
    """The figures, group by group, in a table that fits 80 columns (up to L = 10)."""
    table = Table(
        title=_title(inspection),
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
    for group, figures in groupby(inspection.figures, key=lambda figure: figure.group):
        table.add_row(Text(group, style="bold"))
        for figure in figures:
            judged = figure.verdict is not Verdict.NOT_JUDGED
            verdict = Text(figure.verdict.value if judged else "—", style=_TERMINAL_STYLE[figure.verdict])
            table.add_row(f"  {figure.name}", figure.measured, figure.expected, verdict)
    return table


def write_traffic_page(inspection: Inspection, path: Path) -> None:
    """Write the plots and the figures as one HTML file that carries everything it needs.

    The figures for programs go beside it, under the same name as JSON.
    """
    write_figures(inspection, path.with_suffix(".json"))
    plots = _plots(inspection).to_html(
        full_html=False, include_plotlyjs=True, config={"displaylogo": False, "responsive": True}
    )
    out = sum(figure.verdict is Verdict.OUT for figure in inspection.figures)
    judged = sum(figure.verdict is not Verdict.NOT_JUDGED for figure in inspection.figures)
    verdict = (
        f'<p class="verdict out">{out} of {judged} judged figures out</p>'
        if out
        else f'<p class="verdict holds">all {judged} judged figures hold</p>'
    )
    path.write_text(
        "<!DOCTYPE html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(_title(inspection))}</title>'
        f"<style>{_STYLE}</style></head><body>"
        f"<h1>Linear Road traffic</h1>"
        f'<p class="facts">{escape(_title(inspection))}</p>{verdict}'
        f"{plots}{_figures_html(inspection)}</body></html>\n",
        encoding="utf-8",
    )


def _title(inspection: Inspection) -> str:
    return (
        f"{inspection.folder}: L = {inspection.expressways:g}, {inspection.minutes} "
        f"minute{'' if inspection.minutes == 1 else 's'}, {inspection.source}"
    )


def _figures_html(inspection: Inspection) -> str:
    rows = []
    for group, figures in groupby(inspection.figures, key=lambda figure: figure.group):
        rows.append(f'<tr><th colspan="4">{escape(group)}</th></tr>')
        for figure in figures:
            style = figure.verdict.value.replace(" ", "-")
            rows.append(
                f"<tr><td>{escape(figure.name)}</td><td>{escape(figure.measured)}</td>"
                f'<td>{escape(figure.expected)}</td><td class="{style}">{figure.verdict.value}</td></tr>'
            )
    return f"<table>{''.join(rows)}</table>"


def _plots(inspection: Inspection) -> go.Figure:
    figure = make_subplots(
        rows=4,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=0.05,
        row_heights=[0.32, 0.22, 0.26, 0.2],
        subplot_titles=[
            "Reports per minute",
            "Mean speed, mph",
            "Congested segments",
            "Accidents by segment",
        ],
    )
    minutes = [minute.minute for minute in inspection.series]
    for row, name, colour, values, shown in (
        (1, "reports", _REPORTS, [m.reports for m in inspection.series], ",d"),
        (2, "mean speed", _SPEED, [m.mean_speed for m in inspection.series], ".1f"),
        (3, "congested", _CONGESTED, [m.congested_segments for m in inspection.series], ",d"),
    ):
        figure.add_scatter(
            x=minutes,
            y=values,
            name=name,
            mode="lines" if len(minutes) > 1 else "markers",
            line={"color": colour, "width": 2},
            fill=None if row == 2 else "tozeroy",
            fillcolor=f"{colour}22",
            hovertemplate=f"%{{y:{shown}}}",
            row=row,
            col=1,
        )
    _add_promises(figure, inspection)
    for accident in inspection.accidents:
        _add_accident(figure, accident, shaded=len(inspection.accidents) <= _SHADED_ACCIDENTS)
    # A plot without accidents must still show its axis.
    figure.add_scatter(x=[None], y=[None], showlegend=False, row=4, col=1)
    figure.update_layout(
        template="plotly_white",
        height=900,
        margin={"l": 70, "r": 24, "t": 40, "b": 50},
        hovermode="x unified",
        hoversubplots="axis",
        showlegend=False,
        font={"family": "system-ui, -apple-system, Segoe UI, sans-serif", "size": 13, "color": "#0f172a"},
    )
    figure.update_annotations(selector={"xanchor": "center"}, x=0, xanchor="left", font_size=14)
    figure.update_xaxes(
        range=[0, inspection.minutes + 1], hoverformat="d", unifiedhovertitle_text="minute %{x}"
    )
    figure.update_xaxes(title_text="simulated minute", row=4, col=1)
    figure.update_yaxes(rangemode="tozero", row=1, col=1)
    figure.update_yaxes(rangemode="tozero", row=2, col=1)
    figure.update_yaxes(rangemode="tozero", row=3, col=1)
    figure.update_yaxes(range=[-2, SEGMENTS + 1], title_text="segment", row=4, col=1)
    return figure


def _add_promises(figure: go.Figure, inspection: Inspection) -> None:
    """Mark what the first minute and, in a full run, the last ten are promised to hold."""
    first = FIRST_MINUTE * inspection.expressways
    figure.add_scatter(
        x=[1],
        y=[first],
        name="promised",
        mode="markers+text",
        marker={"color": _PROMISE, "symbol": "diamond-open", "size": 10},
        text=[f"{first:,.0f} promised"],
        textposition="top right",
        textfont={"color": _PROMISE},
        hovertemplate="%{y:,d} promised<extra></extra>",
        row=1,
        col=1,
    )
    if inspection.minutes == FULL_MINUTES:
        last = LAST_MINUTE * inspection.expressways
        figure.add_shape(
            type="rect",
            x0=FULL_MINUTES - LAST_MINUTES + 0.5,
            x1=FULL_MINUTES + 0.5,
            y0=last * (1 - TOLERANCE),
            y1=last * (1 + TOLERANCE),
            line={"color": _PROMISE, "dash": "dot", "width": 1.5},
            row=1,
            col=1,
        )
        figure.add_annotation(
            x=FULL_MINUTES - LAST_MINUTES,
            y=last,
            text=f"{last:,.0f} ± {TOLERANCE:.0%} promised",
            showarrow=False,
            xanchor="right",
            font={"color": _PROMISE},
            row=1,
            col=1,
        )


def _add_accident(figure: go.Figure, accident: Accident, shaded: bool) -> None:
    # Minute 1 is the seconds 0 to 59, and its point stands at 1: the middle of a minute is its number.
    start, end = accident.detected / 60 + 0.5, accident.cleared / 60 + 0.5
    if shaded:
        for row in (1, 2, 3):
            shade = {"fillcolor": _ACCIDENT, "opacity": 0.07, "line_width": 0, "layer": "below"}
            figure.add_vrect(x0=start, x1=end, row=row, col=1, **shade)
    direction = "east" if accident.direction == EAST else "west"
    length = (
        "still standing" if accident.standing else f"{(accident.cleared - accident.detected) / 60:.1f} min"
    )
    told = (
        f"accident on expressway {accident.expressway} {direction}, "
        f"segment {accident.segment}, lane {accident.lane}: {length}"
    )
    figure.add_scatter(
        x=[start, end],
        y=[accident.segment, accident.segment],
        mode="lines",
        line={"color": _ACCIDENT, "width": 5, "dash": "dot" if accident.standing else "solid"},
        hovertemplate=f"{told}<extra></extra>",
        row=4,
        col=1,
    )
