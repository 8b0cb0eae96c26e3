"""A run: the pipeline is started and warmed up, the driver beside it, and all answers brought together."""

from __future__ import annotations

import json
import math
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from causeway import __version__
from causeway.linear_road.driver.clock import SimulatedClock
from causeway.linear_road.driver.drive_process import DriveProcess
from causeway.linear_road.driver.spool import delivered_until, spool_file_name
from causeway.linear_road.history.prepare import ensure_prepared, require_history
from causeway.linear_road.history.prepared import PreparedHistory
from causeway.linear_road.model.rules import RULES
from causeway.linear_road.pipeline.answer_sink import AnswerSink
from causeway.linear_road.pipeline.query import shards_for, start_query
from causeway.linear_road.runner.answers_file import collect_answers
from causeway.linear_road.runner.run_folder import RunFolder
from causeway.linear_road.workload.stream_reader import read_seconds
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError
from causeway.runtime.machine import hardware, versions
from causeway.runtime.progress import ProgressBar, progress_bar
from causeway.spark.precedence import give_way
from causeway.spark.session import explain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["RunSettings", "begin_run", "run"]

_POLL: Final = 0.1
_WARM_UP: Final = ".warm-up"
_WARM_UP_BATCHES: Final = 16
_WARM_UP_SECONDS: Final = 4
"""Simulated seconds in a batch of the warm-up."""


@dataclass(frozen=True)
class RunSettings:
    """How a workload is run."""

    speed: float | None = 1.0
    """Simulated seconds that pass in one second; None to take all as fast as it goes."""
    from_minute: int = 0
    rules: str = "vldb2004"


def begin_run(workload: Workload, out: Path, settings: RunSettings, *, resume: bool) -> RunSettings:
    """Make the folder of a run, or look at the one to be resumed; returns the settings that hold.

    Needs no Spark, so that the user's mistakes are told at once. A resumed run keeps its own settings.
    """
    folder = RunFolder(out)
    require_history(workload)
    if resume:
        return _settings_of(folder, workload)
    if settings.rules not in RULES:
        raise UserError(f"--rules {settings.rules}: there are {', '.join(RULES)}")
    if settings.speed is not None and not 0 < settings.speed < math.inf:
        raise UserError(f"a speed of {settings.speed} is not possible; give a number above 0, or max")
    if not 0 <= settings.from_minute < workload.minutes:
        raise UserError(
            f"real time cannot start at minute {settings.from_minute}: {workload.folder} has the minutes "
            f"0 to {workload.minutes - 1}"
        )
    folder.make()
    # Before Spark takes its seconds to start, so that a run that is killed meanwhile can be resumed.
    folder.save(_first_facts(workload, settings))
    return settings


def _settings_of(folder: RunFolder, workload: Workload) -> RunSettings:
    """The settings of a run that can be resumed."""
    facts = folder.facts()
    try:
        if facts["workload"] != str(workload.folder.resolve()):
            raise UserError(f"{folder.path} is a run of {facts['workload']}, not of {workload.folder}")
        if facts["state"] == "finished":
            raise UserError(f"{folder.path} is finished; there is nothing to resume")
        return RunSettings(facts["speed"], facts["from_minute"], facts["rules"])
    except (KeyError, TypeError) as missing:
        raise UserError(f"{folder.facts_file} is not what a run leaves: {missing!r}") from missing


def run(
    spark: SparkSession, workload: Workload, out: Path, settings: RunSettings, *, resume: bool = False
) -> dict[str, Any]:
    """Answer `workload` in the folder that `begin_run` has made; returns the facts in `run.json`."""
    folder = RunFolder(out)
    facts = folder.facts()
    if not facts["attempts"]:
        facts |= _facts_of_spark(spark, workload)
    # The driver must be punctual while Spark uses every core.
    give_way(spark)
    facts |= {"state": "running", "attempts": facts["attempts"] + 1}
    folder.save(facts)
    began = time.monotonic()
    batches: dict[int, dict[str, Any]] = {batch["batch"]: batch for batch in facts["batches"]}
    try:
        history = ensure_prepared(spark, workload)
        if settings.speed is not None:
            _warm_up(spark, workload, folder, settings, history, facts["shards"])
        clock = SimulatedClock(folder.spool, settings.speed, settings.from_minute, facts["made_at"])
        # After a restart nothing may be left to answer; Spark's log tells, until its query goes on with it.
        answered = _committed_second(folder.checkpoint)
        with _answering(spark, folder, clock, settings, history, facts["shards"]) as query:
            work = _Run(folder, workload, settings, query, clock, batches, answered)
            delivery = work.until_all_is_answered(resume)
        answers = collect_answers(out)
        facts["counts"] = {
            "tuples": sum(note["tuples"] for note in folder.batch_notes()),
            **{name: count for name, count in workload.counts.items() if name != "trips"},
            "answers": {str(kind): count for kind, count in answers.items()},
        }
        # Only now, since a finished run is not resumed.
        facts |= {"state": "finished", "started_at": clock.started_at, "delivery": delivery}
    except KeyboardInterrupt:
        facts["state"] = "stopped"
        raise
    except BaseException:
        facts["state"] = "failed"
        raise
    finally:
        facts["seconds"] = round(facts["seconds"] + time.monotonic() - began, 3)
        facts["batches"] = [batches[number] for number in sorted(batches)]
        folder.save(facts)
    # Spark's upkeep of its state may have written to the warm-up's once more after that was taken away.
    for done_with in (folder.spool, folder.checkpoint, folder.path / _WARM_UP):
        shutil.rmtree(done_with, ignore_errors=True)
    return facts


