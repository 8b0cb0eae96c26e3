"""From files of others to a map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from causeway.berlinmod.city.importing import openstreetmap, secondo, shapefiles
from causeway.berlinmod.city.importing.raw_map import RawRegion, RawStreets
from causeway.berlinmod.city.importing.regions import merge_regions, refuse_empty_regions
from causeway.berlinmod.city.importing.rejects import REJECTS_FILE, Reject, write_rejects
from causeway.berlinmod.city.map_folder import save_map
from causeway.berlinmod.city.network import Dropped, build_map
from causeway.berlinmod.city.road_map import RoadMap
from causeway.runtime.errors import UserError

__all__ = ["ImportedMap", "import_map"]

_STREETS: Final[dict[str, Callable[[Path], RawStreets]]] = {
    ".data": secondo.read_streets,
    ".obj": secondo.read_streets,
    ".shp": shapefiles.read_streets,
    ".osm": openstreetmap.read_streets,
    ".osm.gz": openstreetmap.read_streets,
    ".osm.bz2": openstreetmap.read_streets,
    ".pbf": openstreetmap.read_streets,
}
_REGIONS: Final[dict[str, Callable[[Path], list[RawRegion]]]] = {
    ".data": secondo.read_regions,
    ".obj": secondo.read_regions,
    ".shp": shapefiles.read_regions,
}


@dataclass(frozen=True)
class ImportedMap:
    """A map, and what of the source is not in it."""

    road_map: RoadMap
    dropped: Dropped
    rejects: list[Reject]

    def save(self, folder: Path | str) -> None:
        """Write the map to `folder`, with `rejects.csv` beside it if a street was rejected."""

        def add_rejects(written: Path) -> None:
            if self.rejects:
                write_rejects(written / REJECTS_FILE, self.rejects)

        save_map(self.road_map, Path(folder), add_rejects)


def import_map(
    source: Path | str,
    *,
    home_regions: Path | str | None = None,
    work_regions: Path | str | None = None,
    name: str | None = None,
) -> ImportedMap:
    """Read a map of others.

    `source` is a file of streets: `.data` or `.obj` (SECONDO nested list), `.shp`, `.osm`, `.osm.gz`,
    `.osm.bz2`, `.osm.pbf`; or a folder with `streets.data`, `.obj` or `.shp`, and, if the map has regions,
    `homeRegions` and `workRegions` of the same kinds.
    """
    source = Path(source)
    if not source.exists():
        raise UserError(f"{source}: no such file or folder")
    streets_file = source
    if source.is_dir():
        streets_file = _file_in(source, "streets", _STREETS)
        home_regions = home_regions or _optional_file_in(source, "homeRegions")
        work_regions = work_regions or _optional_file_in(source, "workRegions")
    raw = _reader(streets_file, _STREETS, "streets")(streets_file)
    if not len(raw.streets.names):
        why = f"; the first that was rejected: {raw.rejects[0]}" if raw.rejects else ""
        raise UserError(f"{streets_file} has no street{why}")
    road_map, dropped = build_map(
        name or source.name.partition(".")[0] or "map",
        raw.streets,
        one_way=raw.one_way,
        crossings=raw.crossings,
        regions=_regions(home_regions, work_regions, raw),
    )
    facts: dict[str, Any] = {"source": str(source)}
    if raw.rejects:
        facts["rejected_streets"] = len(raw.rejects)
    if dropped.components:
        facts["dropped"] = {
            "components": dropped.components,
            "nodes": dropped.nodes,
            "edges": dropped.edges,
            "kilometres": round(dropped.kilometres, 1),
        }
    crs = raw.crs.to_json_dict() if raw.crs is not None else None
    road_map = replace(road_map, crs=crs, origin=facts)
    refuse_empty_regions(road_map)
    return ImportedMap(road_map, dropped, raw.rejects)


def _regions(home: Path | str | None, work: Path | str | None, raw: RawStreets) -> Any:
    if home is None and work is None:
        return None
    if home is None or work is None:
        raise UserError("home and work regions go together: give both, or none")
    read = [_reader(Path(path), _REGIONS, "regions")(Path(path)) for path in (home, work)]
    return merge_regions(read[0], read[1], raw.crs)


def _reader(path: Path, readers: dict[str, Any], what: str) -> Any:
    name = path.name.lower()
    for suffix in sorted(readers, key=len, reverse=True):
        if name.endswith(suffix):
            return readers[suffix]
    raise UserError(
        f"{path}: {what} are read from files that end in {', '.join(readers)}, or from a folder of such"
    )


def _file_in(folder: Path, stem: str, readers: dict[str, Any]) -> Path:
    found = [path for suffix in readers if (path := folder / f"{stem}{suffix}").is_file()]
    if not found:
        found = sorted(path for path in folder.iterdir() if path.name.lower().endswith((".osm", ".osm.pbf")))
    if not found:
        raise UserError(
            f"{folder} is neither a map nor a folder with {stem}.data, {stem}.shp or an .osm.pbf file"
        )
    if len(found) > 1:
        raise UserError(f"{folder} has {found[0].name} and {found[1].name}; name the one to read")
    return found[0]


def _optional_file_in(folder: Path, stem: str) -> Path | None:
    return next((path for suffix in _REGIONS if (path := folder / f"{stem}{suffix}").is_file()), None)
