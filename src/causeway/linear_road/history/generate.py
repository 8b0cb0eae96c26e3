"""TollHistory and SegmentHistory on disk (section 3.1.3), for the vehicles and expressways of a workload.

    DIR/history/toll_history/xway-00000-00000.parquet     VID, Day, XWay, Tolls
    DIR/history/segment_history/xway-00000-00000.parquet  Day, Min, XWay, Dir, Seg, Lav, Cnt, Toll
    DIR/history/history.json                              seed, days, format, counts, program version

Each file holds one expressway, and an expressway's files in the order of their names are sorted: by VID
and Day, or by Day, Min, Dir and Seg. As comma-separated text they are the papers' two flat files instead,
`TollHistory.csv` and `SegmentHistory.csv`, with the expressways in ascending order.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import pyarrow.parquet as pq

from causeway import __version__
from causeway.linear_road.history.past_traffic import segment_history, toll_history
from causeway.linear_road.model.calendar import HISTORY_DAYS, MINUTES_PER_DAY
from causeway.linear_road.model.expressway import EAST, SEGMENTS, WEST
from causeway.linear_road.model.tuples import TupleType
from causeway.linear_road.workload.stream_frame import literal_path, read_stream
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError
from causeway.runtime.lock import FolderLock
from causeway.runtime.output_folder import (
    is_replaceable,
    read_json,
    remove_unfinished,
    scratch_folder,
    write_json,
)
from causeway.runtime.progress import progress_bar

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "HistoryCounts",
    "HistoryFormat",
    "check_seed",
    "expressway_files",
    "generate_history",
    "history_rows",
    "used_expressways",
]

HistoryFormat = Literal["parquet", "csv"]

# The same number on every machine: enough to keep a few cores evenly busy, few enough that files are large.
# More cores than that are kept busy by more expressways at a time.
_TOLL_FILES = 4
_SEGMENT_FILES = 10

_DIRECTION_COLUMNS = ("least_dir", "largest_dir")

_FACTS = "history.json"
_FLAT_FILES = {"toll_history": "TollHistory.csv", "segment_history": "SegmentHistory.csv"}


@dataclass(frozen=True)
class HistoryCounts:
    """Rows of the two tables, and how long they took to make."""

    toll_history: int
    segment_history: int
    seconds: float


@dataclass(frozen=True)
class _Expressway:
    """What the stream shows of an expressway: who drives there, which ways, and where the first is noted."""

    vehicles: int
    directions: frozenset[int]
    folder: Path


@dataclass(frozen=True)
class _Piece:
    """One expressway's rows of one table; the frame is built when its turn comes, not for all at once."""

    table: str
    xway: int
    rows: int
    frame: Callable[[], DataFrame]


def generate_history(
    spark: SparkSession,
    workload: Workload,
    *,
    seed: int = 1,
    output_format: HistoryFormat = "parquet",
    days: int = HISTORY_DAYS,
) -> HistoryCounts:
    """Write the history of the workload's vehicles and expressways under `workload.history`.

    It is written beside that folder and takes its place once complete: an earlier history stays until then,
    and stays for good if this one fails (after a kill in the moment of the exchange, the next call brings it
    back). Less than the benchmark's `days` is for trials: the last ones come out as they would among all.

    SegmentHistory has the directions that a generated workload's L gives its expressways, whether or not
    anybody drove there, and those that the position reports of an imported one show.
    """
    if output_format not in get_args(HistoryFormat):
        raise UserError(f"a history is written as parquet or csv, not as {output_format!r}")
    check_seed(seed)
    with FolderLock(workload.folder, "generating the history"):
        return _generate(spark, workload, seed, output_format, days)


def check_seed(seed: int) -> None:
    """Refuse a seed that Spark's whole numbers cannot hold."""
    if not 0 <= seed < 2**63:
        raise UserError(f"the seed of a history is a number from 0 to 2^63 - 1; got {seed}")


