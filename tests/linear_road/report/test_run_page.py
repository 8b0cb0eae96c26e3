"""The page of a run, from small runs made by hand."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.linear_road.report.made_run import (
    FACTS,
    HISTORY,
    make_run,
    query_session,
    validation,
    write_answers,
)

from causeway.linear_road.report.city import City, city_data, read_city
from causeway.linear_road.report.run_measurements import measure_run
from causeway.linear_road.report.run_page import write_run_page
from causeway.linear_road.runner.answers_file import collect_answers
from causeway.runtime.errors import UserError


def page(run: Path) -> str:
    path = write_run_page(run)
    assert path == run / "report.html"
    return path.read_text(encoding="utf-8")


def tiles(html: str) -> dict[str, str]:
    return dict(re.findall(r'<div class="tile[^"]*"><b>(.*?)</b><span>(.*?)</span></div>', html))


def test_the_page_has_headline_plots_city_and_settings(tmp_path: Path) -> None:
    html = page(make_run(tmp_path / "run"))
    assert tiles(html) == {
        "late": "2 answers past their deadline; not validated",
        "L = 2": "minutes 2 to 5, speed 2",
        "5.50 s": "worst response of a toll or alert; 5 s allowed",
        "100/s": "tuples delivered on average; 100/s at most",
        "8": "answers to 12,345 tuples, of five types",
    }
    for told in (
        "Toll notifications",
        "Accident alerts",
        "5 s allowed",
        "30 s allowed",
        "Tuples per second",
        "Time of a batch",
        "mean of all 2",
        "expressway 1",
        "spark.driver.memory",
        "&lt;8g&gt;",
        "2025-10-09 08:52:20 UTC",
        "Fast &lt;&amp; cheap&gt;",
        "causeway linear-road validate &#x27;&lt;b&gt;roads&lt;/b&gt; &amp; more&#x27;",
    ):
        assert told in html


def test_responses_are_of_the_later_of_emit_and_readable_in_real_seconds(tmp_path: Path) -> None:
    measured = measure_run(make_run(tmp_path / "run"))
    assert measured.answers == {0: 4, 1: 1, 2: 1, 3: 1, 4: 1}
    tolls = measured.responses[0]
    # Second 5 lies before minute 2; the batches were readable at 130 and 142, at twice the speed.
    assert (tolls.answers, tolls.late) == (3, 1)
    assert [tolls.p50, tolls.worst] == pytest.approx([5.0, 5.5], abs=0.008)
    assert {kind: responses.late for kind, responses in measured.responses.items()} == {
        0: 1,
        1: 1,
        2: 0,
        3: 0,
        4: 0,
    }
    assert "2 answers past their deadline" in tiles(page(tmp_path / "run"))["late"]


def test_percentiles_are_those_of_the_answers(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    took = np.random.default_rng(5).gamma(2, 0.8, 4000)
    (run / "run.json").write_text(json.dumps(FACTS | {"speed": 1, "from_minute": 0, "minutes": 60}))
    for number in range(2):
        rows = [(0, second, second + took[second]) for second in range(1800 * number, 1800 * (number + 1))]
        write_answers(run, number, 1800 * number, rows)
        facts = run / f"batches/batch-{number:09d}.json"
        facts.write_text(json.dumps(json.loads(facts.read_text()) | {"readable_simulated": 0.0}))
    collect_answers(run)
    tolls = measure_run(run).responses[0]
    took = took[:3600]
    assert tolls.worst == pytest.approx(took.max())
    for told, share in ((tolls.p50, 50), (tolls.p99, 99)):
        assert told == pytest.approx(np.percentile(took, share, method="inverted_cdf"), rel=0.003, abs=0.001)
    bins = took.reshape(len(tolls.bin_minutes), -1)
    assert tolls.bin_worst == pytest.approx(bins.max(axis=1))
    in_bins = np.percentile(bins, 50, axis=1, method="inverted_cdf")
    assert tolls.bin_p50 == pytest.approx(in_bins, rel=0.003, abs=0.001)
    assert tolls.late == (took > 5).sum()


def test_the_page_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    html = page(make_run(tmp_path / "run"))
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=", html)
    assert "@import" not in html.split("<script")[0]
    assert 1_000_000 < len(html) < 15_000_000


def test_a_validation_is_shown(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    (run / "validation.json").write_text(json.dumps(validation(True, xways=[0, 1], notes=["mind <this>"])))
    html = page(run)
    assert tiles(html)["passed"] == "every answer complete, right and on time (of vehicles on 2 expressways)"
    assert "<td>toll notification</td><td>1,234</td>" in html
    assert "<td>2.250</td>" in html
    assert "mind &lt;this&gt;" in html
    words = "vehicle 7 says <script>alert(1)</script>"
    differences = [{"type": 0, "kind": "wrong", "time": 130, "words": words}]
    (run / "validation.json").write_text(json.dumps(validation(False, malformed=2, differences=differences)))
    html = page(run)
    assert tiles(html)["failed"] == "15 wrong, 2 malformed"
    assert "vehicle 7 says &lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<script>alert(1)" not in html


def test_a_run_that_keeps_its_reports(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", **HISTORY)
    html = page(run)
    assert "holds 2,000,000 position reports in 52.0 MB (26.0 bytes a row) and 2 files" in html
    assert "1.50 µs a row" in html
    assert "causeway linear-road query" in html
    # Samples before minute 2 are not of real time.
    assert "<td>this run</td><td>1,000.0</td><td>1,500.0</td><td>1,200.0</td><td>30.0</td>" in html
    sessions = [query_session(), query_session(rate=20, index=False, live=False, wrong=["<b>short</b>"])]
    (run / "queries.json").write_text(json.dumps({"layout": 1, "sessions": sessions}))
    html = page(run)
    for told in (
        "release to readable, noted by the writer",
        '<td class="holds">0.040</td><td>0.060</td><td>0.471</td>',
        '<td class="out">0.400</td><td>0.338</td><td>1.373</td>',
        "<td>20 a minute, no index</td>",
        "1.0 of 2 files (1.0 were passed over by time, 0.0 by value), 2.5 of 31 row groups",
        "1 of 10 compared answers are wrong",
        "&lt;b&gt;short&lt;/b&gt;",
        "history-queries",
    ):
        assert told in html
    # Those of seconds 120 and 125 were asked for in the session, that of second 131 after it.
    assert "<td>toll notification</td><td>3.750</td><td>5.000</td><td>5.500</td><td>5.500</td>" in html
    (run / "queries.json").write_text("{")
    assert "queries.json cannot be read" in page(run)


def test_without_real_time_there_are_no_response_times(tmp_path: Path) -> None:
    html = page(make_run(tmp_path / "run", speed=None, from_minute=0))
    assert tiles(html)["L = 2"] == "5 minutes, as fast as possible"
    # Three batches of 500 tuples, begun a second apart, the last of which took 0.75 s.
    assert tiles(html)["545/s"].startswith("tuples processed")
    assert "answers have no response times" in html
    assert "s allowed" not in html.split("<body>")[1].split("<h2>Validation")[0]


def test_a_run_that_failed_shows_how_far_it_came(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", collect=False, state="failed", batches=[])
    (run / "batches/batch-000000001.json").unlink()
    html = page(run)
    assert tiles(html)["failed"] == "after 2 of 5 simulated minutes"
    assert html.count("batch 1 was broken off") == 1
    assert re.search(r"Accident alerts\S*: 1, worst 5\.50 s", html)


def test_a_run_that_has_only_begun(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"state": "running", "speed": 1.0}')
    html = page(tmp_path)
    assert tiles(html)["unfinished"] == "after 0 of 1 simulated minutes"
    for told in ("no answer with a deadline yet", "No batch has been finished", "No minute of traffic"):
        assert told in html


@pytest.mark.filterwarnings("error")
def test_batches_that_do_not_say_when_they_began(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", speed=None, batches=[])
    for path in (run / "batches").glob("*.json"):
        facts = json.loads(path.read_text())
        del facts["started_at"]
        path.write_text(json.dumps(facts))
    assert tiles(page(run))["—"] == "tuples per second are not known yet"


def test_what_is_no_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is not a run: it has no run\.json"):
        write_run_page(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(UserError, match="cannot be read"):
        write_run_page(tmp_path)


def test_files_that_cannot_be_read_are_left_out_and_told(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", delivery={"worst_lateness_ms": 230.0, "kept_promise": False}, attempts=3)
    (run / "answers/part-00001.parquet").write_bytes(b"no <i>parquet</i>")
    (run / "segments/batch-000000001.parquet").write_bytes(b"none")
    (run / "validation.json").write_text("{")
    html = page(run)
    for told in (
        "part-00001.parquet cannot be read as answers, and is left out",
        "batch-000000001.parquet cannot be read as segments, and is left out",
        "validation.json cannot be read",
        "by up to 230 ms; 100 ms are allowed",
        "it took 3 attempts",
    ):
        assert told in html
    assert tiles(html)["8"]


def test_tolls_and_speeds_stand_in_the_minute_that_they_are_quoted_in(tmp_path: Path) -> None:
    city = read_city(make_run(tmp_path / "run"), [])
    assert city is not None
    assert (city.xways, city.minutes, city.directions) == ([0, 1], 2, [0, 1])
    assert city.cars[0, 0, :, 31].tolist() == [80, 70]
    assert city.accident[0, 0, :, 31].tolist() == [True, True]
    assert city.toll[0, 0, :, 31].tolist() == [0, 1800]
    assert city.speed[0, 0, :, 31].tolist() == [-1, 30]


def test_the_citys_numbers_come_as_compact_rows_by_segment() -> None:
    shape = (1, 2, 4, 100)
    city = City(
        xways=[5],
        toll=np.zeros(shape, np.int32),
        speed=np.full(shape, -1, np.int16),
        cars=np.ones(shape, np.int16),
        accident=np.zeros(shape, np.bool_),
    )
    city.toll[0, 1, :, 2] = [0, 1, 700, 70_000]
    city.accident[0, 1, :, 7] = [True, False, True, True]
    data = city_data(city)
    assert [view["name"] for view in data["views"]] == ["expressway 5"]
    east, west = data["views"][0]["roads"]
    assert (east["direction"], west["direction"], east["toll"]["bits"], west["toll"]["bits"]) == (
        "east",
        "west",
        8,
        32,
    )
    rows = np.frombuffer(base64.b64decode(west["toll"]["data"]), "<u4").reshape(100, 4)
    assert rows[2].tolist() == [0, 1, 700, 70_000]
    assert not np.frombuffer(base64.b64decode(west["speed"]["data"]), np.uint8).any()
    assert west["accidents"] == [[7, 1, 1], [7, 3, 4]]


def test_many_expressways_fit_into_a_page_that_can_be_sent_around() -> None:
    shape = (100, 2, 180, 100)
    city = City(
        xways=list(range(100)),
        toll=np.random.default_rng(1).integers(0, 30_000, shape, np.int32),
        speed=np.full(shape, 40, np.int16),
        cars=np.full(shape, 90, np.int16),
        accident=np.zeros(shape, np.bool_),
    )
    city.accident[::3, :, 50:60, 20] = True
    data = city_data(city)
    assert len(json.dumps(data)) < 9_000_000
    assert data["views"][0]["name"] == "mean of all 100"
    assert data["left_out"] == 100 - (len(data["views"]) - 1) > 0
    assert len(data["overview"]) == 2
