"""What was measured, kept as runs of NEXMark: OUT/flink/result.json, as `causeway nexmark run` writes it.

So `causeway nexmark compare` shows the systems beside each other. What is measured again replaces what is
there, so that a long measurement can be made in parts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from causeway import __version__
from causeway.nexmark.runner.rounds import with_rounds
from causeway.nexmark.runner.run_all import NexmarkRunFolder
from causeway.runtime.machine import hardware
from nexmark_flink.sides import CORES, Attempt, Side

__all__ = ["Records"]


class Records:
    """The folder of a measurement, a run for each side."""

    def __init__(self, folder: Path, command: str) -> None:
        self._folder = folder
        self._command = command

    def run(self, side: Side) -> Path:
        """The folder of a side."""
        return self._folder / side.name.replace(":", "-")

    def add(
        self,
        side: Side,
        *,
        query: str,
        rules: str,
        events: int,
        size: int,
        attempts: Sequence[Attempt],
        versions: dict[str, str],
    ) -> None:
        """Keep the rounds of a query."""
        rounds = [
            {
                "events": events,
                "seconds": round(attempt.seconds, 3),
                "cpu_seconds": round(attempt.cpu, 2),
                "java_cpu_seconds": round(attempt.java_cpu, 2),
                "others_cores": attempt.others,
                "events_per_second": round(events / attempt.seconds),
                "megabytes_per_second": round(size / attempt.seconds / 1e6, 2),
                "events_per_cpu_second": round(events / attempt.cpu),
                "megabytes_per_cpu_second": round(size / attempt.cpu / 1e6, 2),
            }
            | ({"phases": _phases(attempt.report["progress"])} if "progress" in attempt.report else {})
            for attempt in attempts
        ]
        self._keep(side, with_rounds(rounds) | {"query": query, "rules": rules}, versions)

    def add_check(self, side: Side, query: str, check: dict[str, Any]) -> None:
        """Keep how the answers of a query compare."""
        self._keep(side, {"query": query, "check": check}, {})

    def add_latency(self, side: Side, query: str, latency: dict[str, Any], versions: dict[str, str]) -> None:
        """Keep the latencies of a query."""
        self._keep(side, {"query": query, "latency": latency}, versions)

    def _keep(self, side: Side, facts: dict[str, Any], versions: dict[str, str]) -> None:
        run = NexmarkRunFolder(self.run(side))
        run.path.mkdir(parents=True, exist_ok=True)
        before = json.loads(run.facts_file.read_text()) if run.facts_file.exists() else {}
        queries = {one["query"]: one for one in before.get("queries", [])}
        queries[facts["query"]] = queries.get(facts["query"], {}) | facts
        commands = [*before.get("commands", []), self._command]
        run.save(
            {
                "version": __version__,
                "state": "finished",
                "model": "modern",
                "engine": {"flink": "Flink SQL"}.get(side.system, side.system),
                "rules": side.rules,
                "settings": {"heap": side.heap, "java_options": side.java_options},
                "master": f"local[{CORES}]",
                "machine": hardware(),
                "versions": before.get("versions", {}) | versions,
                "commands": list(dict.fromkeys(commands)),
                "queries": sorted(queries.values(), key=lambda one: float(one["query"][1:].split(".")[0])),
            }
        )


def _phases(progress: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Seconds of each phase of Spark's batches, by its own reports."""
    names = ("addBatch", "queryPlanning", "latestOffset", "getBatch", "walCommit", "commitOffsets")
    totals = {
        name: sum(report["durationMs"].get(name, 0) for report in progress) / 1e3
        for name in (*names, "triggerExecution")
    }
    totals["rest"] = totals["triggerExecution"] - sum(totals[name] for name in names)
    return {name: round(seconds, 3) for name, seconds in totals.items()}