def _generate(
    spark: SparkSession, workload: Workload, seed: int, output_format: HistoryFormat, days: int
) -> HistoryCounts:
    started = time.monotonic()
    home = workload.folder.resolve()
    place = home / workload.history.name
    try:
        _undo_broken_exchange(place)
        if not is_replaceable(place) and not (place / _FACTS).is_file():
            raise UserError(f"{place} is in the way: `history` did not make it. Move or remove it.")
        with scratch_folder(home / ".history-new") as new, scratch_folder(home / ".history-parts") as parts:
            fresh = new / "history"
            fresh.mkdir()
            seen = _write_vehicles(spark, workload, parts / "vehicles")
            pieces = _pieces(spark, workload, seen, seed, days)
            _write(spark, pieces, parts, fresh, output_format)
            rows = {
                table: sum(piece.rows for piece in pieces if piece.table == table) for table in _FLAT_FILES
            }
            facts = {"seed": seed, "days": days, "format": output_format, "counts": rows}
            write_json(fresh / _FACTS, facts | {"version": __version__})
            _put_in_place(fresh, place)
    except OSError as refused:
        raise UserError(f"{workload.folder}: the history cannot be written: {refused}") from refused
    return HistoryCounts(**rows, seconds=time.monotonic() - started)


def history_rows(workload: Workload) -> dict[str, int]:
    """The rows of each table of a history that was generated."""
    facts = read_json(workload.history / _FACTS) or {}
    return dict(facts.get("counts", {}))


def used_expressways(spark: SparkSession, workload: Workload) -> DataFrame:
    """The distinct (VID, XWay) of the stream's position reports, with `least_dir` and `largest_dir`."""
    from pyspark.sql import functions

    reports = read_stream(spark, workload).where(f"Type = {TupleType.POSITION_REPORT.value}")
    return reports.groupBy("VID", "XWay").agg(
        *(
            extreme("Dir").alias(name)
            for extreme, name in zip((functions.min, functions.max), _DIRECTION_COLUMNS, strict=True)
        )
    )


def expressway_files(table: Path, xway: int) -> list[Path]:
    """The Parquet files with one expressway's rows of `toll_history/` or `segment_history/`, in order."""
    return sorted(table.glob(f"xway-{xway:05d}-*.parquet"))


def _write_vehicles(spark: SparkSession, workload: Workload, folder: Path) -> dict[int, _Expressway]:
    """Write each expressway's vehicles apart, and return what there is of each, by expressway.

    The stream is thus read once, whatever the number of expressways.
    """
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    used = used_expressways(spark, workload).selectExpr("*", "XWay AS expressway")
    try:
        used.repartition("XWay").write.partitionBy("expressway").parquet(str(folder))
    except (PySparkException, Py4JError) as failure:
        raise _unreadable(workload, str(failure)) from failure
    seen = {
        int(expressway.name.partition("=")[2]): _seen_in(expressway)
        for expressway in folder.glob("expressway=*")
    }
    if not seen:
        raise UserError(f"{workload.stream} has no position reports, and so no vehicles to have a history")
    return seen


def _seen_in(folder: Path) -> _Expressway:
    """Tell from the footers of an expressway's files; a direction is the least or the largest of two."""
    vehicles = 0
    directions: set[int] = set()
    for file in folder.glob("*.parquet"):
        footer = pq.read_metadata(file)
        vehicles += footer.num_rows
        columns = [footer.schema.to_arrow_schema().get_field_index(name) for name in _DIRECTION_COLUMNS]
        for group in range(footer.num_row_groups):
            least, largest = (footer.row_group(group).column(column).statistics for column in columns)
            directions |= {least.min, largest.max}
    return _Expressway(vehicles, frozenset(directions), folder)


def _unreadable(workload: Workload, trace: str) -> UserError:
    """Tell which part of the stream Spark could not read and why, as far as its stack trace says."""
    part = next((part for part in workload.parts if part.name in trace), workload.stream)
    causes = (
        re.findall(r"^Caused by: (?:[\w.$]+: )?(.*)", trace, re.MULTILINE) or trace.strip().splitlines()[:1]
    )
    return UserError(f"{part}: the position reports cannot be read: {causes[-1]}")


