"""`causeway berlinmod import`: files of others become a data set; whole or not at all."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

import numpy as np

from causeway.berlinmod.city import RoadMap, open_map
from causeway.berlinmod.dataset import HISTORIES, LEGS, TRIPS, Dataset
from causeway.berlinmod.dataset.dataset import cut_for
from causeway.berlinmod.exchange.coordinates import Coordinates, is_in_degrees, to_berlin_metres
from causeway.berlinmod.exchange.importing.lines import Reject
from causeway.berlinmod.exchange.importing.parts import (
    Chunk,
    PartCounts,
    read_chunk,
    write_part,
)
from causeway.berlinmod.exchange.importing.ranges import byte_ranges, read_range
from causeway.berlinmod.exchange.importing.relations import Relations, write_imported_relations
from causeway.berlinmod.exchange.importing.small_files import FILES, SmallFiles
from causeway.berlinmod.exchange.importing.trip_files import TripFile, find_trip_file
from causeway.berlinmod.model.arrays import F64
from causeway.berlinmod.model.calendar import DAY_MS, NULL_DAY_MS
from causeway.berlinmod.model.parameters import Parameters
from causeway.runtime.errors import UserError
from causeway.runtime.new_folder import new_folder
from causeway.runtime.output_folder import refuse_used_folder
from causeway.runtime.progress import watched
from causeway.spark.tasks import run_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["IMPORT_FORMATS", "REJECTS_FILE", "Import", "ImportFormat", "check_import", "import_dataset"]

ImportFormat = Literal["csv", "mobilitydb"]
IMPORT_FORMATS: Final = get_args(ImportFormat)
REJECTS_FILE: Final = "rejects.csv"
_LOOKED_AT: Final = 2**20
"""Bytes of the trips that tell metres from degrees."""


@dataclass(frozen=True)
class Import:
    """A data set that was imported, and what of the files is not in it."""

    dataset: Dataset
    rejects: int
    """Lines that were rejected; DIR/rejects.csv has them, if there are any."""
    first_reject: Reject | None
    missing: tuple[str, ...]
    """Files that were not there, so that their relations are empty."""


def check_import(source: Path, format: str, map_path: Path | None, coordinates: str | None) -> None:
    """Refuse what there is no way to read, before Spark takes its seconds to start."""
    if format not in IMPORT_FORMATS:
        raise UserError(f"format is one of {', '.join(IMPORT_FORMATS)}; got {format}")
    if coordinates is not None and coordinates not in get_args(Coordinates):
        raise UserError(f"coordinates are metres or degrees; got {coordinates}")
    if not source.is_dir():
        raise UserError(f"{source} is no folder; give the one with {FILES[format]['trips'][0]}")
    files = SmallFiles(source, format, _keep, [], [])
    for what in ("trips", "cars"):
        files.needed(what)
    if map_path is None and files.path("streets") is None:
        raise UserError(
            f"{source} has no {FILES[format]['streets'][0]}; give the map that the vehicles drive on"
        )
    if map_path is not None and not map_path.exists():
        raise UserError(f"{map_path}: no such map; make one with `causeway berlinmod map`")


def import_dataset(
    spark: SparkSession,
    source: Path,
    out: Path,
    format: ImportFormat = "csv",
    map_path: Path | None = None,
    coordinates: Coordinates | None = None,
) -> Import:
    """Import the files in `source` into the new folder `out`; all of Spark's workers must see both.

    Without `map_path` the map is made of the file of streets. Without `coordinates` they are degrees if all
    of them are Berlin's, else metres.
    """
    check_import(source, format, map_path, coordinates)
    refuse_used_folder(out)
    source, out = source.absolute(), out.absolute()
    rejects: list[Reject] = []
    files = SmallFiles(source, format, _keep, rejects, [])
    trips = find_trip_file(files.needed("trips"))
    place = to_berlin_metres if _has_degrees(trips, coordinates) else _keep
    files = SmallFiles(source, format, place, rejects, [])
    relations = files.relations()
    road_map = files.road_map(source.name) if map_path is None else open_map(map_path, 1)
    assert road_map is not None, "check_import has seen its file"
    with new_folder(out, "causeway berlinmod import") as folder:
        written = _write(spark, folder, trips, relations, road_map, place)
        first = _write_rejects(folder, rejects, written)
    total = len(rejects) + written.rejects
    return Import(Dataset.load(out), total, first, tuple(files.missing))


def _keep(x: F64, y: F64) -> tuple[F64, F64]:
    return x, y


def _has_degrees(trips: TripFile, coordinates: Coordinates | None) -> bool:
    if coordinates is not None:
        return coordinates == "degrees"
    ranges = byte_ranges(trips.path, _LOOKED_AT)
    if not ranges:
        raise UserError(f"{trips.path} has no trip, only its header")
    units = trips.read(read_range(trips.path, *ranges[0]), [])
    if not is_in_degrees(units.x0, units.y0):
        return False
    if is_in_berlin(units.x0, units.y0):
        return True
    raise UserError(
        f"{trips.path} seems to have degrees, but not Berlin's; there is no plane for them. Convert them to "
        "metres first, or say that they are metres"
    )


def is_in_berlin(longitude: F64, latitude: F64) -> bool:
    """Whether degrees are where the authors' plane is."""
    near = (longitude > 12) & (longitude < 15) & (latitude > 51.5) & (latitude < 53.5)
    return bool(near.all())


