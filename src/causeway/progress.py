"""Progress of long work: a bar with rate and time left on a terminal, silence elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

__all__ = ["ProgressBar", "console", "progress_bar", "watched"]

console = Console(stderr=True, highlight=False)
"""Where a command tells how it is going; its result goes to standard output."""


class _RateColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        if not speed:
            return Text("")
        return Text(
            f"{speed:,.0f} {task.fields['unit']}/s" if speed >= 10 else f"{speed:.1f} {task.fields['unit']}/s"
        )


class ProgressBar:
    """One bar; `update` takes the amount done so far, not a difference."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def update(self, done: float) -> None:
        """Show `done` of the total as done."""
        self._progress.update(self._task, completed=done)


@contextmanager
def progress_bar(title: str, total: float, unit: str) -> Iterator[ProgressBar]:
    """Show a bar for the work inside the block; nothing where standard error is no terminal."""
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _RateColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    ) as progress:
        yield ProgressBar(progress, progress.add_task(title, total=total, unit=unit))


@contextmanager
def watched(title: str, total: float, unit: str, measure: Callable[[], float]) -> Iterator[None]:
    """Show a bar for work that goes on elsewhere (in Spark tasks): `measure` tells how far it is."""
    with progress_bar(title, total, unit) as bar:
        done = threading.Event()

        def look() -> None:
            while not done.wait(0.5):
                bar.update(measure())

        watcher = threading.Thread(target=look, daemon=True)
        watcher.start()
        try:
            yield
            bar.update(total)
        finally:
            done.set()
            watcher.join()