def _pieces(
    spark: SparkSession, workload: Workload, seen: Mapping[int, _Expressway], seed: int, days: int
) -> list[_Piece]:
    def tolls(folder: Path) -> DataFrame:
        on_expressway = spark.read.schema("VID INT, XWay INT").parquet(literal_path(folder))
        in_order = on_expressway.repartitionByRange(_TOLL_FILES, "VID").sortWithinPartitions("VID")
        return toll_history(in_order, seed=seed, days=days)

    def segments(xway: int, directions: Sequence[int]) -> DataFrame:
        return segment_history(spark, xway, directions, seed=seed, days=days, partitions=_SEGMENT_FILES)

    return [
        _Piece("toll_history", xway, expressway.vehicles * days, partial(tolls, expressway.folder))
        for xway, expressway in sorted(seen.items())
    ] + [
        _Piece(
            "segment_history",
            xway,
            days * MINUTES_PER_DAY * len(directions) * SEGMENTS,
            partial(segments, xway, sorted(directions)),
        )
        for xway, directions in sorted(_directions(workload, seen).items())
    ]


def _directions(workload: Workload, seen: Mapping[int, _Expressway]) -> dict[int, frozenset[int]]:
    """The directions of each of the workload's expressways: L = 1.5 is two ways, and one more eastward."""
    directions = {xway: expressway.directions for xway, expressway in seen.items()}
    if workload.source == "generated":
        # Where little traffic was simulated, a road may be there on which nobody drove.
        for xway in range(ceil(workload.expressways)):
            ways = (EAST, WEST) if xway < floor(workload.expressways) else (EAST,)
            directions[xway] = directions.get(xway, frozenset()).union(ways)
    return directions


def _write(
    spark: SparkSession, pieces: Sequence[_Piece], parts: Path, folder: Path, output_format: HistoryFormat
) -> None:
    """Write the tables to `folder` by way of `parts`, a piece at a time (more on many cores)."""

    def write_parts(piece: _Piece) -> list[Path]:
        into = parts / f"{piece.table}-{piece.xway}"
        frame = piece.frame()
        if output_format == "csv":
            # Whole numbers need none of the CSV writer's quoting, which takes much longer.
            frame.selectExpr(f"concat_ws(',', {', '.join(frame.columns)})").write.text(str(into))
        else:
            frame.write.parquet(str(into))
        return sorted(into.glob("part-*"))

    # Two at least, so that the cores have work while the driver commits a job's files.
    pool = ThreadPoolExecutor(max(2, spark.sparkContext.defaultParallelism // _SEGMENT_FILES))
    try:
        with progress_bar("History", sum(piece.rows for piece in pieces), "rows") as bar:
            done = 0
            for piece, files in zip(pieces, pool.map(write_parts, pieces), strict=True):
                if output_format == "csv":
                    _append(files, folder / _FLAT_FILES[piece.table])
                else:
                    _move(files, folder / piece.table, piece.xway)
                done += piece.rows
                bar.update(done)
    finally:
        pool.shutdown(cancel_futures=True)


def _move(files: Sequence[Path], table: Path, xway: int) -> None:
    table.mkdir(exist_ok=True)
    for number, file in enumerate(files):
        file.rename(table / f"xway-{xway:05d}-{number:05d}.parquet")


def _append(files: Sequence[Path], flat_file: Path) -> None:
    with flat_file.open("ab") as whole:
        for file in files:
            with file.open("rb") as part:
                shutil.copyfileobj(part, whole, 1 << 20)
            file.unlink()


def _put_in_place(fresh: Path, place: Path) -> None:
    """Rename `fresh` to `place`; what is there gives way in one step, and returns if that fails."""
    if not place.exists():
        fresh.rename(place)
        return
    with scratch_folder(_folder_of_old(place)) as old:
        place.rename(old / place.name)
        try:
            fresh.rename(place)
        except OSError:
            (old / place.name).rename(place)
            raise


def _undo_broken_exchange(place: Path) -> None:
    """After a kill between the two renames, put the earlier history back; after a later one, remove it."""
    old = _folder_of_old(place)
    if (old / place.name).exists() and not place.exists():
        (old / place.name).rename(place)
    remove_unfinished(old)


def _folder_of_old(place: Path) -> Path:
    return place.with_name(f".{place.name}-old")
