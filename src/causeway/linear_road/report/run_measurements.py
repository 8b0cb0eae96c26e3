"""Measurements of a Linear Road run for its page, from its files: no Spark, one pass, bounded memory.

A run that is still going, failed or was interrupted is measured as far as it has come. Files that cannot be
read are left out and named in `notes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.linear_road.model.answers import DEADLINES
from causeway.linear_road.runner.answers_file import list_batches
from causeway.runtime.compiled import kernel
from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import read_json

__all__ = ["Batches", "Responses", "RunMeasurements", "measure_run"]

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

_ROWS_AT_A_TIME: Final = 1 << 18

# A bin must hold several batches: with one or two, lines would show how bins and batches overlap.
_BIN_LIMIT: Final = 200
_BIN_SECONDS: Final = (2, 4, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)

# Milliseconds below 1,024 have a bucket each; beyond, buckets are a 512th of a power of two wide, so that a
# percentile is exact to a fifth of a percent however late answers are. The last one ends at 2^31 ms.
_EXACT: Final = 1024
_BUCKETS: Final = 512 * 21 + _EXACT
_LARGEST_MILLISECONDS: Final = 2**31 - 1

_PARTS_OF_A_BATCH: Final = {
    "work": ("addBatch",),
    "commits": ("walCommit", "commitOffsets"),
    "planning": ("queryPlanning", "latestOffset", "getBatch"),
    "views": ("moves", "tolls", "crossings"),
    "procedures": ("answers",),
    "insert": ("insert",),
}
"""By the name of a part, the steps that Spark, or the engine of streaming tables, reports of a batch."""


@dataclass(frozen=True)
class Responses:
    """Response times in real seconds of one type's answers with a deadline; NaN in a bin without any.

    A percentile is the upper end of a narrow bucket; the worst is exact.
    """

    answers: int
    late: int
    least: float
    mean: float
    p50: float
    p99: float
    worst: float
    bin_minutes: F64
    """Middles of the bins, in simulated minutes since the start."""
    bin_p50: F64
    bin_p99: F64
    bin_worst: F64
    bin_mean: F64
    bin_answers: I64


@dataclass(frozen=True)
class Batches:
    """The micro-batches in order, a value each; NaN where it is not known (yet)."""

    first_second: I64
    last_second: I64
    tuples: I64
    started_at: F64
    seconds: F64
    parts: dict[str, F64]
    """Where the seconds went: `work` on the rows, `commits` of progress, `planning` and finding input."""

    @property
    def covered(self) -> I64:
        """Simulated seconds whose tuples a batch took."""
        covered: I64 = np.maximum(self.last_second - self.first_second + 1, 1)
        return covered

    def since(self, second: int) -> Batches:
        """Those that took tuples of `second` or later."""
        chosen = self.last_second >= second
        return Batches(
            first_second=self.first_second[chosen],
            last_second=self.last_second[chosen],
            tuples=self.tuples[chosen],
            started_at=self.started_at[chosen],
            seconds=self.seconds[chosen],
            parts={name: values[chosen] for name, values in self.parts.items()},
        )

    def __len__(self) -> int:
        return len(self.tuples)


@dataclass(frozen=True)
class RunMeasurements:
    """A run's own facts, and what was measured on its files."""

    folder: Path
    facts: dict[str, Any]
    """`run.json`, as it is."""
    validation: dict[str, Any] | None
    """`validation.json`, as it is; `None` where the run was not judged."""
    minutes: int
    from_minute: int
    speed: float | None
    """Simulated seconds in one of real time; `None` where no claim to real time was made."""
    answers: dict[int, int]
    """By type, those before `from_minute` included."""
    responses: dict[int, Responses]
    """By type; empty without a claim to real time."""
    batches: Batches
    notes: list[str] = field(default_factory=list)
    """What could not be read."""

    def rates(self, batches: Batches) -> F64:
        """Tuples per second of each batch: as they were delivered or, without real time, as it took them."""
        if self.speed is None:
            return batches.tuples / np.where(batches.seconds > 0, batches.seconds, np.nan)
        return batches.tuples / batches.covered * self.speed

    def mean_rate(self, batches: Batches) -> float:
        """Tuples per second over all of `batches`; NaN where their times are not known."""
        if self.speed is None:
            ends = batches.started_at + batches.seconds
            timed = np.isfinite(ends)
            took = ends[timed].max() - batches.started_at[timed].min() if timed.any() else 0.0
        else:
            took = batches.covered.sum() / self.speed
        return float(batches.tuples.sum() / took) if took > 0 else np.nan


