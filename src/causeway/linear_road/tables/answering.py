"""The last step: rows of CROSSINGS and answers of the procedures, as one file for some seconds.

    RUN/batches/batch-000000012.parquet   the answers of batch 12
    RUN/batches/batch-000000012.json      how many, when they were readable, and up to which second

A batch begins with the second after the one before it, and ends with the last second up to which the views
are closed. Its note is written last. After a crash, seconds without a note are answered again under the same
number: nothing is lost, nothing doubled, as the tables hold the same rows as before.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from causeway.linear_road.driver.clock import SimulatedClock
from causeway.linear_road.driver.spool import spool_files
from causeway.linear_road.history.prepared import PreparedHistory
from causeway.linear_road.model.expressway import EXIT_LANE
from causeway.linear_road.model.rules import Rules
from causeway.linear_road.model.tuples import TupleType
from causeway.linear_road.pipeline.answer_files import write_answers
from causeway.linear_road.tables.accounts import Balances
from causeway.linear_road.tables.procedures import expenditures, travel_times
from causeway.linear_road.tables.statements import STAGES
from causeway.streaming.cells import Arrays
from causeway.streaming.sink import BatchFolder
from causeway.streaming_tables import Connection

__all__ = ["AnswerLoop"]

_LONGEST_PAUSE: Final = 0.5
_MOST_SECONDS: Final = 120
"""Simulated seconds of a batch at most: what was delivered at once is not answered at once."""
_FOLLOWED_SECONDS: Final = 600
_CROSSINGS: Final = ["VID", "XWAY", "DIR", "LANE", "LEAVES", "LAV", "TOLL", "ACCIDENT", "T"]
_NO_ACCIDENT: Final = -1
_REPORTS, _REQUESTS, _ANSWERED = STAGES[0], "REQUESTS", STAGES[-1]


@dataclass(frozen=True)
class _Parts:
    """What a batch is made of: rows of CROSSINGS and REQUESTS, and the seconds of its reports."""

    crossings: Arrays
    requests: Arrays
    seconds: Any


@dataclass
class _StageTimes:
    """When each stage was first seen closed up to which second."""

    seen: dict[str, list[tuple[int, float]]] = field(default_factory=lambda: {name: [] for name in STAGES})

    def note(self, stage: str, closed: int | None) -> None:
        known = self.seen[stage]
        if closed is not None and (not known or closed > known[-1][0]):
            known.append((closed, time.time()))

    def reached(self, stage: str, second: int) -> float:
        """When the stage was closed up to `second`; what was before is forgotten."""
        known = self.seen[stage]
        while known and known[0][0] < second:
            known.pop(0)
        return known[0][1] if known else time.time()


class AnswerLoop:
    """Answers every second as soon as all views are closed up to it, in a thread of its own."""

    def __init__(
        self,
        db: Connection,
        batches: BatchFolder,
        spool: Path,
        clock: SimulatedClock,
        history: PreparedHistory,
        rules: Rules,
    ) -> None:
        """Goes on after the last batch that is there."""
        self._db = db
        self._batches = batches
        self._spool = spool
        self._clock = clock
        self._history = history
        self._rules = rules
        self._balances = Balances()
        notes = batches.notes()
        self._number = notes[-1]["batch"] + 1 if notes else 0
        self._until = notes[-1]["until"] if notes else -1
        self._times = _StageTimes()
        self._last_readable = 0.0
        self._progress: list[dict[str, Any]] = []
        self._failure: BaseException | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="answers", daemon=True)
        self._thread.start()

    @property
    def answered(self) -> int:
        """The second up to which all is answered, not including it."""
        return self._until + 1

    def check(self) -> None:
        """Raise what ended the loop, an insert or a view."""
        if self._failure is not None:
            raise self._failure
        self._db.raise_failures()

    def new_progress(self) -> list[dict[str, Any]]:
        """Reports of the batches that ended since the last call, in the form of Spark's."""
        news = []
        while self._progress:
            news.append(self._progress.pop(0))
        return news

    def stop(self) -> None:
        """End it after the batch that it is at."""
        self._stopping.set()
        self._db.news.spread()
        self._thread.join()

    def _work(self) -> None:
        try:
            self._follow_again()
            while True:
                seen = self._db.news.count
                if self._stopping.is_set():
                    return
                closed = self._closed()
                if closed is None or closed <= self._until:
                    self._db.news.wait(seen, _LONGEST_PAUSE)
                    continue
                self._answer(min(closed, self._until + _MOST_SECONDS))
        except BaseException as failure:
            self._failure = failure

    def _closed(self) -> int | None:
        """The second up to which everything is there."""
        for stage in STAGES:
            self._times.note(stage, self._snapshot(stage).closed)
        closed = [self._snapshot(name).closed for name in (_ANSWERED, _REQUESTS, _REPORTS)]
        known = [second for second in closed if second is not None]
        return min(known) if len(known) == len(closed) else None

    def _snapshot(self, table: str) -> Any:
        return self._db.warehouse.require(table).snapshot()

    def _follow_again(self) -> None:
        """Bring accounts to where the last batch left them."""
        nobody = np.zeros(0, np.int64), np.zeros(0, np.int32)
        for first in range(0, self._until + 1, _FOLLOWED_SECONDS):
            last = min(first + _FOLLOWED_SECONDS - 1, self._until)
            self._balances.follow(self._rows(_ANSWERED, _CROSSINGS, first, last), *nobody)

    def _rows(self, table: str, columns: list[str] | None, first: int, last: int) -> Arrays:
        """Rows as arrays in the order of time."""
        rows = self._snapshot(table).scan(columns, time_from=first, time_to=last)
        arrays = {name: _plain(rows.column(name)) for name in rows.schema.names}
        times = arrays["T"]
        if len(times) > 1 and (times[1:] < times[:-1]).any():
            order = np.argsort(times, kind="stable")
            arrays = {name: values[order] for name, values in arrays.items()}
        return arrays

    def _answer(self, until: int) -> None:
        first = self._until + 1
        began = time.perf_counter()
        parts = _Parts(
            self._rows(_ANSWERED, _CROSSINGS, first, until),
            self._rows(_REQUESTS, None, first, until),
            self._rows(_REPORTS, ["T"], first, until)["T"],
        )
        read = time.perf_counter()
        answers = self._answers(parts)
        spent = {"reading": read - began, "procedures": time.perf_counter() - read}
        tuples = len(parts.seconds) + len(parts.requests["T"])
        if tuples:
            seconds = np.concatenate([parts.seconds, parts.requests["T"]])
            facts = {
                "batch": self._number,
                "first_second": int(seconds.min()),
                "last_second": int(seconds.max()),
                "until": until,
                "tuples": tuples,
            }
            note = write_answers(self._batches, answers, self._clock, facts, spent)
            self._progress.append(
                {"batchId": self._number, "durationMs": self._durations(until, note["readable"])}
            )
            self._number += 1
        self._until = until
        self._clean_spool()

    def _answers(self, parts: _Parts) -> Arrays:
        crossings, requests = parts.crossings, parts.requests
        told = crossings["LANE"] != EXIT_LANE
        alerted = told & (crossings["ACCIDENT"] != _NO_ACCIDENT)
        by_type = {
            kind: {name: values[requests["TYPE"] == kind] for name, values in requests.items()}
            for kind in (TupleType.ACCOUNT_BALANCE, TupleType.DAILY_EXPENDITURE, TupleType.TRAVEL_TIME)
        }
        asked = by_type[TupleType.ACCOUNT_BALANCE]
        balances = self._balances.follow(crossings, asked["T"], asked["VID"])
        return (
            {
                "toll_vid": crossings["VID"][told],
                "toll_time": crossings["T"][told],
                "toll_lav": crossings["LAV"][told],
                "toll_toll": crossings["TOLL"][told],
                "alert_time": crossings["T"][alerted],
                "alert_vid": crossings["VID"][alerted],
                "alert_seg": crossings["ACCIDENT"][alerted],
                "balance_time": asked["T"],
                "balance_qid": asked["QID"],
                "balance_result_time": asked["T"] - 1,
                "balance_bal": balances,
            }
            | expenditures(self._history, by_type[TupleType.DAILY_EXPENDITURE])
            | travel_times(self._history, self._rules, by_type[TupleType.TRAVEL_TIME])
        )

    def _durations(self, until: int, readable: float) -> dict[str, float]:
        """Milliseconds that each stage took, from when the batch's last second was in the spool.

        What a stage did while the batch before was not answered yet counts as that batch's time.
        """
        released = next(
            (file.path.stat().st_mtime for file in spool_files(self._spool) if file.last >= until), readable
        )
        moments = [
            max(released, self._last_readable),
            *(self._times.reached(stage, until) for stage in STAGES),
            readable,
        ]
        moments = np.maximum.accumulate(moments).tolist()
        names = ("insert", "moves", "tolls", "crossings", "answers")
        durations = {
            name: 1000 * (end - start)
            for name, start, end in zip(names, moments[:-1], moments[1:], strict=True)
        }
        self._last_readable = readable
        return durations | {"triggerExecution": 1000 * (readable - moments[0])}

    def _clean_spool(self) -> None:
        """Remove what is answered, except the newest file, whose name says how far delivery has got."""
        for file in spool_files(self._spool)[:-1]:
            if file.last <= self._until:
                with suppress(FileNotFoundError):
                    file.path.unlink()


def _plain(column: pa.ChunkedArray) -> Any:
    if column.null_count:
        column = column.fill_null(_NO_ACCIDENT)
    return column.to_numpy()
