from __future__ import annotations

import io
import threading
import time

import pytest
from rich.console import Console

from causeway.runtime import progress


@pytest.fixture(autouse=True)
def _shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_shown", True)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    screen = io.StringIO()
    monkeypatch.setattr(progress, "console", Console(file=screen, force_terminal=True, width=80))
    return screen


@pytest.fixture
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    file = io.StringIO()
    monkeypatch.setattr(progress, "console", Console(file=file, force_terminal=False))
    return file


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (0, "0"),
        (0.65, "0.7"),
        (7, "7"),
        (7.25, "7.2"),
        (10_800, "10,800"),
        (120_400, "120k"),
        (2.5e6, "2.5M"),
    ],
)
def test_numbers_are_short(amount: float, shown: str) -> None:
    assert progress._short(amount) == shown


def test_a_bar_tells_what_is_done(terminal: io.StringIO) -> None:
    with progress.progress_bar("writing", 20_000_000, "rows") as bar:
        bar.update(20_000_000)
    assert "20.0M/20.0M" in terminal.getvalue()
    assert "left" in terminal.getvalue()


def test_a_library_shows_and_measures_nothing(terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure() -> float:
        raise AssertionError("nobody looks")

    progress.show_progress(False)
    monkeypatch.setattr(progress, "_MEASURE_SECONDS", 0.0)
    with progress.watched("writing", 10, "rows", measure), progress.progress_bar("w", 10, "rows") as bar:
        bar.update(5)
    assert terminal.getvalue() == ""


def test_lines_tell_how_far_how_fast_and_how_long() -> None:
    now = [100.0]
    lines = progress.ProgressLines("simulating", 10_800, "min", clock=lambda: now[0])
    assert lines.line() == "simulating: 0 of 10,800 min"
    now[0] += 30
    lines.update(1_200)
    assert lines.line() == "simulating: 1,200 of 10,800 min, 40 min/s, 4 min left"
    now[0] += 30
    lines.update(1_260, "batch 0.5 s")
    assert lines.line() == "simulating: 1,260 of 10,800 min, 2 min/s, 80 min left, batch 0.5 s"
    now[0] += 30
    assert lines.line() == "simulating: 1,260 of 10,800 min, batch 0.5 s"
    now[0] += 30
    lines.update(4_260, seconds_left=60)
    assert lines.line() == "simulating: 4,260 of 10,800 min, 100 min/s, 60 s left"


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0 s"), (89, "89 s"), (91, "2 min"), (5_000, "83 min"), (11_100, "3 h 5 min")]
)
def test_durations_are_short(seconds: float, shown: str) -> None:
    assert progress._duration(seconds) == shown


def test_without_a_terminal_a_line_comes_from_time_to_time(
    no_terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two lines while the block runs, without a wait of 30 seconds for any of them."""
    waits: list[float] = []
    two_lines = threading.Event()

    def wait(done: threading.Event, seconds: float) -> bool:
        waits.append(seconds)
        if len(waits) <= 2:
            return False
        two_lines.set()
        return done.wait(60)

    monkeypatch.setattr(progress, "_wait", wait)
    with progress.progress_bar("a [title]", 10, "rows") as bar:
        bar.update(5)
        assert two_lines.wait(60)
    assert set(waits) == {30.0}
    lines = no_terminal.getvalue().splitlines()
    assert len(lines) == 2
    assert all(line.startswith("a [title]: ") for line in lines)


def test_work_elsewhere_is_measured_for_its_lines(
    no_terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = threading.Event()

    def wait(done: threading.Event, seconds: float) -> bool:
        return done.wait(60) if measured.is_set() else done.is_set()

    def measure() -> float:
        measured.set()
        return 7

    monkeypatch.setattr(progress, "_wait", wait)
    with progress.watched("writing", 10, "rows", measure):
        assert measured.wait(60)


def test_a_measure_may_fail_for_a_while(terminal: io.StringIO) -> None:
    looked = threading.Event()

    def measure() -> float:
        if looked.is_set():
            return 5
        looked.set()
        raise FileNotFoundError

    with progress.watched("writing", 10, "rows", measure):
        give_up = time.monotonic() + 300
        while "5/10" not in terminal.getvalue() and time.monotonic() < give_up:
            time.sleep(0.05)
    assert "5/10" in terminal.getvalue()
    assert "10/10" in terminal.getvalue()
    assert "Traceback" not in terminal.getvalue()


def test_a_failure_inside_ends_the_watching(terminal: io.StringIO) -> None:
    with pytest.raises(ValueError, match="inside"), progress.watched("writing", 10, "rows", lambda: 1):
        raise ValueError("inside")
    assert "progress" not in {thread.name for thread in threading.enumerate()}
    assert "10/10" not in terminal.getvalue()
