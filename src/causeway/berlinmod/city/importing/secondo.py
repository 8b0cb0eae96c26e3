"""The paper's own files (section 7.2): streets.data, homeRegions.data, workRegions.data."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import shapely

from causeway.berlinmod.city.importing.nested_list import NestedList, read_relation
from causeway.berlinmod.city.importing.raw_map import FARTHEST, RawRegion, RawStreets
from causeway.berlinmod.city.importing.rejects import Reject
from causeway.berlinmod.city.road_map import Streets
from causeway.runtime.errors import UserError

__all__ = ["read_regions", "read_streets"]


class _BadValueError(Exception):
    """A value is not what it should be; says what was expected."""


def read_streets(path: Path) -> RawStreets:
    """The relation `streets {Vmax: real, geoData: line}`; a row that is no street is rejected."""
    names, vmax, geometry = [], [], []
    rejects = []
    for number, (row, (speed_at, line_at)) in enumerate(read_relation(path, ("Vmax", "geoData"))):
        try:
            speed = _number(_member(row, speed_at), "Vmax")
            line = _line(_member(row, line_at))
        except _BadValueError as wrong:
            rejects.append(Reject(str(path), f"line {row.line}", str(wrong)))
            continue
        names.append(f"Street {number + 1}")
        vmax.append(speed)
        geometry.append(line)
    streets = Streets(tuple(names), np.array(vmax, np.float64), np.array(geometry, dtype=np.object_))
    return RawStreets(streets, rejects)


def read_regions(path: Path) -> list[RawRegion]:
    """The relation `{Priority: int, Weight: real, geoData: region}`; every row has to be right."""
    regions = []
    for row, (priority_at, weight_at, area_at) in read_relation(path, ("Priority", "Weight", "geoData")):
        try:
            priority = _number(_member(row, priority_at), "Priority")
            weight = _number(_member(row, weight_at), "Weight")
            if priority != int(priority) or abs(priority) >= 2**31:
                raise _BadValueError(f"Priority is {priority:g}; a whole number was expected")
            if weight < 0:
                raise _BadValueError(f"Weight is {weight:g}; it has to be 0 or more")
            polygon = _area(_member(row, area_at))
        except _BadValueError as wrong:
            raise UserError(f"{path}, line {row.line}: {wrong}") from wrong
        regions.append(RawRegion(f"Region {int(priority)}", int(priority), weight, polygon))
    if not regions:
        raise UserError(f"{path} has no region")
    return regions


def _member(row: NestedList, place: int) -> NestedList | str:
    if place >= len(row):
        raise _BadValueError(f"the row has {len(row)} values; one is missing")
    return row[place]


def _number(value: NestedList | str, what: str) -> float:
    try:
        number = float(value) if isinstance(value, str) else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        shown = value if isinstance(value, str) else "a list"
        raise _BadValueError(f"{what} is {shown[:40]}; a number was expected")
    return number


def _line(value: NestedList | str) -> shapely.MultiLineString:
    """A line is a list of segments (x1 y1 x2 y2)."""
    segments = []
    for segment in value if isinstance(value, NestedList) else ():
        if not isinstance(segment, NestedList) or len(segment) != 4:
            raise _BadValueError("geoData has a member that is no segment (x1 y1 x2 y2)")
        x1, y1, x2, y2 = (_number(coordinate, "a coordinate of geoData") for coordinate in segment)
        if max(abs(x1), abs(y1), abs(x2), abs(y2)) > FARTHEST:
            raise _BadValueError(f"geoData has a coordinate beyond {FARTHEST:,.0f}, which is no place")
        if (x1, y1) != (x2, y2):
            segments.append(((x1, y1), (x2, y2)))
    if not segments:
        raise _BadValueError("geoData has no segment; a list of (x1 y1 x2 y2) was expected")
    return shapely.MultiLineString(segments)


def _area(value: NestedList | str) -> shapely.Geometry:
    """A region is a list of faces, each an outer cycle and its holes; a cycle is a list of points (x y)."""
    faces = []
    for face in value if isinstance(value, NestedList) else ():
        cycles = [_cycle(cycle) for cycle in face] if isinstance(face, NestedList) else []
        if not cycles:
            raise _BadValueError("geoData has a face without a cycle of points")
        faces.append(shapely.Polygon(cycles[0], cycles[1:]))
    if not faces:
        raise _BadValueError("geoData has no face; a list of faces was expected")
    area = shapely.MultiPolygon(faces) if len(faces) > 1 else faces[0]
    if not area.is_valid:
        # The authors' borders touch themselves here and there.
        parts = shapely.get_parts(shapely.make_valid(area))
        area = shapely.union_all(parts[shapely.get_dimensions(parts) == 2])
    if area.is_empty or not area.area > 0:
        raise _BadValueError("geoData has no area")
    return area


def _cycle(value: NestedList | str) -> list[tuple[float, float]]:
    points = []
    for point in value if isinstance(value, NestedList) else ():
        if not isinstance(point, NestedList) or len(point) != 2:
            raise _BadValueError("geoData has a member of a cycle that is no point (x y)")
        points.append((_number(point[0], "x"), _number(point[1], "y")))
    if len(points) < 3:
        raise _BadValueError(f"geoData has a cycle of {len(points)} points; it takes three")
    return points
