"""The warm-up before real time starts: Java and the Python workers compile what they will run."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from causeway.linear_road.driver.clock import SimulatedClock
from causeway.linear_road.driver.spool import spool_file_name
from causeway.linear_road.runner.engine import Answering, Engine
from causeway.linear_road.runner.run_folder import RunFolder
from causeway.linear_road.workload.stream_reader import read_seconds
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.progress import progress_bar

__all__ = ["remove_warm_up", "warm_up"]

_FOLDER: Final = ".warm-up"
_BATCHES: Final = 16
_POLL: Final = 0.02
_SECONDS: Final = 4
"""Simulated seconds in a batch of the warm-up."""


def warm_up(folder: RunFolder, workload: Workload, engine: Engine) -> None:
    """Answer a copy of the first tuples, and forget the answers.

    It is done inside the run's folder, which all workers see.
    """
    remove_warm_up(folder)
    scratch = RunFolder(_path(folder))
    for path in (scratch.spool, scratch.segments):
        path.mkdir(parents=True)
    clock = SimulatedClock(scratch.spool, None, 0, time.time())
    try:
        with (
            progress_bar("warming up", _BATCHES, "batches") as bar,
            engine.answering(scratch, clock) as watch,
        ):
            for number, (first, last, tuples) in enumerate(_first_tuples(workload), 1):
                unfinished = scratch.spool / ".next"
                pq.write_table(tuples, unfinished)
                unfinished.rename(scratch.spool / spool_file_name(first, last))
                _wait_until_answered(watch, last + 1)
                bar.update(number)
    finally:
        remove_warm_up(folder)


def remove_warm_up(folder: RunFolder) -> None:
    """Remove what a warm-up has left: Spark's upkeep of its state may write once more after its end."""
    shutil.rmtree(_path(folder), ignore_errors=True)


def _path(folder: RunFolder) -> Path:
    return folder.path / _FOLDER


def _wait_until_answered(watch: Answering, second: int) -> None:
    while watch.answered < second:
        watch.check()
        watch.new_progress()
        time.sleep(_POLL)


def _first_tuples(workload: Workload) -> Iterator[tuple[int, int, pa.Table]]:
    """The first tuples, some seconds at a time, as (first second, last second, tuples)."""
    first = 0
    seconds: list[int] = []
    batches: list[pa.RecordBatch] = []
    count = 0
    for second in read_seconds(workload.parts, workload.format):
        seconds.append(second.time)
        batches += second.batches
        if len(seconds) == _SECONDS:
            yield first, seconds[-1], pa.Table.from_batches(batches)
            first = seconds[-1] + 1
            seconds, batches, count = [], [], count + 1
            if count == _BATCHES:
                return
    if seconds:
        yield first, seconds[-1], pa.Table.from_batches(batches)
