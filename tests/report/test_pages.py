"""Every page in a real browser: it loads, its controls change what is shown, and no script throws."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.browser import Browser
from tests.linear_road.report.made_inspection import inspection
from tests.linear_road.report.made_run import (
    HISTORY,
    make_run,
    query_session,
    validation,
    write_segments,
)
from tests.nexmark.report.made_result import RESULT, matching, steady, throughput

from causeway.linear_road.report.run_page import write_run_page
from causeway.linear_road.report.traffic import write_traffic_page
from causeway.nexmark.report.run_page import write_nexmark_page

DESKTOP, PHONE = 1300, 390
DRAWN = "document.querySelectorAll('.main-svg').length > 0"
MAP = "document.getElementById('city-map')"
MAP_TITLES = f"{MAP}.layout.annotations.map(note => note.text)"


@pytest.fixture(scope="module")
def nexmark_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nexmark")
    of_a_set = matching(unit="of 1", distance="set")
    queries = [steady("q4"), steady("q5", output_matching=of_a_set), throughput("q0")]
    (folder / "result.json").write_text(json.dumps(RESULT | {"queries": queries}))
    return write_nexmark_page(folder)


@pytest.fixture(scope="module")
def run_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five expressways, so that there is an overview, and a history that was asked."""
    run = make_run(tmp_path_factory.mktemp("linear_road") / "run", segments=False, **HISTORY)
    sessions = [query_session(), query_session(rate=20, index=False)]
    (run / "queries.json").write_text(json.dumps({"layout": 1, "sessions": sessions}))
    write_segments(
        run,
        [
            (minute, xway, direction, segment, 60 + 5 * xway, 30, 200 * xway, int(segment == 9))
            for minute in (1, 2, 3)
            for xway in range(5)
            for direction in (0, 1)
            for segment in range(0, 100, 3)
        ],
    )
    (run / "validation.json").write_text(json.dumps(validation(True)))
    return write_run_page(run)


@pytest.fixture(scope="module")
def traffic_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    page = tmp_path_factory.mktemp("traffic") / "inspection.html"
    write_traffic_page(inspection(), page)
    return page


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("page", ["nexmark_page", "run_page", "traffic_page"])
def test_a_page_loads_and_is_no_wider_than_the_screen(
    browser: Browser, request: pytest.FixtureRequest, page: str, width: int
) -> None:
    browser.load(request.getfixturevalue(page), width)
    browser.wait_for(DRAWN)
    assert browser.errors() == []
    assert browser.evaluate("document.documentElement.scrollWidth") == width


def test_a_row_of_the_queries_shows_its_query(browser: Browser, nexmark_page: Path) -> None:
    browser.load(nexmark_page, DESKTOP)
    browser.wait_for(DRAWN)
    assert browser.evaluate("window.scrollY") == 0
    for query, heading in (("q5", "q5 Hot items"), ("q0", "q0 Pass through")):
        browser.click(f"tr[data-query={query}]")
        assert browser.errors() == []
        browser.wait_for("document.getElementById('plot').getBoundingClientRect().top < window.innerHeight")
        assert browser.texts("#query-words b") == [heading]
        assert browser.texts(".choice button[aria-pressed=true]") == [query]


def test_a_button_shows_its_query(browser: Browser, nexmark_page: Path) -> None:
    browser.load(nexmark_page, PHONE)
    browser.wait_for(DRAWN)
    assert browser.texts("#query-words b") == ["q4 Average price for a category"]
    assert browser.evaluate("document.getElementById('plot').data.length") > 3
    browser.click(".choice button[data-query=q0]")
    assert browser.texts("#query-words b") == ["q0 Pass through"]
    assert browser.evaluate("document.getElementById('plot').data.map(trace => trace.name)") == ["batch"]
    assert browser.errors() == []


def test_rows_are_not_clickable_where_no_query_has_a_plot(browser: Browser, tmp_path: Path) -> None:
    plain = {name: fact for name, fact in throughput("q0").items() if name != "batches"}
    (tmp_path / "result.json").write_text(json.dumps(RESULT | {"queries": [plain]}))
    browser.load(write_nexmark_page(tmp_path), DESKTOP)
    assert browser.evaluate("document.querySelectorAll('tr[data-query], #plot').length") == 0
    assert browser.errors() == []


def test_the_maps_controls_change_what_it_shows(browser: Browser, run_page: Path) -> None:
    browser.load(run_page, PHONE)
    browser.wait_for(f"{MAP} && {MAP}.layout")
    mean = ["mean of all 5, east (traffic goes up)", "mean of all 5, west (traffic goes down)"]
    assert browser.evaluate(MAP_TITLES) == mean
    browser.choose("#city-direction", "west")
    assert browser.evaluate(MAP_TITLES) == mean[1:]
    assert browser.evaluate(f"{MAP}.layout.coloraxis.colorbar.title.text") == "toll"
    browser.choose("#city-quantity", "average speed")
    assert browser.evaluate(f"{MAP}.layout.coloraxis.colorbar.title.text") == "mph"
    browser.choose("#city-quantity", "cars")
    browser.choose("#city-expressway", "expressway 4")
    assert browser.evaluate(MAP_TITLES) == ["expressway 4, west (traffic goes down)"]
    # Segment 0 in minute 1: 60 + 5 x 4 cars.
    assert browser.evaluate(f"{MAP}.data[0].customdata[0][0][0]") == 80
    assert browser.errors() == []


def test_a_click_on_the_overview_shows_that_expressway(browser: Browser, run_page: Path) -> None:
    browser.load(run_page, DESKTOP)
    browser.wait_for(f"{MAP} && {MAP}.layout && document.querySelector('#city-overview .nsewdrag')")
    # The third of five rows.
    browser.click_inside("#city-overview .nsewdrag", 0.4, 0.5)
    browser.wait_for(f"{MAP_TITLES}[0].startsWith('expressway 2, east')")
    browser.choose("#city-expressway", "mean of all 5")
    assert browser.evaluate(MAP_TITLES)[0].startswith("mean of all 5")
    assert browser.errors() == []
