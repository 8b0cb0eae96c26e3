"""A data set made without Spark: vehicles that drive along random streets, and stand now and then."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.berlinmod.city import RoadMap
from causeway.berlinmod.dataset import HISTORIES, Dataset, Movements, table_of_movements
from causeway.berlinmod.dataset.dataset import cut_for
from causeway.berlinmod.dataset.movements import RowGroupWriter
from causeway.berlinmod.dataset.schemas import CARS_SCHEMA, HISTORIES_SCHEMA
from causeway.berlinmod.model.calendar import DAY_MS, HOUR_MS, day_start
from causeway.berlinmod.model.parameters import make_parameters

__all__ = ["make_dataset"]

_TYPES = ("passenger", "passenger", "passenger", "bus", "truck")


def make_dataset(folder: Path, road_map: RoadMap, cars: int, days: int = 1, drives: int = 4) -> Dataset:
    """A folder with what a page needs: dataScar, dataMcar and the map. Nothing else is in it."""
    parameters = make_parameters(cars=cars, days=days)
    cut = cut_for(parameters)
    dataset = Dataset(
        folder, parameters, cut.vehicles_per_file, cut.vehicles_per_group, map={"name": road_map.name}
    )
    (folder / HISTORIES).mkdir(parents=True)
    road_map.save(folder / "map")
    chance = np.random.default_rng(5)
    homes = chance.integers(0, road_map.nodes, cars).astype(np.int32)
    licences = [f"B-<b>{number}" if number == 0 else f"B-XY {number}" for number in range(cars)]
    begin = day_start(parameters.start_day)
    for file in range(cut.files):
        with RowGroupWriter(dataset.part(HISTORIES, file), HISTORIES_SCHEMA) as writer:
            for first, end in cut.group_ranges(file):
                ways = [_way(chance, road_map, int(homes[v]), begin, days, drives) for v in range(first, end)]
                offsets = np.concatenate(([0], np.cumsum([len(way[0]) for way in ways])))
                t, x, y = (np.concatenate([way[axis] for way in ways]) for axis in range(3))
                columns = {
                    "vehicle": np.arange(first, end, dtype=np.int32),
                    "Licence": licences[first:end],
                    "Type": [_TYPES[v % len(_TYPES)] for v in range(first, end)],
                    "Model": ["Opel"] * (end - first),
                }
                moves = Movements(offsets.astype(np.int64), t, x, y)
                writer.append(table_of_movements(HISTORIES_SCHEMA, columns, moves))
    facts = {
        "vehicle": np.arange(cars, dtype=np.int32),
        "Licence": licences,
        "Type": [_TYPES[v % len(_TYPES)] for v in range(cars)],
        "Model": ["Opel"] * cars,
        "home": homes,
        "work": homes[::-1].copy(),
    }
    columns = [pa.array(facts[field.name], field.type) for field in CARS_SCHEMA]
    pq.write_table(pa.Table.from_arrays(columns, schema=CARS_SCHEMA), dataset.relation("dataMcar"))
    return dataset


def _way(
    chance: np.random.Generator, road_map: RoadMap, node: int, begin: int, days: int, drives: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Some drives a day with a sample every two seconds; it stands the day before and the day after."""
    leaving = np.argsort(road_map.edge_from, kind="stable")
    first = np.searchsorted(road_map.edge_from[leaving], np.arange(road_map.nodes + 1))
    t, x, y = [begin - DAY_MS], [road_map.node_x[node]], [road_map.node_y[node]]
    for day in range(days):
        for start in np.sort(chance.integers(5 * HOUR_MS, 22 * HOUR_MS, drives)):
            time = max(begin + day * DAY_MS + int(start), t[-1] + 400_000)
            t, x, y = [*t, time], [*x, x[-1]], [*y, y[-1]]
            for _ in range(int(chance.integers(3, 25))):
                edge = leaving[chance.integers(first[node], first[node + 1])]
                line = slice(road_map.edge_offsets[edge], road_map.edge_offsets[edge + 1])
                length = road_map.edge_length[edge]
                steps = max(int(road_map.edge_seconds[edge] / 2), 1)
                xs, ys = road_map.edge_x[line], road_map.edge_y[line]
                along = np.concatenate(([0.0], np.cumsum(np.hypot(np.diff(xs), np.diff(ys)))))
                places = np.arange(1, steps + 1) * length / steps
                t += [t[-1] + 2000 * (step + 1) for step in range(steps)]
                x += np.interp(places, along, xs).tolist()
                y += np.interp(places, along, ys).tolist()
                node = int(road_map.edge_to[edge])
                if chance.random() < 0.3:
                    t, x, y = [*t, t[-1] + 15_000], [*x, x[-1]], [*y, y[-1]]
    t, x, y = [*t, begin + (days + 1) * DAY_MS], [*x, x[-1]], [*y, y[-1]]
    return np.array(t, np.int64), np.array(x), np.array(y)
