"""Progress of long work on standard error: a bar on a terminal, elsewhere a line every 30 seconds.

Shown only where a command asks for it (`show_progress`): a library prints nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

__all__ = ["ProgressBar", "console", "is_progress_shown", "progress_bar", "show_progress", "watched"]

console = Console(stderr=True, highlight=False)
"""Where a command reports its progress; its result goes to standard output."""

_LINE_SECONDS: Final = 30.0
_MEASURE_SECONDS: Final = 0.5

_shown = False


def show_progress(shown: bool = True) -> None:
    """Show the progress of this process' work from now on, or no longer."""
    global _shown  # noqa: PLW0603
    _shown = shown


def is_progress_shown() -> bool:
    """Whether the progress of this process' work is shown."""
    return _shown


class ProgressBar(Protocol):
    """How far some work is; `update` takes the amount done so far, not a difference."""

    def update(self, done: float, note: str = "", seconds_left: float | None = None) -> None:
        """Show `done` of the total as done, and a `note` beside it.

        `seconds_left` is for work whose end is known; otherwise the rate so far tells.
        """


@contextmanager
def progress_bar(title: str, total: float, unit: str) -> Iterator[ProgressBar]:
    """Show the progress of the work inside the block."""
    if not _shown:
        yield _Nothing()
    elif console.is_terminal:
        with Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            _DoneColumn(),
            _RateColumn(),
            TimeRemainingColumn(),
            TextColumn("left"),
            TextColumn("{task.fields[note]}"),
            console=console,
        ) as progress:
            yield _Bar(progress, progress.add_task(title, total=total, unit=unit, note=""))
    else:
        lines = ProgressLines(title, total, unit)
        with _repeated(lambda: console.print(lines.line(), soft_wrap=True, markup=False), _LINE_SECONDS):
            yield lines


@contextmanager
def watched(title: str, total: float, unit: str, measure: Callable[[], float]) -> Iterator[None]:
    """Show the progress of work that goes on elsewhere (in Spark tasks): `measure` tells how far it is.

    It is called from another thread, and only if progress is shown: twice a second for a bar, before each
    line otherwise. It may look at files that the work makes and removes: an OSError only means no news.
    """
    with progress_bar(title, total, unit) as bar:
        if not _shown:
            yield
            return

        def look() -> None:
            with suppress(OSError):
                bar.update(measure())

        seconds = _MEASURE_SECONDS if console.is_terminal else _LINE_SECONDS / 2
        with _repeated(look, seconds):
            yield
        bar.update(total)


class ProgressLines:
    """Progress as lines: what, how far, rate since the line before, time left."""

    def __init__(
        self, title: str, total: float, unit: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._title = title
        self._total = total
        self._unit = unit
        self._clock = clock
        self._done = 0.0
        self._note = ""
        self._seconds_left: float | None = None
        self._last = (clock(), 0.0)

    def update(self, done: float, note: str = "", seconds_left: float | None = None) -> None:
        """Remember `done` of the total as done, and a `note` for the next line."""
        self._done, self._note, self._seconds_left = done, note, seconds_left

    def line(self) -> str:
        """What there is to say now."""
        now, done = self._clock(), self._done
        (then, before), self._last = self._last, (now, done)
        parts = [f"{self._title}: {_short(done)} of {_short(self._total)} {self._unit}"]
        rate = (done - before) / (now - then) if now > then else 0.0
        if rate > 0:
            left = (self._total - done) / rate if self._seconds_left is None else self._seconds_left
            parts += [f"{_short(rate)} {self._unit}/s", f"{_duration(left)} left"]
        if self._note:
            parts.append(self._note)
        return ", ".join(parts)


class _Bar:
    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def update(self, done: float, note: str = "", seconds_left: float | None = None) -> None:
        self._progress.update(self._task, completed=done, note=note)


class _Nothing:
    def update(self, done: float, note: str = "", seconds_left: float | None = None) -> None:
        pass


class _DoneColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{_short(task.completed)}/{_short(task.total or 0)}", style="progress.download")


class _RateColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        if not speed:
            return Text("")
        return Text(f"{_short(speed)} {task.fields['unit']}/s", style="progress.data.speed")


@contextmanager
def _repeated(action: Callable[[], None], seconds: float) -> Iterator[None]:
    """Do `action` in another thread every so many seconds while the block runs."""
    done = threading.Event()

    def repeat() -> None:
        while not _wait(done, seconds):
            action()

    thread = threading.Thread(target=repeat, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _wait(done: threading.Event, seconds: float) -> bool:
    return done.wait(seconds)


def _short(amount: float) -> str:
    """A number of few digits, so that a bar has room beside it: 7, 0.7, 10,800, 120k, 2.5M."""
    if 0 < amount < 10 and amount != int(amount):
        return f"{amount:.1f}"
    if amount < 100_000:
        return f"{amount:,.0f}"
    return f"{amount / 1000:,.0f}k" if amount < 999_500 else f"{amount / 1_000_000:,.1f}M"


def _duration(seconds: float) -> str:
    """A time of one or two units: 40 s, 12 min, 3 h 5 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
