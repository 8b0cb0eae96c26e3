"""The columns of every file; docs/berlinmod.md says what each is. The paper's names begin with a capital."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

__all__ = [
    "CARS_SCHEMA",
    "HISTORIES",
    "HISTORIES_SCHEMA",
    "LEGS",
    "LEGS_SCHEMA",
    "LISTS",
    "NODES_SCHEMA",
    "POINT",
    "QUERY_SCHEMAS",
    "TRIPS",
    "TRIPS_SCHEMA",
]

HISTORIES: Final = "dataScar"
TRIPS: Final = "dataMtrip"
LEGS: Final = "legs"
"""Names of the folders with a file for each range of vehicles."""


def _field(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


def _list(kind: pa.DataType) -> pa.DataType:
    return pa.list_(_field("element", kind))


def _struct(**fields: pa.DataType) -> pa.DataType:
    return pa.struct([_field(name, kind) for name, kind in fields.items()])


_INT, _LONG, _REAL, _TEXT = pa.int32(), pa.int64(), pa.float64(), pa.string()
_BOXES = _struct(
    t=_list(_LONG), x_min=_list(_REAL), x_max=_list(_REAL), y_min=_list(_REAL), y_max=_list(_REAL)
)
_MOVEMENT = {
    "Trip": _struct(t=_list(_LONG), x=_list(_REAL), y=_list(_REAL)),
    "length": _list(_REAL),
    "t_min": _LONG,
    "t_max": _LONG,
    "x_min": _REAL,
    "x_max": _REAL,
    "y_min": _REAL,
    "y_max": _REAL,
    "boxes": _BOXES,
}
LISTS: Final = tuple(name for name, kind in _MOVEMENT.items() if pa.types.is_nested(kind))


def _schema(columns: dict[str, pa.DataType]) -> pa.Schema:
    return pa.schema([_field(name, kind) for name, kind in columns.items()])


HISTORIES_SCHEMA: Final = _schema(
    {"vehicle": _INT, "Licence": _TEXT, "Type": _TEXT, "Model": _TEXT, **_MOVEMENT}
)
TRIPS_SCHEMA: Final = _schema(
    {"vehicle": _INT, "trip": _INT, "Licence": _TEXT, "moving": pa.bool_(), **_MOVEMENT}
)
LEGS_SCHEMA: Final = _schema(
    {
        "vehicle": _INT,
        "day": _INT,
        "kind": _TEXT,
        "block": _INT,
        "stop": _INT,
        "origin": _INT,
        "destination": _INT,
        "departure": _LONG,
        "arrival": _LONG,
        "length": _REAL,
        "stops": _INT,
        "standing": _LONG,
        "dropped": pa.bool_(),
    }
)
CARS_SCHEMA: Final = _schema(
    {"vehicle": _INT, "Licence": _TEXT, "Type": _TEXT, "Model": _TEXT, "home": _INT, "work": _INT}
)
POINT: Final = _struct(x=_REAL, y=_REAL)
NODES_SCHEMA: Final = _schema({"NodeId": _INT, "Pos": POINT})
QUERY_SCHEMAS: Final = {
    "QueryPoints": _schema({"Id": _INT, "Pos": POINT, "node": _INT}),
    "QueryRegions": _schema(
        {"Id": _INT, "Region": _struct(x=_list(_REAL), y=_list(_REAL)), "node": _INT, "radius": _REAL}
    ),
    "QueryInstants": _schema({"Id": _INT, "Instant": _LONG}),
    "QueryPeriods": _schema({"Id": _INT, "Period": _struct(begin=_LONG, end=_LONG)}),
    "QueryLicences": _schema({"Id": _INT, "Licence": _TEXT, "vehicle": _INT}),
}
