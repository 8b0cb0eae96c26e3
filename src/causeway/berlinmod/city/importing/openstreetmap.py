"""OpenStreetMap extracts: .osm (XML, also compressed) and .osm.pbf."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import osmium
import pyproj

from causeway.berlinmod.city.importing.raw_map import RawStreets, local_plane, project, usable_lines
from causeway.berlinmod.city.importing.rejects import Reject
from causeway.berlinmod.city.road_map import Streets
from causeway.runtime.errors import UserError

__all__ = ["read_streets", "speed_of"]

_CLASSES: Final = {
    "motorway": 120.0,
    "motorway_link": 60.0,
    "trunk": 80.0,
    "trunk_link": 50.0,
    "primary": 50.0,
    "primary_link": 50.0,
    "secondary": 50.0,
    "secondary_link": 50.0,
    "tertiary": 50.0,
    "tertiary_link": 50.0,
    "unclassified": 50.0,
    "residential": 30.0,
    "living_street": 10.0,
    "road": 30.0,
}
"""The highway classes that are streets for cars, and the speed of one without a limit of its own (km/h)."""
_NAMED_LIMITS: Final = {
    "none": 120.0,
    "walk": 7.0,
    "urban": 50.0,
    "rural": 100.0,
    "motorway": 120.0,
    "trunk": 100.0,
}
_CLOSED: Final = frozenset({"no", "private", "agricultural", "forestry"})
_LIMIT: Final = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*(mph|km/h|kmh|kph)?\s*$")


def read_streets(path: Path) -> RawStreets:
    """The streets that cars may use.

    Ways with the same name, speed and direction are one street. Streets meet where ways share a point, so
    that bridges and tunnels stay apart. The plane is a transverse Mercator around their middle.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    lines: dict[tuple[str, float, bool], list[list[tuple[float, float]]]] = {}
    rejects = []
    try:
        ways = (
            osmium.FileProcessor(str(path)).with_locations().with_filter(osmium.filter.KeyFilter("highway"))
        )
        for way in ways:
            if not isinstance(way, osmium.osm.Way):
                continue
            tags = dict(way.tags)
            speed = speed_of(tags)
            if speed is None:
                continue
            parts = _runs(way.nodes)
            if not parts:
                rejects.append(
                    Reject(str(path), f"way {way.id}", "fewer than two of its nodes are in the file")
                )
                continue
            direction = _direction(tags)
            if direction < 0:
                parts = [part[::-1] for part in parts]
            name = tags.get("name") or tags.get("ref") or f"Way {way.id}"
            lines.setdefault((name, speed, direction != 0), []).extend(parts)
    except UserError:
        raise
    except Exception as unreadable:  # osmium raises several kinds, most of them RuntimeError
        raise UserError(f"{path} cannot be read as OpenStreetMap data: {unreadable}") from unreadable
    found = {key: line for key, parts in lines.items() if (line := usable_lines(parts)) is not None}
    if not found:
        raise UserError(f"{path} has no street for cars: no way with a highway class such as residential")
    geometry = np.array(list(found.values()), dtype=np.object_)
    degrees = pyproj.CRS.from_epsg(4326)
    plane = local_plane(geometry, degrees)
    streets = Streets(
        tuple(name for name, _, _ in found),
        np.array([speed for _, speed, _ in found], np.float64),
        project(geometry, degrees, plane),
    )
    one_way = np.array([one_way for _, _, one_way in found], np.bool_)
    return RawStreets(streets, rejects, one_way, crossings=False, crs=plane)


def speed_of(tags: Mapping[str, str]) -> float | None:
    """Speed limit in km/h; None if the way is no street for cars."""
    usual = _CLASSES.get(tags.get("highway", ""))
    allowed = tags.get("motor_vehicle", tags.get("vehicle", tags.get("access", "yes")))
    if usual is None or allowed in _CLOSED or tags.get("area") == "yes":
        return None
    limit = tags.get("maxspeed", "").lower()
    number = _LIMIT.match(limit)
    if number:
        speed = float(number[1]) * (1.609344 if number[2] == "mph" else 1.0)
        return speed if 1.0 <= speed <= 400.0 else usual
    return _NAMED_LIMITS.get(limit.rpartition(":")[2], usual)


def _direction(tags: Mapping[str, str]) -> int:
    """1 along the way only, -1 against it only, 0 both."""
    one_way = tags.get("oneway", "")
    if one_way in ("-1", "reverse"):
        return -1
    if one_way in ("yes", "true", "1"):
        return 1
    implied = tags.get("highway") == "motorway" or tags.get("junction") in ("roundabout", "circular")
    return 1 if implied and one_way not in ("no", "false", "0") else 0


def _runs(nodes: Any) -> list[list[tuple[float, float]]]:
    """The way's points in degrees, cut where a node is not in the file."""
    runs: list[list[tuple[float, float]]] = [[]]
    for node in nodes:
        if node.location.valid():
            runs[-1].append((node.lon, node.lat))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if len(run) > 1]
