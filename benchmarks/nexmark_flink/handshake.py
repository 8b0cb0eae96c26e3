"""How a side and the benchmark talk: a line each, so that all are measured by the same clock and code.

A side tells that it is warm, waits for a line on its standard input, works, and tells what it did. It ends
when the benchmark has no more lines for it.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Final

__all__ = ["heard", "tell", "wait_for_start"]

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


def wait_for_start() -> bool:
    """Wait until the benchmark has noted what was used so far; false if there is nothing more to do."""
    return bool(sys.stdin.readline())
