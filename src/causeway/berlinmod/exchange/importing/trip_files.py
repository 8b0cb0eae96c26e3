"""Files of trips: a unit a line (the authors'), a trip a line or an instant a line (MobilityDB's)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import shapely

from causeway.berlinmod.exchange.importing.joining import Units, pair_instants, take_units
from causeway.berlinmod.exchange.importing.lines import (
    Lines,
    Reject,
    field_places,
    read_header,
    split_fields,
)
from causeway.berlinmod.exchange.importing.small_files import geometries
from causeway.berlinmod.exchange.moments import read_moments
from causeway.berlinmod.model.arrays import BOOL, F64, I64
from causeway.moving_objects.conversions.meos import decode_meos
from causeway.runtime.errors import UserError

__all__ = ["TripFile", "find_trip_file"]

Kind = Literal["units", "instants", "trips"]

_MOID: Final = ("VehicleId", "VehId", "CarId")
_UNIT: Final = {
    "Moid": _MOID,
    "Tripid": (),
    **dict.fromkeys(("Tstart", "Tend", "Xstart", "Ystart", "Xend", "Yend"), ()),
}
_INSTANT: Final = {"VehicleId": ("Moid", "VehId", "CarId"), "TripId": (), "Point": ("Geom",), "T": ()}
_TRIP: Final = {"VehicleId": ("Moid", "VehId", "CarId"), "TripId": (), "Trip": ()}
_COLUMNS: Final = {"units": _UNIT, "instants": _INSTANT, "trips": _TRIP}
_ID_LIMIT: Final = 2**62
_SHORTEST: Final = 16
"""A trip in binary is longer; what is shorter may end within its header."""


@dataclass(frozen=True)
class TripFile:
    """A file of trips, and where its columns are."""

    path: Path
    kind: Kind
    width: int
    places: dict[str, int]

    def read(self, data: bytes, rejects: list[Reject]) -> Units:
        """The units in some of its lines; `vehicle` is the number in the file.

        Lines are counted from 0. Of a file of instants, each is a unit that takes no time.
        """
        quoted = self.kind != "units"
        lines = split_fields(data, 0, self.width, self.places, self.path.name, rejects, quoted=quoted)
        if self.kind == "units":
            return _units(lines)
        return _instants(lines) if self.kind == "instants" else _trips(lines)


def find_trip_file(path: Path) -> TripFile:
    """What kind of file it is, by its header."""
    header = read_header(path)
    kind: Kind = "instants"
    if "tstart" in header:
        kind = "units"
    elif "trip" in header:
        kind = "trips"
    elif "t" not in header:
        raise UserError(
            f"{path}, line 1: the columns are {','.join(header)[:200]}; expected were "
            + ", or ".join(",".join(columns) for columns in _COLUMNS.values())
        )
    return TripFile(path, kind, len(header), field_places(path, header, _COLUMNS[kind]))


def _units(lines: Lines) -> Units:
    moid, trip = lines.integers("Moid", 0), lines.integers("Tripid", 0, _ID_LIMIT)
    t0, t1 = lines.moments("Tstart"), lines.moments("Tend")
    places = [lines.reals(name) for name in ("Xstart", "Ystart", "Xend", "Yend")]
    lines.fail(t1 <= t0, "the movement does not end after it begins")
    x0, y0, x1, y1 = places
    units = Units(moid.astype(np.int32), trip, lines.number, t0, t1, x0, y0, x1, y1)
    return take_units(units, lines.good)


def _instants(lines: Lines) -> Units:
    moid, trip = lines.integers("VehicleId", 0), lines.integers("TripId", 0, _ID_LIMIT)
    t = lines.moments("T")
    shapes = geometries(lines.fields["Point"])
    wrong = shapely.get_type_id(shapes) != shapely.GeometryType.POINT
    wrong |= shapely.is_empty(shapes)
    lines.fail(wrong, "Point is no point; one in hexadecimal WKB was expected")
    x, y = (np.where(wrong, 0.0, of(shapes)) for of in (shapely.get_x, shapely.get_y))
    lines.fail(~(np.isfinite(x) & np.isfinite(y)), "Point has a coordinate that is no number")
    units = Units(moid.astype(np.int32), trip, lines.number, t, t, x, y, x, y)
    return take_units(units, lines.good)


def _trips(lines: Lines) -> Units:
    moid, trip = lines.integers("VehicleId", 0), lines.integers("TripId", 0, _ID_LIMIT)
    is_hex = pc.match_substring_regex(lines.fields["Trip"], r"^[0-9A-Fa-f]+$")
    of_binary = _read_binary(lines, is_hex.to_numpy(zero_copy_only=False))
    of_text = _read_texts(lines, ~is_hex.to_numpy(zero_copy_only=False))
    row, t, x, y = (np.concatenate(pair) for pair in zip(of_binary, of_text, strict=True))
    fine = lines.good[row]
    row, t, x, y = row[fine], t[fine], x[fine], y[fine]
    order = np.argsort(row, kind="stable")
    row, t, x, y = row[order], t[order], x[order], y[order]
    # Microseconds became milliseconds: an instant within a millisecond of the one before it is dropped.
    kept = np.ones(row.size, np.bool_)
    kept[1:] = (np.diff(row) != 0) | (np.diff(t) != 0)
    row, t, x, y = row[kept], t[kept], x[kept], y[kept]
    fresh = np.ones(row.size, np.bool_)
    fresh[1:] = np.diff(row) != 0
    first, last, end = pair_instants(fresh, t)
    of = row[first]
    return Units(
        moid[of].astype(np.int32),
        trip[of],
        lines.number[of],
        t[first],
        end,
        x[first],
        y[first],
        x[last],
        y[last],
    )


_Instants = tuple[I64, I64, F64, F64]
"""Line, time and place."""
_NOTHING: Final[_Instants] = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))


def _read_binary(lines: Lines, chosen: BOOL) -> _Instants:
    """Trips in MEOS well-known binary."""
    rows, values = [], []
    for i in np.flatnonzero(chosen).tolist():
        text = lines.fields["Trip"][i].as_py()
        if len(text) % 2 or len(text) < 2 * _SHORTEST:
            _fail_one(lines, i, "Trip is cut short; hexadecimal MEOS binary has two digits a byte")
        else:
            rows.append(i)
            values.append(bytes.fromhex(text))
    if not rows:
        return _NOTHING
    try:
        return _decoded(lines, np.array(rows), pa.array(values, pa.binary()))
    except UserError:
        # One of them is wrong: each for itself.
        parts = [_NOTHING]
        for i, value in zip(rows, values, strict=True):
            try:
                parts.append(_decoded(lines, np.array([i]), pa.array([value], pa.binary())))
            except UserError as wrong:
                _fail_one(lines, i, f"Trip: {str(wrong).rpartition('binary: ')[2]}")
        return tuple(np.concatenate(column) for column in zip(*parts, strict=True))  # type: ignore[return-value]


def _decoded(lines: Lines, rows: I64, values: pa.Array) -> _Instants:
    points = decode_meos(values)
    pieces = np.diff(points.row)
    for i in rows[pieces != 1].tolist():
        _fail_one(lines, i, "Trip has several pieces; one movement without gaps was expected")
    row = np.repeat(rows, np.diff(points.instant_row))
    for i in np.unique(row[~(np.abs(points.x) <= 1e12) | ~(np.abs(points.y) <= 1e12)]).tolist():
        _fail_one(lines, i, "Trip has a coordinate that is beyond 10^12")
    in_range = np.abs(points.t) < 2e14
    for i in np.unique(row[~in_range]).tolist():
        _fail_one(lines, i, "Trip has a time beyond the year 8000")
    t = np.rint(np.where(in_range, points.t, 0.0)).astype(np.int64)
    return row, t, points.x, points.y


def _read_texts(lines: Lines, chosen: BOOL) -> _Instants:
    """Trips as text: `[POINT(x y)@time, POINT(x y)@time)`, with an SRID before it or without."""
    rows = np.flatnonzero(chosen)
    if not rows.size:
        return _NOTHING
    pattern = r"^(?:SRID=\d+;)?\s*[\[(](?P<list>[^\[\]{}]*)[\])]$"
    found = pc.extract_regex(lines.fields["Trip"].take(pa.array(rows)), pattern)
    whole = found.is_valid().to_numpy(zero_copy_only=False)
    for i in rows[~whole].tolist():
        _fail_one(lines, i, "Trip is neither hexadecimal MEOS binary nor one sequence [POINT(x y)@time, …]")
    rows = rows[whole]
    cut = pc.split_pattern(pc.struct_field(found.filter(pa.array(whole)), "list"), ",")
    row = np.repeat(rows, pc.list_value_length(cut).to_numpy(zero_copy_only=False))
    number = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,2})?"
    instant = rf"^\s*(?i:POINT)\s*\(\s*(?P<x>{number})\s+(?P<y>{number})\s*\)@(?P<t>[^@]*?)\s*$"
    parsed = pc.extract_regex(pc.list_flatten(cut), instant)
    good = parsed.is_valid().to_numpy(zero_copy_only=False)
    t, is_moment = read_moments(pc.fill_null(pc.struct_field(parsed, "t"), ""))
    for i in np.unique(row[~(good & is_moment)]).tolist():
        _fail_one(lines, i, "Trip has an instant that is not POINT(x y)@2007-05-28 06:40:15+00")
    x, y = (
        pc.cast(pc.fill_null(pc.struct_field(parsed, axis), "0"), pa.float64()).to_numpy(zero_copy_only=False)
        for axis in ("x", "y")
    )
    backwards = np.zeros(row.size, np.bool_)
    backwards[1:] = (np.diff(row) == 0) & (np.diff(t) < 0)
    for i in np.unique(row[backwards]).tolist():
        _fail_one(lines, i, "Trip has instants that are not in the order of time")
    return row, t, x, y


def _fail_one(lines: Lines, place: int, reason: str) -> None:
    wrong = np.zeros(lines.number.size, np.bool_)
    wrong[place] = True
    lines.fail(wrong, reason)
