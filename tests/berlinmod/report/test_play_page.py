"""The page with moving vehicles: what is in it, and that it works in a real browser."""

from __future__ import annotations

import base64
import json
import re
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.berlinmod.report.made_dataset import make_dataset
from tests.berlinmod.small_city import small_city
from tests.browser import Browser

from causeway.berlinmod.dataset import HISTORIES, Dataset, read_movements
from causeway.berlinmod.model.calendar import HOUR_MS, day_start
from causeway.berlinmod.report.play_data import Window, play_data, thin
from causeway.berlinmod.report.play_page import write_play_page
from causeway.runtime.errors import UserError

DESKTOP, PHONE = 1300, 390
READY = "window.cityPlayer && cityPlayer.frames() > 1"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return make_dataset(tmp_path_factory.mktemp("play") / "city", small_city(), cars=40)


@pytest.fixture(scope="module")
def page(dataset: Dataset) -> Path:
    return write_play_page(dataset)


def unpacked(text: str, kind: type) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), kind)


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(1, 30_000), st.integers(-60, 60), st.integers(-60, 60)), min_size=1, max_size=60
    )
)
def test_thinning_stays_within_its_tolerance(steps: list[tuple[int, int, int]]) -> None:
    t = np.concatenate(([0], np.cumsum([step[0] for step in steps]))).astype(np.int64)
    x = np.concatenate(([0], np.cumsum([step[1] for step in steps]))).astype(np.float64)
    y = np.concatenate(([0], np.cumsum([step[2] for step in steps]))).astype(np.float64)
    kept = thin(t, x, y, 4.0, 4000)
    assert kept[0]
    assert kept[-1]
    off = np.hypot(np.interp(t, t[kept], x[kept]) - x, np.interp(t, t[kept], y[kept]) - y)
    assert off.max() <= 4.0 + 1e-9
    standing = (np.diff(x) == 0) & (np.diff(y) == 0) & (np.diff(t) >= 4000)
    assert kept[:-1][standing].all()
    assert kept[1:][standing].all()


def test_every_vehicle_is_where_the_data_set_has_it(dataset: Dataset) -> None:
    begin = day_start(dataset.parameters.start_day) + 6 * HOUR_MS
    window = Window(begin, begin + 3 * HOUR_MS)
    data = play_data(dataset, window, 40)
    offsets, t = unpacked(data["offsets"], np.uint32), unpacked(data["t"], np.uint32).astype(np.int64)
    x, y = unpacked(data["x"], np.uint16), unpacked(data["y"], np.uint16)
    assert len(offsets) == 41
    instants = np.linspace(window.begin, window.end, 200).astype(np.int64)
    cut = dataset.cut
    for file in range(cut.files):
        for group, (first, end) in enumerate(cut.group_ranges(file)):
            moves, _ = read_movements(dataset.part(HISTORIES, file), group)
            for vehicle in range(first, end):
                row = slice(moves.offsets[vehicle - first], moves.offsets[vehicle - first + 1])
                one = slice(offsets[vehicle], offsets[vehicle + 1])
                for mine, theirs, low in ((x, moves.x, data["left"]), (y, moves.y, data["bottom"])):
                    shown = low + data["scale"] * np.interp(instants - window.begin, t[one], mine[one])
                    np.testing.assert_allclose(
                        shown, np.interp(instants, moves.t[row], theirs[row]), atol=4.0 + 2 * data["scale"]
                    )


