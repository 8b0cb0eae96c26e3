"""The plots of the inspection's page: the map, densities, durations of drives, traffic over a week."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import plotly.graph_objects as go
import shapely
from plotly.subplots import make_subplots

from causeway.berlinmod.city import RoadMap
from causeway.berlinmod.inspection.inspect import Inspection
from causeway.berlinmod.inspection.measure import BIN_MINUTES
from causeway.berlinmod.model.arrays import F64, I32
from causeway.berlinmod.model.rules import MAIN_STREET_SPEED, SIDE_STREET_SPEED
from causeway.report.plots import AMBER, BLUE, GREY, INK, LIGHT_BLUE, MUTED, RED, TEAL, lay_out

__all__ = ["city_plot", "density_plot", "duration_plot", "week_plot"]

_SHOWN_PLACES: Final = 1000
"""Homes and work places on the map, as in the paper's Figure 4."""
_CELL_METRES: Final = 2000.0
"""Cells of the histograms of homes and work places, as in Figure 4 (b)."""
_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_HEAT: Final = [[0, "#ffffff"], [0.02, "#e0e7ff"], [0.3, "#a5b4fc"], [0.65, "#6366f1"], [1, "#312e81"]]
_WARM: Final = [[0, "#ffffff"], [0.02, "#fef3c7"], [0.3, "#fcd34d"], [0.65, "#d97706"], [1, "#7c2d12"]]


def city_plot(inspection: Inspection) -> go.Figure:
    """Streets by their limit, districts, and some homes and work places."""
    road_map = inspection.road_map
    figure = go.Figure()
    classes = (
        ("side streets", "#cbd5e1", 0.7, road_map.edge_vmax <= SIDE_STREET_SPEED),
        (
            "main streets",
            GREY,
            1.2,
            (road_map.edge_vmax > SIDE_STREET_SPEED) & (road_map.edge_vmax <= MAIN_STREET_SPEED),
        ),
        ("freeways", INK, 2.0, road_map.edge_vmax > MAIN_STREET_SPEED),
    )
    for name, colour, width, mine in classes:
        x, y = _lines(road_map, np.flatnonzero(mine & (road_map.edge_from < road_map.edge_to)).tolist())
        figure.add_scatter(
            x=x, y=y, mode="lines", name=name, line={"color": colour, "width": width}, hoverinfo="skip"
        )
    _add_districts(figure, road_map)
    for name, colour, nodes in (("homes", BLUE, inspection.home), ("work places", AMBER, inspection.work)):
        some = nodes[:_SHOWN_PLACES]
        figure.add_scatter(
            x=road_map.node_x[some],
            y=road_map.node_y[some],
            mode="markers",
            name=f"{name} of {some.size:,} vehicles",
            marker={"color": colour, "size": 5, "opacity": 0.75},
            hoverinfo="skip",
        )
    lay_out(figure, height=860)
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(title_text="metres", showgrid=False, zeroline=False, hoverformat=",.0f")
    figure.update_yaxes(showgrid=False, zeroline=False, scaleanchor="x")
    return figure


def _lines(road_map: RoadMap, edges: Iterable[int]) -> tuple[list[float | None], list[float | None]]:
    """Polylines one after the other, with a gap after each; whole metres are enough for a screen."""
    x: list[float | None] = []
    y: list[float | None] = []
    for edge in edges:
        mine = slice(road_map.edge_offsets[edge], road_map.edge_offsets[edge + 1])
        x += [*np.rint(road_map.edge_x[mine]).tolist(), None]
        y += [*np.rint(road_map.edge_y[mine]).tolist(), None]
    return x, y


def _add_districts(figure: go.Figure, road_map: RoadMap) -> None:
    regions = road_map.regions
    if regions is None:
        return
    x: list[float | None] = []
    y: list[float | None] = []
    left, bottom, right, top = road_map.extent
    view = shapely.box(left - 500, bottom - 500, right + 500, top + 500)
    for polygon in regions.polygons:
        border = shapely.intersection(shapely.simplify(polygon.boundary, 20), view)
        for line in shapely.get_parts(border):
            points = shapely.get_coordinates(line)
            x += [*np.rint(points[:, 0]).tolist(), None]
            y += [*np.rint(points[:, 1]).tolist(), None]
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        name="districts",
        line={"color": RED, "width": 1, "dash": "dot"},
        hoverinfo="skip",
    )


