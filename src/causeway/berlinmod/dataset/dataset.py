"""A folder of generated data: what `causeway berlinmod generate` leaves behind, and where it all is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from causeway import __version__
from causeway.berlinmod.city import RoadMap
from causeway.berlinmod.dataset.schemas import HISTORIES, LEGS, QUERY_SCHEMAS, TRIPS
from causeway.berlinmod.model.parameters import Parameters
from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import load_facts, write_json

__all__ = ["FACTS_FILE", "Cut", "Dataset", "cut_for", "part_path", "relation_names"]

FACTS_FILE: Final = "berlinmod.json"
_LAYOUT: Final = 1

_UNITS_A_DAY: Final = 1000
"""What a vehicle of the paper records on a day; a little less."""
_UNITS_A_FILE: Final = 2**20
_UNITS_A_GROUP: Final = 2**17
_VEHICLES_A_FILE: Final = 32


@dataclass(frozen=True)
class Cut:
    """How vehicles are cut into files and row groups."""

    vehicles: int
    vehicles_per_file: int
    vehicles_per_group: int

    @property
    def files(self) -> int:
        """Number of files of each folder."""
        return -(-self.vehicles // self.vehicles_per_file)

    def file_range(self, file: int) -> tuple[int, int]:
        """First vehicle of a file, and the one after its last."""
        first = file * self.vehicles_per_file
        return first, min(first + self.vehicles_per_file, self.vehicles)

    def group_ranges(self, file: int) -> list[tuple[int, int]]:
        """The same for every row group of a file."""
        first, end = self.file_range(file)
        step = self.vehicles_per_group
        return [(begin, min(begin + step, end)) for begin in range(first, end, step)]


def cut_for(parameters: Parameters) -> Cut:
    """A million units a file and an eighth of it a row group, as far as the number of days tells."""
    units = _UNITS_A_DAY * parameters.days
    per_file = min(max(_UNITS_A_FILE // units, 1), _VEHICLES_A_FILE)
    return Cut(parameters.cars, per_file, min(max(_UNITS_A_GROUP // units, 1), per_file))


@dataclass(frozen=True)
class Dataset:
    """The plain facts of a data set."""

    folder: Path
    parameters: Parameters
    vehicles_per_file: int
    vehicles_per_group: int
    counts: dict[str, int] = field(default_factory=dict)
    """Vehicles, trips, moving trips, units, legs, days that were dropped."""
    map: dict[str, Any] = field(default_factory=dict)
    """Name, nodes, edges and regions of the road map."""
    version: str = __version__

    @property
    def cut(self) -> Cut:
        """How vehicles are cut into files and row groups."""
        return Cut(self.parameters.cars, self.vehicles_per_file, self.vehicles_per_group)

    def part(self, relation: str, file: int) -> Path:
        """File `file` of dataScar, dataMtrip or legs."""
        return part_path(self.folder, relation, file)

    def parts(self, relation: str) -> list[Path]:
        """All files of dataScar, dataMtrip or legs, in the order of their vehicles."""
        return [self.part(relation, file) for file in range(self.cut.files)]

    def relation(self, name: str) -> Path:
        """The file of a relation that is one file: dataMcar, Nodes, QueryPoints, QueryPoints1 and so on."""
        return self.folder / f"{name}.parquet"

    def road_map(self) -> RoadMap:
        """The map that the vehicles drive on."""
        return RoadMap.load(self.folder / "map")

    @classmethod
    def load(cls, folder: Path) -> Dataset:
        """Read a folder's facts; a folder that has none, or not all of its files, is the user's mistake."""
        path = folder / FACTS_FILE
        facts = load_facts(
            path,
            _LAYOUT,
            absent="make a data set with `causeway berlinmod generate --out`",
            without=f"has no {FACTS_FILE}, so it is no data set. "
            "Make one with `causeway berlinmod generate --out`.",
        )
        try:
            parameters = Parameters(**facts.pop("parameters"))
            # Spark's workers may have another working directory.
            dataset = cls(folder=folder.absolute(), parameters=parameters, **facts)
        except (KeyError, TypeError) as wrong:
            raise UserError(f"{path}: {wrong}") from wrong
        for file in dataset._files():
            if not file.exists():
                raise UserError(f"{file} is gone; generate the data again, into a new folder")
        return dataset

    def _files(self) -> Iterator[Path]:
        for relation in (HISTORIES, TRIPS, LEGS):
            yield from self.parts(relation)
        yield from map(self.relation, relation_names())

    def save(self) -> None:
        """Write the facts; a folder with them is complete."""
        facts = asdict(self) | {"layout": _LAYOUT}
        del facts["folder"]
        write_json(self.folder / FACTS_FILE, facts)


def part_path(folder: Path, relation: str, file: int) -> Path:
    """File `file` of a relation that is cut by vehicles."""
    return folder / relation / f"part-{file:05d}.parquet"


def relation_names() -> list[str]:
    """The relations that are one file each: those of section 5, and each query relation's parts 1 and 2."""
    queries = [f"{name}{part}" for name in QUERY_SCHEMAS for part in ("", "1", "2")]
    return ["dataMcar", "Nodes", *queries]
