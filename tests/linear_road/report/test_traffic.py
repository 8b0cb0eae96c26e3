"""The table and the page, from an inspection made by hand."""

from __future__ import annotations

import io
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.linear_road.report.made_inspection import inspection

from causeway.linear_road.inspection.expectations import judge, travel_law
from causeway.linear_road.inspection.inspect import Inspection
from causeway.linear_road.inspection.traffic import Accident, Traffic
from causeway.linear_road.report.traffic import inspection_table, write_traffic_page
from causeway.report.figures import Verdict


def full_run(expressways: float) -> Traffic:
    """Every number about as large as three hours make it."""
    ten_million = int(10_000_000 * expressways)
    small: dict[str, Any] = dict.fromkeys([field.name for field in fields(Traffic)], 0)
    law = travel_law(expressways)
    return Traffic(
        **small
        | {
            "reports": ten_million,
            "vehicles": ten_million,
            "trips": ten_million,
            "congested": ten_million,
            "toll_notifications": ten_million,
            "accident_alerts": ten_million,
            "trips_to_enter": ten_million,
            "trips_entered": ten_million,
            "reports_per_minute": [],
            "reports_per_phase": [ten_million] * 30,
            "entries_per_segment": [int(share * ten_million) for share in law.entries],
            "exits_per_segment": [int(share * ten_million) for share in law.exits],
            "requests_per_type": {2: ten_million, 3: ten_million, 4: ten_million},
            "accidents": [Accident(0, 0, 2, 31, 163_680, 1200, 2100, False)],
        }
    )


def page(made: Inspection, folder: Path) -> str:
    path = folder / "inspection.html"
    write_traffic_page(made, path)
    return path.read_text(encoding="utf-8")


def test_the_page_has_the_plots_promises_and_figures(tmp_path: Path) -> None:
    html = page(inspection(), tmp_path)
    for told in (
        "Position reports",
        "Mean speed",
        "Congested segments",
        "1,100 expected",
        "segment 31, lane 2: 15.0 min",
        "not cleared by the end",
        "1 of 2 judged figures out",
        "trips &lt;all&gt;",
    ):
        assert told in html
    assert "100,000 \\u00b1 10% expected" in html or "100,000 ± 10% expected" in html


def test_the_page_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    html = page(inspection(), tmp_path)
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=", html)
    assert len(html) > 1_000_000


def test_a_short_sound_run(tmp_path: Path) -> None:
    html = page(inspection(minutes=1, verdict=Verdict.HOLDS), tmp_path)
    assert "all 2 judged figures hold" in html
    assert "10% expected" not in html


@pytest.mark.parametrize(("width", "expressways"), [(80, 1.0), (80, 9.5), (120, 99.5)])
def test_the_table_has_a_line_for_every_figure(width: int, expressways: float) -> None:
    """Also of a full run with large numbers, none of which is cut or wrapped."""
    last = [int(expressways * 97_000), *[int(expressways * 106_000)] * 9]
    traffic = replace(full_run(expressways), reports_per_minute=[*[5_000] * 170, *last], top_speed=101)
    figures = judge(traffic, expressways, 180)
    made = replace(inspection(), expressways=expressways, figures=figures)
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(inspection_table(made))
    lines = console.export_text().splitlines()
    assert lines[0].rstrip() == f"city: L = {expressways:g}, 180 minutes, generated"
    words = {"holds": "holds", "out": "out", "not judged": "—"}
    for figure in figures:
        told = [figure.name, figure.measured, figure.expected, words[figure.verdict.value]]
        assert [line for line in lines if line.split() == " ".join(told).split()], told
    groups = {figure.group for figure in figures}
    assert len(lines) == 3 + len(groups) + len(figures)