class _Run:
    """A query and a driver at work."""

    def __init__(
        self,
        folder: RunFolder,
        workload: Workload,
        settings: RunSettings,
        query: StreamingQuery,
        clock: SimulatedClock,
        batches: dict[int, dict[str, Any]],
        answered: int,
    ) -> None:
        self._folder = folder
        self._workload = workload
        self._settings = settings
        self._query = query
        self._clock = clock
        self._batches = batches
        self._answered = answered
        """The second up to which all is answered, not including it."""
        self._newest = -1
        """The newest batch that has been looked at."""
        self._worst = 0.0

    def until_all_is_answered(self, resume: bool) -> dict[str, Any]:
        """Let the driver deliver, and wait for the last answer; returns how the driver did."""
        settings, spool = self._settings, self._folder.spool
        driver = DriveProcess(
            self._workload,
            spool,
            speed=settings.speed,
            from_minute=settings.from_minute,
            resume=resume,
            log=self._folder.path / "driver.log",
        )
        started = False
        try:
            with progress_bar("answering", self._workload.minutes * 60, "simulated s") as bar:
                while True:
                    time.sleep(_POLL)
                    ended = driver.ended
                    self._look(bar)
                    all_answered = self._answered >= delivered_until(spool)
                    if not started and driver.ready and all_answered:
                        driver.start()
                        started = True
                    if ended and (driver_failed := driver.failure()):
                        raise UserError(driver_failed)
                    if ended and all_answered:
                        return {
                            name: value
                            for name, value in driver.outcome().items()
                            if name.endswith("_ms") or name in ("kept_promise", "tuples", "files")
                        }
        finally:
            driver.stop()

    def _look(self, bar: ProgressBar) -> None:
        failure = self._query.exception()
        if failure is not None:
            raise RuntimeError(explain(failure)) from failure
        if not self._query.isActive:
            raise RuntimeError("the query ended before all was answered")
        for progress in self._new_progress():
            self._answered = max(self._answered, _second(progress))
            note = self._folder.batches / f"batch-{progress['batchId']:09d}.json"
            if progress["batchId"] in self._batches or not note.exists():
                continue
            noted = json.loads(note.read_text())
            durations = dict(progress["durationMs"])
            self._batches[progress["batchId"]] = {
                **{name: noted[name] for name in ("batch", "first_second", "last_second", "tuples", "spent")},
                "started_at": noted["readable"] - durations.get("triggerExecution", 0) / 1000,
                "seconds": durations.get("triggerExecution", 0) / 1000,
                "durations_ms": durations,
            }
            note_text = (
                f"{noted['tuples'] / max(durations.get('triggerExecution', 1), 1) * 1000:,.0f} tuples/s"
            )
            if self._settings.speed is not None and self._clock.started_at is not None:
                response = (noted["readable_simulated"] - noted["first_second"]) / self._settings.speed
                if noted["first_second"] >= 60 * self._settings.from_minute:
                    self._worst = max(self._worst, response)
                note_text += f", worst response {self._worst:.2f} s"
            bar.update(
                noted["last_second"] + 1,
                f"batch {durations.get('triggerExecution', 0) / 1000:.2f} s, {note_text}",
            )

    def _new_progress(self) -> list[Any]:
        """What Spark tells of batches that have ended since the last call.

        Only the newest is asked for where that is all there is: every one that Spark remembers is a good
        millisecond of this process' time, and of Spark's.
        """
        last = self._query.lastProgress
        if last is None:
            return []
        # While there is no input, Spark tells of the batch to come from time to time.
        newest = last["batchId"] - (not last["numInputRows"])
        if newest <= self._newest:
            return []
        only_one = newest == self._newest + 1 == last["batchId"]
        recent = [last] if only_one else self._query.recentProgress
        news = [one for one in recent if one["numInputRows"] and one["batchId"] > self._newest]
        self._newest = newest
        return news


