"""The query sessions of a run, kept in RUN/queries.json."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import write_json

__all__ = ["add_session", "load_sessions", "summary"]

_FILE: Final = "queries.json"
_LAYOUT: Final = 1


def load_sessions(run: Path) -> list[dict[str, Any]]:
    """All sessions, the oldest first; none where nobody has asked yet."""
    path = run / _FILE
    try:
        facts = json.loads(path.read_text())
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as unreadable:
        raise UserError(f"{path} cannot be read: {unreadable}; remove it") from unreadable
    if not isinstance(facts, dict) or facts.get("layout") != _LAYOUT:
        raise UserError(f"{path} is not what `causeway linear-road query` of this version writes; remove it")
    sessions: list[dict[str, Any]] = facts["sessions"]
    return sessions


def add_session(run: Path, session: Mapping[str, Any]) -> Path:
    """Add a session; returns the file."""
    path = run / _FILE
    write_json(path, {"layout": _LAYOUT, "sessions": [*load_sessions(run), dict(session)]})
    return path


def summary(seconds: Sequence[float]) -> dict[str, float | int | None]:
    """Number, least, largest and mean of some times, and two percentiles."""
    values = np.asarray(seconds, float)
    if not len(values):
        return {"count": 0, "min": None, "max": None, "mean": None, "p50": None, "p99": None}
    p50, p99 = np.percentile(values, [50, 99])
    return {
        "count": len(values),
        "min": round(float(values.min()), 4),
        "max": round(float(values.max()), 4),
        "mean": round(float(values.mean()), 4),
        "p50": round(float(p50), 4),
        "p99": round(float(p99), 4),
    }