def test_fewer_vehicles_and_hours_make_a_smaller_page(dataset: Dataset, tmp_path: Path) -> None:
    start = datetime(2007, 5, 28, 8, 30)
    page = write_play_page(dataset, start=start, hours=1, vehicles=7, page=tmp_path / "some.html")
    text = page.read_text()
    data = json.loads(re.search(r'id="play-data">(.*?)</script>', text, re.DOTALL)[1])  # type: ignore[index]
    assert len(data["licences"]) == 7
    assert data["end"] - data["begin"] == HOUR_MS
    assert "7 (of 40) vehicles" in text
    assert not list(dataset.folder.glob(".play*"))


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"start": datetime(2008, 1, 1)}, "the data begins 2007-05-28 00:00 and ends 2007-05-29 00:00"),
        ({"hours": 0.0}, "0 hours cannot be shown"),
        ({"vehicles": 0}, "0 vehicles"),
    ],
)
def test_mistakes_are_told(dataset: Dataset, choice: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        write_play_page(dataset, **choice)  # type: ignore[arg-type]


def test_a_page_that_would_be_too_large_is_refused(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("causeway.berlinmod.report.play_data._POINTS_LIMIT", 100)
    with pytest.raises(UserError, match="fewer hours or fewer vehicles"):
        write_play_page(dataset)


def test_the_page_asks_nothing_of_the_network_and_runs_one_script(page: Path) -> None:
    text = page.read_text()
    assert "default-src 'none'" in text.replace("&#x27;", "'")
    assert not re.search(r"(src|href)\s*=", text)
    # The first vehicle's licence would be markup if it were written as such.
    assert "<b>0" not in text
    assert text.count("<script") == 2


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_it_loads_and_is_no_wider_than_the_screen(browser: Browser, page: Path, width: int) -> None:
    browser.load(page, width)
    browser.wait_for(READY)
    assert browser.errors() == []
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    browser.wait_for("cityPlayer.state.playing")


def test_time_goes_on_stops_and_jumps(browser: Browser, page: Path, dataset: Dataset) -> None:
    browser.load(page, DESKTOP)
    browser.wait_for(READY)
    start = browser.evaluate("cityPlayer.state.time")
    browser.wait_for(f"cityPlayer.state.time > {start}")
    browser.click("#play")
    assert browser.texts("#play") == ["Play"]
    browser.evaluate(
        "(slider => { slider.value = 9 * 3600; slider.dispatchEvent(new Event('input')); "
        "cityPlayer.draw(); })(document.getElementById('slider'))"
    )
    assert browser.texts("#time") == ["09:00:00"]
    assert browser.texts("#day") == ["Monday, 2007-05-28"]
    moves, _ = read_movements(dataset.part(HISTORIES, 0), 0)
    instant = day_start(dataset.parameters.start_day) + 9 * HOUR_MS
    row = slice(moves.offsets[1], moves.offsets[2])
    expected = [np.interp(instant, moves.t[row], axis[row]) for axis in (moves.x, moves.y)]
    assert browser.evaluate("cityPlayer.position(1)") == pytest.approx(expected, abs=5.0)


def test_a_vehicle_is_followed(browser: Browser, page: Path) -> None:
    browser.load(page, DESKTOP)
    browser.wait_for(READY)
    browser.click("#play")
    browser.evaluate("cityPlayer.follow(0)")
    browser.wait_for("!document.getElementById('vehicle').hidden")
    assert browser.texts("#licence") == ["B-<b>0"]
    assert browser.evaluate("document.querySelectorAll('#vehicle b').length") == 0
    assert browser.evaluate("cityPlayer.trips().length") == 4
    browser.click("#trips li:nth-child(2) button")
    browser.wait_for("document.querySelector('#trips li:nth-child(2) button').classList.contains('now')")
    # The camera comes to where the vehicle is.
    browser.wait_for(
        "(([x, y]) => Math.abs(x - innerWidth / 2) < 25 && Math.abs(y - innerHeight / 2) < 25)"
        "(cityPlayer.onScreen(0))"
    )
    browser.click("#whole")
    assert browser.evaluate("cityPlayer.state.follow") == -1
    assert browser.errors() == []


def test_a_click_on_a_vehicle_follows_it(browser: Browser, page: Path) -> None:
    browser.load(page, DESKTOP)
    browser.wait_for(READY)
    browser.click("#play")
    browser.evaluate("(cityPlayer.jump(9 * 3600000), cityPlayer.draw())")
    x, y = browser.evaluate("cityPlayer.onScreen(3)")
    browser.click_inside("#city", x / DESKTOP, y / 1000)
    browser.wait_for("cityPlayer.state.follow >= 0")
    followed = browser.evaluate("cityPlayer.state.follow")
    there = browser.evaluate(f"cityPlayer.position({followed})")
    assert browser.evaluate("cityPlayer.position(3)") == pytest.approx(there, abs=60.0)


def test_districts_can_be_hidden(browser: Browser, page: Path) -> None:
    browser.load(page, DESKTOP)
    browser.wait_for(READY)
    browser.click("#districts")
    assert browser.evaluate("cityPlayer.state.districts") is False
    assert browser.errors() == []
