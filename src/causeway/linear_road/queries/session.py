"""A session of one-time queries beside a run, or after it, by a process of its own.

Queries are due at random moments, as many a minute as asked for, whether or not those before them have been
answered. A query's time counts from its due moment to its last row.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from causeway.linear_road.driver.clock import SimulatedClock
from causeway.linear_road.queries.check import difference
from causeway.linear_road.queries.freshness import FreshnessProbe, TableFollower
from causeway.linear_road.queries.record import summary
from causeway.linear_road.queries.statements import (
    SELECTIVITIES,
    HistoryQuery,
    QueryMaker,
    Selectivity,
)
from causeway.linear_road.queries.workload_truth import WorkloadTruth
from causeway.linear_road.runner.run_folder import RunFolder
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError
from causeway.runtime.progress import progress_bar
from causeway.streaming_tables import Answer, Connection
from causeway.streaming_tables.storage import Comparison, Predicate, TableStore

__all__ = ["QueryRun", "QuerySettings", "ask_queries"]

_THREADS: Final = 4
_WARM_UP: Final = 12
_POLL: Final = 0.1
_EXPLAINED: Final = 30


@dataclass(frozen=True)
class QuerySettings:
    """What is asked, how often and for how long."""

    rate: float = 20
    """Queries a minute."""
    selectivities: tuple[Selectivity, ...] = SELECTIVITIES
    """Each query has one of them, by chance."""
    from_minute: int | None = None
    """Begin when the run has come to this simulated minute; None: when its real time has started."""
    seconds: float = 60
    index: bool = True
    checked: int = 20
    """Answers that are checked against the workload."""
    seed: int = 1

    def check(self) -> None:
        """Refuse what cannot be done."""
        if not 0 < self.rate <= 60_000:
            raise UserError(f"{self.rate:g} queries a minute are not possible; the paper has 20, 100 and 200")
        if not self.seconds > 0:
            raise UserError(f"a session of {self.seconds:g} seconds has no queries; give a number above 0")
        if self.checked < 0:
            raise UserError(f"{self.checked} answers cannot be checked; give 0 or more")
        unknown = [one for one in self.selectivities if one not in SELECTIVITIES]
        if unknown or not self.selectivities:
            there = f"there are {', '.join(SELECTIVITIES)}"
            raise UserError(f"there is no selectivity {', '.join(unknown) or 'at all'}; {there}")


@dataclass(frozen=True)
class QueryRun:
    """A run whose history can be asked."""

    folder: RunFolder
    facts: dict[str, Any]
    workload: Workload

    @classmethod
    def load(cls, path: Path) -> QueryRun:
        """The run in `path`; a run without a history is the user's mistake."""
        folder = RunFolder(path)
        facts = folder.facts()
        if not facts.get("history_table"):
            raise UserError(
                f"{path} keeps no history: it was begun without `keep`, the name of a table for its reports"
            )
        return cls(folder, facts, Workload.load(Path(facts["workload"])))

    @property
    def table(self) -> str:
        """The streaming table with the position reports."""
        return str(self.facts["history_table"])

    def check_minute(self, minute: int | None) -> None:
        """Refuse a minute to which the run will not come."""
        if minute is not None and not 0 <= minute < self.workload.minutes:
            raise UserError(
                f"the run will not come to minute {minute}: {self.workload.folder} has the minutes "
                f"0 to {self.workload.minutes - 1}"
            )

    def wait_for_table(self) -> None:
        """Wait until the run has made the table, which it does first of all."""
        definition = self.folder.warehouse / "tables" / self.table.lower() / "definition.json"
        while not definition.exists():
            if self.is_over():
                raise UserError(f"{self.folder.path} has ended without a history")
            time.sleep(_POLL)

    def is_over(self) -> bool:
        """Whether the run has ended, in whichever way."""
        state = self.folder.facts().get("state")
        # A process that was killed leaves its run as it was.
        return state in ("finished", "failed", "stopped") or not self.folder.is_locked()

    def clock(self) -> SimulatedClock | None:
        """The run's clock; None without real time."""
        if self.facts["speed"] is None:
            return None
        return SimulatedClock(
            self.folder.spool, self.facts["speed"], self.facts["from_minute"], self.facts["made_at"]
        )


