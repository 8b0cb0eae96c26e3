"""Data sets made by hand for tests: histories and query relations as plain lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.berlinmod.dataset import Dataset, Movements, RowGroupWriter, table_of_movements
from causeway.berlinmod.dataset.schemas import (
    CARS_SCHEMA,
    HISTORIES,
    HISTORIES_SCHEMA,
    LEGS,
    LEGS_SCHEMA,
    NODES_SCHEMA,
    QUERY_SCHEMAS,
    TRIPS,
    TRIPS_SCHEMA,
)
from causeway.berlinmod.model.parameters import make_parameters

Instant = tuple[int, float, float]
PAUSE_MS = 300_000


@dataclass
class MadeCity:
    """Vehicles with their histories, and what is asked."""

    histories: list[list[Instant]]
    types: list[str]
    licences: list[str]
    points: Sequence[tuple[float, float]] = ()
    regions: Sequence[list[tuple[float, float]]] = ()
    instants: Sequence[int] = ()
    periods: Sequence[tuple[int, int]] = ()
    asked: Sequence[int] = ()
    """Vehicles of QueryLicences; -1 for a licence that no vehicle has, as an import may have it."""
    nodes: Sequence[tuple[float, float]] = ()
    parts: dict[str, tuple[int, int]] = field(default_factory=dict)
    """How many rows parts 1 and 2 of a query relation have, if not ten each."""
    disturbed: bool = False

    def write(self, folder: Path, vehicles_per_file: int = 2, vehicles_per_group: int = 1) -> Dataset:
        """Write it as `generate` would: both representations, cut at pauses of five minutes."""
        folder.mkdir(parents=True)
        parameters = make_parameters(
            cars=len(self.histories), days=1, scale=0.005, disturb=self.disturbed, sample_size=1
        )
        dataset = Dataset(
            folder,
            parameters,
            vehicles_per_file,
            vehicles_per_group,
            counts={"vehicles": len(self.histories), "units": sum(len(one) - 1 for one in self.histories)},
            map={"name": "made"},
        )
        for relation in (HISTORIES, TRIPS, LEGS):
            (folder / relation).mkdir()
        for file in range(dataset.cut.files):
            self._write_part(dataset, file)
        for name, table in self._relations().items():
            pq.write_table(table, dataset.relation(name))
        dataset.save()
        return Dataset.load(folder)

    def _write_part(self, dataset: Dataset, file: int) -> None:
        pq.write_table(LEGS_SCHEMA.empty_table(), dataset.part(LEGS, file))
        with (
            RowGroupWriter(dataset.part(HISTORIES, file), HISTORIES_SCHEMA) as cars,
            RowGroupWriter(dataset.part(TRIPS, file), TRIPS_SCHEMA) as trips,
        ):
            for first, end in dataset.cut.group_ranges(file):
                group = range(first, end)
                columns = {
                    "vehicle": list(group),
                    "Licence": [self.licences[v] for v in group],
                    "Type": [self.types[v] for v in group],
                    "Model": [f"model {v}" for v in group],
                }
                cars.append(
                    table_of_movements(
                        HISTORIES_SCHEMA, columns, _movements([self.histories[v] for v in group])
                    )
                )
                cut = [(v, k, trip) for v in group for k, trip in enumerate(cut_at_pauses(self.histories[v]))]
                columns = {
                    "vehicle": [v for v, _, _ in cut],
                    "trip": [k for _, k, _ in cut],
                    "Licence": [self.licences[v] for v, _, _ in cut],
                    "moving": [not _stands(trip) for _, _, trip in cut],
                }
                trips.append(
                    table_of_movements(TRIPS_SCHEMA, columns, _movements([trip for _, _, trip in cut]))
                )

    def _relations(self) -> dict[str, pa.Table]:
        def points(places: Sequence[tuple[float, float]]) -> list[dict[str, float]]:
            return [{"x": float(x), "y": float(y)} for x, y in places]

        rows: dict[str, list[dict[str, Any]]] = {
            "QueryPoints": [{"Pos": one, "node": 0} for one in points(self.points)],
            "QueryRegions": [
                {
                    "Region": {axis: [float(c[k]) for c in ring] for k, axis in enumerate("xy")},
                    "node": 0,
                    "radius": 1.0,
                }
                for ring in self.regions
            ],
            "QueryInstants": [{"Instant": one} for one in self.instants],
            "QueryPeriods": [{"Period": {"begin": b, "end": e}} for b, e in self.periods],
            "QueryLicences": [
                {"Licence": self.licences[v] if v >= 0 else "nobody", "vehicle": v} for v in self.asked
            ],
        }
        tables = {}
        for name, given in rows.items():
            schema = QUERY_SCHEMAS[name]
            whole = pa.Table.from_pylist([{"Id": k + 1, **row} for k, row in enumerate(given)], schema)
            one, other = self.parts.get(name, (10, 10))
            tables |= {name: whole, f"{name}1": whole.slice(0, one), f"{name}2": whole.slice(one, other)}
        cars = [
            {
                "vehicle": v,
                "Licence": name,
                "Type": self.types[v],
                "Model": f"model {v}",
                "home": 0,
                "work": 0,
            }
            for v, name in enumerate(self.licences)
        ]
        nodes = [{"NodeId": k, "Pos": one} for k, one in enumerate(points(self.nodes))]
        return {
            **tables,
            "dataMcar": pa.Table.from_pylist(cars, CARS_SCHEMA),
            "Nodes": pa.Table.from_pylist(nodes, NODES_SCHEMA),
        }


def cut_at_pauses(history: list[Instant]) -> list[list[Instant]]:
    """Trips and pauses: standing for five minutes or more is a row of its own."""
    trips: list[list[Instant]] = []
    for one, other in pairwise(history):
        pause = one[1:] == other[1:] and other[0] - one[0] >= PAUSE_MS
        if not trips or pause or _is_pause(trips[-1]):
            trips.append([one, other])
        else:
            trips[-1].append(other)
    return trips


def _stands(trip: list[Instant]) -> bool:
    return all(one[1:] == trip[0][1:] for one in trip)


def _is_pause(trip: list[Instant]) -> bool:
    return len(trip) == 2 and _stands(trip) and trip[1][0] - trip[0][0] >= PAUSE_MS


def _movements(rows: list[list[Instant]]) -> Movements:
    flat = [instant for row in rows for instant in row]
    offsets = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
    t = np.array([one[0] for one in flat], np.int64)
    x, y = (np.array([float(one[k]) for one in flat]) for k in (1, 2))
    return Movements(offsets, t, x, y)
