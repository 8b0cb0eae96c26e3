"""SECONDO's nested lists as in section 7.7.2: a file for each relation, a line for each unit or row."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from causeway.berlinmod.dataset import HISTORIES, TRIPS
from causeway.berlinmod.exchange.export.parts import write_movements
from causeway.berlinmod.exchange.export.source import (
    Rows,
    Source,
    read_relation,
    segments_of,
    street_lines,
    units,
)
from causeway.berlinmod.exchange.export.texts import (
    integers,
    joined,
    moments,
    quoted_texts,
    reals,
    to_bytes,
)
from causeway.berlinmod.model.arrays import I64
from causeway.moving_objects.conversions.arrow_values import list_array

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["write_nested_lists"]

_TAIL: Final = b"))\n"
_HISTORY: Final = {"Licence": "string", "Model": "string", "Type": "string", "Trip": "mpoint"}
_TRIP: Final = {"Licence": "string", "Trip": "mpoint"}


def write_nested_lists(spark: SparkSession, source: Source, folder: Path) -> int:
    """Write all files; returns the number of units in datamtrip.obj."""
    for name, (attributes, rows) in _relations(source).items():
        content = _head(name, attributes) + bytes(to_bytes(joined(" (", rows, ")\n"))) + _TAIL
        (folder / f"{name.lower()}.obj").write_bytes(content)
    counts = {}
    for relation, attributes in ((HISTORIES, _HISTORY), (TRIPS, _TRIP)):
        texts = tuple(name for name in attributes if name != "Trip")
        counts[relation] = write_movements(
            spark,
            source,
            folder / f"{relation.lower()}.obj",
            relation,
            texts,
            partial(_movement_lists, texts=texts),
            head=_head(relation, attributes),
            tail=_TAIL,
        )
    return counts[TRIPS]


def _head(name: str, attributes: dict[str, str]) -> bytes:
    declared = " ".join(f"({attribute} {kind})" for attribute, kind in attributes.items())
    return f"(OBJECT {name} () (rel (tuple ({declared})))\n(\n".encode()


def _relations(source: Source) -> dict[str, tuple[dict[str, str], pa.Array]]:
    cars = read_relation(source, "dataMcar")
    instants = read_relation(source, "QueryInstants")
    periods = read_relation(source, "QueryPeriods")
    licences = read_relation(source, "QueryLicences")
    points = read_relation(source, "QueryPoints")
    regions = read_relation(source, "QueryRegions")
    streets = street_lines(source.dataset.road_map(), source.projection)
    segments = segments_of(streets)
    ends = (segments.x1, segments.y1, segments.x2, segments.y2)
    lines = _lists(_offsets(segments.street, len(streets.vmax)), joined("(", _spaced(*map(reals, ends)), ")"))
    corners = joined("(", reals(regions["Region.x"]), " ", reals(regions["Region.y"]), ")")
    begin, end = moments(periods["Period.begin"]), moments(periods["Period.end"])
    return {
        "dataMcar": (
            {"Licence": "string", "Model": "string", "Type": "string"},
            _spaced(*(quoted_texts(cars[name]) for name in ("Licence", "Model", "Type"))),
        ),
        "QueryInstants": (
            {"Id": "int", "Instant": "instant"},
            joined(integers(instants["Id"]), ' "', moments(instants["Instant"]), '"'),
        ),
        "QueryPeriods": (
            {"Id": "int", "Period": "periods"},
            joined(integers(periods["Id"]), ' (("', begin, '" "', end, '" TRUE TRUE))'),
        ),
        "QueryLicences": (
            {"Id": "int", "Licence": "string"},
            _spaced(integers(licences["Id"]), quoted_texts(licences["Licence"])),
        ),
        "QueryPoints": (
            {"Id": "int", "Pos": "point"},
            joined(
                integers(points["Id"]), " (", _spaced(reals(points["Pos.x"]), reals(points["Pos.y"])), ")"
            ),
        ),
        # A region is a list of faces, a face a list of cycles, a cycle a list of points.
        "QueryRegions": (
            {"Id": "int", "Region": "region"},
            joined(integers(regions["Id"]), " (((", _lists(regions["Region.offsets"], corners), ")))"),
        ),
        "streets": ({"Vmax": "real", "geoData": "line"}, joined(reals(streets.vmax), " (", lines, ")")),
    }


def _spaced(*columns: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(*columns, " ")


def _lists(offsets: I64, texts: pa.Array) -> pa.Array:
    """The texts of each list, with spaces between them."""
    return pc.binary_join(list_array(offsets, texts), " ")


def _offsets(sorted_rows: I64, count: int) -> I64:
    return np.searchsorted(sorted_rows, np.arange(count + 1)).astype(np.int64)


def _movement_lists(rows: Rows, texts: tuple[str, ...]) -> pa.Buffer | bytes:
    others = _spaced(*(quoted_texts(rows.columns[name]) for name in texts))
    _, first = units(rows.movements)
    unit_offsets = rows.movements.offsets - np.arange(rows.movements.offsets.size)
    lines = pc.binary_join(list_array(unit_offsets, _unit_texts(rows, first)), "\n")
    return to_bytes(joined(" (", others, " (\n", lines, "))\n"))


def _unit_texts(rows: Rows, first: I64) -> pa.Array:
    """Units of an mpoint: ((begin end closed closed) (x1 y1 x2 y2))."""
    t, x, y = rows.movements[1:]
    begin, end = pa.array(first), pa.array(first + 1)
    when, where = joined('"', moments(t), '"'), _spaced(reals(x), reals(y))
    interval = _spaced(when.take(begin), when.take(end))
    return joined("  ((", interval, " TRUE FALSE) (", _spaced(where.take(begin), where.take(end)), "))")