def measure_run(run: Path) -> RunMeasurements:
    """Measure the files in a run's folder. Raises a `UserError` for one without `run.json`."""
    notes: list[str] = []
    facts = read_json(run / "run.json")
    if facts is None:
        raise UserError(f"{run} is not a run: it has no run.json. Make one with `causeway linear-road run`.")
    try:
        validation = read_json(run / "validation.json")
    except UserError as unreadable:
        validation = None
        notes.append(str(unreadable))
    batches = _batches(_batch_facts(run, facts.get("batches") or [], notes))
    from_minute = int(facts.get("from_minute") or 0)
    reached = int(batches.last_second.max()) // 60 + 1 if len(batches) else 0
    minutes = int(facts.get("minutes") or max(reached, from_minute + 1))
    speed = float(facts["speed"]) if facts.get("speed") else None
    tally = _Tally(60 * from_minute, 60 * max(minutes, from_minute + 1), speed)
    for kind, time, ready in _read_answers(run, notes):
        tally.add(kind, time, ready)
    return RunMeasurements(
        folder=run,
        facts=facts,
        validation=validation,
        minutes=minutes,
        from_minute=from_minute,
        speed=speed,
        answers={number: int(count) for number, count in enumerate(tally.answers)},
        responses=tally.responses() if speed is not None else {},
        batches=batches,
        notes=notes,
    )


def _batch_facts(run: Path, summed_up: list[dict[str, Any]], notes: list[str]) -> list[dict[str, Any]]:
    """The facts of each batch, from `run.json` or, where it lacks them, from the batch's own file."""
    own: dict[int, dict[str, Any]] = {}
    known = {int(facts["batch"]): facts for facts in summed_up if "batch" in facts}
    for batch in list_batches(run):
        if batch.number in known:
            continue
        try:
            facts = batch.facts()
        except UserError as unreadable:
            notes.append(str(unreadable))
            continue
        took = _number(facts.get("readable")) - _number(facts.get("started_at"))
        own[batch.number] = facts | {"seconds": None if np.isnan(took) else took}
    return [facts for _, facts in sorted((own | known).items())]


