"""What the page with moving vehicles needs, as compact arrays: the map, and each vehicle's movement.

Places are whole numbers of 16 bits over the extent of the map, times milliseconds from the window's start.
Samples that a straight and even movement between their neighbours would give anyway are left out.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
import shapely

from causeway.berlinmod.city import RoadMap
from causeway.berlinmod.dataset import HISTORIES, Dataset, Movements, read_movements
from causeway.berlinmod.model.arrays import F64, I64
from causeway.runtime.compiled import kernel
from causeway.runtime.errors import UserError

__all__ = ["Window", "play_data", "thin"]

_TOLERANCE: Final = 4.0
"""Metres by which a drawn vehicle may be away from where it was."""
_STANDING_MS: Final = 4000
"""A standstill of at least so long is shown exactly."""
_POINTS_LIMIT: Final = 4_000_000
"""About 45 MB of page."""
_STEPS: Final = 360
"""Points of the curve of traffic."""
_GRID: Final = 65_000


@dataclass(frozen=True)
class Window:
    """Which time to show, in milliseconds since 1970."""

    begin: int
    end: int


def play_data(dataset: Dataset, window: Window, vehicles: int) -> dict[str, Any]:
    """The page's data: up to so many vehicles, evenly chosen, during the window."""
    road_map = dataset.road_map()
    grid = _Grid.over(road_map)
    numbers = _chosen(dataset.parameters.cars, vehicles)
    moves, texts = _read(dataset, window, numbers)
    moving = _traffic(moves, window)
    cars = pq.read_table(dataset.relation("dataMcar"), columns=["home", "work"])
    types = sorted(set(texts["Type"]), key=texts["Type"].count, reverse=True)
    x, y = grid.to_grid(moves.x, moves.y)
    return {
        "begin": window.begin,
        "end": window.end,
        "show": _first_rush(moving, window),
        "left": grid.left,
        "bottom": grid.bottom,
        "scale": grid.scale,
        "width": grid.width,
        "height": grid.height,
        "offsets": _packed(moves.offsets, np.uint32),
        "t": _packed(moves.t - window.begin, np.uint32),
        "x": _packed(x, np.uint16),
        "y": _packed(y, np.uint16),
        "types": types,
        "kind": _packed(np.array([types.index(one) for one in texts["Type"]]), np.uint8),
        "licences": texts["Licence"],
        "models": texts["Model"],
        "homes": grid.packed_nodes(road_map, cars.column("home").to_numpy()[numbers]),
        "works": grid.packed_nodes(road_map, cars.column("work").to_numpy()[numbers]),
        "traffic": _packed(moving, np.uint16),
        "streets": _streets(road_map, grid),
        "water": _rings([road_map.water] if road_map.water is not None else [], grid),
        "regions": _regions(road_map, grid),
    }


def _chosen(cars: int, limit: int) -> I64:
    """Numbers of vehicles, as many as asked for, from all over the data set."""
    count = min(cars, limit)
    return (np.arange(count, dtype=np.int64) * cars) // count


def _read(dataset: Dataset, window: Window, numbers: I64) -> tuple[Movements, dict[str, list[str]]]:
    texts: dict[str, list[str]] = {"Licence": [], "Type": [], "Model": []}
    counts, parts, points = [], [], 0
    cut = dataset.cut
    for file in range(cut.files):
        for group, (first, end) in enumerate(cut.group_ranges(file)):
            wanted = numbers[(numbers >= first) & (numbers < end)] - first
            if not len(wanted):
                continue
            movements, columns = read_movements(dataset.part(HISTORIES, file), group, tuple(texts))
            for row in wanted.tolist():
                one = slice(movements.offsets[row], movements.offsets[row + 1])
                kept = _in_window(movements.t[one], movements.x[one], movements.y[one], window)
                counts.append(len(kept[0]))
                parts.append(kept)
                points += counts[-1]
                for name, found in texts.items():
                    found.append(str(columns[name][row]))
            if points > _POINTS_LIMIT:
                hours = (window.end - window.begin) / 3_600_000
                raise UserError(
                    f"{len(numbers):,} vehicles for {hours:g} hours are more than a page can hold "
                    f"({_POINTS_LIMIT:,} positions); show fewer hours or fewer vehicles"
                )
    t, x, y = (np.concatenate([part[axis] for part in parts]) for axis in range(3))
    return Movements(np.concatenate(([0], np.cumsum(counts))).astype(np.int64), t, x, y), texts