def density_plot(inspection: Inspection) -> go.Figure:
    """Homes and work places in cells of 2 km, and where the driving is done."""
    road_map, grid = inspection.road_map, inspection.grid
    figure = make_subplots(
        rows=1,
        cols=3,
        horizontal_spacing=0.06,
        subplot_titles=[
            "<b>Homes</b> per 2 km cell",
            "<b>Work places</b> per 2 km cell",
            "<b>Driving</b>, hours per cell",
        ],
    )
    for column, nodes, scale in ((1, inspection.home, _HEAT), (2, inspection.work, _WARM)):
        x, y, counts = _histogram(road_map, nodes)
        figure.add_heatmap(
            x=x,
            y=y,
            z=counts,
            colorscale=scale,
            showscale=False,
            hovertemplate="%{z:,d}<extra></extra>",
            row=1,
            col=column,
        )
    hours = inspection.presence.T / 3_600_000
    figure.add_heatmap(
        x=grid.x + (np.arange(grid.columns) + 0.5) * grid.cell,
        y=grid.y + (np.arange(grid.rows) + 0.5) * grid.cell,
        # By the root, so that side streets are seen beside freeways.
        z=np.round(np.sqrt(hours), 3),
        customdata=np.round(hours, 2),
        colorscale=_HEAT,
        showscale=False,
        hovertemplate="%{customdata:,.1f} h<extra></extra>",
        row=1,
        col=3,
    )
    lay_out(figure, height=420)
    figure.update_layout(hovermode="closest", margin_t=70)
    figure.update_xaxes(showgrid=False, zeroline=False, showticklabels=False)
    figure.update_yaxes(showgrid=False, zeroline=False, showticklabels=False)
    for column in (1, 2, 3):
        figure.update_yaxes(scaleanchor=f"x{column if column > 1 else ''}", row=1, col=column)
    return figure


def _histogram(road_map: RoadMap, nodes: I32) -> tuple[F64, F64, F64]:
    left, bottom, right, top = road_map.extent
    x_edges = np.arange(left, right + _CELL_METRES, _CELL_METRES)
    y_edges = np.arange(bottom, top + _CELL_METRES, _CELL_METRES)
    counts, _, _ = np.histogram2d(road_map.node_x[nodes], road_map.node_y[nodes], bins=(x_edges, y_edges))
    return (x_edges[:-1] + x_edges[1:]) / 2, (y_edges[:-1] + y_edges[1:]) / 2, counts.T


def duration_plot(inspection: Inspection) -> go.Figure:
    """Figure 2: durations of work trips and of those in spare time."""
    figure = go.Figure()
    durations = inspection.durations
    last = int(np.flatnonzero(durations.sum(axis=0)).max(initial=10)) + 2
    for name, colour, counts in (
        ("to work and back", BLUE, durations[0] + durations[1]),
        ("in spare time", TEAL, durations[2]),
    ):
        share = 100 * counts / max(1, counts.sum())
        figure.add_bar(
            x=np.arange(last) + 0.5,
            y=np.round(share[:last], 3),
            name=name,
            marker={"color": colour, "opacity": 0.75},
            hovertemplate="%{y:.1f} %",
        )
    lay_out(figure, height=380)
    figure.update_layout(barmode="overlay", bargap=0.04)
    figure.update_xaxes(title_text="minutes", hoverformat=".0f")
    figure.update_yaxes(title_text="share of drives, %", rangemode="tozero")
    return figure


def week_plot(inspection: Inspection) -> go.Figure:
    """Vehicles under way by weekday and time: the mean of all weeks that were observed."""
    bins = 24 * 60 // BIN_MINUTES
    days = inspection.under_way.reshape(-1, bins)
    weekday = (inspection.dataset.parameters.start_day + np.arange(days.shape[0])) % 7
    figure = go.Figure()
    x: list[float] = []
    y: list[float | None] = []
    for day in range(7):
        mine = days[weekday == day]
        x += (day * 24 + (np.arange(bins) + 0.5) * BIN_MINUTES / 60).tolist()
        y += np.round(mine.mean(axis=0), 2).tolist() if len(mine) else [None] * bins
    labels = [
        f"{_DAYS[int(hour // 24)]} {int(hour % 24):02d}:{int(hour * 60 % 60) // 15 * 15:02d}" for hour in x
    ]
    figure.add_scatter(
        x=x,
        y=y,
        customdata=labels,
        mode="lines",
        line={"color": BLUE, "width": 2, "shape": "linear"},
        fill="tozeroy",
        fillcolor=f"{LIGHT_BLUE}33",
        hovertemplate="%{customdata}: %{y:.1f} vehicles<extra></extra>",
    )
    lay_out(figure, height=340)
    figure.update_layout(showlegend=False, hovermode="closest", margin_t=20)
    figure.update_xaxes(
        range=[0, 168],
        tickvals=[24 * day + 12 for day in range(7)],
        ticktext=list(_DAYS),
        showgrid=False,
    )
    for day in range(1, 7):
        figure.add_vline(x=24 * day, line={"color": MUTED, "width": 1, "dash": "dot"})
    figure.update_yaxes(title_text="vehicles under way", rangemode="tozero")
    return figure