class _Written(NamedTuple):
    chunks: list[Chunk]
    parts: list[PartCounts]
    bases: list[int]
    """The number of each chunk's first line in the file."""
    late_rejects: list[Reject]

    @property
    def rejects(self) -> int:
        return (
            sum(chunk.rejects for chunk in self.chunks)
            + sum(part.rejects for part in self.parts)
            + len(self.late_rejects)
        )


def _write(
    spark: SparkSession, folder: Path, trips: TripFile, relations: Relations, road_map: RoadMap, place: Any
) -> _Written:
    scratch = folder / ".units"
    scratch.mkdir()
    ranges = byte_ranges(trips.path)
    moid = relations.moid

    def read(number: int) -> Chunk:
        return read_chunk(trips, ranges[number], moid, place, scratch, number)

    with watched("reading", len(ranges), "parts", lambda: len(list(scratch.glob("*.arrow")))):
        chunks = run_tasks(spark, len(ranges), read)
    bases = (2 + np.cumsum([0, *(chunk.lines for chunk in chunks)])[:-1]).tolist()
    used = np.unique(np.concatenate([np.empty(0, np.int64), *(chunk.vehicles for chunk in chunks)]))
    if not used.size:
        first = next(_rejects_of(scratch, bases), None)
        why = f"; the first line that was rejected: {first.line}: {first.reason}" if first else ""
        raise UserError(f"{trips.path} has no trip{why}")
    parameters = _parameters(relations, chunks, int(used.size))
    cut = cut_for(parameters)
    for relation in (HISTORIES, TRIPS, LEGS):
        (folder / relation).mkdir()
    write = partial(
        write_part,
        folder,
        scratch,
        trips.kind == "instants",
        relations,
        used,
        cut,
        np.array(bases),
        trips.path.name,
    )
    done = folder / LEGS
    with watched("importing", cut.files, "files", lambda: len(list(done.iterdir()))):
        parts = run_tasks(spark, cut.files, write)
    road_map.save(folder / "map")
    write_imported_relations(folder, relations, road_map, used)
    unused = np.setdiff1d(np.arange(moid.size), used)
    late = [
        Reject(relations.car_file, int(relations.car_line[i]), "the vehicle has no trip, so it is left out")
        for i in unused.tolist()
    ]
    written = _Written(chunks, parts, bases, late)
    Dataset(
        folder=folder,
        parameters=parameters,
        vehicles_per_file=cut.vehicles_per_file,
        vehicles_per_group=cut.vehicles_per_group,
        counts={
            "vehicles": parameters.cars,
            "trips": sum(part.trips for part in parts),
            "moving_trips": sum(part.moving_trips for part in parts),
            "units": sum(part.units for part in parts),
            "legs": 0,
            "dropped_days": 0,
            "kilometres": round(sum(part.metres for part in parts) / 1000),
            "gaps_filled": sum(part.gaps for part in parts),
        },
        map={
            "name": road_map.name,
            "nodes": road_map.nodes,
            "edges": road_map.edges,
            "regions": len(road_map.regions.names) if road_map.regions else 0,
        },
    ).save()
    return written


def _parameters(relations: Relations, chunks: list[Chunk], cars: int) -> Parameters:
    """What can be told of the generator's parameters: how many vehicles, and which days."""
    begin = min(chunk.t_min for chunk in chunks)
    end = max(chunk.t_max for chunk in chunks)
    first, last = begin // DAY_MS, -(-end // DAY_MS)
    # The authors' histories begin a day before the observation, and end a day after it.
    if begin % DAY_MS == 0 and end % DAY_MS == 0 and last - first >= 3:
        first, last = first + 1, last - 1
    return Parameters(
        cars=cars,
        days=int(max(1, last - first)),
        scale=None,
        sample_size=relations.sample_size,
        start_day=int(first - NULL_DAY_MS // DAY_MS),
        seed=0,
        home_seed=0,
        trip_seed=0,
    )


def _rejects_of(scratch: Path, bases: list[int]) -> Iterator[Reject]:
    """The rejects of the chunks, with the numbers that lines have in the file."""
    for number, base in enumerate(bases):
        with (scratch / f"{number:05d}.rejects").open(encoding="utf-8", newline="") as file:
            for name, line, reason in csv.reader(file):
                yield Reject(name, int(line) + base, reason)


def _write_rejects(folder: Path, rejects: list[Reject], written: _Written) -> Reject | None:
    """Write rejects.csv, if there is a reject, and remove the scratch folder. Returns the first reject."""
    scratch = folder / ".units"
    first = None
    if rejects or written.rejects:
        with (folder / REJECTS_FILE).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(Reject._fields)
            for reject in _all_rejects(scratch, rejects, written):
                first = first or reject
                writer.writerow(reject)
    for path in scratch.iterdir():
        path.unlink()
    scratch.rmdir()
    return first


def _all_rejects(scratch: Path, rejects: list[Reject], written: _Written) -> Iterator[Reject]:
    yield from sorted(rejects)
    yield from _rejects_of(scratch, written.bases)
    for path in sorted(scratch.glob("part-*.rejects")):
        with path.open(encoding="utf-8", newline="") as file:
            for name, line, reason in csv.reader(file):
                yield Reject(name, int(line), reason)
    yield from written.late_rejects
