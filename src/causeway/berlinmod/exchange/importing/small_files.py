"""The small files of others: vehicles, query relations, streets; columns by the names they have there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import shapely

from causeway.berlinmod.city import RoadMap
from causeway.berlinmod.exchange.importing.lines import (
    Lines,
    Reject,
    field_places,
    read_header,
    split_fields,
)
from causeway.berlinmod.exchange.importing.relations import Relations, convex_ring, map_of_segments
from causeway.berlinmod.exchange.moments import read_moments
from causeway.berlinmod.model.arrays import BOOL, F64, I64
from causeway.runtime.errors import UserError

__all__ = ["FILES", "SmallFiles", "geometries"]

FILES: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "csv": {
        "cars": ("datamcar.csv",),
        "trips": ("trips.csv",),
        "instants": ("queryinstants.csv",),
        "periods": ("queryperiods.csv",),
        "points": ("querypoints.csv",),
        "regions": ("queryregions.csv",),
        "licences": ("querylicences.csv",),
        "streets": ("streets.csv",),
    },
    "mobilitydb": {
        "cars": ("vehicles.csv",),
        "trips": ("trips.csv", "berlinmod_trips.csv", "tripsinput.csv", "berlinmod_instants.csv"),
        "instants": ("instants.csv",),
        "periods": ("periods.csv",),
        "points": ("points.csv",),
        "regions": ("regions.csv",),
        "licences": ("licences.csv",),
        "streets": ("roadsegments.csv",),
    },
}
"""The names of the files of each format; of several, the first that is there."""

_CAR: Final = {
    "Moid": ("VehicleId", "VehId", "CarId"),
    "Licence": ("License",),
    "Type": ("VehicleType", "VehType"),
    "Model": (),
}
_X: Final = {"Pos_x": ("PosX", "X", "XPos"), "Pos_y": ("PosY", "Y", "YPos")}

Place = Callable[[F64, F64], tuple[F64, F64]]


@dataclass(frozen=True)
class SmallFiles:
    """A folder of others; `place` makes metres of coordinates. Rejected lines are added to `rejects`."""

    folder: Path
    format: str
    place: Place
    rejects: list[Reject]
    missing: list[str]
    """Names of files that are not there, and that one can do without."""

    def path(self, what: str) -> Path | None:
        """The file of a relation, if there is one."""
        found = (self.folder / name for name in FILES[self.format][what])
        return next((path for path in found if path.is_file()), None)

    def needed(self, what: str) -> Path:
        """The same, or the user's mistake."""
        path = self.path(what)
        if path is None:
            names = " or ".join(FILES[self.format][what])
            others = " and ".join(FILES)
            raise UserError(
                f"{self.folder} has no {names}, which the format {self.format} has; {others} can be imported"
            )
        return path

    def relations(self) -> Relations:
        """Everything but trips and streets."""
        cars = self._lines(self.needed("cars"), _CAR)
        moid = cars.integers("Moid", 0)
        licence, kind, model = cars.texts("Licence"), cars.texts("Type"), cars.texts("Model")
        order = _distinct(cars, "Moid", moid)
        if not order.size:
            raise UserError(f"{self.needed('cars')} has no vehicle")
        instants = self._optional("instants", {"Id": ("InstantId",), "Instant": ()})
        licences = self._optional("licences", {"Id": ("LicenceId",), "Licence": ("License",)})
        return Relations(
            moid[order],
            [licence[i] for i in order],
            [kind[i] for i in order],
            [model[i] for i in order],
            cars.number[order],
            cars.file,
            self._instants(instants),
            self._periods(),
            self._points(),
            self._regions(),
            self._licences(licences),
        )

    def _lines(self, path: Path, columns: Mapping[str, Sequence[str]]) -> Lines:
        header = read_header(path)
        places = field_places(path, header, columns)
        data = path.read_bytes()
        start = data.find(b"\n") + 1
        body = data[start:] if start else b""
        return split_fields(body, 2, len(header), places, path.name, self.rejects, quoted=True)

    def _optional(self, what: str, columns: Mapping[str, Sequence[str]]) -> Lines | None:
        path = self.path(what)
        if path is None:
            name = FILES[self.format][what][0]
            if name not in self.missing:
                self.missing.append(name)
            return None
        return self._lines(path, columns)

    def _header(self, what: str) -> list[str]:
        path = self.path(what)
        return [] if path is None else read_header(path)

    def _instants(self, lines: Lines | None) -> tuple[I64, I64]:
        if lines is None:
            return _none(), _none()
        number, moment = lines.integers("Id"), lines.moments("Instant")
        order = _distinct(lines, "Id", number)
        return number[order], moment[order]

    def _licences(self, lines: Lines | None) -> tuple[I64, list[str]]:
        if lines is None:
            return _none(), []
        number, licence = lines.integers("Id"), lines.texts("Licence")
        order = _distinct(lines, "Id", number)
        return number[order], [licence[i] for i in order]

    def _periods(self) -> tuple[I64, I64, I64]:
        if "period" in self._header("periods"):
            lines = self._optional("periods", {"Id": ("PeriodId",), "Period": ()})
            if lines is None:
                return _none(), _none(), _none()
            begin, end = _span(lines, "Period")
        else:
            names = {"Id": ("PeriodId",), "Begin": ("BeginP", "Tstart"), "End": ("EndP", "Tend")}
            lines = self._optional("periods", names)
            if lines is None:
                return _none(), _none(), _none()
            begin, end = lines.moments("Begin"), lines.moments("End")
        number = lines.integers("Id")
        lines.fail(end < begin, "the period ends before it begins")
        order = _distinct(lines, "Id", number)
        return number[order], begin[order], end[order]

    def _points(self) -> tuple[I64, F64, F64]:
        by_geometry = "geom" in self._header("points")
        names = {"Id": ("PointId",), **({"Geom": ()} if by_geometry else _X)}
        lines = self._optional("points", names)
        if lines is None:
            return _none(), np.empty(0), np.empty(0)
        number = lines.integers("Id")
        if by_geometry:
            shapes = geometries(lines.fields["Geom"])
            wrong = shapely.get_type_id(shapes) != shapely.GeometryType.POINT
            wrong |= shapely.is_empty(shapes)
            lines.fail(wrong, "Geom is no point; one in hexadecimal WKB was expected")
            x, y = (np.where(wrong, 0.0, of(shapes)) for of in (shapely.get_x, shapely.get_y))
            lines.fail(~(np.isfinite(x) & np.isfinite(y)), "Geom has a coordinate that is no number")
        else:
            x, y = lines.reals("Pos_x"), lines.reals("Pos_y")
        order = _distinct(lines, "Id", number)
        return number[order], *self.place(x[order], y[order])

    def _regions(self) -> tuple[I64, list[F64]]:
        header = self._header("regions")
        if "geom" in header:
            return self._region_shapes()
        starts = {"X": ("Xstart",), "Y": ("Ystart",)}
        lines = self._optional("regions", {"Id": ("RegionId",), **starts})
        if lines is None:
            return _none(), []
        number, x, y = lines.integers("Id"), lines.reals("X"), lines.reals("Y")
        number, x, y = number[lines.good], *self.place(x[lines.good], y[lines.good])
        file = [lines.number[lines.good], lines.file]
        return self._hulls(number, np.column_stack((x, y)), *file)

    def _hulls(self, number: I64, points: F64, line: Any, file: Any) -> tuple[I64, list[F64]]:
        """Section 7.7.4: a region is the convex hull of all points with its number."""
        kept, rings = [], []
        for one in np.unique(number):
            mine = np.flatnonzero(number == one)
            ring = convex_ring(points[mine])
            if ring is None:
                reason = f"the points of region {one} have no area"
                self.rejects.append(Reject(file, int(line[mine[0]]), reason))
                continue
            kept.append(int(one))
            rings.append(ring)
        return np.array(kept, np.int64), rings

    def _region_shapes(self) -> tuple[I64, list[F64]]:
        lines = self._optional("regions", {"Id": ("RegionId",), "Geom": ()})
        if lines is None:
            return _none(), []
        number, shapes = lines.integers("Id"), geometries(lines.fields["Geom"])
        wrong = shapely.get_type_id(shapes) != shapely.GeometryType.POLYGON
        wrong |= ~np.isfinite(shapely.area(shapes)) | ~(shapely.area(shapes) > 0)
        wrong |= shapely.get_num_interior_rings(shapes) > 0
        lines.fail(wrong, "Geom is no polygon without holes; one in hexadecimal WKB was expected")
        order = _distinct(lines, "Id", number)
        rings = []
        for shape in shapely.remove_repeated_points(shapely.orient_polygons(shapes[order])):
            corners = shapely.get_coordinates(shapely.get_exterior_ring(shape))[:-1]
            rings.append(np.column_stack(self.place(corners[:, 0], corners[:, 1])))
        return number[order], rings

    def road_map(self, name: str) -> RoadMap | None:
        """The map of the streets; None if there is no file of them."""
        path = self.path("streets")
        if path is None:
            return None
        if self.format == "mobilitydb":
            return self._segments_map(path, name)
        ends = ("X1", "Y1", "X2", "Y2")
        lines = self._lines(path, {"Id": ("StreetId",), "Vmax": (), **dict.fromkeys(ends, ())})
        street, vmax = lines.integers("Id"), lines.reals("Vmax")
        x1, y1, x2, y2 = (lines.reals(end) for end in ends)
        good = lines.good
        if not good.any():
            raise UserError(f"{path} has no street")
        corners = np.column_stack((*self.place(x1[good], y1[good]), *self.place(x2[good], y2[good])))
        return map_of_segments(name, street[good], vmax[good], corners)

    def _segments_map(self, path: Path, name: str) -> RoadMap:
        """MobilityDB's roads, each a line with speeds for both directions."""
        lines = self._lines(path, {"SegmentId": (), "OneWay": (), "MaxSpeedFwd": (), "SegmentGeo": ("Geom",)})
        shapes = geometries(lines.fields["SegmentGeo"])
        lines.fail(
            shapely.get_type_id(shapes) != shapely.GeometryType.LINESTRING,
            "SegmentGeo is no line; one in hexadecimal WKB was expected",
        )
        segment, vmax = lines.integers("SegmentId", 0, 2**62), lines.reals("MaxSpeedFwd")
        one_way = lines.integers("OneWay") == 1
        good = np.flatnonzero(lines.good)
        if not good.size:
            raise UserError(f"{path} has no street")
        xy, line = shapely.get_coordinates(shapes[good], return_index=True)
        xy = np.column_stack(self.place(xy[:, 0], xy[:, 1]))
        joined = np.flatnonzero(line[1:] == line[:-1])
        row = good[line[joined]]
        ends = np.hstack((xy[joined], xy[joined + 1]))
        return map_of_segments(name, segment[row], vmax[row], ends, one_way[row])


