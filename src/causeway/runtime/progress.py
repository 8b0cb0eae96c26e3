"""Progress of long work: a bar with rate and time left on a terminal, silence elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

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

__all__ = ["ProgressBar", "console", "progress_bar", "watched"]

console = Console(stderr=True, highlight=False)
"""Where a command tells how it is going; its result goes to standard output."""


class _DoneColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{_short(task.completed)}/{_short(task.total or 0)}", style="progress.download")


class _RateColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        if not speed:
            return Text("")
        return Text(f"{_short(speed)} {task.fields['unit']}/s", style="progress.data.speed")


def _short(amount: float) -> str:
    """A number of few digits, so that a bar has room beside it: 7, 0.7, 10,800, 120k, 2.5M."""
    if 0 < amount < 10 and amount != int(amount):
        return f"{amount:.1f}"
    if amount < 100_000:
        return f"{amount:,.0f}"
    return f"{amount / 1000:,.0f}k" if amount < 999_500 else f"{amount / 1_000_000:,.1f}M"


class ProgressBar:
    """One bar; `update` takes the amount done so far, not a difference."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def update(self, done: float, note: str = "") -> None:
        """Show `done` of the total as done, and a `note` beside it."""
        self._progress.update(self._task, completed=done, note=note)


@contextmanager
def progress_bar(title: str, total: float, unit: str) -> Iterator[ProgressBar]:
    """Show a bar for the work inside the block; nothing where standard error is no terminal."""
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        _DoneColumn(),
        _RateColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
        TextColumn("{task.fields[note]}"),
        console=console,
        disable=not console.is_terminal,
    ) as progress:
        yield ProgressBar(progress, progress.add_task(title, total=total, unit=unit, note=""))


@contextmanager
def watched(title: str, total: float, unit: str, measure: Callable[[], float]) -> Iterator[None]:
    """Show a bar for work that goes on elsewhere (in Spark tasks): `measure` tells how far it is.

    It is called from another thread, twice a second, and only where there is a bar to see. It may look at
    files that the work makes and removes: an OSError only means no news.
    """
    with progress_bar(title, total, unit) as bar:
        if not console.is_terminal:
            yield
            return
        done = threading.Event()

        def look() -> None:
            while not done.wait(0.5):
                with suppress(OSError):
                    bar.update(measure())

        watcher = threading.Thread(target=look, name="watcher", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()
        bar.update(total)
