"""One file's vehicles: planned, driven and written, a row group at a time. No Spark."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from causeway.berlinmod.city import RoadMap
from causeway.berlinmod.city.map_folder import MAP_FILE
from causeway.berlinmod.dataset.dataset import cut_for, part_path
from causeway.berlinmod.dataset.movements import Movements, RowGroupWriter, table_of_movements
from causeway.berlinmod.dataset.schemas import (
    HISTORIES,
    HISTORIES_SCHEMA,
    LEGS,
    LEGS_SCHEMA,
    TRIPS,
    TRIPS_SCHEMA,
)
from causeway.berlinmod.model.arrays import BOOL, I32, I64, U64
from causeway.berlinmod.model.parameters import Distance, Parameters
from causeway.berlinmod.routes.network import Network
from causeway.berlinmod.trips.driving import Streets
from causeway.berlinmod.trips.history import History, Routes, drive_history
from causeway.berlinmod.trips.plan import KINDS, Legs, plan_days
from causeway.berlinmod.trips.recording import disturb, split_at_pauses
from causeway.berlinmod.trips.vehicles import Vehicles, describe_vehicles, neighbourhoods, trip_keys

__all__ = [
    "City",
    "Journal",
    "PartCounts",
    "add_counts",
    "city_of",
    "find_routes",
    "make_histories",
    "open_city",
    "plan_vehicles",
    "write_part",
]


class City(NamedTuple):
    """A road map, as what finds routes and as what drives need of it."""

    road_map: RoadMap
    network: Network
    streets: Streets


class PartCounts(NamedTuple):
    """How much was written."""

    trips: int
    moving_trips: int
    units: int
    legs: int
    dropped_days: int
    metres: float


class Journal(NamedTuple):
    """A vehicle's plan and what became of it."""

    legs: Legs
    history: History


