"""Water, and the arterial roads: radial roads, rings, and main roads between them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import shapely
from shapely.ops import substring

from causeway.berlinmod.city.drawing.districts import Points, Waves

__all__ = ["Arterial", "draw_arterials", "draw_water", "with_dry_ends"]

_OVAL = np.array([1.14, 0.9])
"""The city is wider than high, and so are its rings."""


@dataclass(frozen=True)
class Arterial:
    """A road that goes through several quarters."""

    name: str
    vmax: int
    line: shapely.LineString


def draw_water(chance: np.random.Generator) -> shapely.Geometry:
    """A river from the lakes in the south-east through the centre, and a wide one in the west."""
    bends = Waves(chance, 700, 4200)
    small = [(24.0, -13.5), (17.0, -10.0), (11.5, -6.5), (6.5, -3.4), (3.0, -0.9), (0.4, 0.5), (-3.2, 0.3)]
    small += [(-6.0, 2.6), (-9.5, 2.4), (-13.0, 3.4)]
    wide = [(-11.0, 17.0), (-11.8, 10.0), (-13.0, 3.4), (-14.3, -2.5), (-14.6, -8.0), (-18.0, -12.5)]
    wide += [(-20.5, -17.0)]
    river = shapely.LineString(bends.bend(_smooth(np.array(small) * 1000)))
    stream = shapely.LineString(bends.bend(_smooth(np.array(wide) * 1000)))
    parts = [river.buffer(70.0), stream.buffer(130.0)]
    for x, y, size, oblong in [(14.6, -8.6, 1300, 1.4), (-14.5, -6.0, 950, 0.7), (-11.9, 8.6, 700, 0.7)]:
        shore = np.linspace(0, 2 * np.pi, 60, endpoint=False)
        reach = size * (1 + 0.22 * np.sin(2 * shore + chance.uniform(0, 6)))
        lake = np.stack((np.cos(shore) * reach * oblong, np.sin(shore) * reach / oblong), axis=1)
        # A shore that the bends fold over itself is mended.
        parts.append(shapely.Polygon(bends.bend(lake + np.array([x, y]) * 1000)).buffer(0))
    return shapely.set_precision(shapely.union_all(parts).simplify(8.0), 1.0)


def draw_arterials(chance: np.random.Generator, boundary: shapely.Polygon) -> list[Arterial]:
    """All arterial roads; those with 70 km/h are the radial ones, a ring, and most of an outer one."""
    bends = Waves(chance, 520, 5200)
    turn = chance.uniform(0, 2 * np.pi / 9)
    angles = turn + np.arange(9) * 2 * np.pi / 9 + chance.normal(0, 0.06, 9)
    roads = [
        Arterial("City Ring", 70, _ring(bends, 4300)),
        Arterial("Old Wall", 50, _ring(bends, 1350)),
        Arterial("Middle Ring", 50, _ring(bends, 7600)),
    ]
    start = chance.uniform(0, 2 * np.pi)
    roads.append(Arterial("Outer Ring", 70, _ring(bends, 11_400, start, start + 1.25 * np.pi)))
    roads.append(Arterial("Outer Belt", 50, _ring(bends, 11_400, start + 1.25 * np.pi, start + 2 * np.pi)))
    names = ["Harbour", "Northern", "Abbey", "Western", "Forest", "Southern", "Airport", "Mill", "Eastern"]
    for angle, name in zip(angles, names, strict=True):
        beyond = chance.uniform(600, 2400)
        line = _radial(bends, angle, 1350, _reach(boundary, angle) + beyond)
        roads.append(Arterial(f"{name} Highway", 70, line))
    between = np.diff(np.append(angles, angles[0] + 2 * np.pi))
    for angle, gap, name in zip(angles, between, names, strict=True):
        middle = angle + gap * chance.uniform(0.4, 0.6)
        end = _reach(boundary, middle) * chance.uniform(0.86, 0.97)
        roads.append(Arterial(f"{name} Avenue", 50, _radial(bends, middle, 4300 if gap < 0.6 else 1350, end)))
    for name, angle in (("High Street", turn + 0.3), ("Market Street", turn + 0.3 + np.pi / 2)):
        across = np.linspace(-1350, 1350, 40)[:, None] * np.array([np.cos(angle), np.sin(angle)]) * _OVAL
        roads.append(Arterial(name, 50, shapely.LineString(bends.bend(across))))
    return roads


def with_dry_ends(roads: list[Arterial], water: shapely.Geometry) -> list[Arterial]:
    """The roads, none of which ends in the water."""
    wet = water.buffer(80.0)
    dry = []
    for road in roads:
        line = road.line
        if not line.is_closed and wet.intersects(shapely.Point(line.coords[-1])):
            last = shapely.get_parts(line.difference(wet))[-1]
            line = substring(line, 0.0, line.project(shapely.Point(last.coords[-1])))
        dry.append(replace(road, line=line))
    return dry


def _reach(boundary: shapely.Polygon, angle: float) -> float:
    """How far the city reaches in a direction, in radii of the oval."""
    ray = shapely.LineString([(0, 0), np.array([np.cos(angle), np.sin(angle)]) * _OVAL * 40_000])
    return float(
        ray.intersection(boundary).length / np.hypot(*(np.array([np.cos(angle), np.sin(angle)]) * _OVAL))
    )


def _ring(bends: Waves, radius: float, start: float = 0.0, end: float = 2 * np.pi) -> shapely.LineString:
    angle = np.linspace(start, end, max(int((end - start) * radius / 120), 24))
    ring = bends.bend(np.stack((np.cos(angle), np.sin(angle)), axis=1) * radius * _OVAL)
    if end - start >= 2 * np.pi - 1e-9:
        ring[-1] = ring[0]
    return shapely.LineString(ring)


def _radial(bends: Waves, angle: float, start: float, end: float) -> shapely.LineString:
    radius = np.arange(start, end + 60, 120.0)
    # The first and last step meet the rings exactly.
    radius[0], radius[-1] = start - 1.0, end
    bent = angle + 0.1 * np.sin(radius / 5200 + angle * 3)
    line = np.stack((np.cos(bent) * radius, np.sin(bent) * radius), axis=1) * _OVAL
    return shapely.LineString(bends.bend(line))


def _smooth(corners: Points) -> Points:
    """A Catmull-Rom curve through the corners, a point every 100 metres or so."""
    padded = np.concatenate(([2 * corners[0] - corners[1]], corners, [2 * corners[-1] - corners[-2]]))
    pieces = []
    for before, start, end, after in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        t = np.linspace(0, 1, max(int(np.hypot(*(end - start)) / 100), 4), endpoint=False)[:, None]
        pieces.append(
            0.5
            * (
                2 * start
                + (end - before) * t
                + (2 * before - 5 * start + 4 * end - after) * t**2
                + (3 * start - before - 3 * end + after) * t**3
            )
        )
    return np.concatenate([*pieces, corners[-1:]])
