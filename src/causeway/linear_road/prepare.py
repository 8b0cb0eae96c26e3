"""`causeway linear-road prepare`: a workload's history made ready for lookups, once, on Spark.

Every table of every expressway is a task, whose memory does not depend on how many there are. They read the
history and write the arrays, so that all of Spark's workers must see the workload's folder.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from causeway.errors import UserError
from causeway.linear_road.history_arrays import daily_tolls, weekday_sums
from causeway.linear_road.history_traffic import SEGMENT_HISTORY_COLUMNS, TOLL_HISTORY_COLUMNS
from causeway.linear_road.prepared_history import PreparedHistory, save_daily_tolls, save_weekday_sums
from causeway.linear_road.stream_frame import literal_path
from causeway.linear_road.workload import Workload
from causeway.progress import watched
from causeway.session import explain

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
    make: Callable[[Path, int, list[Path]], None]
    """Read one expressway's files and write its arrays to a folder."""


def _make_tolls(folder: Path, xway: int, files: list[Path]) -> None:
    save_daily_tolls(folder, xway, daily_tolls(files))


def _make_segments(folder: Path, xway: int, files: list[Path]) -> None:
    save_weekday_sums(folder, xway, weekday_sums(files))


_TABLES = (
    _Table("toll_history", "TollHistory.csv", TOLL_HISTORY_COLUMNS, "type_3", _make_tolls),
    _Table("segment_history", "SegmentHistory.csv", SEGMENT_HISTORY_COLUMNS, "type_4", _make_segments),
)

_EXPRESSWAY = re.compile(r"(?:xway-|XWay=)(\d+)")

_Task = tuple[_Table, int, list[Path]]
"""A table, an expressway and its files."""


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
        prepare(spark, workload)
    return PreparedHistory.open(prepared_folder(workload))


def prepare(spark: SparkSession, workload: Workload) -> Preparation:
    """Make the prepared history, whole or not at all; an earlier one gives way when this one is complete."""
    started = time.monotonic()
    require_history(workload)
    if not any(_history_files(workload).values()):
        raise _no_history(workload, "history")
    # Told before anything is read, so that a change in the meantime is noticed next time.
    made_from = _fingerprint(workload)
    try:
        with _scratch_folder(workload.history.resolve()) as scratch:
            tasks = _tasks(spark, workload, scratch / "tables")
            fresh = scratch / "arrays"
            fresh.mkdir()
            rows = _run(spark, tasks, fresh)
            xways = {table.name: frozenset(x for t, x, _ in tasks if t is table) for table in _TABLES}
            PreparedHistory(fresh, made_from, **xways).save({"rows": rows})
            size = sum(file.stat().st_size for file in fresh.iterdir())
            place = prepared_folder(workload).resolve()
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


@contextmanager
def _scratch_folder(history: Path) -> Iterator[Path]:
    """A hidden folder for the block only; what a run that was killed left in it goes first."""
    folder = history / ".prepared-new"
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _tasks(spark: SparkSession, workload: Workload, scratch: Path) -> list[_Task]:
    """Tell apart the expressways, by the names of files and folders; the largest table comes first."""
    tasks = []
    for table in reversed(_TABLES):
        files = [file.resolve() for file in _history_files(workload)[table.name]]
        if files and files[0].suffix == ".csv":
            files = _by_expressway(spark, table, files[0], scratch / table.name)
        expressways: dict[int, list[Path]] = {}
        for file in files:
            named = _EXPRESSWAY.search(f"{file.parent.name}/{file.name}")
            if not named:
                raise UserError(f"{file}: expected a name with the expressway, as xway-00000-00000.parquet")
            expressways.setdefault(int(named[1]), []).append(file)
        tasks += [(table, *expressway) for expressway in sorted(expressways.items())]
    return tasks


def _by_expressway(spark: SparkSession, table: _Table, flat_file: Path, folder: Path) -> list[Path]:
    """Split a flat file, in whatever order it is, into Parquet files of one expressway each."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    ddl = ", ".join(f"{name} INT" for name in table.columns)
    present = [f"coalesce({name}, raise_error('{name} is empty')) AS {name}" for name in table.columns]
    try:
        rows = spark.read.csv(literal_path(flat_file), schema=ddl, mode="FAILFAST")
        rows.selectExpr(*present).where("XWay >= 0").write.partitionBy("XWay").parquet(str(folder))
    except (PySparkException, Py4JError) as failure:
        raise UserError(
            f"{flat_file} cannot be read as {', '.join(table.columns)}, whole numbers: {explain(failure)}"
        ) from failure
    return sorted(folder.glob("XWay=*/*.parquet"))


def _run(spark: SparkSession, tasks: list[_Task], into: Path) -> dict[str, int]:
    """Run each task as one of Spark's; return how many rows of each table there were."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                table, xway, files = tasks[number]
                rows, wrong = 0, ""
                try:
                    table.make(into, xway, files)
                    rows = sum(pq.read_metadata(file).num_rows for file in files)
                except (UserError, OSError) as told:
                    # As an answer, since an exception would come back as a stack trace, after retries.
                    wrong = f"expressway {xway}: {told}"
                yield pa.RecordBatch.from_pylist([{"table": table.name, "rows": rows, "wrong": wrong}])

    numbers = spark.range(0, len(tasks), 1, len(tasks))
    with watched("preparing", len(tasks), "tables", lambda: len(list(into.glob("*[st].npy")))):
        done = numbers.mapInArrow(run, "table string, rows long, wrong string").collect()
    for task in done:
        if task.wrong:
            raise UserError(task.wrong)
    return {table.name: sum(task.rows for task in done if task.table == table.name) for table in _TABLES}
