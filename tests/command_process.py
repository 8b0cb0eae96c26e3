"""A command of `causeway` as a process group of its own, to be broken off at any moment."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.quick_spark import QUICK_SPARK

__all__ = ["CommandProcess"]

# A warm-up changes no answers; all of it would be most of a test's time. A process group of its own outlives
# tests that are broken off, if it does not look after that itself.
_PROGRAM: Final = """
import os, signal, threading, time

def end_with_the_tests(parent=os.getppid()):
    while os.getppid() == parent:
        time.sleep(1)
    os.killpg(0, signal.SIGKILL)

threading.Thread(target=end_with_the_tests, daemon=True).start()
from causeway.linear_road.runner import warm_up
warm_up._BATCHES = 1
from causeway.cli.main import main
main()
"""
_MARK: Final = "CAUSEWAY_TEST_RUN"
_PATIENCE: Final = 400
"""Seconds; on a quiet machine none of the waits takes 20."""


class CommandProcess:
    """One attempt at a command; at the end of the block nothing of it is left."""

    def __init__(self, run: Path, *command: object) -> None:
        """What it tells, and Spark's files, are beside `run`, which is the folder that it makes."""
        self._mark = str(uuid.uuid4())
        self._output_file = run.with_name(f"{run.name}-{self._mark}.txt")
        settings = QUICK_SPARK | {"spark.driver.memory": "1g", "spark.local.dir": f"{run}-spark"}
        options = (word for key, value in settings.items() for word in ("--conf", f"{key}={value}"))
        arguments = [*command, *options]
        with self._output_file.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, *map(str, arguments)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | {_MARK: self._mark},
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._signal(signal.SIGKILL)
        self.process.wait()
        left = self._left_after(_PATIENCE if kind is None else 20)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        assert not left, f"still there: {left}"

    @property
    def output(self) -> str:
        """What it has told so far, in one line."""
        return " ".join(self._output_file.read_text().split())

    def wait_for(self, moment: Callable[[], bool]) -> None:
        """Wait until `moment` has come; looks every millisecond, since some are soon over."""
        assert self.comes_to(moment), f"it ended with {self.process.returncode}: {self.output}"

    def comes_to(self, moment: Callable[[], bool]) -> bool:
        """Wait until `moment` has come, or all is over."""
        give_up = time.monotonic() + _PATIENCE
        while not moment():
            if self.process.poll() is not None:
                return False
            assert time.monotonic() < give_up, f"waited in vain: {self.output}"
            time.sleep(0.001)
        return True

    def kill(self, at_most_after: float = 0.0) -> None:
        """Kill -9 for the whole process group, at some moment of so many seconds."""
        time.sleep(random.uniform(0, at_most_after))
        self._signal(signal.SIGKILL)
        assert self.process.wait() == -signal.SIGKILL, self.output

    def interrupt(self) -> int:
        """What a terminal does on Ctrl-C; returns the exit code."""
        self._signal(signal.SIGINT)
        return self.process.wait(_PATIENCE)

    def end(self) -> int:
        """Let it end; returns the exit code."""
        return self.process.wait(_PATIENCE)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def _left_after(self, seconds: float) -> list[int]:
        """Processes that it has started, in whichever group, and that are there after so many seconds.

        Spark's Python workers are in groups of their own, and end when their sockets are closed.
        """
        give_up = time.monotonic() + seconds
        while (left := self._started()) and time.monotonic() < give_up:
            time.sleep(0.1)
        return left

    def _started(self) -> list[int]:
        mark = f"{_MARK}={self._mark}".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
        return found