def _second(progress: Any) -> int:
    offset = progress["sources"][0]["endOffset"]
    return int((json.loads(offset) if isinstance(offset, str) else offset)["second"])


def _committed_second(checkpoint: Path) -> int:
    """The second up to which Spark has committed, by its own log; 0 before the first commit."""
    commits = sorted(int(path.name) for path in (checkpoint / "commits").glob("[0-9]*"))
    if not commits:
        return 0
    lines = (checkpoint / "offsets" / str(commits[-1])).read_text().splitlines()
    return int(json.loads(lines[-1])["second"])


def _first_facts(workload: Workload, settings: RunSettings) -> dict[str, Any]:
    return {
        "version": __version__,
        "state": "new",
        "workload": str(workload.folder.resolve()),
        "expressways": workload.expressways,
        "minutes": workload.minutes,
        "seed": workload.seed,
        "rules": settings.rules,
        "speed": settings.speed,
        "from_minute": settings.from_minute,
        "made_at": time.time(),
        "started_at": None,
        "attempts": 0,
        "seconds": 0.0,
        "counts": {},
        "delivery": {},
        "batches": [],
    }


def _facts_of_spark(spark: SparkSession, workload: Workload) -> dict[str, Any]:
    context = spark.sparkContext
    return {
        "master": context.master,
        "settings": {
            key: value
            for key, value in context.getConf().getAll()
            if key.startswith(("spark.sql", "spark.driver.memory", "spark.executor", "spark.python"))
        },
        "shards": shards_for(spark, workload.expressways),
        "hardware": hardware(),
        "versions": versions(spark),
        # Where nothing is delivered in real time, the clock starts here.
        "made_at": time.time(),
    }


@contextmanager
def _answering(
    spark: SparkSession,
    folder: RunFolder,
    clock: SimulatedClock,
    settings: RunSettings,
    history: PreparedHistory,
    shards: int,
) -> Iterator[StreamingQuery]:
    query = start_query(
        spark,
        folder.spool,
        folder.checkpoint,
        AnswerSink(folder.batches, folder.segments, clock),
        shards=shards,
        rules=settings.rules,
        history=history,
    )
    try:
        yield query
    finally:
        query.stop()


def _warm_up(
    spark: SparkSession,
    workload: Workload,
    run_folder: RunFolder,
    settings: RunSettings,
    history: PreparedHistory,
    shards: int,
) -> None:
    """Let Java and the Python workers compile what they will run, on a copy of the first tuples.

    It is done inside the run's folder, which all workers see.
    """
    folder = RunFolder(run_folder.path / _WARM_UP)
    shutil.rmtree(folder.path, ignore_errors=True)
    folder.make()
    clock = SimulatedClock(folder.spool, None, 0, time.time())
    try:
        with (
            progress_bar("warming up", _WARM_UP_BATCHES, "batches") as bar,
            _answering(spark, folder, clock, settings, history, shards) as query,
        ):
            for number, (first, last, tuples) in enumerate(_first_tuples(workload), 1):
                pq.write_table(tuples, folder.spool / ".next")
                (folder.spool / ".next").rename(folder.spool / spool_file_name(first, last))
                while len(list(folder.batches.glob("*.json"))) < number:
                    if (failure := query.exception()) is not None:
                        raise RuntimeError(explain(failure)) from failure
                    time.sleep(0.02)
                bar.update(number)
    finally:
        shutil.rmtree(folder.path, ignore_errors=True)


def _first_tuples(workload: Workload) -> Iterator[tuple[int, int, pa.Table]]:
    """The first tuples, some seconds at a time, as (first second, last second, tuples)."""
    first = 0
    seconds: list[int] = []
    batches: list[pa.RecordBatch] = []
    given = 0
    for second in read_seconds(workload.parts, workload.format):
        seconds.append(second.time)
        batches += second.batches
        if len(seconds) == _WARM_UP_SECONDS:
            yield first, seconds[-1], pa.Table.from_batches(batches)
            first = seconds[-1] + 1
            seconds, batches, given = [], [], given + 1
            if given == _WARM_UP_BATCHES:
                return
    if seconds:
        yield first, seconds[-1], pa.Table.from_batches(batches)
