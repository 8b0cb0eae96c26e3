"""The page's map of the city: a heat map over segments and time, with controls to choose what it shows."""

from __future__ import annotations

from html import escape
from typing import Final

from causeway.linear_road.report.city import City, city_data
from causeway.report.page import as_script_data
from causeway.report.plots import RED, SIMULATED_MINUTES

__all__ = ["CITY_STYLE", "city_map"]

CITY_STYLE: Final = """
.controls { display: flex; flex-wrap: wrap; gap: 8px 22px; margin: 10px 0 4px; }
.controls label { color: #64748b; }
.controls select { font: inherit; color: #0f172a; background: #fff; border: 1px solid #cbd5e1;
                   border-radius: 6px; padding: 3px 8px; margin-left: 6px; }
"""

# Drawn here and not by plotly's Python, so that each expressway's numbers are in the page once, as compact
# bytes, whichever of them is looked at.
_SCRIPT: Final = """
(function () {
  const city = JSON.parse(document.getElementById("city-data").textContent);
  const expressway = document.getElementById("city-expressway");
  const direction = document.getElementById("city-direction");
  const quantity = document.getElementById("city-quantity");
  const minutes = Array.from({length: city.minutes}, (_, i) => i + 1);
  const middles = minutes.map(minute => minute - 0.5);
  const violet = [[0, "#f1f5f9"], [0.001, "#e0e7ff"], [0.35, "#a5b4fc"], [0.7, "#6366f1"], [1, "#312e81"]];
  const teal = [[0, "#f1f5f9"], [0.001, "#ecfdf5"], [0.35, "#99f6e4"], [0.7, "#14b8a6"], [1, "#134e4a"]];
  const pace = [[0, "#92400e"], [0.2, "#d97706"], [0.4, "#fcd34d"], [0.6, "#f1f5f9"], [1, "#99f6e4"]];
  // A toll is a square of cars: by its root, colours are even steps of traffic.
  const shown = {
    toll: {title: "toll", scale: violet, colour: Math.sqrt, stored: v => v},
    speed: {title: "mph", scale: pace, colour: v => v, stored: v => v === 0 ? null : v - 1},
    cars: {title: "cars", scale: teal, colour: v => v, stored: v => v},
  };

  function unpack(packed, stored) {
    const bytes = Uint8Array.from(atob(packed.data), character => character.charCodeAt(0));
    const kinds = {8: Uint8Array, 16: Uint16Array, 32: Uint32Array};
    const values = new kinds[packed.bits](bytes.buffer);
    const rows = [];
    for (let start = 0; start < values.length; start += city.minutes) {
      rows.push(Array.from(values.subarray(start, start + city.minutes), stored));
    }
    return rows;
  }

  function largest(tables) {
    return tables.reduce((most, rows) => rows.reduce(
      (top, row) => row.reduce((a, b) => b > a ? b : a, top), most), 1);
  }

  function short(value) {
    const unit = Math.pow(10, Math.max(0, Math.floor(Math.log10(Math.max(value, 1))) - 1));
    return Math.floor(value / unit) * unit;
  }

  function named(text) {
    return {text: text, font: {size: 13}};
  }

  function colourAxis(look, top) {
    const ticks = [0, 0.25, 0.5, 0.75, 1].map(share => {
      return short(look.colour === Math.sqrt ? share * share * top : share * top);
    });
    return {
      cmin: 0, cmax: look.colour(top), colorscale: look.scale,
      colorbar: {title: {...named(look.title), side: "top"}, thickness: 12, outlinewidth: 0, x: 1.01,
                 tickvals: ticks.map(look.colour), ticktext: ticks.map(tick => tick.toLocaleString("en"))},
    };
  }

  function cells(rows, look, panel, names, hover) {
    return {
      type: "heatmap", x: middles, y: names, xaxis: "x" + panel, yaxis: "y" + panel, coloraxis: "coloraxis",
      z: rows.map(row => row.map(value => value === null ? null : look.colour(value))),
      customdata: rows.map((row, r) => row.map((value, i) => [value, minutes[i], city.xways[r]])),
      hoverongaps: false, hovertemplate: hover + "<extra></extra>",
    };
  }

  function accidents(stretches, panel, names, width, describe) {
    const x = [], y = [], text = [];
    for (const [row, first, last] of stretches) {
      const words = describe(names[row], first, last);
      x.push(first - 1, last, null); y.push(names[row], names[row], null); text.push(words, words, "");
    }
    const line = {type: "scatter", mode: "lines", x: x, y: y, xaxis: "x" + panel, yaxis: "y" + panel,
                  showlegend: false};
    return [
      {...line, line: {color: "#ffffff", width: width + 1.5}, hoverinfo: "skip"},
      {...line, line: {color: "RED", width: width}, text: text, hovertemplate: "%{text}<extra></extra>"},
    ];
  }

  function title(text, x, y) {
    return {text: text, x: x, y: y, xref: "paper", yref: "paper", xanchor: "left", yanchor: "bottom",
            showarrow: false, font: {size: 14}};
  }

  function realTime(panels) {
    if (!(city.from_minute > 0)) return [];
    return panels.map(panel => ({
      type: "line", xref: "x" + panel, yref: "y" + panel + " domain", y0: 0, y1: 1,
      x0: city.from_minute, x1: city.from_minute, line: {color: "#64748b", width: 1.5, dash: "dot"},
    }));
  }

  function layout(height, top, look) {
    return {height: height, margin: {l: 60, r: 80, t: 34, b: 46}, font: plotFont, hovermode: "closest",
            paper_bgcolor: "#fff", plot_bgcolor: "#fff", coloraxis: colourAxis(look, top),
            annotations: [], showlegend: false};
  }

  function span(bottom, range) {
    return {range: range, showgrid: false, zeroline: false,
            title: bottom ? named("SIMULATED_MINUTES") : undefined,
            showticklabels: bottom};
  }

  function drawMap() {
    const look = shown[quantity.value];
    const view = city.views[Number(expressway.value)];
    const roads = view.roads.filter(
      road => direction.value === "both" || road.direction === direction.value);
    const tables = roads.map(road => unpack(road[quantity.value], look.stored));
    const segments = Array.from(tables[0], (_, i) => i);
    const page = layout(roads.length > 1 ? 720 : 430, largest(tables), look);
    const traces = [];
    roads.forEach((road, i) => {
      const panel = i === 0 ? "" : String(i + 1);
      const height = roads.length > 1 ? 0.46 : 1;
      const floor = i === 0 ? 1 - height : 0;
      const value = {toll: "toll %{customdata[0]:,}", speed: "%{customdata[0]} mph",
                     cars: "%{customdata[0]} cars"}[quantity.value];
      traces.push(cells(tables[i], look, panel, segments,
                        "segment %{y}, minute %{customdata[1]}<br><b>" + value + "</b>"));
      traces.push(...accidents(road.accidents, panel, segments, 3.5, (segment, first, last) =>
        "accident in segment " + segment + ", minutes " + first + " to " + last));
      page["xaxis" + panel] = {...span(i === roads.length - 1, [0, city.minutes]), anchor: "y" + panel};
      if (i > 0) page["xaxis" + panel].matches = "x";
      page["yaxis" + panel] = {title: named("segment"), range: [-0.5, segments.length - 0.5],
                               domain: [floor, floor + height], anchor: "x" + panel,
                               showgrid: false, zeroline: false};
      const arrow = road.direction === "east" ? "traffic goes up" : "traffic goes down";
      page.annotations.push(title(view.name + ", " + road.direction + " (" + arrow + ")", 0,
                                  floor + height + 0.008));
    });
    page.shapes = realTime(roads.map((_, i) => i === 0 ? "" : String(i + 1)));
    drawPlot(document.getElementById("city-map"), traces, page);
  }

  function drawOverview() {
    const place = document.getElementById("city-overview");
    if (!city.overview.length) return;
    const look = shown.toll;
    const tables = city.overview.map(road => unpack(road.toll, look.stored));
    const height = Math.min(620, Math.max(210, 90 + 11 * city.xways.length));
    const stacked = place.clientWidth < 700 && city.overview.length > 1;
    const page = layout(stacked ? 2 * height : height, largest(tables), look);
    const traces = [];
    const width = Math.max(1.2, Math.min(3, 90 / city.xways.length));
    const rows = city.xways.map((_, i) => i);
    const ticks = rows.filter(row => row % Math.ceil(rows.length / 12) === 0);
    city.overview.forEach((road, i) => {
      const panel = i === 0 ? "" : String(i + 1);
      const left = i === 0 || stacked ? 0 : 0.53;
      const floor = stacked && i === 0 ? 0.6 : 0;
      const top = stacked && i > 0 ? 0.4 : 1;
      traces.push(cells(tables[i], look, panel, rows, "expressway %{customdata[2]} " + road.direction +
        ", minute %{customdata[1]}<br><b>mean toll %{customdata[0]:,}</b>"));
      traces.push(...accidents(road.accidents, panel, rows, width, (row, first, last) =>
        "accident on expressway " + city.xways[row] + " " + road.direction +
        ", minutes " + first + " to " + last));
      const isLast = i === city.overview.length - 1;
      page["xaxis" + panel] = {...span(isLast || !stacked, [0, city.minutes]), anchor: "y" + panel,
                               domain: city.overview.length > 1 && !stacked ? [left, left + 0.47] : [0, 1]};
      page["yaxis" + panel] = {title: i === 0 || stacked ? named("expressway") : undefined,
                               anchor: "x" + panel, domain: [floor, top],
                               range: [rows.length - 0.5, -0.5], showgrid: false, zeroline: false,
                               tickvals: ticks, ticktext: ticks.map(row => String(city.xways[row]))};
      page.annotations.push(title("mean toll over the segments, " + road.direction, left, top + 0.01));
    });
    page.shapes = realTime(city.overview.map((_, i) => i === 0 ? "" : String(i + 1)));
    drawPlot(place, traces, page);
    place.on("plotly_click", event => {
      const name = "expressway " + city.xways[event.points[0].y];
      const found = city.views.findIndex(view => view.name === name);
      if (found >= 0) { expressway.value = String(found); drawMap(); }
    });
  }

  for (const control of [expressway, direction, quantity]) control.addEventListener("change", drawMap);
  drawOverview();
  drawMap();
})();
""".replace("RED", RED).replace("SIMULATED_MINUTES", SIMULATED_MINUTES)


