"""A run of BerlinMOD's queries as one page that needs no network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from causeway.berlinmod.city import RoadMap
from causeway.berlinmod.city.map_folder import MAP_FILE
from causeway.berlinmod.dataset import Dataset
from causeway.berlinmod.report.run_plots import MAPS, answer_map, times_plot
from causeway.berlinmod.report.run_table import range_total, scale_words, verdict
from causeway.berlinmod.runner.published import PUBLISHED_TOTALS
from causeway.report.page import (
    headline_html,
    mapping,
    page_html,
    section_html,
    settings_html,
    table_html,
    tile,
    write_page,
)
from causeway.report.plots import figure_html

__all__ = ["write_run_page"]

Facts = Mapping[str, Any]


def write_run_page(run: Path, dataset: Dataset) -> Path:
    """Write `report.html` into a run's folder, from its `result.json` and its answers."""
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    folder = dataset.folder / "map"
    road_map = RoadMap.load(folder) if (folder / MAP_FILE).exists() else None
    return write_page(run / "report.html", _page(result, run, road_map))


def _page(result: Facts, run: Path, road_map: RoadMap | None) -> str:
    queries: list[Facts] = list(result["queries"])
    sections = [
        ("All queries", _table(queries)),
        ("Times beside published ones", figure_html(times_plot(queries), "times") if queries else ""),
    ]
    for query, (_, title) in MAPS.items():
        known = [one["representation"] for one in queries if one["query"] == query]
        if known:
            sections.append((title, figure_html(answer_map(run, query, known[0], road_map), f"map-{query}")))
    sections += [("Answers that differ", _differences(queries)), ("Settings", _settings(result))]
    body = "".join(section_html(heading, html) for heading, html in sections if html)
    return page_html(f"BerlinMOD: {run.absolute().name}", _headline(result, queries) + body)


def _headline(result: Facts, queries: Sequence[Facts]) -> str:
    dataset, machine = mapping(result.get("dataset")), mapping(result.get("machine"))
    facts = [
        f"{scale_words(dataset)}, {dataset['mode']}-based, seed {dataset['seed']}",
        f"{dataset['vehicles']:,} vehicles, {dataset['units']:,} units",
        str(machine.get("processor", "unknown processor")),
        f"{machine.get('cores', '?')} cores",
    ]
    tiles = []
    for representation in ("oba", "tba"):
        total = range_total(queries, representation)
        if total is not None:
            tiles.append(tile(f"{total:.1f} s", f"all of R (Q1 to Q17), {representation.upper()}"))
    published = PUBLISHED_TOTALS.get(dataset["scale"], {})
    if published:
        name = min(published, key=lambda one: published[one])
        tiles.append(tile(f"{published[name]:,.0f} s", f"all of R, best published at this scale: {name}"))
    neighbours = [one for one in queries if int(one["query"][1:]) > 17]
    for representation in ("oba", "tba"):
        mine = [one for one in neighbours if one["representation"] == representation]
        if len(mine) == 9:
            seconds = sum(one["seconds"] for one in mine)
            tiles.append(tile(f"{seconds:.1f} s", f"all of NN (Q18 to Q26), {representation.upper()}"))
    words = [verdict(one) for one in queries]
    failed, passed = words.count("FAILED"), words.count("passed")
    if failed or passed:
        tiles.append(tile(f"{passed} of {passed + failed}", "checks passed", "out" if failed else "holds"))
    notes = [] if result.get("state") == "finished" else [f"The run is {result.get('state', 'unknown')}."]
    return headline_html("BerlinMOD", facts, tiles, notes)


def _table(queries: Sequence[Facts]) -> str:
    headings = (
        "query", "", "answers", "seconds", "first run", "CPU s", "rows read", "MB read", "Table 12, s",
        "best published, s", "check",
    )  # fmt: skip
    rows = []
    for one in queries:
        word = verdict(one)
        style = {"passed": "holds", "FAILED": "out"}.get(word, "none")
        cells = [
            one["query"],
            one["representation"].upper(),
            f"{one['answers']:,}",
            f"{one['seconds']:.2f}",
            f"{one['first_seconds']:.2f}",
            f"{one['cpu_seconds']:.2f}",
            f"{one['rows_read']:,}",
            f"{one['bytes_read'] / 1e6:,.1f}",
            *("" if one[name] is None else f"{one[name]:,.1f}" for name in ("table_12", "best_published")),
        ]
        text = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        rows.append(f'{text}<td class="{style}">{escape(word or "—")}</td>')
    return table_html(headings, rows)


def _differences(queries: Sequence[Facts]) -> str:
    lines = []
    for one in queries:
        for name in ("check", "agreement"):
            for text in mapping(one.get(name)).get("differences", ()):
                label = f"{one['query']} {one['representation'].upper()}"
                lines.append(f"<li><b>{escape(label)}</b><span>{escape(text)}</span></li>")
    return f'<ul class="differences">{"".join(lines)}</ul>' if lines else ""


def _settings(result: Facts) -> str:
    names = ("settings", "dataset", "machine", "versions")
    return settings_html({name.capitalize(): mapping(result.get(name)) for name in names})
