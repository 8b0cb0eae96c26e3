"""What an importer reads, before it becomes a map: streets, regions, and the plane that they are in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyproj
import shapely
from numpy.typing import NDArray

from causeway.berlinmod.city.importing.rejects import Reject
from causeway.berlinmod.city.road_map import Geometries, Streets
from causeway.runtime.errors import UserError

__all__ = ["FARTHEST", "RawRegion", "RawStreets", "local_plane", "project", "usable_lines"]

FARTHEST: Final = 1e9
"""No coordinate of a street is farther from the origin: that would be a damaged number, not a place."""


@dataclass(frozen=True)
class RawStreets:
    """The streets of a file."""

    streets: Streets
    rejects: list[Reject] = field(default_factory=list)
    one_way: NDArray[np.bool_] | None = None
    crossings: bool = True
    """Whether streets meet wherever their lines cross, or only where both have a point."""
    crs: pyproj.CRS | None = None
    """None: a plane of metres that nothing more is known of."""


@dataclass(frozen=True)
class RawRegion:
    """A home or a work region of a file."""

    name: str
    priority: int
    weight: float
    polygon: shapely.Geometry
    crs: pyproj.CRS | None = None


def local_plane(geometry: Geometries, crs: pyproj.CRS) -> pyproj.CRS:
    """A plane in metres for geometries in another system: transverse Mercator around their middle."""
    to_degrees = pyproj.Transformer.from_crs(crs, 4326, always_xy=True)
    low_x, low_y, high_x, high_y = shapely.total_bounds(geometry)
    longitude, latitude = to_degrees.transform((low_x + high_x) / 2, (low_y + high_y) / 2)
    if not (-180 <= longitude <= 180 and -85 <= latitude <= 85):
        raise UserError(
            f"the middle of the map is at {longitude:.1f}, {latitude:.1f} degrees: there is no street"
        )
    return pyproj.CRS.from_dict(
        {
            "proj": "tmerc",
            "lon_0": round(float(longitude), 3),
            "lat_0": round(float(latitude), 3),
            "k_0": 1,
            "x_0": 0,
            "y_0": 0,
            "datum": "WGS84",
            "units": "m",
        }
    )


def project(geometry: Geometries, source: pyproj.CRS, target: pyproj.CRS) -> Geometries:
    """The geometries in another system, to the millimetre."""
    transformer = pyproj.Transformer.from_crs(source, target, always_xy=True)

    def move(points: NDArray[np.float64]) -> NDArray[np.float64]:
        x, y = transformer.transform(points[:, 0], points[:, 1])
        return np.round(np.stack((x, y), axis=1), 3)

    moved: Geometries = shapely.transform(geometry, move)
    return moved


def usable_lines(parts: list[Any]) -> shapely.Geometry | None:
    """One line of several parts, each a list of points; None if nothing is left of them."""
    arrays = [np.asarray(part, dtype=np.float64) for part in parts]
    lines = [line for line in arrays if len(line) > 1 and (line[1:] != line[:-1]).any()]
    if not lines:
        return None
    return shapely.LineString(lines[0]) if len(lines) == 1 else shapely.MultiLineString(lines)
