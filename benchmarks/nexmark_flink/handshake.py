"""How a side and the benchmark talk: a line each, so that all are measured by the same clock and code.

A side tells that it is warm and waits for a line on its standard input. For `run` it works and tells what it
did. For `tidy` it collects garbage, which is not measured and must not disturb the side whose turn is next.
For `next` it goes on to its next query. It ends when there are no more lines for it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any, Final

__all__ = ["heard", "tell", "wait_for_word", "warm_up", "work_as_told"]

_MARK: Final = "nexmark_vs_flink "
"""Java may write to the same output."""


def tell(**facts: Any) -> None:
    """Say something to the benchmark."""
    print(_MARK + json.dumps(facts), flush=True)


def heard(line: str) -> dict[str, Any] | None:
    """What a side's line says; None where it is not for the benchmark."""
    if not line.startswith(_MARK):
        return None
    facts: dict[str, Any] = json.loads(line.removeprefix(_MARK))
    return facts


def wait_for_word() -> str:
    """Wait until the benchmark has noted what was used so far: its word, or nothing at the end."""
    return sys.stdin.readline().strip()


def warm_up(few: Callable[[], object], whole: Callable[[], object], times: int, seconds: float) -> None:
    """Run over few events so often and for so long at least, then over all of them.

    In the first seconds Java compiles on the cores that are measured. The first run over all events takes its
    memory from the machine: a virtual machine may have to ask its host for it, at seconds a gigabyte.
    """
    began, done = time.monotonic(), 0
    while done < times or time.monotonic() - began < seconds:
        few()
        done += 1
    whole()


def work_as_told(run: Callable[[], dict[str, Any]], tidy: Callable[[], object]) -> None:
    """Work at each `run`, and tell of it; tidy up at each `tidy`; until there is another word or none."""
    while (word := wait_for_word()) in ("run", "tidy"):
        if word == "run":
            tell(**run())
        else:
            tidy()
            tell()