def _in_window(t: I64, x: F64, y: F64, window: Window) -> tuple[I64, F64, F64]:
    """A movement from the window's start to its end, thinned; it stands where it is not observed."""
    inside = (t > window.begin) & (t < window.end)
    ends = np.array([window.begin, window.end], np.int64)
    end_x, end_y = np.interp(ends, t, x), np.interp(ends, t, y)
    times = np.concatenate((ends[:1], t[inside], ends[1:]))
    all_x = np.concatenate((end_x[:1], x[inside], end_x[1:]))
    all_y = np.concatenate((end_y[:1], y[inside], end_y[1:]))
    kept = thin(times, all_x, all_y, _TOLERANCE, _STANDING_MS)
    return times[kept], all_x[kept], all_y[kept]


@kernel
def thin(t: I64, x: F64, y: F64, tolerance: float, standing: int) -> npt.NDArray[np.bool_]:
    """Which samples are needed, so that even movement between them is never more than `tolerance` off.

    Both ends of a standstill of at least `standing` ms are needed.
    """
    count = t.size
    kept = np.zeros(count, np.bool_)
    kept[0] = kept[count - 1] = True
    for i in range(count - 1):
        if x[i] == x[i + 1] and y[i] == y[i + 1] and t[i + 1] - t[i] >= standing:
            kept[i] = kept[i + 1] = True
    anchor = 0
    candidate = 2
    while candidate < count:
        if kept[candidate - 1]:
            anchor = candidate - 1
            candidate += 1
            continue
        fits = candidate - anchor < 128
        whole = float(t[candidate] - t[anchor])
        between = anchor + 1
        while fits and between < candidate:
            share = (t[between] - t[anchor]) / whole if whole > 0 else 0.0
            dx = x[anchor] + (x[candidate] - x[anchor]) * share - x[between]
            dy = y[anchor] + (y[candidate] - y[anchor]) * share - y[between]
            fits = dx * dx + dy * dy <= tolerance * tolerance
            between += 1
        if not fits:
            kept[candidate - 1] = True
            anchor = candidate - 1
        candidate += 1
    return kept


def _traffic(moves: Movements, window: Window) -> I64:
    """How many vehicles are moving, at evenly spaced instants."""
    instants = np.linspace(window.begin, window.end - 1, _STEPS).astype(np.int64)
    moving = np.zeros(_STEPS, np.int64)
    for first, end in zip(moves.offsets[:-1].tolist(), moves.offsets[1:].tolist(), strict=True):
        unit = np.searchsorted(moves.t[first:end], instants, side="right") - 1 + first
        unit = np.minimum(unit, end - 2)
        moving += (moves.x[unit] != moves.x[unit + 1]) | (moves.y[unit] != moves.y[unit + 1])
    return moving


def _first_rush(moving: I64, window: Window) -> int:
    """Where the page begins: when traffic first comes to half of its most."""
    step = int(np.argmax(moving * 2 >= max(int(moving.max()), 1)))
    return int(step * (window.end - window.begin) / _STEPS)


@dataclass(frozen=True)
class _Grid:
    """The plane of the map in steps that fit 16 bits."""

    left: float
    bottom: float
    scale: float
    """Metres a step."""
    width: float
    height: float

    @classmethod
    def over(cls, road_map: RoadMap) -> _Grid:
        left, bottom, right, top = road_map.extent
        margin = 0.02 * max(right - left, top - bottom, 1.0)
        left, bottom, right, top = left - margin, bottom - margin, right + margin, top + margin
        scale = max(right - left, top - bottom) / _GRID
        return cls(left, bottom, scale, (right - left) / scale, (top - bottom) / scale)

    def to_grid(self, x: F64, y: F64) -> tuple[F64, F64]:
        """Places in steps; what lies outside of the map is at its edge."""
        return (
            np.clip(np.round((x - self.left) / self.scale), 0, 65_535),
            np.clip(np.round((y - self.bottom) / self.scale), 0, 65_535),
        )

    def packed_nodes(self, road_map: RoadMap, nodes: npt.NDArray[np.int32]) -> str:
        """X and y of nodes in turn."""
        x, y = self.to_grid(road_map.node_x[nodes], road_map.node_y[nodes])
        return _packed(np.stack((x, y), axis=1).ravel(), np.uint16)


