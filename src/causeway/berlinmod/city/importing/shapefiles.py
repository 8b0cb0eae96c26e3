"""Shapefiles: streets with a field Vmax, regions with the fields Priority and Weight."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import shapefile
import shapely

from causeway.berlinmod.city.importing.raw_map import (
    FARTHEST,
    RawRegion,
    RawStreets,
    local_plane,
    project,
    usable_lines,
)
from causeway.berlinmod.city.importing.rejects import Reject
from causeway.berlinmod.city.road_map import Geometries, Streets
from causeway.runtime.errors import UserError

__all__ = ["read_regions", "read_streets"]

_SPEED = ("vmax", "maxspeed", "speed")
_NAME = ("name", "street", "streetname")


def read_streets(path: Path) -> RawStreets:
    """The lines of a Shapefile, with their speeds in km/h; a record that is no street is rejected."""
    names, vmax, geometry = [], [], []
    rejects = []
    for number, (shape, record) in enumerate(_records(path, needed=(_SPEED,))):
        speed = _number(_field(record, _SPEED))
        line = _line(shape)
        if speed is None:
            reason = "the speed is no number"
        elif line is None:
            reason = "the shape is no line"
        elif not np.abs(shapely.get_coordinates(line)).max() <= FARTHEST:
            reason = f"a coordinate is beyond {FARTHEST:,.0f}, which is no place"
        else:
            names.append(str(_field(record, _NAME) or f"Street {number + 1}"))
            vmax.append(speed)
            geometry.append(line)
            continue
        rejects.append(Reject(str(path), f"record {number + 1}", reason))
    lines = np.array(geometry, dtype=np.object_)
    crs = _system(path, lines)
    if crs is not None and len(lines) and not _is_in_metres(crs):
        plane = local_plane(lines, crs)
        lines, crs = project(lines, crs, plane), plane
    return RawStreets(Streets(tuple(names), np.array(vmax, np.float64), lines), rejects, crs=crs)


def read_regions(path: Path) -> list[RawRegion]:
    """The areas of a Shapefile, with their priorities and weights; every record has to be right."""
    regions = []
    for number, (shape, record) in enumerate(_records(path, needed=(("priority",), ("weight",)))):
        where = f"{path}, record {number + 1}"
        priority, weight = _number(_field(record, ("priority",))), _number(_field(record, ("weight",)))
        if priority is None or priority != int(priority) or abs(priority) >= 2**31:
            raise UserError(f"{where}: Priority is no whole number")
        if weight is None or weight < 0:
            raise UserError(f"{where}: Weight is not a number of 0 or more")
        area = _area(shape)
        if area is None:
            raise UserError(f"{where}: the shape has no area; a polygon was expected")
        name = str(_field(record, _NAME) or f"Region {int(priority)}")
        regions.append(RawRegion(name, int(priority), weight, area))
    if not regions:
        raise UserError(f"{path} has no region")
    crs = _system(path, np.array([region.polygon for region in regions], dtype=np.object_))
    return [RawRegion(one.name, one.priority, one.weight, one.polygon, crs) for one in regions]


def _records(path: Path, needed: Sequence[Sequence[str]]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Every shape with its record, fields in lower case."""
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with shapefile.Reader(str(path), encoding=_encoding(path), encodingErrors="replace") as reader:
                fields = [field[0].lower() for field in reader.fields if field[0] != "DeletionFlag"]
                rows = [
                    (one.shape, dict(zip(fields, one.record, strict=False)))
                    for one in reader.iterShapeRecords()
                ]
    except UserError:
        raise
    except Exception as unreadable:  # pyshp raises whatever the damage leads to
        raise UserError(
            f"{path} cannot be read as a Shapefile ({unreadable}); the .shp needs its .dbf and .shx beside it"
        ) from unreadable
    for names in needed:
        if not any(name in fields for name in names):
            raise UserError(
                f"{path} has the fields {', '.join(fields) or '(none)'}, but none of {', '.join(names)}"
            )
    yield from rows


def _encoding(path: Path) -> str:
    """What the file beside says about its text, else UTF-8."""
    try:
        named = path.with_suffix(".cpg").read_text(encoding="ascii", errors="replace").strip()
        "".encode(named)
    except (OSError, LookupError, ValueError):
        return "utf-8"
    return named or "utf-8"


def _field(record: dict[str, Any], names: Sequence[str]) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), None)


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _line(shape: Any) -> shapely.Geometry | None:
    if "LINE" not in shape.shapeTypeName:
        return None
    starts = [*shape.parts, len(shape.points)]
    points = [point[:2] for point in shape.points]
    if not np.isfinite(np.asarray(points, dtype=np.float64)).all():
        return None
    return usable_lines([points[start:end] for start, end in pairwise(starts)])


def _area(shape: Any) -> shapely.Geometry | None:
    if not shape.shapeTypeName.startswith("POLYGON"):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            area = shapely.force_2d(shapely.geometry.shape(shape.__geo_interface__))
        parts = shapely.get_parts(shapely.make_valid(area))
        area = shapely.union_all(parts[shapely.get_dimensions(parts) == 2])
    except Exception:  # as for the records
        return None
    return area if math.isfinite(area.area) and area.area > 0 else None


def _system(path: Path, geometry: Geometries) -> pyproj.CRS | None:
    """The coordinate system that the .prj names; None for a local plane, which has none."""
    try:
        text = path.with_suffix(".prj").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    if not text.strip():
        if len(geometry) and np.abs(shapely.total_bounds(geometry)).max() <= 180:
            raise UserError(
                f"{path} seems to be in degrees, but has no .prj that says so; add one (EPSG:4326, say)"
            )
        return None
    try:
        crs = pyproj.CRS.from_user_input(text)
    except pyproj.exceptions.CRSError as unknown:
        raise UserError(f"{path.with_suffix('.prj')} names no coordinate system: {unknown}") from unknown
    return crs if crs.is_geographic or crs.is_projected else None


def _is_in_metres(crs: pyproj.CRS) -> bool:
    return bool(crs.is_projected and all(axis.unit_conversion_factor == 1 for axis in crs.axis_info[:2]))
