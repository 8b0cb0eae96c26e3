"""Home and work regions of two files become the regions of a map."""

from __future__ import annotations

import numpy as np
import pyproj

from causeway.berlinmod.city.importing.raw_map import RawRegion, project
from causeway.berlinmod.city.road_map import Regions, RoadMap
from causeway.berlinmod.city.table_9 import TABLE_9
from causeway.runtime.errors import UserError

__all__ = ["merge_regions", "refuse_empty_regions"]


def merge_regions(home: list[RawRegion], work: list[RawRegion], crs: pyproj.CRS | None) -> Regions:
    """Regions with both weights where a home and a work region are the same area, else with one of the two.

    Regions in another coordinate system than the streets' are moved to it.
    """
    home, work = [_in_plane(one, crs) for one in home], [_in_plane(one, crs) for one in work]
    names, priorities, polygons = [], [], []
    weights: list[tuple[float, float]] = []
    left = list(work)
    for one in home:
        same = next((o for o in left if o.priority == one.priority and o.polygon.equals(one.polygon)), None)
        if same is not None:
            left.remove(same)
        weights.append((one.weight, same.weight if same is not None else np.nan))
        names.append(_name(one, same))
        priorities.append(one.priority)
        polygons.append(one.polygon)
    for one in left:
        weights.append((np.nan, one.weight))
        names.append(one.name)
        priorities.append(one.priority)
        polygons.append(one.polygon)
    both = np.array(weights, np.float64)
    for column, what in enumerate(("home", "work")):
        if not np.nansum(both[:, column]) > 0:
            raise UserError(f"no {what} region has a weight above 0; at least one needs it")
    return Regions(
        tuple(names),
        np.array(priorities, np.int32),
        np.ascontiguousarray(both[:, 0]),
        np.ascontiguousarray(both[:, 1]),
        np.array(polygons, dtype=np.object_),
    )


def _in_plane(region: RawRegion, crs: pyproj.CRS | None) -> RawRegion:
    if region.crs is None or crs is None or region.crs == crs:
        return region
    moved = project(np.array([region.polygon], dtype=np.object_), region.crs, crs)
    return RawRegion(region.name, region.priority, region.weight, moved[0], crs)


def _name(home: RawRegion, work: RawRegion | None) -> str:
    """The region's own name; the paper's files have none, but Table 9 has their districts."""
    weights: tuple[int, float, float] = (home.priority, home.weight, work.weight if work else -1.0)
    known = {(one.priority, float(one.population), float(one.jobs)): one.name for one in TABLE_9}
    return known.get(weights, home.name) if home.name == f"Region {home.priority}" else home.name


def refuse_empty_regions(road_map: RoadMap) -> None:
    """Raise a UserError if a region has a weight but no node: nobody could live or work there."""
    regions = road_map.regions
    if regions is None:
        return
    for what, numbers, weights in zip(
        ("home", "work"), road_map.region_of_nodes(), (regions.home_weight, regions.work_weight), strict=True
    ):
        nodes = np.bincount(numbers[numbers >= 0], minlength=len(weights))
        for region in np.flatnonzero((nodes == 0) & (weights > 0)):
            raise UserError(
                f"{what} region {regions.names[region]} (priority {regions.priorities[region]}) has "
                f"weight {weights[region]:g}, but no node of the map is in it; give it weight 0 or remove it"
            )
