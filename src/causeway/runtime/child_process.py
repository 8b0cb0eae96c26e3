"""Child processes: a Python module that runs beside this process, logs to a file and never outlives it."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

__all__ = ["ChildProcess", "end_with", "exit_reason", "run_as_child"]

_FAILED: Final = "failed: "
"""Begins the last line that a failing child writes to its log."""
_LOG_END: Final = 20_000
"""Bytes of the log's end in which the reason of a failure is looked for."""


class ChildProcess:
    """`python -m MODULE JSON`, started at once; the module's `main` calls `run_as_child`.

    Standard output and error are appended to `log`, which should be a file of this child's own. Errors call
    it `name`, as in "the data driver".
    """

    def __init__(self, module: str, arguments: Mapping[str, Any], log: Path, *, name: str) -> None:
        self._name = name
        self._log = log
        self._stopped = False
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self._log_start = output.tell()
            self._process = subprocess.Popen(
                [sys.executable, "-u", "-m", module, json.dumps({**arguments, "parent": os.getpid()})],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether it is no longer at work, however it ended."""
        return self._process.poll() is not None

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for its end, at most `timeout` seconds; whether it has ended."""
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        return True

    def failure(self) -> str | None:
        """Why it failed, in a sentence that names its log; `None` if it works, finished or was stopped."""
        if not self.ended or self._stopped or self._process.returncode == 0:
            return None
        last_line = self._last_error_line()
        reason = f": {last_line}" if last_line else ""
        return f"{self._name} {exit_reason(self._process.returncode)}{reason} (its log is {self._log})"

    def stop(self, grace: float = 5) -> None:
        """End it, whatever it does: it has `grace` seconds after SIGTERM."""
        if not self.ended:
            self._stopped = True
            self._process.terminate()
            if not self.wait(grace):
                self._process.kill()
                self._process.wait()

    def _last_error_line(self) -> str:
        try:
            with self._log.open("rb") as log:
                size = log.seek(0, os.SEEK_END)
                log.seek(max(self._log_start, size - _LOG_END))
                lines = log.read().decode(errors="replace").strip().splitlines()
        except OSError:
            return ""
        reasons = [line.removeprefix(_FAILED) for line in lines if line.startswith(_FAILED)]
        return (reasons or lines or [""])[-1].strip()


def run_as_child(work: Callable[[dict[str, Any]], None]) -> None:
    """Be the child of a `ChildProcess`: call `work` with its arguments and end when the parent is gone.

    An exception goes to the log with its traceback, and its message becomes the parent's `failure()`.
    """
    arguments: dict[str, Any] = json.loads(sys.argv[1])
    end_with(arguments.pop("parent"))
    faulthandler.enable()
    try:
        work(arguments)
    except Exception as failure:
        traceback.print_exc()
        message = " ".join(str(failure).split()) or type(failure).__name__
        print(f"{_FAILED}{message}", file=sys.stderr)
        sys.exit(1)


def exit_reason(code: int) -> str:
    """How a process with this return code ended, as the rest of a sentence."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    memory = ", as a system that is short of memory does" if -code == signal.SIGKILL else ""
    return f"was killed by {name}{memory}"


def end_with(parent: int) -> None:
    """From now on, end when the process that started this one is gone, however it ended."""
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)
