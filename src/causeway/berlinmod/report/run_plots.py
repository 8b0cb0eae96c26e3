"""The plots of a run's page: times beside published ones, and small maps of some answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go
import pyarrow.parquet as pq

from causeway.berlinmod.city import RoadMap
from causeway.berlinmod.model.rules import SIDE_STREET_SPEED
from causeway.report.plots import AMBER, BLUE, GREY, LIGHT_BLUE, RED, TEAL, lay_out

__all__ = ["MAPS", "answer_map", "times_plot"]

Facts = Mapping[str, Any]

_HEIGHT: Final = 420
_MAP_HEIGHT: Final = 600
_SHOWN: Final = 400
"""Answers on a map at most."""
_NEIGHBOURS: Final = 30
"""Neighbours of a vehicle that are drawn at most."""


def times_plot(queries: Sequence[Facts]) -> go.Figure:
    """Seconds of each query on a logarithmic axis, with what Table 12 and the best published one are."""
    names = list(dict.fromkeys(one["query"] for one in queries))
    figure = go.Figure()
    styles = {
        "oba": ("object-based", BLUE, "circle"),
        "tba": ("trip-based", LIGHT_BLUE, "diamond"),
    }
    for representation, (title, colour, symbol) in styles.items():
        mine = [one for one in queries if one["representation"] == representation]
        if mine:
            figure.add_scatter(
                x=[one["query"] for one in mine],
                y=[one["seconds"] for one in mine],
                mode="markers",
                name=f"this run, {title}",
                marker={"color": colour, "size": 11, "symbol": symbol},
            )
            figure.add_scatter(
                x=[one["query"] for one in mine],
                y=[one["table_12"] for one in mine],
                mode="markers",
                name=f"SECONDO 2009 (Table 12), {title}",
                marker={"color": GREY, "size": 9, "symbol": f"{symbol}-open"},
            )
    best = {one["query"]: one["best_published"] for one in queries}
    figure.add_scatter(
        x=names,
        y=[best[name] for name in names],
        mode="markers",
        name="best published",
        marker={"color": AMBER, "size": 12, "symbol": "line-ew-open"},
    )
    lay_out(figure, _HEIGHT + 60)
    # Above the plot, it would be under the buttons.
    below = {"orientation": "h", "x": 0, "y": -0.1, "yanchor": "top", "yref": "paper"}
    figure.update_layout(legend=below, margin={"b": 90})
    # Ticks at 1, 2 and 5 of each decade; more would lie on each other.
    figure.update_yaxes(type="log", title="seconds", tickformat="~g", dtick="D2")
    figure.update_xaxes(categoryorder="array", categoryarray=names, hoverformat="")
    return figure


def _streets(figure: go.Figure, road_map: RoadMap | None) -> None:
    """Main streets and freeways in grey."""
    if road_map is None:
        return
    x: list[float | None] = []
    y: list[float | None] = []
    mine = (road_map.edge_vmax > SIDE_STREET_SPEED) & (road_map.edge_from < road_map.edge_to)
    for edge in np.flatnonzero(mine).tolist():
        part = slice(road_map.edge_offsets[edge], road_map.edge_offsets[edge + 1])
        x += [*np.rint(road_map.edge_x[part]).tolist(), None]
        y += [*np.rint(road_map.edge_y[part]).tolist(), None]
    line = {"color": "#cbd5e1", "width": 1}
    figure.add_scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False)


def _map(road_map: RoadMap | None) -> go.Figure:
    figure = go.Figure()
    _streets(figure, road_map)
    return figure


def _finish(figure: go.Figure) -> go.Figure:
    lay_out(figure, _MAP_HEIGHT)
    # The heading says what is shown.
    figure.update_layout(hovermode="closest", showlegend=False)
    figure.update_xaxes(title="metres", showgrid=False, zeroline=False, constrain="domain")
    figure.update_yaxes(scaleanchor="x", showgrid=False, zeroline=False, constrain="domain")
    return figure


def _rows(run: Path, name: str, representation: str) -> list[dict[str, Any]]:
    file = run / f"{name}.{representation}.parquet"
    return pq.read_table(file).to_pylist() if file.exists() else []


def _time(ms: float) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%a %H:%M:%S")


def _q4(run: Path, representation: str, road_map: RoadMap | None) -> go.Figure | None:
    """Points, as large as there are vehicles that passed them."""
    counts: dict[tuple[float, float], int] = {}
    for row in _rows(run, "q4", representation):
        place = (row["Pos"]["x"], row["Pos"]["y"])
        counts[place] = counts.get(place, 0) + 1
    if not counts:
        return None
    figure = _map(road_map)
    largest = max(counts.values())
    figure.add_scatter(
        x=[x for x, _ in counts],
        y=[y for _, y in counts],
        mode="markers",
        name="points that vehicles passed",
        marker={"color": BLUE, "opacity": 0.7, "size": [5 + 22 * n / largest for n in counts.values()]},
        text=[f"{count:,} vehicles" for count in counts.values()],
        hoverinfo="text",
    )
    return _finish(figure)


def _q6(run: Path, representation: str, road_map: RoadMap | None) -> go.Figure | None:
    """Where two trucks came within 10 m for the first time."""
    rows = _rows(run, "q6.places", representation)[:_SHOWN]
    if not rows:
        return None
    figure = _map(road_map)
    figure.add_scatter(
        x=[row["x"] for row in rows],
        y=[row["y"] for row in rows],
        mode="markers",
        name="two trucks within 10 m",
        marker={"color": RED, "size": 8},
        text=[f"{row['Licence1']} and {row['Licence2']}, {_time(row['t'])}" for row in rows],
        hoverinfo="text",
    )
    return _finish(figure)


def _q10(run: Path, representation: str, road_map: RoadMap | None) -> go.Figure | None:
    """Where vehicles of QueryLicences1 met others; the colour is the time of the first meeting."""
    rows = sorted(_rows(run, "q10", representation), key=lambda row: row["Pos"]["t"][0])[:_SHOWN]
    if not rows:
        return None
    figure = _map(road_map)
    figure.add_scatter(
        x=[row["Pos"]["x"][0] for row in rows],
        y=[row["Pos"]["y"][0] for row in rows],
        mode="markers",
        name="first meeting of two vehicles",
        marker={
            "color": [(row["Pos"]["t"][0] - rows[0]["Pos"]["t"][0]) / 3_600_000 for row in rows],
            "colorscale": "Viridis",
            "size": 8,
            "colorbar": {"title": "hours", "thickness": 10},
        },
        text=[
            f"{row['QueryLicence']} met {row['OtherLicence']}, {_time(row['Pos']['t'][0])},"
            f" {len(row['Pos']['first'])} times"
            for row in rows
        ],
        hoverinfo="text",
    )
    return _finish(figure)


def _q13(run: Path, representation: str, road_map: RoadMap | None) -> go.Figure | None:
    """The regions, with the number of vehicles that were in them during any of the periods."""
    licences: dict[tuple[Any, Any], set[str]] = {}
    for row in _rows(run, "q13", representation):
        corners = (tuple(row["Region"]["x"]), tuple(row["Region"]["y"]))
        licences.setdefault(corners, set()).add(row["Licence"])
    if not licences:
        return None
    figure = _map(road_map)
    for (x, y), who in licences.items():
        figure.add_scatter(
            x=[*x, x[0]],
            y=[*y, y[0]],
            mode="lines",
            fill="toself",
            line={"color": TEAL},
            name=f"{len(who):,} vehicles",
            text=f"{len(who):,} vehicles",
            hoverinfo="text",
            showlegend=False,
        )
        figure.add_annotation(x=sum(x) / len(x), y=max(y), text=f"{len(who):,}", showarrow=False, yshift=9)
    return _finish(figure)


def _q21(run: Path, representation: str, road_map: RoadMap | None) -> go.Figure | None:
    """The neighbours of one vehicle during one period, while they are among the ten nearest.

    Of many, those that are it for longest.
    """
    rows = _rows(run, "q21", representation)
    if not rows:
        return None
    counts: dict[tuple[str, int, int], int] = {}
    for row in rows:
        key = (row["Licence"], row["Period"]["begin"], row["Period"]["end"])
        counts[key] = counts.get(key, 0) + 1
    licence, begin, end = max(counts, key=lambda key: counts[key])
    mine = [
        row
        for row in rows
        if (row["Licence"], row["Period"]["begin"], row["Period"]["end"]) == (licence, begin, end)
    ]
    lasts: dict[str, float] = {}
    for row in mine:
        lasts[row["Neighbour"]] = lasts.get(row["Neighbour"], 0.0) + row["end"] - row["begin"]
    longest = set(sorted(lasts, key=lambda name: -lasts[name])[:_NEIGHBOURS])
    mine = sorted((row for row in mine if row["Neighbour"] in longest), key=lambda row: row["begin"])
    names = list(dict.fromkeys(row["Neighbour"] for row in mine))
    figure = go.Figure()
    x: list[Any] = []
    y: list[Any] = []
    for row in mine:
        x += [datetime.fromtimestamp(row[side] / 1000, UTC).replace(tzinfo=None) for side in ("begin", "end")]
        x.append(None)
        y += [row["Neighbour"], row["Neighbour"], None]
    figure.add_scatter(x=x, y=y, mode="lines", line={"width": 7, "color": BLUE}, name=licence)
    lay_out(figure, 150 + 18 * len(names))
    figure.update_layout(hovermode="closest", margin={"l": 110}, showlegend=False)
    figure.update_xaxes(hoverformat="%a %H:%M:%S")
    figure.update_yaxes(dtick=1, range=[len(names) - 0.5, -0.5], title=f"neighbours of {licence}")
    return figure


MAPS: Final = {
    "q4": (_q4, "Q4: points, and how many vehicles passed them"),
    "q6": (_q6, "Q6: where two trucks came within 10 m"),
    "q10": (_q10, "Q10: meetings in time"),
    "q13": (_q13, "Q13: vehicles in regions during the periods"),
    "q21": (_q21, "Q21: neighbours among the ten nearest, for the vehicle and period with most changes"),
}
"""Queries whose answer is drawn."""


def answer_map(run: Path, query: str, representation: str, road_map: RoadMap | None) -> go.Figure | None:
    """The answer of a query as a plot; `None` if there is nothing to draw."""
    return MAPS[query][0](run, representation, road_map)
