"""What is measured in one file's vehicles, from their instants; counts of `berlinmod.json` are not used."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow.parquet as pq

from causeway.berlinmod.city import RoadMap
from causeway.berlinmod.city.map_folder import MAP_FILE
from causeway.berlinmod.dataset import HISTORIES, LEGS, TRIPS, Dataset, Movements, read_movements
from causeway.berlinmod.inspection.measured import Measured, add_measured
from causeway.berlinmod.inspection.street_index import StreetIndex, index_streets, limit_at
from causeway.berlinmod.model.arrays import BOOL, F64, I64
from causeway.berlinmod.model.calendar import DAY_MS, MINUTE_MS, NULL_DAY_MS
from causeway.berlinmod.trips.plan import KINDS
from causeway.runtime.compiled import kernel

__all__ = ["BIN_MINUTES", "DURATION_MINUTES", "Grid", "measure_file"]

BIN_MINUTES: Final = 15
"""Traffic is counted in bins of so many minutes."""
DURATION_MINUTES: Final = 120
"""Longest drive that the histogram of durations tells apart."""
_ON_STREET: Final = 0.01
"""Metres: what is nearer to a street is on it."""
_ROUNDING: Final = 1e-6
_CELLS: Final = 160
"""Cells of the traffic's grid along the longer side of the city."""


class Grid(NamedTuple):
    """A grid over the city for densities."""

    x: float
    y: float
    cell: float
    columns: int
    rows: int


def grid_over(road_map: RoadMap) -> Grid:
    """Cells that cover the map."""
    left, bottom, right, top = road_map.extent
    cell = max(right - left, top - bottom, 1.0) / _CELLS
    return Grid(left, bottom, cell, int((right - left) / cell) + 1, int((top - bottom) / cell) + 1)


@lru_cache(maxsize=2)
def _prepared(folder: Path, written: int) -> tuple[RoadMap, StreetIndex, Grid]:
    # `written` tells this map from one that was in the folder before.
    road_map = RoadMap.load(folder)
    return road_map, index_streets(road_map), grid_over(road_map)


def measure_file(dataset: Dataset, file: int) -> Measured:
    """Measure the vehicles of one file of each representation, a row group at a time."""
    folder = dataset.folder / "map"
    road_map, index, grid = _prepared(folder, (folder / MAP_FILE).stat().st_mtime_ns)
    parts = []
    for group in range(len(dataset.cut.group_ranges(file))):
        measured = Measured()
        histories, _ = _measure_rows(dataset, HISTORIES, file, group, measured)
        trips, columns = _measure_rows(dataset, TRIPS, file, group, measured)
        _measure_units(dataset, index, grid, histories, measured)
        _measure_trips(dataset, trips, columns, histories, measured)
        _measure_legs(dataset, road_map, file, group, measured)
        parts.append(measured)
    return add_measured(parts)


def _measure_rows(
    dataset: Dataset, relation: str, file: int, group: int, measured: Measured
) -> tuple[Movements, dict[str, Any]]:
    """Read a row group and compare what it says of its movements with the movements themselves."""
    box = ("t_min", "t_max", "x_min", "x_max", "y_min", "y_max")
    others = ("vehicle", "moving") if relation == TRIPS else ("vehicle",)
    movements, columns = read_movements(
        dataset.part(relation, file), group, ("length", "boxes", *others, *box)
    )
    offsets, t, x, y = movements
    first, last = offsets[:-1], offsets[1:] - 1
    steps = np.hypot(np.diff(x, prepend=x[0]), np.diff(y, prepend=y[0]))
    steps[first] = 0.0
    along = np.cumsum(steps)
    along -= np.repeat(along[first], np.diff(offsets))
    length = columns["length"].values.to_numpy()
    wrong = np.abs(length - along) > 1e-3
    measured.wrong_length += int(np.count_nonzero(np.add.reduceat(wrong, first)))
    right = (columns["t_min"] == t[first]) & (columns["t_max"] == t[last])
    for name, values, reduce in (("x", x, np.minimum), ("y", y, np.minimum)):
        right &= columns[f"{name}_min"] == reduce.reduceat(values, first)
        right &= columns[f"{name}_max"] == np.maximum.reduceat(values, first)
    boxes = columns["boxes"]
    lists = [boxes.field(i) for i in range(5)]
    right &= _boxes_hold(
        offsets,
        t,
        x,
        y,
        lists[0].offsets.to_numpy().astype(np.int64),
        *(one.values.to_numpy() for one in lists),
    )
    measured.wrong_box += int(np.count_nonzero(~right))
    return movements, columns


