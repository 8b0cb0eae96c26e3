"""The page and the table of a NEXMark run, from results made by hand."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.nexmark.report.made_result import RESULT, matching, steady, throughput

from causeway.nexmark.report.plots import query_plot
from causeway.nexmark.report.run_page import result_table, write_nexmark_page
from causeway.runtime.errors import UserError


def page(run: Path, *queries: dict[str, Any], **facts: Any) -> str:
    (run / "result.json").write_text(json.dumps(RESULT | {"queries": queries} | facts))
    path = write_nexmark_page(run)
    assert path == run / "report.html"
    assert [file.name for file in sorted(run.iterdir())] == ["report.html", "result.json"]
    return path.read_text(encoding="utf-8")


def tiles(html: str) -> dict[str, str]:
    return dict(re.findall(r'<div class="tile[^"]*"><b>(.*?)</b><span>(.*?)</span></div>', html))


def cells(html: str) -> list[list[str]]:
    rows = re.findall(r'<tr class="choosable".*?>(.*?)</tr>', html)
    return [[re.sub("<.*?>", "", cell) for cell in re.findall(r"<td.*?>(.*?)</td>", row)] for row in rows]


def printed(result: dict[str, Any], width: int = 140) -> str:
    text = StringIO()
    Console(width=width, file=text).print(result_table(result))
    return text.getvalue()


def test_a_steady_run(tmp_path: Path) -> None:
    html = page(tmp_path, steady("q4"), steady("q5", output_matching=matching(unit="of 1", distance="set")))
    assert tiles(html) == {
        "passed": "all 2 queries answer as the batch statement does",
        "2 queries": "from the firehose, 10,000 events/s for 10 s each",
        "9,400/s": "events, measured until the last one was answered",
        "1.55 s": "p99 latency of q4, the slowest",
        "0.750": "cents: Output Matching of q4, its mean distance to an ideal system",
    }
    figures = ["9,400", "1.25", "12,345", "0.600", "1.100", "1.125", "1.500", "1.550", "1.600"]
    assert cells(html) == [
        ["q4 Average price for a category", *figures, "0.750 cents", "passed", "0"],
        ["q5 Hot items", *figures, "0.750 of 1", "passed", "0"],
    ]
    assert "Both leave out the warm-up, the first 2 s." in html
    assert "Fast &lt;&amp; cheap&gt;" in html
    assert "The mean <price>" not in html
    assert "http" not in re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)


def test_figure_4_has_the_ideal_solid_ours_dotted_and_the_area_shaded() -> None:
    figure = query_plot(steady("q4"))
    assert figure is not None
    ideal, ours, distance, mean = figure.data[:4]
    assert (ideal.line.dash, ours.line.dash, ours.fill) == ("solid", "dot", "tonexty")
    assert {ideal.line.shape, ours.line.shape, distance.line.shape} == {"hv"}
    # Both end where the span does, so that the area does too.
    assert ideal.x[-1] == ours.x[-1] == 10
    assert list(mean.y) == [0.75, 0.75]
    titles = [note.text for note in figure.layout.annotations]
    assert titles[0] == "<b>The ideal system and ours</b>: cents, of category 10"


def test_latency_of_a_slice_is_until_its_batch_was_readable() -> None:
    figure = query_plot(steady("q4", output_matching=None))
    assert figure is not None
    latency = figure.data[0]
    assert len(latency.x) == 100
    # Slices 0 to 9 came with batch 1, which was readable after 1.6 s.
    assert list(latency.y[:2]) == pytest.approx([1.55, 1.45], abs=1e-3)
    assert latency.y[10] == pytest.approx(2.6 - 1.05, abs=1e-3)


def test_a_throughput_run_has_neither_latency_nor_output_matching(tmp_path: Path) -> None:
    source = {"kind": "folder", "folder": "events"}
    fast = throughput("q1") | {"events_per_second": 1_000_000}
    html = page(tmp_path, throughput("q0"), fast, source=source)
    assert tiles(html) == {
        "not checked": "it is not known whether the answers are right",
        "2 queries": "over a folder, up to 100 thousand events, as fast as possible",
        "9,400/s": "events of the slowest query; 1,000,000/s of the fastest",
        "—": "no latencies: the input was there before the queries began",
        "200 thousand": "events answered, all queries together",
    }
    assert "<h2>Tuple Latency</h2>" not in html
    assert "<h2>Input Stream Rate</h2>" in html
    assert cells(html)[0] == ["q0 Pass through", "9,400", "1.25", "12,345", "—", "0"]


def test_answers_that_differ_are_told(tmp_path: Path) -> None:
    failed = {"passed": False, "missing": 2, "extra": 1, "differences": ["missing: auction <7>"]}
    html = page(tmp_path, steady("q0"), steady("q5", check=failed, rejects={"malformed": 3, "late": 0}))
    assert tiles(html)["1 differs"] == "from the batch statement: q5"
    assert "<b>q5</b><span>missing: auction &lt;7&gt;</span>" in html
    assert cells(html)[1][-2:] == ["2 missing, 1 extra", "3 malformed"]


def test_a_run_that_has_just_begun(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(json.dumps({"version": "0.1.0", "state": "new"}))
    html = write_nexmark_page(tmp_path).read_text(encoding="utf-8")
    assert "No query has been finished yet." in html
    assert "The run is not finished (new)" in html


def test_what_is_no_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has no result\.json"):
        write_nexmark_page(tmp_path)
    (tmp_path / "result.json").write_text("[]")
    with pytest.raises(UserError, match="is not what"):
        write_nexmark_page(tmp_path)


def test_the_paper_model_names_its_queries(tmp_path: Path) -> None:
    assert cells(page(tmp_path, steady("q5"), model="paper"))[0][0] == "q5 Hot Items"


def test_the_terminals_table() -> None:
    text = printed(RESULT | {"queries": [steady("q4"), throughput("q0")]}, width=80)
    rows = [line.split() for line in text.splitlines() if line.strip() and "─" not in line]
    figures = ["9,400", "1.25", "12,345"]
    times = ["0.600", "1.100", "1.125", "1.500", "1.550", "1.600"]
    assert rows[:3] == [
        ["query", "events/s", "MB/s", "events/CPU", "s", "check", "rejects"],
        ["q4", *figures, "passed", "0"],
        ["q0", *figures, "—", "0"],
    ]
    assert rows[3:6] == [
        ["query", "min", "mean", "p50", "p95", "p99", "max", "Output", "Matching"],
        ["q4", *times, "0.750", "cents"],
        ["q0", *["—"] * 7],
    ]


def test_the_terminals_table_of_large_figures_has_the_querys_name() -> None:
    rounds = [{"events_per_second": rate} for rate in (16_684_140, 20_276_560)]
    large = throughput("q17") | {"events_per_second": 18_480_350, "events_per_cpu_second": 10_292_790}
    text = printed(RESULT | {"queries": [large | {"rounds": rounds}]}, width=80)
    (row,) = [line.split() for line in text.splitlines() if "18,480,350" in line]
    assert row == ["q17", "18,480,350", "16,684,140", "to", "20,276,560", "1.25", "10,292,790", "—", "0"]


def test_the_terminals_table_of_a_throughput_run_is_narrow() -> None:
    text = printed(RESULT | {"queries": [throughput("q0")]}, width=60)
    assert "p99" not in text
    assert "Output" not in text
