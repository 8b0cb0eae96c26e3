"""A run: the driver is started, the pipeline beside it, and all answers are brought together.

The driver is a process of its own and starts before Spark, so that it is ready when Spark is.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from causeway import __version__
from causeway.linear_road.driver.clock import SimulatedClock
from causeway.linear_road.driver.drive_process import DriveProcess, SpoolDelivery
from causeway.linear_road.history.prepare import ensure_prepared, require_history
from causeway.linear_road.keeping.keep_process import KeepProcess
from causeway.linear_road.keeping.reports_table import open_reports_table
from causeway.linear_road.runner.answers_file import collect_answers
from causeway.linear_road.runner.engine import first_facts, make_engine, spool_limit
from causeway.linear_road.runner.progress import BatchRecord, wait_for_answers
from causeway.linear_road.runner.resources import ResourceSampler
from causeway.linear_road.runner.run_folder import RunFolder
from causeway.linear_road.runner.settings import (
    RequestedSettings,
    RunSettings,
    new_settings,
    resumed_settings,
)
from causeway.linear_road.runner.warm_up import remove_warm_up, warm_up
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.machine import hardware, versions
from causeway.runtime.output_folder import refuse_used_folder
from causeway.spark.collection import collect_garbage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Attempt", "begun_run"]


@contextmanager
def begun_run(
    workload: Workload, out: Path, requested: RequestedSettings, *, resume: bool = False
) -> Iterator[Attempt]:
    """Make the folder of a run, or take up the one to be resumed, and start the driver.

    Needs no Spark, so that the user's mistakes are reported at once. Inside the block no other process can
    work on the run; at its end the driver is stopped.
    """
    folder = RunFolder(out)
    require_history(workload)
    if resume:
        settings = resumed_settings(requested, workload, folder)
    else:
        settings = new_settings(requested, workload)
        refuse_used_folder(out)
    with folder.locked():
        if resume:
            # The process that had the lock until now may have finished it.
            folder.resumable_facts()
        else:
            folder.begin(_first_facts(workload, settings))
        for path in (folder.spool, folder.segments):
            path.mkdir(exist_ok=True)
        driver = DriveProcess(
            workload,
            folder.spool,
            speed=settings.speed,
            from_minute=settings.from_minute,
            resume=resume,
            log=folder.driver_log,
            spool_limit=spool_limit(settings.engine),
        )
        keeper = _keeper(folder, settings)
        try:
            yield Attempt(workload, folder, settings, driver, keeper, time.monotonic())
        finally:
            driver.stop()
            if keeper is not None:
                keeper.stop()


def _keeper(folder: RunFolder, settings: RunSettings) -> KeepProcess | None:
    if settings.keep is None:
        return None
    return KeepProcess(
        folder.spool,
        folder.warehouse,
        settings.keep,
        record=folder.keeping,
        log=folder.keeping_log,
        real_time_from=None if settings.speed is None else 60 * settings.from_minute,
    )


@dataclass(frozen=True)
class Attempt:
    """A run whose driver is at work; the first attempt at it, or one that resumes it."""

    workload: Workload
    folder: RunFolder
    settings: RunSettings
    driver: DriveProcess
    keeper: KeepProcess | None
    """The process that keeps the position reports, if they are kept."""
    began: float
    """On the monotonic clock."""

    def answer(self, spark: SparkSession) -> dict[str, Any]:
        """Answer all of the workload; returns the facts in `run.json`."""
        folder, settings = self.folder, self.settings
        steps = _Steps(self.began)
        steps.end("spark")
        facts = folder.facts()
        if not facts["attempts"]:
            facts |= _facts_of_spark(spark) | first_facts(settings.engine, spark, self.workload)
        facts["attempts"] += 1
        with folder.logged(f"attempt {facts['attempts']}"), folder.recorded(facts):
            self._answer(spark, facts, steps)
        # A finished run is not resumed, so that these may go only now.
        for path in (folder.spool, folder.checkpoint):
            shutil.rmtree(path, ignore_errors=True)
        remove_warm_up(folder)
        return facts

    def _answer(self, spark: SparkSession, facts: dict[str, Any], steps: _Steps) -> None:
        folder, settings = self.folder, self.settings
        facts["starts"] = [*facts["starts"], steps.seconds]
        clock = SimulatedClock(folder.spool, settings.speed, settings.from_minute, facts["made_at"])
        record = BatchRecord(folder, settings, clock, facts)
        try:
            engine = make_engine(settings, spark, ensure_prepared(spark, self.workload), facts, folder.log)
            delivery = SpoolDelivery(self.driver, folder.spool)
            keeper = self.keeper
            steps.end("history")
            # Once real time has started, deadlines pass: what has become due meanwhile is warm-up enough.
            is_ahead = settings.speed is not None and clock.started_at is None
            if is_ahead:
                warm_up(folder, self.workload, engine)
                steps.end("warm_up")
            with ResourceSampler(clock, facts), engine.answering(folder, clock, keeper) as watch:
                facts["delivery"] = wait_for_answers(
                    watch,
                    delivery,
                    self.driver,
                    record,
                    60 * self.workload.minutes,
                    lambda: steps.end("first_batch"),
                    () if keeper is None else (keeper.failure,),
                    partial(collect_garbage, spark) if is_ahead else None,
                )
            if keeper is not None:
                keeper.finish()
            if settings.history_table is not None:
                facts["kept"] = _kept_facts(folder, settings.history_table)
            answers = collect_answers(folder.path)
            facts["counts"] = {
                "tuples": sum(note["tuples"] for note in folder.batches.notes()),
                **{name: count for name, count in self.workload.counts.items() if name != "trips"},
                "answers": {str(kind): count for kind, count in answers.items()},
            }
            facts["started_at"] = clock.started_at
        finally:
            facts["seconds"] = round(facts["seconds"] + steps.since_spark(), 3)
            facts["batches"] = record.all()


class _Steps:
    """How long each step of a start took, from the beginning of the attempt to the first batch."""

    def __init__(self, began: float) -> None:
        self._last = began
        self._after_spark = began
        self.seconds: dict[str, float] = {}

    def end(self, step: str) -> None:
        now = time.monotonic()
        self.seconds[step] = round(now - self._last, 3)
        self._last = now
        if step == "spark":
            self._after_spark = now

    def since_spark(self) -> float:
        return time.monotonic() - self._after_spark


def _kept_facts(folder: RunFolder, table_name: str) -> dict[str, Any]:
    """What the history holds at the end of a run, and how it was kept if a process of its own did so."""
    table = open_reports_table(folder.warehouse, table_name).snapshot().describe()
    facts: dict[str, Any] = {
        "rows": table.rows,
        "late": table.late,
        "bytes": table.bytes,
        "files": table.files,
        "rows_in_log": table.log_rows,
    }
    if folder.keeping.exists():
        keeping = json.loads(folder.keeping.read_text())
        facts |= {"keeper_cpu_seconds": keeping["cpu_seconds"], "visible_ms": keeping["visible_ms"]}
    return facts


def _first_facts(workload: Workload, settings: RunSettings) -> dict[str, Any]:
    return {
        "version": __version__,
        "workload": str(workload.folder.resolve()),
        "expressways": workload.expressways,
        "minutes": workload.minutes,
        "seed": workload.seed,
        "rules": settings.rules,
        "engine": settings.engine,
        "speed": settings.speed,
        "from_minute": settings.from_minute,
        "keep": settings.keep,
        "history_table": settings.history_table,
        "made_at": time.time(),
        "started_at": None,
        "attempts": 0,
        "starts": [],
        "seconds": 0.0,
        "counts": {},
        "delivery": {},
        "batches": [],
        "resources": [],
    }


def _facts_of_spark(spark: SparkSession) -> dict[str, Any]:
    context = spark.sparkContext
    return {
        "master": context.master,
        "settings": {
            key: value
            for key, value in context.getConf().getAll()
            if key.startswith(("spark.sql", "spark.driver.memory", "spark.executor", "spark.python"))
        },
        "hardware": hardware(),
        "versions": versions(spark),
        # Where nothing is delivered in real time, the clock starts here.
        "made_at": time.time(),
    }
