"""The page of a run of queries: that a real browser shows all of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.berlinmod.queries.test_toy_city import TOY
from tests.browser import Browser

from causeway import berlinmod

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from causeway.berlinmod.runner.results import RunResult

DRAWN = ("q4", "q6", "q10", "q13", "q21")
"""The queries whose answer is drawn."""
READY = "document.querySelectorAll('.js-plotly-plot .main-svg').length >= {}"
LEGEND = "Array.from(document.querySelectorAll('#times .legendtext')).map(one => one.textContent)"


@pytest.fixture(scope="module")
def run(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    folder = tmp_path_factory.mktemp("page")
    city = TOY.write(folder / "city")
    return berlinmod.run(city, folder / "run", queries=",".join(DRAWN), runs=1, spark=spark)


@pytest.mark.parametrize("width", [1300, 390])
def test_every_answer_is_drawn_and_nothing_is_wider_than_the_screen(
    run: RunResult, browser: Browser, width: int
) -> None:
    browser.load(run.report, width)
    browser.wait_for(READY.format(len(DRAWN) + 1))
    assert browser.errors() == []
    headings = browser.texts("h2")
    for query in DRAWN:
        assert any(heading.startswith(f"{query.upper()}:") for heading in headings), query
        marks = browser.evaluate(
            f"document.querySelectorAll('#map-{query} .scatterlayer .trace path').length"
        )
        assert marks > 0, query
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    rows = browser.texts("table tr")
    assert sum("OBA" in row for row in rows) == sum("TBA" in row for row in rows) == len(DRAWN)


def test_times_stand_beside_published_ones(run: RunResult, browser: Browser) -> None:
    browser.load(run.report, 1300)
    browser.wait_for(f"{LEGEND}.length == 5")
    names = browser.evaluate(LEGEND)
    assert names[0] == "this run, object-based"
    assert names[-1] == "best published"
    bottom = browser.evaluate("document.querySelector('#times .legend').getBoundingClientRect().bottom")
    assert bottom <= browser.evaluate("document.querySelector('#times').getBoundingClientRect().bottom")


def test_a_page_can_be_written_again_from_its_folder(run: RunResult) -> None:
    from causeway.berlinmod.dataset import Dataset
    from causeway.berlinmod.report.run_page import write_run_page

    before = run.report.read_text(encoding="utf-8")
    again = write_run_page(run.folder, Dataset.load(Path(run.facts["dataset"]["folder"])))
    assert again == run.report
    assert again.read_text(encoding="utf-8") == before
