"""A shard of roads: everything that is known of them, and every answer about them.

What it knows is kept in cells of Spark's state store, under names:

    roads        the segments, how many batches it has seen, and of which second each phase is
    phase-07     the vehicles that report 7 s and 37 s after the minute, as they last did
    left-00012   vehicles that batch 12, and some batches after it, found to have left: only their accounts
                 are still needed (see `departures`)

A vehicle reports every 30 s, so that a second of input changes one phase: state is written at the size of the
input. It is read only by a process that does not know it yet, or not the latest batches, and then only what
has changed since: a shard in memory is a replica of that state, and says by a number which batch it is of. A
replica of a later batch than the store's, whose commit failed, forgets everything and reads all of it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from causeway.linear_road.history.prepared import PreparedHistory
from causeway.linear_road.model.array_types import I32
from causeway.linear_road.model.expressway import REPORT_INTERVAL, SEGMENTS
from causeway.linear_road.model.rules import Rules
from causeway.linear_road.pipeline.departures import Departures, ShardState
from causeway.linear_road.pipeline.segments import NO_ACCIDENT, Segments, stops_of
from causeway.linear_road.pipeline.traffic import follow_reports
from causeway.linear_road.pipeline.tuples_by_shard import REPORT_FIELDS
from causeway.linear_road.pipeline.vehicles import NEVER, Accounts, Vehicles
from causeway.runtime.compiled import kernel
from causeway.streaming.cells import Arrays, concatenate, pack, unpack

__all__ = ["Shard"]

_PHASES: Final = REPORT_INTERVAL
_NOT_LAST, _LEFT = -1, -2
_KEPT_SECONDS: Final = 120
"""Vehicles that have left are known for the rest of the minute, and some more."""

_ANSWERS: Final = {
    "toll": ("vid", "time", "lav", "toll"),
    "alert": ("time", "vid", "seg"),
    "balance": ("time", "qid", "result_time", "bal"),
    "expenditure": ("time", "qid", "bal"),
    "journey": ("time", "qid", "travel_time", "toll"),
    "segment": ("minute", "xway", "dir", "seg", "cars", "lav", "toll", "accident"),
}


class Shard:
    """Shard number `shard` of `shards`.

    Batches come in the order of time and have whole seconds; where they are cut makes no difference.
    """

    def __init__(self, rules: Rules, history: PreparedHistory, shards: int, shard: int) -> None:
        self._rules = rules
        self._history = history
        self._shards = shards
        self._shard = shard
        self._forget()

    def _forget(self) -> None:
        self._segments = Segments(self._rules, self._shards, self._shard)
        self._departures = Departures()
        self._vehicles = Vehicles()
        self._accounts = Accounts()
        self._batches = 0
        self._phase_second = np.full(_PHASES, NEVER, np.int32)
        self._phase_batch = np.zeros(_PHASES, np.int32)
        self._phase_rows: list[I32] = [np.zeros(0, np.int32) for _ in range(_PHASES)]

    def answer(self, tuples: Arrays, state: ShardState) -> Arrays:
        """The answers to a batch of tuples, as arrays `toll_vid` and so on; `state` is then one batch on.

        A replica that raised must not be used again.
        """
        self._catch_up(state)
        rows, answers = self._follow(tuples)
        history = self._history
        answers.append(
            {
                "expenditure_time": tuples["expenditure_time"],
                "expenditure_qid": tuples["expenditure_qid"],
                "expenditure_bal": history.daily_expenditures(
                    *(tuples[f"expenditure_{field}"] for field in ("vid", "day", "xway"))
                ).astype(np.int32),
            }
        )
        seconds, tolls = history.travel_times(
            tuples["journey_xway"],
            tuples["journey_sinit"],
            tuples["journey_send"],
            tuples["journey_dow"],
            tuples["journey_tod"],
            self._rules.toll,
        )
        answers.append(
            {
                "journey_time": tuples["journey_time"],
                "journey_qid": tuples["journey_qid"],
                "journey_travel_time": seconds.astype(np.int32),
                "journey_toll": tolls.astype(np.int32),
            }
        )
        self._batches += 1
        self._save(state, tuples["time"], rows)
        return _together(answers) | _facts(tuples)

    def _follow(self, tuples: Arrays) -> tuple[I32, list[Arrays]]:
        """Follow all reports, minute by minute; returns the vehicles' rows, and the answers so far."""
        time, request_time = tuples["time"], tuples["balance_time"]
        rows = np.empty(len(time), np.int32)
        answers: list[Arrays] = []
        if len(time):
            self._segments.make_room(int(tuples["cell"].max()) // SEGMENTS + 1)
            self._phase_rows = self._vehicles.make_room(
                len(time), int(time[0]) - _KEPT_SECONDS, self._phase_rows
            )
            self._accounts.make_room(len(time))
        minutes = np.unique(np.concatenate([time, request_time]) // 60)
        starts, request_starts = (
            np.searchsorted(times, [*(60 * minutes), 1 << 40]) for times in (time, request_time)
        )
        for i, minute in enumerate(minutes):
            for ended in self._segments.begin_minute(int(minute) + 1):
                answers.append({f"segment_{name}": values for name, values in ended.items()})
            part = slice(starts[i], starts[i + 1])
            reports = {name: tuples[name][part] for name in REPORT_FIELDS}
            requests = slice(request_starts[i], request_starts[i + 1])
            answers += self._follow_minute(int(minute) * 60, reports, rows[part], tuples, requests)
        return rows, answers

    def _follow_minute(
        self, start: int, reports: Arrays, rows: I32, tuples: Arrays, requests: slice
    ) -> list[Arrays]:
        count = len(rows)
        entered, stopped = np.empty(count, np.int32), np.empty(count, np.int32)
        moved_on, irregular = np.empty((count, 3), np.int64), np.empty((3 * count, 3), np.int64)
        request_time = tuples["balance_time"][requests]
        balance = np.empty(len(request_time), np.int64)
        vehicles, accounts, segments = self._vehicles, self._accounts, self._segments
        entries, standing, moves, irregulars = follow_reports(
            start,
            self._rules.stopped_after,
            reports["time"],
            reports["vid"],
            reports["road"],
            reports["cell"],
            reports["seg"],
            reports["lane"],
            reports["spd"],
            reports["pos"],
            vehicles.rows,
            vehicles.index,
            vehicles.count,
            accounts.vids,
            accounts.balances,
            accounts.count,
            segments.toll,
            segments.cars,
            segments.speeds,
            request_time,
            tuples["balance_vid"][requests],
            balance,
            rows,
            entered,
            stopped,
            moved_on,
            irregular,
        )
        if standing:
            which = stopped[:standing]
            segments.add_stops(stops_of(reports, which, vehicles.rows["key"][rows[which]]))
        for key, since, until in moved_on[:moves]:
            segments.end_stop(key, since, until)
        if irregulars:
            segments.add_irregular(irregular[:irregulars])
        entered = entered[:entries]
        cell = reports["cell"][entered]
        alerted = np.flatnonzero(segments.ahead[cell] != NO_ACCIDENT)
        return [
            {
                "toll_vid": reports["vid"][entered],
                "toll_time": reports["time"][entered],
                "toll_lav": segments.lav[cell],
                "toll_toll": segments.toll[cell],
            },
            {
                "alert_time": reports["time"][entered][alerted],
                "alert_vid": reports["vid"][entered][alerted],
                "alert_seg": segments.ahead[cell][alerted],
            },
            {
                "balance_time": request_time,
                "balance_qid": tuples["balance_qid"][requests],
                "balance_result_time": request_time - 1,
                "balance_bal": balance.astype(np.int32),
            },
        ]

    def _catch_up(self, state: ShardState) -> None:
        """Read what other replicas have written since this one was the latest."""
        cell = state.read("roads")
        saved = {} if cell is None else unpack(cell)
        batches = int(saved["batches"][0]) if saved else 0
        if batches < self._batches:
            self._forget()
        if batches == self._batches:
            return
        self._segments.restore(saved)
        self._phase_second = saved["phase_second"]
        phase_batch = saved["phase_batch"]
        self._departures.restore(saved)
        for name in self._departures.cells_since(self._batches):
            self._restore(state.read(name))
        for phase in np.flatnonzero(phase_batch > self._batches):
            self._phase_rows[phase] = self._restore(state.read(f"phase-{phase:02d}"))
        self._phase_batch = phase_batch
        self._batches = batches

    def _restore(self, cell: bytes | None) -> I32:
        if cell is None:
            return np.zeros(0, np.int32)
        rows = unpack(cell)["vehicles"]
        since = int(self._phase_second.max()) - _KEPT_SECONDS
        self._phase_rows = self._vehicles.make_room(len(rows), since, self._phase_rows)
        self._accounts.restore(rows)
        return self._vehicles.restore(rows)

    def _save(self, state: ShardState, time: I32, rows: I32) -> None:
        """Write what the reports at `time` changed: their phases, who has left, and the roads."""
        vehicles = self._vehicles.rows
        seconds = np.unique(time)
        left = []
        for phase in np.unique(seconds % _PHASES):
            before = self._phase_rows[phase]
            left.append(before[vehicles["time"][before] == self._phase_second[phase]])
            self._phase_second[phase] = seconds[seconds % _PHASES == phase].max()
            self._phase_batch[phase] = self._batches
        phase = np.empty(len(time), np.int32)
        _sort_out(time, rows, vehicles, self._phase_second, phase)
        left.append(rows[phase == _LEFT])
        for number in np.unique(seconds % _PHASES):
            here = rows[phase == number]
            self._phase_rows[number] = here
            state.write(f"phase-{number:02d}", pack({"vehicles": vehicles[here]}))
        self._departures.add(self._batches, vehicles[np.concatenate(left)], state)
        state.write(
            "roads",
            pack(
                {
                    "batches": np.array([self._batches]),
                    "phase_second": self._phase_second,
                    "phase_batch": self._phase_batch,
                }
                | self._departures.save()
                | self._segments.save()
            ),
        )


@kernel
def _sort_out(time: I32, rows: I32, vehicles: Any, phase_second: I32, phase: I32) -> None:
    """Find the phase of each report that is its vehicle's last, or _LEFT if that has gone on without it."""
    for i in range(len(time)):
        phase[i] = _NOT_LAST
        if vehicles[rows[i]]["time"] == time[i]:
            number = time[i] % _PHASES
            phase[i] = number if time[i] == phase_second[number] else _LEFT


def _facts(tuples: Arrays) -> Arrays:
    """The seconds in a batch, and how many tuples of its own the shard has had."""
    times = [tuples[f"{name}time"] for name in ("", "balance_", "expenditure_", "journey_")]
    some = [values for values in times if len(values)]
    return {
        "batch_first": np.array([min((int(values.min()) for values in some), default=1 << 40)]),
        "batch_last": np.array([max((int(values.max()) for values in some), default=-1)]),
        "batch_tuples": np.array([sum(map(len, times)) - len(tuples["balance_time"])]),
        "batch_balances": np.array([len(tuples["balance_time"])]),
    }


def _together(answers: list[Arrays]) -> Arrays:
    """All answers, with an empty array where there are none."""
    arrays: Arrays = {}
    for name, fields in _ANSWERS.items():
        parts = [part for part in answers if f"{name}_{fields[0]}" in part]
        if parts:
            arrays |= concatenate(parts)
        else:
            arrays |= {f"{name}_{field}": np.zeros(0, np.int32) for field in fields}
    return arrays
