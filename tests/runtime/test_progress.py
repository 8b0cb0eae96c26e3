from __future__ import annotations

import io
import threading
import time

import pytest
from rich.console import Console

from causeway.runtime import progress


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


def test_without_a_terminal_nothing_is_shown_or_measured(no_terminal: io.StringIO) -> None:
    def measure() -> float:
        raise AssertionError("nobody looks")

    with progress.watched("writing", 10, "rows", measure):
        time.sleep(0.6)
    assert no_terminal.getvalue() == ""


def test_a_measure_may_fail_for_a_while(terminal: io.StringIO) -> None:
    looked = threading.Event()

    def measure() -> float:
        if looked.is_set():
            return 5
        looked.set()
        raise FileNotFoundError

    with progress.watched("writing", 10, "rows", measure):
        give_up = time.monotonic() + 20
        while "5/10" not in terminal.getvalue() and time.monotonic() < give_up:
            time.sleep(0.05)
    assert "5/10" in terminal.getvalue()
    assert "10/10" in terminal.getvalue()
    assert "Traceback" not in terminal.getvalue()


def test_a_failure_inside_ends_the_watching(terminal: io.StringIO) -> None:
    with pytest.raises(ValueError, match="inside"), progress.watched("writing", 10, "rows", lambda: 1):
        raise ValueError("inside")
    assert "watcher" not in {thread.name for thread in threading.enumerate()}
    assert "10/10" not in terminal.getvalue()
