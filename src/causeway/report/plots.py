"""The look of all benchmarks' plots: colours, font, legend, titles, and how they fit a phone's screen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import plotly.graph_objects as go

__all__ = [
    "AMBER",
    "BLUE",
    "DARK_BLUE",
    "FIT_SCRIPT",
    "FONT",
    "GREY",
    "INK",
    "LIGHT_BLUE",
    "MUTED",
    "PLOT_CONFIG",
    "RED",
    "SIMULATED_MINUTES",
    "TEAL",
    "VIOLET",
    "area",
    "figure_html",
    "lay_out",
]

INK: Final = "#0f172a"
MUTED: Final = "#64748b"
GREY: Final = "#94a3b8"
BLUE: Final = "#2563eb"
DARK_BLUE: Final = "#1d4ed8"
LIGHT_BLUE: Final = "#60a5fa"
TEAL: Final = "#0d9488"
AMBER: Final = "#d97706"
VIOLET: Final = "#a78bfa"
RED: Final = "#dc2626"

FONT: Final[Mapping[str, Any]] = {
    "family": "system-ui, -apple-system, Segoe UI, sans-serif",
    "size": 13,
    "color": INK,
}
SIMULATED_MINUTES: Final = "simulated minutes since the start"

PLOT_CONFIG: Final[Mapping[str, Any]] = {
    "displaylogo": False,
    "responsive": True,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
}

# Plotly neither wraps titles nor moves a legend out of their way. On a phone, titles get smaller, and the
# legend stands below the plot.
FIT_SCRIPT: Final = """
const plotConfig = CONFIG, plotFont = FONT;
function fitted(layout, width) {
  if (width > 560) return layout;
  const small = note => ({...note, font: {...note.font, size: 11}});
  const fit = {...layout, annotations: (layout.annotations || []).map(small),
               font: {...layout.font, size: 11},
               margin: {...layout.margin, l: 48, r: Math.min((layout.margin || {}).r || 10, 64)}};
  const legend = layout.legend;
  if (legend && legend.yref === "container" && layout.showlegend !== false) {
    fit.height = (layout.height || 400) + 50;
    fit.margin.b = (fit.margin.b || 50) + 70;
    fit.margin.t = Math.min(fit.margin.t || 60, 40);
    fit.legend = {...legend, y: 0.005, yanchor: "bottom"};
  }
  return fit;
}
function drawPlot(place, data, layout) {
  return Plotly.react(place, data, fitted(layout, place.clientWidth), plotConfig);
}
""".replace("CONFIG", json.dumps(dict(PLOT_CONFIG))).replace("FONT", json.dumps(dict(FONT)))


def lay_out(figure: go.Figure, height: int) -> None:
    """Give a figure the common look: legend on top, each title at the left edge of its panel."""
    figure.update_layout(
        template="plotly_white",
        height=height,
        margin={"l": 64, "r": 20, "t": 66, "b": 50},
        hovermode="x unified",
        legend={
            "orientation": "h",
            "x": 0,
            "y": 0.995,
            "yanchor": "top",
            "yref": "container",
            "traceorder": "normal",
        },
        font=dict(FONT),
    )
    figure.update_xaxes(title_font_size=13, hoverformat=".2f")
    figure.update_yaxes(ticksuffix=" ", title_font_size=13)
    for annotation in figure.layout.annotations:
        if annotation.xanchor == "center":
            annotation.update(xanchor="left", x=_left_edge(figure, annotation.x), font={"size": 14})


def _left_edge(figure: go.Figure, middle: float) -> float:
    """The left edge of the panel around `middle`, where plotly has put its title."""
    domains = [axis.domain for axis in figure.select_xaxes()]
    return float(min(domains, key=lambda domain: abs((domain[0] + domain[1]) / 2 - middle))[0])


def area(colour: str) -> str:
    """The pale shade of a colour that fills the area under its line."""
    return f"{colour}22"


def figure_html(figure: go.Figure | None, name: str) -> str:
    """The figure, drawn when the page loads, in an element with the id `name`; nothing for `None`."""
    if figure is None:
        return ""
    # No text of the data may end the script element early.
    figure_json = figure.to_json().replace("<", "\\u003c")
    return (
        f'<div id="{name}"></div><script>(() => {{ const figure = {figure_json};'
        f' drawPlot(document.getElementById("{name}"), figure.data, figure.layout); }})();</script>'
    )