@kernel
def _boxes_hold(
    offsets: I64,
    t: I64,
    x: F64,
    y: F64,
    boxes: I64,
    begin: I64,
    x_min: F64,
    x_max: F64,
    y_min: F64,
    y_max: F64,
) -> BOOL:
    """Whether every unit of a row is inside of its box, each of 64 units and begun by the right instant."""
    right = np.ones(offsets.size - 1, np.bool_)
    for row in range(offsets.size - 1):
        units = offsets[row + 1] - offsets[row] - 1
        if boxes[row + 1] - boxes[row] != (units + 63) // 64:
            right[row] = False
            continue
        for unit in range(units):
            box = boxes[row] + unit // 64
            at = offsets[row] + unit
            if unit % 64 == 0 and begin[box] != t[at]:
                right[row] = False
            for end in (at, at + 1):
                if not (x_min[box] <= x[end] <= x_max[box] and y_min[box] <= y[end] <= y_max[box]):
                    right[row] = False
    return right


def _measure_units(
    dataset: Dataset, index: StreetIndex, grid: Grid, histories: Movements, measured: Measured
) -> None:
    parameters = dataset.parameters
    offsets, t, x, y = histories
    measured.units += [int(instants) - 1 for instants in np.diff(offsets)]
    padded = (t[offsets[:-1]] == parameters.first_ms) & (t[offsets[1:] - 1] == parameters.last_ms)
    measured.not_padded += int(np.count_nonzero(~padded))
    measured.observed_ms += int((t[offsets[1:] - 1] - t[offsets[:-1]]).sum())
    presence = np.zeros(grid.columns * grid.rows, np.int64)
    under_way = np.zeros(parameters.days * DAY_MS // (BIN_MINUTES * MINUTE_MS), np.int64)
    counts, metres, top, farthest, standing = _scan_units(
        offsets,
        t,
        x,
        y,
        index,
        grid,
        presence,
        under_way,
        parameters.begin_ms,
        BIN_MINUTES * MINUTE_MS,
        parameters.gps_interval_ms,
        not parameters.disturb,
    )
    measured.metres += [float(one) for one in metres]
    measured.top_speed = max(measured.top_speed, float(top))
    measured.farthest = max(measured.farthest, float(farthest))
    measured.standing_ms += int(standing)
    measured.too_fast += int(counts[0])
    measured.off_street += int(counts[1])
    measured.slow_samples += int(counts[2])
    measured.not_rising += int(counts[3])
    measured.not_merged += int(counts[4])
    measured.presence = presence
    measured.under_way = under_way


@kernel
def _scan_units(
    offsets: I64,
    t: I64,
    x: F64,
    y: F64,
    index: StreetIndex,
    grid: Grid,
    presence: I64,
    under_way: I64,
    begin: int,
    bin_ms: int,
    interval: int,
    on_streets: bool,
) -> tuple[I64, F64, float, float, int]:
    """One pass over all units. Places are looked up only where vehicles are to be on streets."""
    counts = np.zeros(5, np.int64)
    metres = np.zeros(offsets.size - 1)
    top = farthest = 0.0
    standing = 0
    for row in range(offsets.size - 1):
        stood = False
        for i in range(offsets[row], offsets[row + 1] - 1):
            duration = t[i + 1] - t[i]
            if duration <= 0:
                counts[3] += 1
                continue
            dx, dy = x[i + 1] - x[i], y[i + 1] - y[i]
            if dx == 0.0 and dy == 0.0:
                standing += duration
                counts[4] += stood
                stood = True
                continue
            stood = False
            length = math.hypot(dx, dy)
            metres[row] += length
            speed = length / duration * 3600.0
            top = max(top, speed)
            counts[2] += duration > interval
            column, line = int((x[i] - grid.x) / grid.cell), int((y[i] - grid.y) / grid.cell)
            if 0 <= column < grid.columns and 0 <= line < grid.rows:
                presence[column * grid.rows + line] += duration
            since = t[i] - begin
            if 0 <= since < under_way.size * bin_ms:
                under_way[since // bin_ms] += duration
            if on_streets:
                limit = 0.0
                for place in (0.0, 0.5, 1.0):
                    found, off = limit_at(index, x[i] + place * dx, y[i] + place * dy, _ON_STREET)
                    limit = max(limit, found)
                    if place < 1.0:
                        farthest = max(farthest, off)
                        counts[1] += off > _ON_STREET
                counts[0] += speed > limit * (1 + _ROUNDING)
    return counts, metres, top, farthest, standing


def _measure_trips(
    dataset: Dataset, trips: Movements, columns: dict[str, Any], histories: Movements, measured: Measured
) -> None:
    parameters = dataset.parameters
    vehicle, moving = columns["vehicle"], columns["moving"]
    first_vehicle = int(vehicle[0])
    per_vehicle = np.bincount(vehicle - first_vehicle, minlength=histories.offsets.size - 1)
    measured.trips += [int(count) for count in per_vehicle]
    measured.moving_trips += int(np.count_nonzero(moving))
    # Where trips meet, the instant is in both: without the first of every trip but the vehicle's first, the
    # trips are the history.
    kept = np.ones(trips.t.size, np.bool_)
    starts = np.concatenate(([True], np.diff(vehicle) != 0))
    kept[trips.offsets[:-1][~starts]] = False
    for row in range(per_vehicle.size):
        end = np.cumsum(per_vehicle)[row]
        mine = slice(trips.offsets[end - per_vehicle[row]], trips.offsets[end])
        history = slice(histories.offsets[row], histories.offsets[row + 1])
        equal = all(
            np.array_equal(a[mine][kept[mine]], b[history])
            for a, b in zip(trips[1:], histories[1:], strict=True)
        )
        inner = trips.offsets[end - per_vehicle[row] + 1 : end]
        equal = equal and all(np.array_equal(a[inner], a[inner - 1]) for a in trips[1:])
        measured.not_equal += not equal
    wrong, stops, stop_ms = _scan_pauses(
        *trips, moving.astype(np.bool_), parameters.min_pause_ms, parameters.min_velocity
    )
    measured.split_wrong += int(wrong)
    measured.stops += int(stops)
    measured.stop_ms += int(stop_ms)


@kernel
def _scan_pauses(
    offsets: I64, t: I64, x: F64, y: F64, moving: BOOL, min_pause: int, min_velocity: float
) -> tuple[int, int, int]:
    wrong = stops = stop_ms = 0
    for row in range(offsets.size - 1):
        longest = stood = 0
        for i in range(offsets[row], offsets[row + 1] - 1):
            duration = t[i + 1] - t[i]
            length = math.hypot(x[i + 1] - x[i], y[i + 1] - y[i])
            if length == 0.0 or length * 3_600_000.0 < min_velocity * duration:
                stood += duration
                longest = max(longest, stood)
                if moving[row]:
                    stops += 1
                    stop_ms += duration
            else:
                stood = 0
        whole = t[offsets[row + 1] - 1] - t[offsets[row]]
        if moving[row]:
            wrong += longest >= min_pause
        else:
            wrong += longest != whole or whole < min_pause
    return wrong, stops, stop_ms


def _measure_legs(dataset: Dataset, road_map: RoadMap, file: int, group: int, measured: Measured) -> None:
    table = pq.ParquetFile(dataset.part(LEGS, file)).read_row_group(group)
    legs = {name: table.column(name).to_numpy(zero_copy_only=False) for name in table.column_names}
    kind = np.array([KINDS.index(name) for name in legs["kind"]], np.int64)
    kept = ~legs["dropped"]
    measured.legs += int(np.count_nonzero(kept))
    dropped = {(int(v), int(d)) for v, d in zip(legs["vehicle"][~kept], legs["day"][~kept], strict=True)}
    measured.dropped_days += len(dropped)
    drives = kept & (legs["length"] > 0)
    took = legs["arrival"] - legs["departure"]
    minutes = np.minimum(took // MINUTE_MS, DURATION_MINUTES - 1)
    durations = np.zeros((len(KINDS), DURATION_MINUTES), np.int64)
    np.add.at(durations, (kind[drives], minutes[drives]), 1)
    measured.durations = durations
    measured.duration_ms = np.bincount(kind[drives], weights=took[drives], minlength=len(KINDS))
    measured.drives = np.bincount(kind[drives], minlength=len(KINDS))
    measured.longest_ms = max(measured.longest_ms, int(took[drives].max(initial=0)))
    since = legs["departure"] - (NULL_DAY_MS + legs["day"].astype(np.int64) * DAY_MS)
    labour = kind < 2
    measured.labour_legs = np.bincount(kind[labour], minlength=2)
    measured.departure_ms = np.bincount(kind[labour], weights=since[labour], minlength=2)
    spare = kind == 2
    last = spare & np.concatenate((legs["stop"][1:] == 0, [True]))
    measured.blocks = np.bincount(legs["stop"][last], minlength=4)[1:4]
    away = spare & ~last
    homes = dict(zip(legs["vehicle"][last].tolist(), legs["destination"][last].tolist(), strict=True))
    home = np.array([homes[vehicle] for vehicle in legs["vehicle"][away].tolist()], np.int64)
    destination = legs["destination"][away]
    off = np.hypot(
        road_map.node_x[destination] - road_map.node_x[home],
        road_map.node_y[destination] - road_map.node_y[home],
    )
    measured.destinations += int(np.count_nonzero(away))
    measured.nearby += int(np.count_nonzero(off <= dataset.parameters.neighbourhood_radius))
