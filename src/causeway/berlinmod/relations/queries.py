"""The query relations (section 5): what the benchmark's queries ask about, drawn from the seed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.berlinmod.city import RoadMap
from causeway.berlinmod.dataset.schemas import CARS_SCHEMA, NODES_SCHEMA, QUERY_SCHEMAS
from causeway.berlinmod.model.arrays import F64, I32, I64, U64
from causeway.berlinmod.model.calendar import DAY_MS
from causeway.berlinmod.model.parameters import Parameters
from causeway.berlinmod.trips.chance import normal
from causeway.berlinmod.trips.vehicles import Vehicles
from causeway.runtime.compiled import kernel
from causeway.runtime.randomness import draw, draws_below, keys_of, seeded, share

__all__ = ["query_relations", "write_relations"]

# What the seed is used for.
_POINT: Final = 11
_REGION: Final = 12
_INSTANT: Final = 13
_PERIOD: Final = 14
_LICENCE: Final = 15

_CORNERS: Final = (3, 100)
_RADIUS: Final = (3, 999)
_PART_ROWS: Final = 10
"""A relation's part 1 is its first ten rows, part 2 the next ten (section 6.1.3)."""


def query_relations(road_map: RoadMap, parameters: Parameters, licences: list[str]) -> dict[str, pa.Table]:
    """QueryPoints, QueryRegions, QueryInstants, QueryPeriods and QueryLicences."""
    numbers = np.arange(parameters.sample_size, dtype=np.int64)
    identifiers = (numbers + 1).astype(np.int32)

    def keys(what: int) -> U64:
        return keys_of(seeded(parameters.seed, what), numbers)

    point = draws_below(keys(_POINT), 0, road_map.nodes).astype(np.int32)
    centre = draws_below(keys(_REGION), 0, road_map.nodes).astype(np.int32)
    corners = _CORNERS[0] + draws_below(keys(_REGION), 1, _CORNERS[1] - _CORNERS[0] + 1)
    radius = (_RADIUS[0] + draws_below(keys(_REGION), 2, _RADIUS[1] - _RADIUS[0] + 1)).astype(np.float64)
    instant = parameters.begin_ms + _moments(keys(_INSTANT), parameters.days * DAY_MS)
    begin = parameters.begin_ms + _moments(keys(_PERIOD), parameters.days * DAY_MS)
    duration = np.rint(np.abs(_normals(keys(_PERIOD), 1)) * DAY_MS).astype(np.int64)
    vehicle = draws_below(keys(_LICENCE), 0, parameters.cars).astype(np.int32)
    columns: dict[str, dict[str, Any]] = {
        "QueryPoints": {"Id": identifiers, "Pos": _points(road_map, point), "node": point},
        "QueryRegions": {
            "Id": identifiers,
            "Region": _polygons(road_map, centre, corners, radius),
            "node": centre,
            "radius": radius,
        },
        "QueryInstants": {"Id": identifiers, "Instant": instant},
        "QueryPeriods": {
            "Id": identifiers,
            "Period": _struct("QueryPeriods", "Period", [pa.array(begin), pa.array(begin + duration)]),
        },
        "QueryLicences": {
            "Id": identifiers,
            "Licence": [licences[one] for one in vehicle],
            "vehicle": vehicle,
        },
    }
    return {name: _table(QUERY_SCHEMAS[name], values) for name, values in columns.items()}


def write_relations(folder: Path, road_map: RoadMap, parameters: Parameters, vehicles: Vehicles) -> None:
    """Write dataMcar, Nodes and the query relations with their parts 1 and 2."""
    cars = {
        "vehicle": vehicles.number,
        "Licence": vehicles.licence,
        "Type": vehicles.type,
        "Model": vehicles.model,
        "home": vehicles.home,
        "work": vehicles.work,
    }
    nodes = np.arange(road_map.nodes, dtype=np.int32)
    tables = {
        "dataMcar": _table(CARS_SCHEMA, cars),
        "Nodes": _table(NODES_SCHEMA, {"NodeId": nodes, "Pos": _points(road_map, nodes)}),
    }
    for name, table in query_relations(road_map, parameters, vehicles.licence).items():
        tables[name] = table
        tables[f"{name}1"] = table.slice(0, _PART_ROWS)
        tables[f"{name}2"] = table.slice(_PART_ROWS, _PART_ROWS)
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet", compression="none")


def _table(schema: pa.Schema, columns: dict[str, Any]) -> pa.Table:
    arrays = [
        value if isinstance(value := columns[field.name], pa.Array) else pa.array(value, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _struct(relation: str, name: str, children: list[pa.Array]) -> pa.StructArray:
    kind = QUERY_SCHEMAS[relation].field(name).type
    return pa.StructArray.from_arrays(children, fields=[kind.field(i) for i in range(kind.num_fields)])


def _points(road_map: RoadMap, nodes: I32) -> pa.StructArray:
    return _struct("QueryPoints", "Pos", [pa.array(road_map.node_x[nodes]), pa.array(road_map.node_y[nodes])])


def _polygons(road_map: RoadMap, centre: I32, corners: I64, radius: F64) -> pa.StructArray:
    """Regular polygons: the first corner is east of the centre, the others follow counter-clockwise."""
    offsets = np.concatenate(([0], np.cumsum(corners)))
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], corners)
    angle = 2 * math.pi * place / np.repeat(corners, corners)
    far = np.repeat(radius, corners)
    kind = pa.list_(pa.field("element", pa.float64(), nullable=False))

    def lists(middle: F64, values: F64) -> pa.ListArray:
        values = np.repeat(middle[centre], corners) + far * values
        return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(values), type=kind)

    return _struct(
        "QueryRegions",
        "Region",
        [lists(road_map.node_x, np.cos(angle)), lists(road_map.node_y, np.sin(angle))],
    )


@kernel
def _moments(keys: U64, length: int) -> I64:
    """A moment of a span of milliseconds for each key; takes field 0."""
    drawn = np.empty(keys.size, np.int64)
    for i in range(keys.size):
        drawn[i] = np.int64(share(draw(keys[i], 0)) * length)
    return drawn


@kernel
def _normals(keys: U64, field: int) -> F64:
    drawn = np.empty(keys.size)
    for i in range(keys.size):
        drawn[i] = normal(keys[i], field)
    return drawn
