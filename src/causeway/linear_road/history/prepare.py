"""`causeway linear-road prepare`: a workload's history made ready for lookups, once, on Spark.

Every table of every expressway is a task, whose memory does not depend on how many there are. They read the
history and write the arrays, so that all of Spark's workers must see the workload's folder.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from causeway.linear_road.history.arrays import daily_tolls, weekday_sums
from causeway.linear_road.history.flat_files import parts_of, split_part
from causeway.linear_road.history.past_traffic import SEGMENT_HISTORY_COLUMNS, TOLL_HISTORY_COLUMNS
from causeway.linear_road.history.prepared import (
    PREPARED_FILE,
    PreparedHistory,
    save_daily_tolls,
    save_weekday_sums,
    saved_tables,
)
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError
from causeway.runtime.lock import FolderLock
from causeway.runtime.output_folder import is_replaceable, scratch_folder
from causeway.runtime.progress import watched
from causeway.spark.tasks import run_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Preparation", "ensure_prepared", "prepare", "prepared_folder", "require_history"]


@dataclass(frozen=True)
class Preparation:
    """What was prepared, and how long it took."""

    expressways: int
    toll_history: int
    """Rows of TollHistory."""
    segment_history: int
    """Rows of SegmentHistory."""
    bytes: int
    """On disk."""
    seconds: float


@dataclass(frozen=True)
class _Table:
    name: str
    flat_file: str
    columns: tuple[str, ...]
    requests: str
    """Who looks it up, by their name in a workload's counts."""
    make: Callable[[Path, int, Sequence[Path]], None]
    """Read one expressway's files and write its arrays to a folder."""


def _make_tolls(folder: Path, xway: int, files: Sequence[Path]) -> None:
    save_daily_tolls(folder, xway, daily_tolls(files))


def _make_segments(folder: Path, xway: int, files: Sequence[Path]) -> None:
    save_weekday_sums(folder, xway, weekday_sums(files))


def _make(table: _Table, folder: Path, xway: int, files: Sequence[Path]) -> int:
    """One task: a table of an expressway; returns how many rows it had."""
    try:
        table.make(folder, xway, files)
    except UserError as failure:
        raise UserError(f"expressway {xway}: {failure}") from failure
    return sum(pq.read_metadata(file).num_rows for file in files)


_TABLES = (
    _Table("toll_history", "TollHistory.csv", TOLL_HISTORY_COLUMNS, "type_3", _make_tolls),
    _Table("segment_history", "SegmentHistory.csv", SEGMENT_HISTORY_COLUMNS, "type_4", _make_segments),
)

_EXPRESSWAY = re.compile(r"xway-(\d+)")


def prepared_folder(workload: Workload) -> Path:
    """Where the prepared history is: in the history, so that it goes when that is replaced."""
    return workload.history / "prepared"


def require_history(workload: Workload) -> None:
    """Refuse a workload whose requests ask for history that is not there; it needs no Spark to tell."""
    there = _history_files(workload)
    for table in _TABLES:
        if workload.counts.get(table.requests) and not there[table.name]:
            raise _no_history(workload, table.name)


def ensure_prepared(spark: SparkSession, workload: Workload) -> PreparedHistory:
    """The prepared history, made where there is none or the history has changed since.

    A workload in which nobody asks for history needs none, and gets one that answers 0.
    """
    require_history(workload)
    if not any(_history_files(workload).values()):
        return PreparedHistory(prepared_folder(workload), "none")
    if not _is_fresh(workload):
        with _locked(workload):
            # Another process may have prepared it since.
            if not _is_fresh(workload):
                _prepare(spark, workload)
    return PreparedHistory.open(prepared_folder(workload))


def prepare(spark: SparkSession, workload: Workload) -> Preparation:
    """Make the prepared history, whole or not at all; an earlier one gives way when this one is complete.

    Only one process can do so at a time; a second one gets a `UserError` that names the first.
    """
    require_history(workload)
    with _locked(workload):
        return _prepare(spark, workload)


def _locked(workload: Workload) -> FolderLock:
    return FolderLock(workload.folder, "preparing the history")


