"""Query 20: the ten vehicles closest to a region."""

from __future__ import annotations

from math import dist

from causeway.berlinmod.judge.city import City, Ranked, nearest

__all__ = ["REFERENCE", "WHO", "static"]

REFERENCE = ("Id",)
WHO = ("Licence",)


def static(city: City, t: float) -> dict[tuple[object, ...], Ranked]:
    """For each region of QueryRegions1: the ten vehicles that are closest."""
    where = city.positions(t)
    found: dict[tuple[object, ...], Ranked] = {}
    for row in city.rows("QueryRegions1"):
        corners = list(zip(row["Region"]["x"], row["Region"]["y"], strict=True))
        metres = ((_from_region(where[v], corners), (city.licences[v],)) for v in where)
        found[(row["Id"],)] = nearest(metres, 10)
    return found


def _from_region(place: tuple[float, float], corners: list[tuple[float, float]]) -> float:
    """0 inside; outside, metres to the nearest point of the border."""
    px, py = place
    metres, odd = float("inf"), False
    for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], corners[0]], strict=True):
        dx, dy = x1 - x0, y1 - y0
        along = ((px - x0) * dx + (py - y0) * dy) / (dx * dx + dy * dy)
        along = min(max(along, 0.0), 1.0)
        metres = min(metres, dist(place, (x0 + along * dx, y0 + along * dy)))
        if (y0 > py) != (y1 > py) and px < dx * (py - y0) / dy + x0:
            odd = not odd
    return 0.0 if odd else metres
