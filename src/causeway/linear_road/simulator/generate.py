"""`causeway linear-road generate`: the simulator's stages, with Spark to run them.

Simulate every direction on its own, deal vehicles to the trips of ten expressways at a time, then write
every expressway's tuples. A task holds one minute of one direction or expressway, so that memory does not
depend on how many there are; what passes from stage to stage goes through a hidden folder of the output,
which all of Spark's workers must see.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from causeway.linear_road.model.expressway import EAST, FEET_PER_EXPRESSWAY, FEET_PER_SEGMENT, WEST
from causeway.linear_road.model.tuples import ABSENT, INPUT_SCHEMA, TupleType
from causeway.linear_road.simulator.demand import draw_accidents, draw_trips
from causeway.linear_road.simulator.recording import Direction, Recording
from causeway.linear_road.simulator.requests import Requests, RequestStream
from causeway.linear_road.simulator.road import I8, I32, Reports, empty_road, no_reports
from causeway.linear_road.simulator.traffic import simulate_minute
from causeway.linear_road.simulator.vehicles import deal_vehicles
from causeway.linear_road.workload.stream_files import StreamWriter, part_path
from causeway.linear_road.workload.workload import StreamFormat, Workload
from causeway.runtime.errors import UserError
from causeway.runtime.lock import FolderLock
from causeway.runtime.output_folder import (
    begin_folder,
    finish_folder,
    is_replaceable,
    prepare_folder,
    refuse_used_folder,
    remove_unfinished,
    scratch_folder,
)
from causeway.runtime.progress import progress_bar, watched
from causeway.spark.tasks import run_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["check_output", "generate", "simulate_direction", "use_kernels", "write_expressway"]

_SIMULATION = ".simulation"
# Linear City has ten expressways (section 3); more are more cities, whose vehicles do not meet.
_EXPRESSWAYS_PER_CITY = 10


def generate(
    spark: SparkSession,
    out: Path,
    *,
    expressways: float = 1,
    minutes: int = 180,
    seed: int = 1,
    stream_format: StreamFormat = "parquet",
) -> Workload:
    """Simulate `expressways` (L, a multiple of 0.5) for `minutes` and write the workload to `out`.

    The same seed gives the same tuples on any number of cores, and expressway i the same whatever L is,
    but for its vehicle identifiers.
    """
    if expressways <= 0 or 2 * expressways != int(2 * expressways):
        raise UserError(f"the number of expressways is 0.5, 1, 1.5, 2 and so on; got {expressways:g}")
    if minutes < 1:
        raise UserError(f"the number of minutes is 1 or more; got {minutes}")
    if seed < 0:
        raise UserError(f"the seed is a whole number from 0 on; got {seed}")
    out = out.absolute()
    check_output(out)
    with FolderLock(out, "causeway linear-road generate"):
        return _generate(spark, out, expressways, minutes, seed, stream_format)


def _generate(
    spark: SparkSession, out: Path, expressways: float, minutes: int, seed: int, stream_format: StreamFormat
) -> Workload:
    prepare_folder(out, replaces=_remains(out))
    begin_folder(out / "stream")
    try:
        with scratch_folder(out / _SIMULATION) as folder:
            directions = _directions(expressways)
            _simulate(spark, folder, directions, seed, minutes)
            vehicles, trips = _deal(folder, directions, seed)
            counts = _write(spark, folder, out / "stream", directions, seed, stream_format)
    except BaseException:
        remove_unfinished(out / "stream")
        raise
    workload = Workload(
        folder=out,
        source="generated",
        format=stream_format,
        expressways=expressways,
        minutes=minutes,
        seed=seed,
        counts={
            "reports": counts[0],
            "vehicles": vehicles,
            "trips": trips,
            "type_2": counts[1],
            "type_3": counts[2],
            "type_4": counts[3],
        },
    )
    workload.save()
    finish_folder(out / "stream")
    return workload


def check_output(out: Path) -> None:
    """Refuse a folder that `generate` would refuse, before Spark takes its seconds to start."""
    refuse_used_folder(out, replaces=_remains(out))


def _remains(out: Path) -> tuple[str, ...]:
    """What a broken-off generation left in `out`; nothing of a finished one may be replaced."""
    if (out / "workload.json").exists():
        return ()
    return tuple(name for name in ("stream", _SIMULATION) if is_replaceable(out / name))


def _directions(expressways: float) -> list[Direction]:
    """East and west of every expressway; half an expressway is its east."""
    return [Direction(half // 2, (EAST, WEST)[half % 2]) for half in range(int(2 * expressways))]


def _simulate(
    spark: SparkSession, folder: Path, directions: Sequence[Direction], seed: int, minutes: int
) -> None:
    def task(number: int) -> list[int]:
        simulate_direction(Recording(folder, directions[number]), directions[number], seed, minutes)
        return []

    recordings = [Recording(folder, direction) for direction in directions]
    with watched(
        "simulating",
        len(directions) * minutes,
        "min",
        lambda: sum(recording.minutes_done() for recording in recordings),
    ):
        run_tasks(spark, len(directions), task)


def simulate_direction(recording: Recording, direction: Direction, seed: int, minutes: int) -> None:
    """Simulate one direction of an expressway from an empty road on, and record it."""
    trips = draw_trips(seed, *direction, minutes)
    accidents = draw_accidents(seed, *direction, minutes)
    road = empty_road(int(np.random.default_rng([seed, *direction, 4]).integers(2**62)))
    reports = no_reports()
    recording.begin()
    for minute in range(minutes):
        count = simulate_minute(road, trips, accidents, minute, reports)
        recording.append_minute(reports, count)
    recording.save_trips(trips)


def use_kernels() -> None:
    """Simulate a minute and deal its vehicles, which compiles all kernels; nothing is kept."""
    direction = Direction(0, EAST)
    trips = draw_trips(0, *direction, 1)
    simulate_minute(empty_road(0), trips, draw_accidents(0, *direction, 1), 0, no_reports())
    travelled = trips.first_report >= 0
    deal_vehicles(trips.first_report[travelled], trips.last_report[travelled], 0)


def _deal(folder: Path, directions: Sequence[Direction], seed: int) -> tuple[int, int]:
    """Deal vehicles city by city; return how many vehicles and trips there are."""
    vehicles = 0
    all_trips = 0
    directions_per_city = 2 * _EXPRESSWAYS_PER_CITY
    with progress_bar("dealing vehicles", len(directions), "directions") as bar:
        for city in range(0, len(directions), directions_per_city):
            recordings = [Recording(folder, d) for d in directions[city : city + directions_per_city]]
            trips = [recording.trips() for recording in recordings]
            first = np.concatenate([begun for begun, _ in trips])
            last = np.concatenate([ended for _, ended in trips])
            travelled = first >= 0
            vehicle = np.full(first.size, ABSENT, np.int32)
            vehicle[travelled] = vehicles + deal_vehicles(first[travelled], last[travelled], seed)
            if vehicle.size:
                vehicles = max(vehicles, int(vehicle.max()) + 1)
            all_trips += int(travelled.sum())
            ends = np.cumsum([begun.size for begun, _ in trips])[:-1]
            for recording, mine in zip(recordings, np.split(vehicle, ends), strict=True):
                recording.save_vehicles(mine)
            bar.update(min(city + directions_per_city, len(directions)))
    return vehicles, all_trips


def _write(
    spark: SparkSession,
    folder: Path,
    stream: Path,
    directions: Sequence[Direction],
    seed: int,
    stream_format: StreamFormat,
) -> list[int]:
    """Write every expressway's part; return how many tuples of types 0, 2, 3 and 4 there are."""
    expressways = max(direction.expressway for direction in directions) + 1

    def task(number: int) -> list[int]:
        mine = [direction for direction in directions if direction.expressway == number]
        return write_expressway(folder, mine, seed, part_path(stream, number, stream_format), stream_format)

    with watched(
        "writing",
        expressways,
        "expressways",
        lambda: len(list(stream.glob("part-*"))),
    ):
        counts = run_tasks(spark, expressways, task)
    return [sum(column) for column in zip(*counts, strict=True)]