def _prepare(spark: SparkSession, workload: Workload) -> Preparation:
    started = time.monotonic()
    require_history(workload)
    if not any(_history_files(workload).values()):
        raise _no_history(workload, "history")
    # Told before anything is read, so that a change in the meantime is noticed next time.
    made_from = _fingerprint(workload)
    place = prepared_folder(workload).absolute()
    if not is_replaceable(place) and not (place / PREPARED_FILE).is_file():
        raise UserError(f"{place} is in the way: it is not a prepared history. Move or remove it.")
    try:
        with scratch_folder(place.parent / ".prepared-new") as scratch:
            fresh = scratch / "arrays"
            fresh.mkdir()
            tables = {
                table: _files_by_expressway(spark, workload, table, scratch / table.name) for table in _TABLES
            }
            # The longest tasks first: SegmentHistory is the larger table.
            keys = [(table, xway) for table in reversed(_TABLES) for xway in sorted(tables[table])]
            tasks = [partial(_make, table, fresh, xway, tables[table][xway]) for table, xway in keys]
            made = _run(spark, "preparing", tasks, lambda: saved_tables(fresh))
            rows = dict.fromkeys((table.name for table in _TABLES), 0)
            for (table, _), count in zip(keys, made, strict=True):
                rows[table.name] += count
            xways = {table.name: frozenset(files) for table, files in tables.items()}
            PreparedHistory(fresh, made_from, **xways).save({"rows": rows})
            size = sum(file.stat().st_size for file in fresh.iterdir())
            if place.exists():
                place.rename(scratch / "old")
            fresh.rename(place)
    except OSError as refused:
        raise UserError(f"{workload.history}: the history cannot be prepared: {refused}") from refused
    expressways = len(frozenset.union(*xways.values()))
    return Preparation(expressways, **rows, bytes=size, seconds=time.monotonic() - started)


def _history_files(workload: Workload) -> dict[str, list[Path]]:
    """The files of each table: the papers' flat file where there is one, or those of all expressways."""
    return {
        table.name: [flat]
        if (flat := workload.history / table.flat_file).is_file()
        else sorted((workload.history / table.name).glob("xway-*-*.parquet"))
        for table in _TABLES
    }


def _no_history(workload: Workload, missing: str) -> UserError:
    return UserError(
        f"{workload.folder} has no {missing} to answer requests from; "
        f"make it with `causeway linear-road history {workload.folder}`"
    )


def _is_fresh(workload: Workload) -> bool:
    try:
        return PreparedHistory.open(prepared_folder(workload)).history == _fingerprint(workload)
    except UserError:
        return False


def _fingerprint(workload: Workload) -> str:
    """Differs for another history: by the names, sizes and times of its files, not by reading them."""
    digest = hashlib.sha256()
    for files in _history_files(workload).values():
        for file in files:
            facts = file.stat()
            digest.update(f"{file.name}\n{facts.st_size}\n{facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _files_by_expressway(
    spark: SparkSession, workload: Workload, table: _Table, scratch: Path
) -> dict[int, list[Path]]:
    """A table's Parquet files, told apart by their names; a flat file is first split into `scratch`."""
    files = [file.absolute() for file in _history_files(workload)[table.name]]
    if files and files[0].suffix == ".csv":
        parts = enumerate(parts_of(files[0]))
        tasks = [
            partial(split_part, files[0], begin, table.columns, scratch / f"{number:06d}")
            for number, begin in parts
        ]
        _run(spark, f"splitting {files[0].name}", tasks, lambda: len(list(scratch.iterdir())))
        files = sorted(scratch.glob("*/xway-*.parquet"))
    expressways: dict[int, list[Path]] = {}
    for file in files:
        named = _EXPRESSWAY.match(file.name)
        if not named:
            raise UserError(f"{file}: expected a name with the expressway, as xway-00000-00000.parquet")
        expressways.setdefault(int(named[1]), []).append(file)
    return expressways


def _run(
    spark: SparkSession, title: str, tasks: Sequence[Callable[[], int]], done: Callable[[], float]
) -> list[int]:
    """Run each as a Spark task and return their results, with a progress bar."""
    with watched(title, len(tasks), "tasks", done):
        return run_tasks(spark, len(tasks), lambda number: tasks[number]())
