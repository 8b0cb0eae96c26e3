"""Opens the map that a command is given."""

from __future__ import annotations

from pathlib import Path

from causeway.berlinmod.city.drawing import draw_city
from causeway.berlinmod.city.importing import import_map
from causeway.berlinmod.city.map_folder import MAP_FILE, load_map
from causeway.berlinmod.city.road_map import RoadMap
from causeway.runtime.errors import UserError

__all__ = ["open_map"]


def open_map(source: Path | str | None = None, seed: int = 1) -> RoadMap:
    """The map in `source`: a map folder, or files of others as `import_map` takes them.

    Without a source it is our own city, drawn with `seed`.
    """
    if source is None:
        return draw_city(seed)
    source = Path(source)
    if not source.exists():
        raise UserError(f"{source}: no such map; make one with `causeway berlinmod map`")
    if (source / MAP_FILE).is_file():
        return load_map(source)
    return import_map(source).road_map