def write_expressway(
    folder: Path, directions: Sequence[Direction], seed: int, path: Path, stream_format: StreamFormat
) -> list[int]:
    """Write the tuples of an expressway's directions to `path`; return how many there are of each type."""
    recordings = [Recording(folder, direction) for direction in directions]
    vehicles = [recording.vehicles() for recording in recordings]
    requests = [RequestStream(seed, *direction) for direction in directions]
    minutes = [recording.minutes() for recording in recordings]
    offsets = [0 for _ in directions]
    counts = np.zeros(len(TupleType), np.int64)
    with StreamWriter(path, stream_format) as writer:
        for minute in range(len(minutes[0])):
            tables = []
            for side, direction in enumerate(directions):
                count = minutes[side][minute]
                reports = recordings[side].read_minute(offsets[side], count)
                offsets[side] += count
                tables.append(
                    _tuples(direction, reports, vehicles[side][reports.trip], requests[side].draw(count))
                )
            columns = _in_time_order(tables)
            counts += [int((columns["Type"] == kind).sum()) for kind in TupleType]
            writer.append(
                pa.Table.from_arrays(
                    [pa.array(columns[name]) for name in INPUT_SCHEMA.names], schema=INPUT_SCHEMA
                )
            )
    return [int(count) for count in counts]


def _tuples(direction: Direction, reports: Reports, vehicle: I32, requests: Requests) -> dict[str, I32]:
    """One direction's tuples of a minute: reports in their order, each request right after its report."""
    position = reports.position
    if direction.direction == WEST:
        position = FEET_PER_EXPRESSWAY - 1 - position
    request_rows = requests.report + 1 + np.arange(requests.report.size)
    is_report = np.ones(vehicle.size + requests.report.size, np.bool_)
    is_report[request_rows] = False

    def column(of_report: I32 | I8 | int, of_request: I32 | int = ABSENT) -> I32:
        values = np.empty(is_report.size, np.int32)
        values[is_report] = of_report
        values[request_rows] = of_request
        return values

    return {
        "Type": column(TupleType.POSITION_REPORT, requests.type),
        "Time": column(reports.time, reports.time[requests.report]),
        "VID": column(vehicle, vehicle[requests.report]),
        "Spd": column(reports.speed),
        "XWay": column(direction.expressway, requests.expressway),
        "Lane": column(reports.lane),
        "Dir": column(direction.direction),
        "Seg": column(position // FEET_PER_SEGMENT),
        "Pos": column(position),
        "QID": column(ABSENT, requests.identifier),
        "Sinit": column(ABSENT, requests.initial_segment),
        "Send": column(ABSENT, requests.end_segment),
        "DOW": column(ABSENT, requests.weekday),
        "TOD": column(ABSENT, requests.minute_of_day),
        "Day": column(ABSENT, requests.day),
    }


def _in_time_order(tables: Sequence[dict[str, I32]]) -> dict[str, I32]:
    """Merge the directions' tuples of a minute; within a second the east comes first."""
    if len(tables) == 1:
        return tables[0]
    second = np.concatenate([table["Time"] for table in tables]) % 60
    order = np.argsort(second.astype(np.uint8), kind="stable")  # a radix sort, for bytes
    return {name: np.concatenate([table[name] for table in tables])[order] for name in tables[0]}
