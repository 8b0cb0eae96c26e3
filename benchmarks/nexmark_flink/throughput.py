"""Throughput: all sides of a query at once in memory and warm, measured by turns."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from causeway.nexmark.generator.encoding import FileFormat
from causeway.nexmark.queries import find_query
from nexmark_flink.event_sets import EventSet, prepared_events
from nexmark_flink.records import Records
from nexmark_flink.sides import Attempt, Side, SideProcess

__all__ = ["Workload", "measure_queries", "rules_of"]

_BATCH_EVENTS: Final = 2_000_000
_WARM_UP_SHARE: Final = 5
_WARM_UPS: Final = 3
_WARM_UP_SECONDS: Final = 15
"""After three runs of half a second, Java's compiler is still at work."""
_FIRST_WARM_UP_SECONDS: Final = 45
"""For the first query of a process, in which all of the system is new to it."""
_TRIES: Final = 3
_DISTURBED: Final = 0.15
"""Cores."""
_OURS: Final = ("q7",)
"""Flink's faster text of these follows our rule."""


@dataclass(frozen=True)
class Workload:
    """What all sides read."""

    data: Path
    """Where event sets are kept."""
    events: int
    file_format: FileFormat
    jars: Sequence[Path]

    def of(self, query: str) -> tuple[EventSet, EventSet]:
        """The events of the streams that a query reads, and fewer of them to warm up with.

        Without bids where it reads none, since there would be few others.
        """
        streams = ("person", "auction", "bid") if "bid" in _streams(query) else ("person", "auction")
        name = "-".join(streams)
        fewer = max(self.events // _WARM_UP_SHARE, 1000)
        return (
            prepared_events(self.data / f"{name}-{self.events}", self.events, streams, self.file_format),
            prepared_events(self.data / f"{name}-{fewer}", fewer, streams, self.file_format),
        )


def rules_of(side: Side, query: str) -> str:
    """Whose reading of a query a side follows."""
    return "ours" if plain_name(query) in _OURS else side.rules


def plain_name(query: str) -> str:
    """The name of a query without the way in which Flink's text is written: q7 of q7.top_n."""
    return query.partition(".")[0]


def measure_queries(
    queries: Sequence[str],
    sides: Sequence[Side],
    workload: Workload,
    rounds: int,
    scratch: Path,
    records: Records,
) -> None:
    """Query after query: all sides warm up, then work by turns. A side is one process for all queries."""
    with ExitStack() as processes:
        started = []
        for side in sides:
            settings = side.settings() | {
                "task": "measure",
                "queries": [
                    _work(query, side, workload, _WARM_UP_SECONDS if number else _FIRST_WARM_UP_SECONDS)
                    for number, query in enumerate(queries)
                ],
                "format": workload.file_format,
            }
            command, variables = side.command(workload.file_format, workload.jars, scratch)
            errors = scratch / f"{side.name.replace(':', '-')}-errors.txt"
            at_work = SideProcess.started(command, variables, settings, errors)
            started.append((side, processes.enter_context(at_work)))
        for query in queries:
            for _, process in started:
                process.wait_until_warm()
            attempts: dict[str, list[Attempt]] = {side.name: [] for side in sides}
            for number in range(rounds):
                for side, process in started:
                    attempts[side.name].append(_undisturbed(process, query, number, side))
            measured, streams = workload.of(query)[0], _streams(query)
            for side, process in started:
                process.say("next")
                records.add(
                    side,
                    query=query,
                    rules=rules_of(side, query),
                    events=measured.events(streams),
                    size=measured.size(streams),
                    attempts=attempts[side.name],
                    versions=process.ready["versions"],
                )


def _work(query: str, side: Side, workload: Workload, warm_up_seconds: float) -> dict[str, Any]:
    measured, warm_up = workload.of(query)
    is_flink = side.system == "flink"
    return {
        "query": query if is_flink else plain_name(query),
        "rules": rules_of(side, query),
        "warm_ups": (_WARM_UPS, warm_up_seconds),
        "limit": measured.slices_of(_BATCH_EVENTS, _streams(query)),
        "folder": str(measured.lanes if is_flink else measured.folder),
        "warm_up": str(warm_up.lanes if is_flink else warm_up.folder),
    }


def _undisturbed(process: SideProcess, query: str, number: int, side: Side) -> Attempt:
    """A round; up to three times, while others work on the machine: the least disturbed one counts."""
    tries: list[Attempt] = []
    while len(tries) < _TRIES and all(attempt.others > _DISTURBED for attempt in tries):
        tries.append(attempt := process.measure())
        _note(query, number, side, attempt)
    return min(tries, key=lambda attempt: attempt.others)


def _streams(query: str) -> list[str]:
    return find_query("modern", plain_name(query), "flink").streams


def _note(query: str, number: int, side: Side, attempt: Attempt) -> None:
    words = f"{query} round {number + 1} {side.name}: {attempt.seconds:.2f} s, {attempt.cpu:.1f} CPU s"
    print(f"{words} (Java {attempt.java_cpu:.1f}), others {attempt.others:.2f} cores", file=sys.stderr)