def city_map(city: City, from_minute: int) -> str:
    """The section's HTML; the page has plotly's script before it, and `CITY_STYLE`."""
    data = city_data(city)
    names = [str(view["name"]) for view in data["views"]]
    directions = [str(road["direction"]) for road in data["views"][0]["roads"]]
    controls = [
        _control("expressway", "Expressway", [(str(i), name) for i, name in enumerate(names)]),
        _control(
            "direction",
            "Direction",
            [("both", "both")] * (len(directions) > 1) + [(name, name) for name in directions],
        ),
        _control("quantity", "Colours", [("toll", "toll"), ("speed", "average speed"), ("cars", "cars")]),
    ]
    stored = as_script_data(data | {"from_minute": from_minute})
    overview = '<div id="city-overview"></div>' if data["overview"] else ""
    left_out = (
        f'<p class="remark">Of the {len(city.xways)} expressways, the first '
        f"{len(city.xways) - data['left_out']} can be shown one by one.</p>"
        if data["left_out"]
        else ""
    )
    return (
        f'{overview}<div class="controls">{"".join(controls)}</div>{left_out}<div id="city-map"></div>'
        f'<script type="application/json" id="city-data">{stored}</script><script>{_SCRIPT}</script>'
    )


def _control(name: str, label: str, choices: list[tuple[str, str]]) -> str:
    options = "".join(f'<option value="{escape(value)}">{escape(text)}</option>' for value, text in choices)
    return f'<label>{label}<select id="city-{name}">{options}</select></label>'
