"""A map as a folder of GeoParquet files, which QGIS opens as four layers.

    DIR/map.json          name, counts, where the map comes from; written last
    DIR/streets.parquet   name, vmax (km/h, -1 if closed); lines
    DIR/nodes.parquet     node, home_region and work_region (names, empty if none); points
    DIR/edges.parquet     from_node, to_node, vmax, length (m), street; lines in the direction of travel
    DIR/regions.parquet   name, priority, home_weight, work_weight; areas. Missing where a map has no regions
    DIR/water.parquet     rivers and lakes, where the map knows them; areas

Streets, nodes, edges and regions are numbered by their row, from 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import shapely

from causeway import __version__
from causeway.berlinmod.city.geoparquet import read_geoparquet, write_geoparquet
from causeway.berlinmod.city.road_map import F64, I32, Geometries, Regions, RoadMap, Streets
from causeway.runtime.errors import UserError
from causeway.runtime.new_folder import new_folder
from causeway.runtime.output_folder import load_facts, write_json

__all__ = ["MAP_FILE", "load_map", "save_map"]

MAP_FILE: Final = "map.json"
_LAYOUT: Final = 1
_STREETS: Final = "streets.parquet"
_NODES: Final = "nodes.parquet"
_EDGES: Final = "edges.parquet"
_REGIONS: Final = "regions.parquet"
_WATER: Final = "water.parquet"


def save_map(road_map: RoadMap, folder: Path, extra: Callable[[Path], None] | None = None) -> None:
    """Write `road_map` to `folder`, new or empty; `extra` may add files. Nothing is left if it fails."""
    with new_folder(folder, "causeway berlinmod map") as unfinished:
        _write(road_map, unfinished)
        if extra is not None:
            extra(unfinished)


def _write(road_map: RoadMap, folder: Path) -> None:
    streets, regions, crs = road_map.streets, road_map.regions, road_map.crs
    write_geoparquet(
        folder / _STREETS,
        {"name": pa.array(streets.names, pa.string()), "vmax": streets.vmax},
        streets.geometry,
        crs,
    )
    write_geoparquet(
        folder / _EDGES,
        {
            "from_node": road_map.edge_from,
            "to_node": road_map.edge_to,
            "vmax": road_map.edge_vmax,
            "length": road_map.edge_length,
            "street": road_map.edge_street,
        },
        _lines(road_map),
        crs,
    )
    names = np.array([*(regions.names if regions else ()), ""], dtype=np.object_)  # -1 is the empty name
    home, work = road_map.region_of_nodes()
    write_geoparquet(
        folder / _NODES,
        {
            "node": np.arange(road_map.nodes, dtype=np.int32),
            "home_region": pa.array(names[home], pa.string()),
            "work_region": pa.array(names[work], pa.string()),
        },
        shapely.points(road_map.node_x, road_map.node_y),
        crs,
    )
    if regions is not None:
        write_geoparquet(
            folder / _REGIONS,
            {
                "name": pa.array(regions.names, pa.string()),
                "priority": regions.priorities,
                "home_weight": regions.home_weight,
                "work_weight": regions.work_weight,
            },
            regions.polygons,
            crs,
        )
    if road_map.water is not None:
        write_geoparquet(folder / _WATER, {}, np.array([road_map.water], dtype=np.object_), crs)
    facts = {
        "layout": _LAYOUT,
        "name": road_map.name,
        "streets": len(streets.names),
        "nodes": road_map.nodes,
        "edges": road_map.edges,
        "regions": len(regions.names) if regions else 0,
        "water": road_map.water is not None,
        "crs": crs,
        "origin": road_map.origin,
        "version": __version__,
    }
    write_json(folder / MAP_FILE, facts)


def _lines(road_map: RoadMap) -> Geometries:
    edge = np.repeat(np.arange(road_map.edges), np.diff(road_map.edge_offsets))
    lines: Geometries = shapely.linestrings(road_map.edge_x, road_map.edge_y, indices=edge)
    return lines


def load_map(folder: Path) -> RoadMap:
    """The map in `folder`; what is damaged is named."""
    facts = load_facts(
        folder / MAP_FILE,
        _LAYOUT,
        absent="make a map with `causeway berlinmod map`",
        without=f"is not a map, or an unfinished one: it has no {MAP_FILE}. "
        "Make it with `causeway berlinmod map`.",
    )
    f64, i32 = pa.float64(), pa.int32()
    street, street_lines = read_geoparquet(folder / _STREETS, {"name": pa.string(), "vmax": f64})
    edge, edge_lines = read_geoparquet(
        folder / _EDGES, {"from_node": i32, "to_node": i32, "vmax": f64, "length": f64, "street": i32}
    )
    _, points = read_geoparquet(folder / _NODES, {"node": i32})
    counts = {"streets": street.num_rows, "nodes": len(points), "edges": edge.num_rows}
    for what, count in counts.items():
        if facts.get(what) != count:
            raise UserError(
                f"{folder} is damaged: {MAP_FILE} has {facts.get(what)} {what}, its files {count}"
            )
    _expect_type(folder / _NODES, points, (shapely.GeometryType.POINT,))
    _expect_type(folder / _EDGES, edge_lines, (shapely.GeometryType.LINESTRING,))
    xy = shapely.get_coordinates(edge_lines)
    road_map = RoadMap(
        name=str(facts.get("name", folder.name)),
        node_x=shapely.get_x(points),
        node_y=shapely.get_y(points),
        edge_from=_numbers(edge, "from_node"),
        edge_to=_numbers(edge, "to_node"),
        edge_vmax=_numbers(edge, "vmax"),
        edge_length=_numbers(edge, "length"),
        edge_street=_numbers(edge, "street"),
        edge_offsets=np.concatenate(([0], np.cumsum(shapely.get_num_coordinates(edge_lines)))).astype(
            np.int64
        ),
        edge_x=np.ascontiguousarray(xy[:, 0]),
        edge_y=np.ascontiguousarray(xy[:, 1]),
        streets=Streets(tuple(street.column("name").to_pylist()), _numbers(street, "vmax"), street_lines),
        crs=facts.get("crs"),
        origin=facts.get("origin") or {},
    )
    _check(folder / _EDGES, road_map)
    if facts.get("regions"):
        road_map = replace(road_map, regions=_load_regions(folder / _REGIONS))
    if facts.get("water"):
        _, water = read_geoparquet(folder / _WATER, {})
        _expect_type(
            folder / _WATER, water, (shapely.GeometryType.POLYGON, shapely.GeometryType.MULTIPOLYGON)
        )
        road_map = replace(road_map, water=water[0] if len(water) else None)
    return road_map


def _load_regions(path: Path) -> Regions:
    columns = {
        "name": pa.string(),
        "priority": pa.int32(),
        "home_weight": pa.float64(),
        "work_weight": pa.float64(),
    }
    table, polygons = read_geoparquet(path, columns)
    _expect_type(path, polygons, (shapely.GeometryType.POLYGON, shapely.GeometryType.MULTIPOLYGON))
    return Regions(
        tuple(table.column("name").to_pylist()),
        _numbers(table, "priority"),
        _numbers(table, "home_weight"),
        _numbers(table, "work_weight"),
        polygons,
    )


def _numbers(table: pa.Table, column: str) -> Any:
    return table.column(column).to_numpy()


def _expect_type(path: Path, geometry: Geometries, types: tuple[shapely.GeometryType, ...]) -> None:
    wrong = ~np.isin(shapely.get_type_id(geometry), [int(one) for one in types])
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        names = " or ".join(one.name.lower() for one in types)
        raise UserError(f"{path}, row {row}: the geometry is a {geometry[row].geom_type}, not a {names}")


def _check(path: Path, road_map: RoadMap) -> None:
    def refuse(wrong: Any, what: str) -> None:
        if wrong.any():
            raise UserError(f"{path}, row {int(np.flatnonzero(wrong)[0])}: {what}")

    def outside(numbers: I32, count: int) -> Any:
        return (numbers < 0) | (numbers >= count)

    def not_positive(numbers: F64) -> Any:
        return ~(numbers > 0) | ~np.isfinite(numbers)

    if road_map.edges == 0:
        raise UserError(f"{path} has no edge; a map needs at least one street")
    refuse(outside(road_map.edge_from, road_map.nodes), "from_node is no row of the nodes")
    refuse(outside(road_map.edge_to, road_map.nodes), "to_node is no row of the nodes")
    refuse(outside(road_map.edge_street, len(road_map.streets.names)), "street is no row of the streets")
    refuse(not_positive(road_map.edge_vmax), "vmax is not above 0")
    refuse(not_positive(road_map.edge_length), "length is not above 0")
