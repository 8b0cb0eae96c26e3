"""The table and the page, from an inspection made by hand."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from causeway.linear_road.expectations import Accident, Figure, Verdict
from causeway.linear_road.inspection import Inspection, Minute
from causeway.report.traffic import inspection_table, write_traffic_page


def inspection(minutes: int = 180, verdict: Verdict = Verdict.OUT) -> Inspection:
    return Inspection(
        source="generated",
        expressways=1.0,
        minutes=minutes,
        figures=(
            Figure("Volume", "position reports", "7", "12,000,000 ± 10%", verdict, 7),
            Figure("Volume", "trips <all>", "3", "—", Verdict.NOT_JUDGED, 3),
            Figure("Accidents", "accidents", "2", "9 (8 to 10)", Verdict.HOLDS, 2),
        ),
        series=tuple(Minute(m, 600 * m, None if m == 2 else 50.0, m // 20) for m in range(1, minutes + 1)),
        accidents=(
            Accident(0, 0, 2, 31, 163_680, 1200, 2100, False),
            Accident(0, 1, 1, 77, 406_560, 10_000, 10_810, True),
        ),
    )


def page(made: Inspection, folder: Path) -> str:
    path = folder / "inspection.html"
    write_traffic_page(made, path)
    return path.read_text(encoding="utf-8")


def test_the_page_has_the_plots_promises_and_figures(tmp_path: Path) -> None:
    html = page(inspection(), tmp_path)
    for told in (
        "Reports per minute",
        "Mean speed, mph",
        "Congested segments",
        "1,100 promised",
        "segment 31, lane 2: 15.0 min",
        "still standing",
        "1 of 2 judged figures out",
        "trips &lt;all&gt;",
    ):
        assert told in html
    assert "100,000 \\u00b1 10% promised" in html or "100,000 ± 10% promised" in html


def test_the_page_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    html = page(inspection(), tmp_path)
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=", html)
    assert len(html) > 1_000_000


def test_a_short_sound_run(tmp_path: Path) -> None:
    html = page(inspection(minutes=1, verdict=Verdict.HOLDS), tmp_path)
    assert "all 2 judged figures hold" in html
    assert "10% promised" not in html


def test_the_table_has_a_row_for_every_figure() -> None:
    console = Console(width=140, record=True, file=io.StringIO())
    made = inspection()
    console.print(inspection_table(made))
    text = console.export_text()
    for figure in made.figures:
        assert figure.name in text
    assert "out" in text
    assert "not judged" in text
