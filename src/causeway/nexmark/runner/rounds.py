"""A query that is run several times: the medians of its rounds, and the rounds themselves.

RUN/q5/                     the first round, which is the one that is checked; see `query_run`
RUN/q5/rounds/2/result.json the figures of the second; its answers are removed when it has ended
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

__all__ = ["MEASURED", "run_rounds", "with_rounds"]

MEASURED: Final = (
    "seconds",
    "cpu_seconds",
    "events_per_second",
    "megabytes_per_second",
    "events_per_cpu_second",
    "megabytes_per_cpu_second",
)
"""The figures of which a query's facts have the median."""


def run_rounds(rounds: int, folder: Path, run: Callable[[Path, bool], dict[str, Any]]) -> dict[str, Any]:
    """Run a query so many times; `run` takes a folder and whether it is the first round.

    Rounds that have ended are not run again: `run` then returns what it has kept in the folder.
    """
    facts = [run(folder, True)]
    for number in range(2, rounds + 1):
        place = folder / "rounds" / str(number)
        facts.append(run(place, False))
        for entry in place.iterdir():
            if entry.is_dir():
                shutil.rmtree(entry)
    return with_rounds(facts)


def with_rounds(rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The facts of the first round, with the medians of all rounds, and under `rounds` each one's figures.

    Latencies are medians too, figure by figure. One round alone stays as it is.
    """
    facts = dict(rounds[0])
    if len(rounds) == 1:
        return facts
    facts |= _medians(rounds, MEASURED)
    latencies = [one["latency"] for one in rounds if "p50" in (one.get("latency") or {})]
    if latencies:
        facts["latency"] = dict(latencies[0]) | _medians(latencies, list(latencies[0]))
    facts["rounds"] = [{name: one[name] for name in (*MEASURED, "latency") if name in one} for one in rounds]
    return facts


def _medians(rounds: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, Any]:
    known = {name: [one[name] for one in rounds if one.get(name) is not None] for name in names}
    return {name: median(values) for name, values in known.items() if values}