@dataclass
class _Answered:
    """A query that was answered."""

    query: HistoryQuery
    due: float
    minute: float
    """The simulated minute to which the table had come."""
    seconds: float
    rows: int


@dataclass
class _Session:
    """The measured part of a session."""

    connection: Connection
    store: TableStore
    run: QueryRun
    settings: QuerySettings
    truth: WorkloadTruth
    maker: QueryMaker
    answered: list[_Answered] = field(default_factory=list)
    kept: list[tuple[HistoryQuery, pa.Table]] = field(default_factory=list)
    """Answers to be checked."""

    def answer(self, query: HistoryQuery) -> pa.Table:
        return _rows(self.connection, query.sql(self.run.table, index=self.settings.index))

    def count_of_second(self, second: int) -> int:
        rows = _rows(self.connection, f"SELECT * FROM {self.run.table} WHERE T = {second}")
        return int(rows.num_rows)

    def warm_up(self, newest: int) -> None:
        """Answer some queries that are not measured: Java compiles what it will run."""
        for number in range(_WARM_UP if self.settings.index else 1):
            self.answer(self.maker.query(SELECTIVITIES[number % len(SELECTIVITIES)], newest))

    def ask(self, follower: TableFollower) -> None:
        """Ask until the time is over, and wait for all answers."""
        settings = self.settings
        expected = settings.rate * settings.seconds / 60
        every = max(1, int(expected / settings.checked)) if settings.checked else 0
        began = time.time()
        due = began
        waiting: list[Future[None]] = []
        with (
            progress_bar("asking", settings.seconds, "s") as bar,
            ThreadPoolExecutor(_THREADS, "query") as threads,
        ):
            for number in range(1_000_000_000):
                due += self.maker.pause(settings.rate)
                if due > began + settings.seconds:
                    break
                selectivity = self.maker.selectivity(settings.selectivities)
                query = self.maker.query(selectivity, follower.newest)
                while (left := due - time.time()) > 0:
                    time.sleep(min(left, 1.0))
                    bar.update(time.time() - began)
                is_checked = every > 0 and number % every == 0 and len(self.kept) < settings.checked
                waiting.append(threads.submit(self._ask_one, query, due, follower.newest / 60, is_checked))
            for one in waiting:
                one.result()

    def _ask_one(self, query: HistoryQuery, due: float, minute: float, is_checked: bool) -> None:
        rows = self.answer(query)
        self.answered.append(_Answered(query, due, minute, time.time() - due, rows.num_rows))
        if is_checked:
            self.kept.append((query, rows))

    def answers_of(self, selectivity: Selectivity) -> list[_Answered]:
        return [one for one in self.answered if one.query.selectivity == selectivity]

    def wrong(self) -> list[str]:
        """What is wrong with the answers that were kept."""
        return [words for query, rows in self.kept if (words := difference(self.truth, query, rows))]

    def scans(self) -> dict[str, Any]:
        """What the queries read and passed over, on average, of a sample of them."""
        step = max(1, len(self.answered) // _EXPLAINED)
        snapshot = self.store.snapshot()
        reports = []
        for one in self.answered[::step]:
            (first, last), (low, high) = one.query.seconds, one.query.vehicles
            predicate = Predicate.all_of(
                Comparison("T", ">=", first),
                Comparison("T", "<=", last),
                Comparison("VID", ">=", low),
                Comparison("VID", "<=", high),
            )
            reports.append(snapshot.explain(None, predicate))
        if not reports or not self.settings.index:
            return {}

        def mean(name: str) -> float:
            return round(float(sum(getattr(report, name) for report in reports)) / len(reports), 2)

        names = ("files", "files_by_time", "files_by_value", "files_read", "groups", "groups_read")
        return {name: mean(name) for name in (*names, "bytes", "bytes_read", "log_rows")} | {
            "indexed": round(sum("VID" in report.indexes for report in reports) / len(reports), 3)
        }


def ask_queries(run: QueryRun, settings: QuerySettings, connection: Connection) -> dict[str, Any]:
    """Hold a session on `run`, through `connection` to its warehouse; returns the session's facts."""
    settings.check()
    store = connection.warehouse.require(run.table)
    clock = run.clock()
    truth = WorkloadTruth(run.workload)
    maker = QueryMaker(truth.samples(), settings.seed)
    _wait_for_minute(run, settings, store, clock)
    session = _Session(connection, store, run, settings, truth, maker)
    session.warm_up(store.snapshot().newest or 0)
    live = clock is not None and clock.started_at is not None and not run.is_over()
    began = time.time()
    with ExitStack() as stack:
        follower = stack.enter_context(TableFollower(store, clock if live else None))
        first = follower.newest
        probe = None
        if live and clock is not None:
            end = 60 * run.workload.minutes
            probe = FreshnessProbe(session.count_of_second, clock, truth, end)
            stack.enter_context(probe)
        session.ask(follower)
        last = follower.newest
    if probe is not None and probe.failure is not None:
        raise probe.failure
    ended = time.time()
    delays = [delay for _, delay in follower.delays]
    return {
        "began": began,
        "ended": ended,
        "expressways": run.workload.expressways,
        "speed": run.facts["speed"],
        "rate": settings.rate,
        "index": settings.index,
        "seed": settings.seed,
        "live": live,
        "newest": [first, last],
        "cells": {
            selectivity: summary([one.seconds for one in session.answers_of(selectivity)])
            | {"rows": _mean([one.rows for one in session.answers_of(selectivity)])}
            for selectivity in settings.selectivities
        },
        "queries": [
            [
                one.query.selectivity,
                round(one.due, 3),
                round(one.minute, 3),
                round(one.seconds, 4),
                one.rows,
                *one.query.seconds,
            ]
            for one in session.answered
        ],
        "checked": len(session.kept),
        "wrong": session.wrong(),
        "scans": session.scans(),
        "visible": summary(delays),
        "just_arrived": []
        if probe is None
        else [[one.second, round(one.seconds, 4), one.attempts] for one in probe.found],
    }


def _rows(connection: Connection, text: str) -> pa.Table:
    answer = connection.sql(text)
    assert isinstance(answer, Answer)
    return answer.to_arrow()


def _mean(values: Sequence[int]) -> float | None:
    return round(sum(values) / len(values), 1) if values else None


def _wait_for_minute(
    run: QueryRun, settings: QuerySettings, store: TableStore, clock: SimulatedClock | None
) -> None:
    """Wait until the run has come to where the session begins."""
    minute = settings.from_minute

    def is_there() -> bool:
        newest = store.snapshot().newest
        if minute is not None:
            return newest is not None and newest >= 60 * minute
        return newest is not None and (clock is None or clock.started_at is not None)

    _wait(is_there, run, store, minute)


def _wait(is_there: Callable[[], bool], run: QueryRun, store: TableStore, minute: int | None) -> None:
    with progress_bar("waiting for the run", 60 * run.workload.minutes, "simulated s") as bar:
        while not is_there():
            newest = store.snapshot().newest
            if run.is_over():
                if newest is None:
                    raise UserError(f"{run.folder.path} has ended without any position report")
                if minute is not None and newest < 60 * minute:
                    raise UserError(
                        f"{run.folder.path} has ended at minute {newest // 60}, before minute {minute}"
                    )
                return
            bar.update(newest or 0)
            time.sleep(_POLL)
