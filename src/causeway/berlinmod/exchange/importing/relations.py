"""The small relations of a data set that was imported, and its map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely
from scipy.spatial import cKDTree

from causeway.berlinmod.city import RoadMap, Streets
from causeway.berlinmod.city.network import build_map
from causeway.berlinmod.dataset.schemas import CARS_SCHEMA, NODES_SCHEMA, QUERY_SCHEMAS
from causeway.berlinmod.model.arrays import F64, I32, I64

__all__ = ["Relations", "convex_ring", "map_of_segments", "write_imported_relations"]

_PART_ROWS: Final = 10
_NEAR: Final = 0.01


@dataclass(frozen=True)
class Relations:
    """What the small files have, in metres and milliseconds."""

    moid: I64
    """Numbers of the vehicles in the file, ascending."""
    licence: Sequence[str]
    type: Sequence[str]
    model: Sequence[str]
    car_line: I64
    """Where each is in the file of vehicles."""
    car_file: str
    instants: tuple[I64, I64]
    """Id and moment."""
    periods: tuple[I64, I64, I64]
    """Id, begin, end."""
    points: tuple[I64, F64, F64]
    regions: tuple[I64, list[F64]]
    """Id, and the corners of each as pairs."""
    licences: tuple[I64, Sequence[str]]

    @property
    def sample_size(self) -> int:
        """The number of rows of the longest query relation."""
        sizes = (self.instants, self.periods, self.points, self.regions, self.licences)
        return max(1, *(len(columns[0]) for columns in sizes))


def convex_ring(points: F64) -> F64 | None:
    """The corners of the convex hull, counter-clockwise, from the first point on; None if it has no area."""
    hull = shapely.convex_hull(shapely.multipoints(points))
    if hull.geom_type != "Polygon" or not hull.area > 0:
        return None
    ring = shapely.get_coordinates(shapely.get_exterior_ring(shapely.orient_polygons(hull)))[:-1]
    first = np.flatnonzero((ring == points[0]).all(axis=1))
    turned: F64 = np.roll(ring, -int(first[0]), axis=0) if first.size else ring
    return turned


def map_of_segments(name: str, street: I64, vmax: F64, ends: F64, one_way: Any = None) -> RoadMap:
    """A map of segments (x1, y1, x2, y2) that belong to streets."""
    order = np.argsort(street, kind="stable")
    numbers, first, index = np.unique(street[order], return_index=True, return_inverse=True)
    lines = shapely.linestrings(ends[order].reshape(-1, 2, 2))
    geometry = shapely.multilinestrings(lines, indices=index.ravel())
    streets = Streets(tuple(f"Street {number}" for number in numbers), vmax[order][first], geometry)
    return build_map(name, streets, one_way=None if one_way is None else one_way[order][first])[0]


def write_imported_relations(folder: Path, relations: Relations, road_map: RoadMap, used: I64) -> None:
    """Write dataMcar, Nodes and the query relations; `used` are the places of vehicles that move."""
    unknown = np.full(used.size, -1, np.int32)
    nodes = np.arange(road_map.nodes, dtype=np.int32)
    tables = {
        "dataMcar": _table(
            CARS_SCHEMA,
            {
                "vehicle": np.arange(used.size, dtype=np.int32),
                "Licence": [relations.licence[i] for i in used],
                "Type": [relations.type[i] for i in used],
                "Model": [relations.model[i] for i in used],
                "home": unknown,
                "work": unknown,
            },
        ),
        "Nodes": _table(
            NODES_SCHEMA, {"NodeId": nodes, "Pos": _points(road_map.node_x[nodes], road_map.node_y[nodes])}
        ),
    }
    for name, table in _query_tables(relations, road_map, used).items():
        tables[name] = table
        tables[f"{name}1"] = table.slice(0, _PART_ROWS)
        tables[f"{name}2"] = table.slice(_PART_ROWS, _PART_ROWS)
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet", compression="none")


def _query_tables(relations: Relations, road_map: RoadMap, used: I64) -> dict[str, pa.Table]:
    instant_id, instant = relations.instants
    period_id, begin, end = relations.periods
    point_id, x, y = relations.points
    region_id, rings = relations.regions
    licence_id, licences = relations.licences
    vehicles = {relations.licence[place]: number for number, place in enumerate(used.tolist())}
    centres = np.array([ring.mean(axis=0) for ring in rings]).reshape(-1, 2)
    radius = [float(np.hypot(*(ring - ring.mean(axis=0)).T).max()) for ring in rings]
    tables: dict[str, dict[str, Any]] = {
        "QueryPoints": {
            "Id": point_id,
            "Pos": _points(x, y),
            "node": _nearest(road_map, np.column_stack((x, y))),
        },
        "QueryRegions": {
            "Id": region_id,
            "Region": _rings(rings),
            "node": _nearest(road_map, centres),
            "radius": np.array(radius, np.float64),
        },
        "QueryInstants": {"Id": instant_id, "Instant": instant},
        "QueryPeriods": {
            "Id": period_id,
            "Period": _struct("QueryPeriods", "Period", [pa.array(begin), pa.array(end)]),
        },
        "QueryLicences": {
            "Id": licence_id,
            "Licence": list(licences),
            "vehicle": np.array([vehicles.get(one, -1) for one in licences], np.int32),
        },
    }
    return {name: _table(QUERY_SCHEMAS[name], columns) for name, columns in tables.items()}


def _nearest(road_map: RoadMap, places: F64) -> I32:
    """The node at each place, within a centimetre; -1 if there is none."""
    tree = cKDTree(np.column_stack((road_map.node_x, road_map.node_y)))
    far, node = tree.query(places, distance_upper_bound=_NEAR)
    return np.where(np.isfinite(far), node, -1).astype(np.int32)


def _table(schema: pa.Schema, columns: dict[str, Any]) -> pa.Table:
    arrays = [
        value if isinstance(value := columns[field.name], pa.Array) else pa.array(value, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _struct(relation: str, name: str, children: list[pa.Array]) -> pa.StructArray:
    kind = QUERY_SCHEMAS[relation].field(name).type
    return pa.StructArray.from_arrays(children, fields=[kind.field(i) for i in range(kind.num_fields)])


def _points(x: F64, y: F64) -> pa.StructArray:
    return _struct("QueryPoints", "Pos", [pa.array(x, pa.float64()), pa.array(y, pa.float64())])


def _rings(rings: list[F64]) -> pa.StructArray:
    offsets = np.concatenate(([0], np.cumsum([len(ring) for ring in rings]))).astype(np.int32)
    corners = np.concatenate([np.empty((0, 2)), *rings])
    kind = pa.list_(pa.field("element", pa.float64(), nullable=False))
    lists = [
        pa.ListArray.from_arrays(
            pa.array(offsets), pa.array(np.ascontiguousarray(corners[:, axis])), type=kind
        )
        for axis in (0, 1)
    ]
    return _struct("QueryRegions", "Region", lists)