def open_city(folder: Path, distance: Distance) -> City:
    """The city in a map's folder; kept, as a worker writes several files."""
    return _open_city(folder, distance, (folder / MAP_FILE).stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _open_city(folder: Path, distance: Distance, written: int) -> City:
    # `written` tells this map from one that was in the folder before.
    return city_of(RoadMap.load(folder), distance)


def city_of(road_map: RoadMap, distance: Distance) -> City:
    """The city of a road map."""
    streets = Streets(road_map.edge_offsets, road_map.edge_x, road_map.edge_y, road_map.edge_vmax)
    return City(road_map, Network.of(road_map, distance), streets)


def write_part(city: City, parameters: Parameters, folder: Path, file: int) -> PartCounts:
    """Write part `file` of dataScar, dataMtrip and legs."""
    counts = []
    with (
        RowGroupWriter(part_path(folder, HISTORIES, file), HISTORIES_SCHEMA) as histories,
        RowGroupWriter(part_path(folder, TRIPS, file), TRIPS_SCHEMA) as trips,
        RowGroupWriter(part_path(folder, LEGS, file), LEGS_SCHEMA) as legs,
    ):
        cut = cut_for(parameters)
        begin, _ = cut.file_range(file)
        all_vehicles = describe_vehicles(city.road_map, parameters, *cut.file_range(file))
        for first, end in cut.group_ranges(file):
            vehicles = all_vehicles.some(first - begin, end - begin)
            journals = make_histories(city, parameters, vehicles)
            histories.append(_histories_table(vehicles, journals))
            trip_table = _trips_table(vehicles, journals, parameters)
            trips.append(trip_table)
            leg_table = _legs_table(vehicles, journals)
            legs.append(leg_table)
            counts.append(
                PartCounts(
                    trip_table.num_rows,
                    int(np.count_nonzero(trip_table.column("moving"))),
                    sum(journal.history.t.size - 1 for journal in journals),
                    leg_table.num_rows,
                    sum(_dropped_days(journal) for journal in journals),
                    sum(float(_kept(journal).sum()) for journal in journals),
                )
            )
    return add_counts(counts)


def add_counts(counts: Sequence[PartCounts]) -> PartCounts:
    """The sum of all."""
    return PartCounts(*(sum(column) for column in zip(*counts, strict=True)))


def make_histories(city: City, parameters: Parameters, vehicles: Vehicles) -> list[Journal]:
    """Plan the days of some vehicles, find their routes, and drive."""
    keys = trip_keys(parameters, int(vehicles.number[0]), int(vehicles.number[-1]) + 1)
    plans = plan_vehicles(city, parameters, vehicles, keys)
    offsets, edges = find_routes(city.network, vehicles.home, plans)
    journals = []
    begin = 0
    for i, plan in enumerate(plans):
        routes = Routes(offsets[begin : begin + plan.day.size + 1], edges)
        journals.append(
            Journal(plan, _history(city, parameters, keys, i, int(vehicles.home[i]), plan, routes))
        )
        begin += plan.day.size
    return journals


def plan_vehicles(city: City, parameters: Parameters, vehicles: Vehicles, keys: U64) -> list[Legs]:
    """The plan of each vehicle."""
    nearby = neighbourhoods(city.road_map, vehicles.home, parameters.neighbourhood_radius)
    return [
        plan_days(
            key,
            parameters.start_day,
            parameters.days,
            int(home),
            int(work),
            nodes,
            city.road_map.nodes,
        )
        for key, home, work, nodes in zip(keys, vehicles.home, vehicles.work, nearby, strict=True)
    ]


def find_routes(network: Network, homes: I32, plans: list[Legs]) -> tuple[I64, I32]:
    """The routes of all legs. Those that end at home come from the home's tree of ways to it.

    So the ways between a vehicle's home and all of its destinations take two searches.
    """
    root, far, reverse = [], [], []
    for home, plan in zip(homes, plans, strict=True):
        backwards: BOOL = plan.destination == home
        root.append(np.where(backwards, plan.destination, plan.origin))
        far.append(np.where(backwards, plan.origin, plan.destination))
        reverse.append(backwards)
    return network.routes(np.concatenate(root), np.concatenate(reverse), np.concatenate(far))


def _history(
    city: City, parameters: Parameters, keys: U64, i: int, home: int, plan: Legs, routes: Routes
) -> History:
    history = drive_history(
        city.streets,
        plan,
        routes,
        keys[i],
        city.road_map.node_x[home],
        city.road_map.node_y[home],
        parameters.first_ms,
        parameters.last_ms,
        parameters.gps_interval_ms,
    )
    if parameters.disturb:
        x, y = disturb(history.x, history.y, keys[i], parameters.gps_total_error, parameters.gps_step_error)
        history = history._replace(x=x, y=y)
    return history


def _dropped_days(journal: Journal) -> int:
    return int(np.unique(journal.legs.day[journal.history.legs.dropped]).size)


def _kept(journal: Journal) -> Any:
    return journal.history.legs.length[~journal.history.legs.dropped]


def _histories_table(vehicles: Vehicles, journals: list[Journal]) -> pa.Table:
    histories = [journal.history for journal in journals]
    offsets = np.concatenate(([0], np.cumsum([history.t.size for history in histories])))
    movements = Movements(offsets.astype(np.int64), *(np.concatenate(part) for part in _columns(histories)))
    columns = {
        "vehicle": vehicles.number,
        "Licence": vehicles.licence,
        "Type": vehicles.type,
        "Model": vehicles.model,
    }
    return table_of_movements(HISTORIES_SCHEMA, columns, movements)


def _columns(histories: list[History]) -> list[list[Any]]:
    return [[history[axis] for history in histories] for axis in range(3)]


def _trips_table(vehicles: Vehicles, journals: list[Journal], parameters: Parameters) -> pa.Table:
    """The trips of each vehicle; the instant at which two of them meet is in both."""
    numbers, moving, sizes = [], [], []
    instants: list[list[Any]] = [[], [], []]
    for journal in journals:
        history = journal.history
        first, moves = split_at_pauses(
            history.t, history.x, history.y, parameters.min_pause_ms, parameters.min_velocity
        )
        units = np.diff(first)
        taken = np.arange(history.t.size + moves.size - 1) - np.repeat(np.arange(moves.size), units + 1)
        for axis in range(3):
            instants[axis].append(history[axis][taken])
        numbers.append(np.arange(moves.size))
        moving.append(moves)
        sizes.append(units + 1)
    trips = [one.size for one in numbers]
    offsets = np.concatenate(([0], np.cumsum(np.concatenate(sizes))))
    movements = Movements(offsets.astype(np.int64), *(np.concatenate(part) for part in instants))
    columns = {
        "vehicle": np.repeat(vehicles.number, trips),
        "trip": np.concatenate(numbers),
        "Licence": np.repeat(np.array(vehicles.licence, np.object_), trips),
        "moving": np.concatenate(moving),
    }
    return table_of_movements(TRIPS_SCHEMA, columns, movements)


def _legs_table(vehicles: Vehicles, journals: list[Journal]) -> pa.Table:
    plans = [journal.legs for journal in journals]
    driven = [journal.history.legs for journal in journals]
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(plan, name) for plan in plans])
        for name in ("day", "kind", "block", "stop", "origin", "destination")
    }
    columns |= {
        name: np.concatenate([getattr(one, name) for one in driven]) for name in type(driven[0])._fields
    }
    columns["kind"] = np.array(KINDS, np.object_)[columns["kind"]]
    columns["vehicle"] = np.repeat(vehicles.number, [plan.day.size for plan in plans])
    return pa.Table.from_arrays(
        [pa.array(columns[field.name], field.type) for field in LEGS_SCHEMA], schema=LEGS_SCHEMA
    )
