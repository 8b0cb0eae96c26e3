"""Runs beside each other, from results made by hand: ratios, their spread, notes, the table and the page."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.browser import Browser
from tests.nexmark.report.made_result import RESULT, steady, throughput

from causeway import nexmark
from causeway.nexmark.report.comparison import (
    FIGURES,
    Spread,
    common_queries,
    comparison_notes,
    comparison_table,
    load_runs,
    mean_ratio,
    ratio,
)
from causeway.nexmark.runner.rounds import with_rounds
from causeway.runtime.errors import UserError

RATE = FIGURES[0]


def query(name: str, *rates: float, **facts: Any) -> dict[str, Any]:
    """A query over a folder, with a round for each rate."""
    return with_rounds([throughput(name) | {"events_per_second": rate} | facts for rate in rates])


def run(folder: Path, *queries: dict[str, Any], **facts: Any) -> Path:
    folder.mkdir(parents=True)
    made = RESULT | {"source": {"kind": "folder"}, "layout": 2, "queries": queries} | facts
    (folder / "result.json").write_text(json.dumps(made))
    return folder


def printed(*runs: Path) -> str:
    text = StringIO()
    Console(width=160, file=text).print(comparison_table(load_runs(runs)))
    return text.getvalue()


def test_a_ratio_has_the_widest_spread_that_the_rounds_allow() -> None:
    assert ratio(Spread(20, 10, 40), Spread(5, 4, 8)) == Spread(4, 10 / 8, 40 / 4)
    assert ratio(None, Spread(1, 1, 1)) is None


def test_the_table_has_each_run_and_its_ratio_to_the_first(tmp_path: Path) -> None:
    plain = run(tmp_path / "plain", query("q5", 100, 200, 400), query("q10", 50), engine="spark")
    fast = run(tmp_path / "fast", query("q5", 800, 900, 1000))
    text = printed(plain, fast)
    assert re.search(r"q5 +200 \(100 to 400\) +900 \(800 to 1,000\) +4\.50 \(2 to 10\)", text), text
    assert re.search(r"q10 +50 +— +—", text)
    assert text.index("q5") < text.index("q10")
    assert "plain: spark, rules ours, Spark 4.3.0, Fast <& cheap>, 2 cores, 23.5 GiB" in text
    assert "fast: columnar" in text
    assert "In brackets: the least and the most of the rounds." in text


def test_runs_at_a_rate_are_compared_by_latency_alone(tmp_path: Path) -> None:
    """Their events per second are those of the generator."""
    source = {"kind": "generator", "rate": 10_000}
    late = steady("q5")
    late["latency"] = late["latency"] | {"p50": 4.5}
    text = printed(run(tmp_path / "a", steady("q5"), source=source), run(tmp_path / "b", late, source=source))
    assert "events/s" not in text
    assert re.search(r"q5 +1\.12 +4\.50 +4 *\n", text), text


def test_the_mean_of_ratios_is_geometric(tmp_path: Path) -> None:
    first, second = load_runs(
        [
            run(tmp_path / "a", query("q1", 100), query("q2", 100), query("q3", 100)),
            run(tmp_path / "b", query("q1", 200), query("q2", 800)),
        ]
    )
    found = mean_ratio(second, first, RATE)
    assert found is not None
    assert found[0] == pytest.approx(4)
    assert found[1] == {"q1": 2, "q2": 8}
    assert common_queries([first, second]) == ["q1", "q2", "q3"]


def test_what_is_not_the_same_is_said(tmp_path: Path) -> None:
    wrong = {"passed": False, "missing": 1, "extra": 0, "differences": []}
    runs = load_runs(
        [
            run(tmp_path / "a", query("q1", 1, events=10)),
            run(tmp_path / "b", query("q1", 1, events=20, check=wrong), rules="flink", state="stopped"),
        ]
    )
    assert list(comparison_notes(runs)) == [
        "The runs have different rules (a: ours, b: flink).",
        "The runs read different numbers of events in q1.",
        "b is not finished (stopped).",
        "Answers of b that differ from the batch statement: q1.",
    ]


def test_names_are_the_shortest_that_tell_runs_apart(tmp_path: Path) -> None:
    folders = [run(tmp_path / name / "run", query("q1", 1)) for name in ("old", "new")]
    assert [one.name for one in load_runs(folders)] == ["old/run", "new/run"]


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    first = run(tmp_path / "a", query("q1", 1))
    other = run(tmp_path / "b", query("q1", 1), model="paper")
    with pytest.raises(UserError, match="two runs or more"):
        nexmark.compare([first], tmp_path / "page.html")
    with pytest.raises(UserError, match="the same folder is named twice"):
        nexmark.compare([first, tmp_path / "a"], tmp_path / "page.html")
    with pytest.raises(UserError, match=r"different models \(modern, paper\)"):
        nexmark.compare([first, other], tmp_path / "page.html")
    with pytest.raises(UserError, match="nothing: no such folder"):
        nexmark.compare([first, tmp_path / "nothing"], tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_the_page_shows_rates_ratios_and_checks(tmp_path: Path, browser: Browser) -> None:
    right = {"passed": True, "rows": 5, "missing": 0, "extra": 0, "differences": []}
    plain = run(tmp_path / "plain", query("q5", 100, 200, 400, check=right), query("q7", 60), engine="spark")
    fast = run(tmp_path / "fast", query("q5", 800, 900, 1000, check=right), query("q7", 30))
    page = nexmark.compare([plain, fast], tmp_path / "page.html").page
    html = page.read_text()
    assert "http" not in re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    for width in (1200, 390):
        browser.load(page, width)
        browser.wait_for("document.querySelectorAll('.main-svg').length > 0")
        assert browser.texts("h1") == ["NEXMark: fast beside plain"]
        assert browser.errors() == []
        assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    rows = browser.texts("table tr")
    assert any("4.50" in row and "2 to 10" in row for row in rows)
    tiles = browser.texts(".tile")
    assert tiles[0].startswith("1.50\nevents/s, fast : plain, geometric mean of 2 queries; 0.500 in q7")
    assert tiles[-1].startswith("2\nof 4 answers were checked")