def _packed(values: Any, kind: type[np.unsignedinteger[Any]]) -> str:
    """Base64 of an array, the lowest byte first."""
    data = np.ascontiguousarray(values).astype(np.dtype(kind).newbyteorder("<"))
    return base64.b64encode(data.tobytes()).decode("ascii")


def _lines(offsets: Any, x: F64, y: F64, grid: _Grid) -> dict[str, str]:
    grid_x, grid_y = grid.to_grid(x, y)
    return {
        "offsets": _packed(offsets, np.uint32),
        "x": _packed(grid_x, np.uint16),
        "y": _packed(grid_y, np.uint16),
    }


def _streets(road_map: RoadMap, grid: _Grid) -> dict[str, str]:
    """Every edge once, whichever ways it may be driven, with 0, 1 or 2 for slow to fast."""
    key = road_map.edge_from.astype(np.int64) * road_map.nodes + road_map.edge_to
    back = road_map.edge_to.astype(np.int64) * road_map.nodes + road_map.edge_from
    once = np.flatnonzero((road_map.edge_from < road_map.edge_to) | ~np.isin(back, key))
    counts = np.diff(road_map.edge_offsets)[once]
    offsets = np.concatenate(([0], np.cumsum(counts)))
    take = np.repeat(road_map.edge_offsets[once] - offsets[:-1], counts) + np.arange(offsets[-1])
    speed = np.digitize(road_map.edge_vmax[once], [30.5, 50.5])
    return _lines(offsets, road_map.edge_x[take], road_map.edge_y[take], grid) | {
        "speed": _packed(speed, np.uint8)
    }


def _rings(areas: list[Any], grid: _Grid) -> dict[str, str]:
    """The borders of areas, holes too, and the area of each ring."""
    rings, owner = [], []
    for number, area in enumerate(areas):
        for polygon in shapely.get_parts(area):
            for ring in (polygon.exterior, *polygon.interiors):
                rings.append(shapely.get_coordinates(ring))
                owner.append(number)
    offsets = np.concatenate(([0], np.cumsum([len(ring) for ring in rings]))).astype(np.int64)
    points = np.concatenate(rings) if rings else np.empty((0, 2))
    return _lines(offsets, points[:, 0], points[:, 1], grid) | {"ring": _packed(np.array(owner), np.uint8)}


def _regions(road_map: RoadMap, grid: _Grid) -> dict[str, Any]:
    """Regions as they are seen: without what belongs to one of lower priority number."""
    regions = road_map.regions
    if regions is None or len(regions.names) > 255:
        return _rings([], grid) | {"names": [], "labels": []}
    everything = shapely.box(*road_map.extent)
    names, areas = [], []
    taken = shapely.Polygon()
    for number in np.argsort(regions.priorities, kind="stable").tolist():
        polygon = regions.polygons[number]
        # A region of last resort, which covers the whole map, has no border to show.
        if not polygon.covers(everything):
            parts = shapely.get_parts(polygon.difference(taken))
            names.append(regions.names[number])
            areas.append(shapely.union_all(parts[shapely.get_dimensions(parts) == 2]).simplify(25.0))
        taken = taken.union(polygon)
    labels = []
    for area in areas:
        point = shapely.Point(0, 0) if area.is_empty else area.representative_point()
        x, y = grid.to_grid(np.array([point.x]), np.array([point.y]))
        labels.append([int(x[0]), int(y[0])])
    shown = [shapely.MultiPolygon() if area.is_empty else area for area in areas]
    return _rings(shown, grid) | {"names": names, "labels": labels}
