"""What Spark's tasks do: read a range of the file of trips, and write a file of the data set."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from causeway.berlinmod.dataset import HISTORIES, LEGS, TRIPS, table_of_movements
from causeway.berlinmod.dataset.dataset import Cut, part_path
from causeway.berlinmod.dataset.movements import RowGroupWriter
from causeway.berlinmod.dataset.schemas import HISTORIES_SCHEMA, LEGS_SCHEMA, TRIPS_SCHEMA
from causeway.berlinmod.exchange.importing.joining import (
    JOIN_REASONS,
    Units,
    cut_into_trips,
    join_units,
    sorted_units,
    take_units,
    units_of_instants,
)
from causeway.berlinmod.exchange.importing.lines import Reject
from causeway.berlinmod.exchange.importing.ranges import read_range
from causeway.berlinmod.exchange.importing.relations import Relations
from causeway.berlinmod.exchange.importing.trip_files import TripFile
from causeway.berlinmod.model.arrays import F64, I64

__all__ = ["Chunk", "PartCounts", "read_chunk", "write_part"]

_LATEST: Final = -(2**62)


class Chunk(NamedTuple):
    """What a range of the file has."""

    lines: int
    rejects: int
    vehicles: I64
    """The places of its vehicles among all of them."""
    t_min: int
    t_max: int


class PartCounts(NamedTuple):
    """How much was written to a file."""

    trips: int
    moving_trips: int
    units: int
    metres: float
    gaps: int
    rejects: int


def read_chunk(
    trips: TripFile,
    part: tuple[int, int],
    moid: I64,
    place: Callable[[F64, F64], tuple[F64, F64]],
    scratch: Path,
    number: int,
) -> Chunk:
    """Read a range of bytes; its units go to NUMBER.arrow, sorted by vehicle, bad lines to NUMBER.rejects."""
    data = read_range(trips.path, *part)
    rejects: list[Reject] = []
    units = trips.read(data, rejects)
    vehicle = np.searchsorted(moid, units.vehicle)
    known = moid[np.minimum(vehicle, moid.size - 1)] == units.vehicle
    for line, unknown in sorted(
        {(int(i), int(k)) for i, k in zip(units.line[~known], units.vehicle[~known], strict=True)}
    ):
        rejects.append(Reject(trips.path.name, line, f"there is no vehicle {unknown} among the vehicles"))
    units = take_units(units._replace(vehicle=vehicle.astype(np.int32)), known)
    (x0, y0), (x1, y1) = place(units.x0, units.y0), place(units.x1, units.y1)
    units = sorted_units(units._replace(x0=x0, y0=y0, x1=x1, y1=y1))
    table = pa.table(dict(zip(Units._fields, units, strict=True)))
    with (
        pa.OSFile(str(scratch / f"{number:05d}.arrow"), "wb") as file,
        pa.ipc.new_file(file, table.schema) as out,
    ):
        out.write_table(table)
    _append_rejects(scratch / f"{number:05d}.rejects", sorted(rejects))
    return Chunk(
        data.count(b"\n") + (bool(data) and not data.endswith(b"\n")),
        len(rejects),
        np.unique(units.vehicle).astype(np.int64),
        int(units.t0.min()) if units.t0.size else 2**62,
        int(units.t1.max()) if units.t1.size else _LATEST,
    )


def _append_rejects(path: Path, rejects: Sequence[Reject]) -> None:
    with path.open("a", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rejects)


def write_part(
    folder: Path,
    scratch: Path,
    of_instants: bool,
    relations: Relations,
    used: I64,
    cut: Cut,
    bases: I64,
    trips_name: str,
    file: int,
) -> PartCounts:
    """Write part `file` of dataScar and dataMtrip, and the same part of legs, which has no rows."""
    counts = []
    with (
        RowGroupWriter(part_path(folder, HISTORIES, file), HISTORIES_SCHEMA) as histories,
        RowGroupWriter(part_path(folder, TRIPS, file), TRIPS_SCHEMA) as trips,
        RowGroupWriter(part_path(folder, LEGS, file), LEGS_SCHEMA) as legs,
    ):
        for first, end in cut.group_ranges(file):
            units, rejects = _units_of(scratch, used[first:end], bases, of_instants, trips_name)
            joined = join_units(units, end - first)
            for code, reason in JOIN_REASONS.items():
                for line in np.unique(units.line[joined.reasons == code]).tolist():
                    rejects.append(Reject(trips_name, line, reason))
            _append_rejects(scratch / f"part-{file:05d}.rejects", sorted(rejects))
            columns = _vehicle_columns(relations, used, first, end)
            history_table = table_of_movements(HISTORIES_SCHEMA, columns, joined.movements)
            histories.append(history_table)
            rows = cut_into_trips(joined)
            trips.append(
                table_of_movements(
                    TRIPS_SCHEMA,
                    {
                        "vehicle": first + rows.history,
                        "trip": rows.number,
                        "Licence": np.array(columns["Licence"], np.object_)[rows.history],
                        "moving": rows.moving,
                    },
                    rows.movements,
                )
            )
            legs.append(LEGS_SCHEMA.empty_table())
            lengths = history_table.column("length").combine_chunks()
            counts.append(
                PartCounts(
                    rows.number.size,
                    int(rows.moving.sum()),
                    joined.movements.t.size - (end - first),
                    float(lengths.values.to_numpy()[lengths.offsets.to_numpy()[1:] - 1].sum()),
                    joined.gaps,
                    len(rejects),
                )
            )
    return PartCounts(*(sum(column) for column in zip(*counts, strict=True)))


def _vehicle_columns(relations: Relations, used: I64, first: int, end: int) -> dict[str, Any]:
    mine = used[first:end].tolist()
    return {
        "vehicle": np.arange(first, end, dtype=np.int32),
        "Licence": [relations.licence[i] for i in mine],
        "Type": [relations.type[i] for i in mine],
        "Model": [relations.model[i] for i in mine],
    }


def _units_of(
    scratch: Path, vehicles: I64, bases: I64, of_instants: bool, trips_name: str
) -> tuple[Units, list[Reject]]:
    """The units of some vehicles out of all chunks; vehicles are numbered from 0, lines as in the file."""
    found: list[list[Any]] = [[] for _ in Units._fields]
    for number, base in enumerate(bases.tolist()):
        with pa.memory_map(str(scratch / f"{number:05d}.arrow")) as file:
            table = pa.ipc.open_file(file).read_all()
            of = table.column("vehicle").to_numpy()
            begin, end = np.searchsorted(of, (vehicles[0], vehicles[-1] + 1))
            mine = table.slice(begin, end - begin)
            for column, name in zip(found, Units._fields, strict=True):
                values = mine.column(name).to_numpy().copy()
                column.append(values + base if name == "line" else values)
    units = Units(*(np.concatenate(column) for column in found))
    units = units._replace(vehicle=np.searchsorted(vehicles, units.vehicle).astype(np.int32))
    if not of_instants:
        return sorted_units(units), []
    units, repeats = units_of_instants(units)
    return units, [Reject(trips_name, line, JOIN_REASONS[3]) for line in np.unique(repeats).tolist()]
