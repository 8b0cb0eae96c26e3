"""How a side and the benchmark talk: a line each, so that all are measured by the same clock and code.

A side tells that it is warm, waits for a line on its standard input, works, and tells what it did; it does so
again for `run`, goes on to its next query for `next`, and ends when there are no more lines for it.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Final

__all__ = ["heard", "tell", "wait_for_word"]

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
    """Wait until the benchmark has noted what was used so far; `run`, `next`, or nothing at the end."""
    return sys.stdin.readline().strip()
