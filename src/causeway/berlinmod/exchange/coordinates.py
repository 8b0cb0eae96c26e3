"""Metres of a map's plane, and longitude and latitude."""

from __future__ import annotations

from typing import Any, Final, Literal

import numpy as np

from causeway.berlinmod.model.arrays import F64

__all__ = ["DEGREES_CRS", "Coordinates", "Projection", "is_in_degrees", "to_berlin_metres"]

Coordinates = Literal["metres", "degrees"]

DEGREES_CRS: Final = "urn:ogc:def:crs:OGC:1.3:CRS84"
"""Longitude and latitude on WGS 84, in this order."""

# The authors' plane (bbbike's) as an affine function of degrees; it is none of the registered ones.
_OFFSET: Final = np.array([-780761.760862528, -5844741.03397902])
_MATRIX: Final = np.array([[67978.2421158527, -2285.59137120724], [1214.24447469596, 111217.945663725]])
_INVERSE: Final = np.linalg.inv(_MATRIX)


def to_berlin_metres(longitude: F64, latitude: F64) -> tuple[F64, F64]:
    """Metres in the authors' plane."""
    return (
        _OFFSET[0] + _MATRIX[0, 0] * longitude + _MATRIX[0, 1] * latitude,
        _OFFSET[1] + _MATRIX[1, 0] * longitude + _MATRIX[1, 1] * latitude,
    )


def is_in_degrees(x: F64, y: F64) -> bool:
    """Whether coordinates can only be degrees: a city's metres are not all so close to the origin."""
    return x.size > 0 and bool((np.abs(x) <= 180).all() and (np.abs(y) <= 90).all())


class Projection:
    """From metres to what a file is to have: the metres themselves, or degrees.

    A map without a coordinate system is taken to be in the authors' plane, so that a drawn city is in Berlin.
    """

    def __init__(self, coordinates: Coordinates, crs: dict[str, Any] | None) -> None:
        """`crs` is that of the map, as PROJJSON."""
        self.coordinates = coordinates
        self._map_crs = crs
        self._transformer: Any = None

    @property
    def crs(self) -> dict[str, Any] | None:
        """The coordinate system of what is written, as PROJJSON; None for a local plane."""
        if self.coordinates == "metres":
            return self._map_crs
        import pyproj

        return dict(pyproj.CRS.from_user_input("OGC:CRS84").to_json_dict())

    def __call__(self, x: F64, y: F64) -> tuple[F64, F64]:
        """The coordinates to write."""
        if self.coordinates == "metres":
            return x, y
        if self._map_crs is None:
            east, north = x - _OFFSET[0], y - _OFFSET[1]
            return (
                _INVERSE[0, 0] * east + _INVERSE[0, 1] * north,
                _INVERSE[1, 0] * east + _INVERSE[1, 1] * north,
            )
        if self._transformer is None:
            import pyproj

            system = pyproj.CRS.from_json_dict(self._map_crs)
            self._transformer = pyproj.Transformer.from_crs(system, "OGC:CRS84", always_xy=True)
        longitude, latitude = self._transformer.transform(x, y)
        return np.asarray(longitude, np.float64), np.asarray(latitude, np.float64)

    def __reduce__(self) -> tuple[Any, ...]:
        # Sent to Spark's workers; each makes its own transformer.
        return Projection, (self.coordinates, self._map_crs)