def geometries(texts: pa.Array) -> Any:
    """Geometries of hexadecimal WKB (with an SRID or without), or of WKT; None for anything else."""
    plain = pc.replace_substring_regex(texts, r"^SRID=\d+;", "").to_numpy(zero_copy_only=False)
    shapes = shapely.from_wkb(plain, on_invalid="ignore")
    others = np.flatnonzero(shapely.is_missing(shapes))
    if others.size:
        shapes[others] = shapely.from_wkt(plain[others], on_invalid="ignore")
    return shapes


def _none() -> I64:
    return np.empty(0, np.int64)


def _distinct(lines: Lines, name: str, numbers: I64) -> I64:
    """The places of the good lines, by their numbers; one whose number was there before is rejected."""
    order = np.argsort(numbers, kind="stable")
    order = order[lines.good[order]]
    again: BOOL = np.zeros(numbers.size, np.bool_)
    again[order[1:]] = numbers[order[1:]] == numbers[order[:-1]]
    lines.fail(again, lambda i: f"{name} {numbers[i]} is there twice")
    return order[lines.good[order]]


def _span(lines: Lines, name: str) -> tuple[I64, I64]:
    """Begin and end of spans as MobilityDB writes them, `[begin, end]`."""
    pattern = r"^[\[(]\s*(?P<begin>[^,]*?)\s*,\s*(?P<end>[^,]*?)\s*[\])]$"
    found = pc.extract_regex(lines.fields[name], pattern)
    ends = []
    wrong = ~found.is_valid().to_numpy(zero_copy_only=False)
    for end in ("begin", "end"):
        values, good = read_moments(pc.fill_null(pc.struct_field(found, end), ""))
        wrong = wrong | ~good
        ends.append(values)
    lines.fail(
        wrong, f"{name} is no span; one such as [2007-05-28 06:40:15+00, 2007-05-29 01:00:00+00] was expected"
    )
    return ends[0], ends[1]
