"""A command of `causeway` as a process of its own, which a trial starts and waits for.

The command is what a user would type, and returns all its memory when it ends. When the process that started
it is gone, it ends too: otherwise it would take the cores of whatever is measured next.
"""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Final

from causeway.runtime.child_process import end_with, exit_reason
from causeway.runtime.progress import console, is_progress_shown

__all__ = ["Ended", "run_command"]

_KEPT: Final = 20_000
"""Bytes of a command's error output that are kept, from its end."""
_GRACE: Final = 10
"""Seconds to end in after Ctrl-C, which a terminal sends to every process."""

_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_LAST_WORDS: Final = re.compile(r"^(?:no|error|failed): ", re.MULTILINE)
_ADVICE: Final = "This should not happen;"


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    """0 fine, 1 the answer is no, 2 the user's mistake; any other is a crash, below 0 by a signal."""
    message: str
    """Its last words, in one line."""


def run_command(arguments: Sequence[str], *, debug: bool = False) -> Ended:
    """Run `causeway` with these arguments and wait for its end; its progress is shown if this process' is.

    Its result is in the files that it leaves: what it prints on standard output is not shown.
    """
    shown = (console.is_terminal and is_progress_shown()) or debug
    environment = dict(os.environ)
    if console.is_terminal:
        # Its error output is a pipe, so that its last words can be kept; a terminal is behind it.
        environment |= {"TTY_COMPATIBLE": "1", "COLUMNS": str(console.width)}
    else:
        environment["COLUMNS"] = "10000"
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, str(os.getpid()), *(["--debug"] if debug else []), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
    )
    assert process.stderr is not None
    end = bytearray()
    reader = threading.Thread(target=_keep_end, args=(process.stderr, end, shown), daemon=True)
    reader.start()
    try:
        code = process.wait()
    except BaseException:
        _end(process)
        raise
    reader.join(_GRACE)
    return Ended(code, _last_words(bytes(end).decode(errors="replace"), code))


def _keep_end(stream: IO[bytes], end: bytearray, shown: bool) -> None:
    while piece := os.read(stream.fileno(), 1 << 16):
        if shown:
            sys.stderr.buffer.write(piece)
            sys.stderr.buffer.flush()
        end += piece
        del end[:-_KEPT]


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _last_words(text: str, code: int) -> str:
    if code < 0:
        return f"it {exit_reason(code)}"
    lines = _ESCAPES.sub("", text).replace("\r", "\n")
    begins = [found.end() for found in _LAST_WORDS.finditer(lines)]
    words = lines[begins[-1] :].partition(_ADVICE)[0] if begins else "\n".join(lines.splitlines()[-1:])
    return " ".join(words.split()) or f"it {exit_reason(code)}"


def main() -> None:
    """Run the command line `PARENT ARGUMENTS…`, and end when the process PARENT is gone."""
    end_with(int(sys.argv.pop(1)))
    runpy.run_module("causeway", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