def _batches(reported: list[dict[str, Any]]) -> Batches:
    reported = [batch for batch in reported if isinstance(batch.get("last_second"), int)]
    durations = [batch.get("durations_ms") or {} for batch in reported]

    def whole(name: str) -> I64:
        return np.array([int(batch.get(name) or 0) for batch in reported], np.int64)

    def part(names: tuple[str, ...]) -> F64:
        return np.array([sum(_number(took.get(name)) for name in names) / 1000 for took in durations], float)

    return Batches(
        first_second=whole("first_second"),
        last_second=whole("last_second"),
        tuples=whole("tuples"),
        started_at=np.array([_number(batch.get("started_at")) for batch in reported], float),
        seconds=np.array([_number(batch.get("seconds")) for batch in reported], float),
        parts={name: part(names) for name, names in _PARTS_OF_A_BATCH.items()},
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else np.nan


def _read_answers(
    run: Path, notes: list[str]
) -> Iterator[tuple[npt.NDArray[np.int8], npt.NDArray[np.int32], F64]]:
    """Type, Time and the later of Emit and Readable, a bounded number of answers at a time.

    They come from the batches' own files where the run has not collected its answers.
    """
    files: list[tuple[Path, float | None]] = [
        (path, None) for path in sorted((run / "answers").glob("part-*.parquet"))
    ]
    if not files:
        for batch in list_batches(run):
            if batch.answers is not None:
                try:
                    files.append((batch.answers, _number(batch.facts().get("readable_simulated"))))
                except UserError as unreadable:
                    notes.append(str(unreadable))
    for path, committed in files:
        columns = ["Type", "Time", "Emit", *(["Readable"] if committed is None else [])]
        try:
            with pq.ParquetFile(path) as file:
                for rows in file.iter_batches(_ROWS_AT_A_TIME, columns=columns):
                    readable = committed if committed is not None else _plain(rows, "Readable", pa.float64())
                    yield (
                        _plain(rows, "Type", pa.int8()),
                        _plain(rows, "Time", pa.int32()),
                        np.fmax(_plain(rows, "Emit", pa.float64()), readable),
                    )
        except (OSError, KeyError, ValueError, pa.ArrowException) as unreadable:
            notes.append(f"{path} cannot be read as answers, and is left out: {unreadable}")


def _plain(rows: pa.RecordBatch, name: str, kind: pa.DataType) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = rows.column(name).cast(kind).to_numpy(zero_copy_only=False)
    return values


class _Tally:
    """Counts answers by type, time bin and milliseconds."""

    def __init__(self, start: int, end: int, speed: float | None) -> None:
        self._start = start
        self._speed = speed or 1.0
        self._bin_seconds = next(
            (width for width in _BIN_SECONDS if (end - start) / width <= _BIN_LIMIT), _BIN_SECONDS[-1]
        )
        bins = -(-(end - start) // self._bin_seconds)
        self.answers = np.zeros(len(DEADLINES), np.int64)
        # Most of it is never touched, and takes no memory.
        self._histogram = np.zeros((len(DEADLINES), bins, _BUCKETS), np.int32)
        self._worst = np.full((len(DEADLINES), bins), -np.inf)
        self._sum = np.zeros((len(DEADLINES), bins))
        self._least = np.full(len(DEADLINES), np.inf)
        self._late = np.zeros(len(DEADLINES), np.int64)

    def add(self, kind: npt.NDArray[np.int8], time: npt.NDArray[np.int32], ready: F64) -> None:
        deadlines = np.array([DEADLINES[number] for number in sorted(DEADLINES)], float)
        _add_responses(
            self.answers,
            self._histogram,
            self._worst,
            self._sum,
            self._least,
            self._late,
            kind,
            time,
            ready,
            deadlines,
            self._start,
            self._bin_seconds,
            self._speed,
        )

    def responses(self) -> dict[int, Responses]:
        """Sum up, for the types that have answers with a deadline."""
        bins = self._histogram.shape[1]
        middles = (self._start + (np.arange(bins) + 0.5) * self._bin_seconds) / 60
        summed = {}
        for number in DEADLINES:
            seen = self._histogram[number]
            total = seen.sum(axis=0, dtype=np.int64)[np.newaxis]
            if not total.any():
                continue
            worst = np.where(np.isfinite(self._worst[number]), self._worst[number], np.nan)
            in_bins = seen.sum(axis=1, dtype=np.int64)
            summed[number] = Responses(
                answers=int(total.sum()),
                late=int(self._late[number]),
                least=float(self._least[number]),
                mean=float(self._sum[number].sum() / total.sum()),
                p50=float(_percentile(total, 0.50, np.nanmax(worst))[0]),
                p99=float(_percentile(total, 0.99, np.nanmax(worst))[0]),
                worst=float(np.nanmax(worst)),
                bin_minutes=middles,
                bin_p50=_percentile(seen, 0.50, worst),
                bin_p99=_percentile(seen, 0.99, worst),
                bin_worst=worst,
                bin_mean=self._sum[number] / np.where(in_bins > 0, in_bins, np.nan),
                bin_answers=in_bins,
            )
        return summed


def _percentile(histogram: npt.NDArray[Any], share: float, worst: F64 | float) -> F64:
    """Seconds below which a `share` of each row's answers lies; NaN for a row without any."""
    upto = histogram.cumsum(axis=1)
    answers = upto[:, -1]
    bucket = (upto >= np.ceil(share * answers)[:, np.newaxis]).argmax(axis=1)
    shift = np.maximum(bucket // 512 - 1, 0)
    seconds = (((bucket - 512 * shift + 1) << shift) - 1) / 1000
    percentile: F64 = np.where(answers > 0, np.minimum(seconds, worst), np.nan)
    return percentile


@kernel
def _add_responses(
    answers: I64,
    histogram: npt.NDArray[np.int32],
    worst: F64,
    total: F64,
    least: F64,
    late: I64,
    kind: npt.NDArray[np.int8],
    time: npt.NDArray[np.int32],
    ready: F64,
    deadlines: F64,
    start: int,
    bin_seconds: int,
    speed: float,
) -> None:
    for i in range(len(kind)):
        if kind[i] < 0 or kind[i] >= len(answers):
            continue
        answers[kind[i]] += 1
        if time[i] < start or not np.isfinite(ready[i]):
            continue
        time_bin = min((time[i] - start) // bin_seconds, histogram.shape[1] - 1)
        response = (ready[i] - time[i]) / speed
        if ready[i] > time[i] + speed * deadlines[kind[i]]:
            late[kind[i]] += 1
        worst[kind[i], time_bin] = max(worst[kind[i], time_bin], response)
        total[kind[i], time_bin] += response
        least[kind[i]] = min(least[kind[i]], response)
        milliseconds = int(min(max(np.rint(1000 * response), 0), _LARGEST_MILLISECONDS))
        shift = 0
        while milliseconds >> shift >= _EXACT:
            shift += 1
        histogram[kind[i], time_bin, 512 * shift + (milliseconds >> shift)] += 1
