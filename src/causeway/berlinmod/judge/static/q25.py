"""Query 25: the points with the smallest aggregate distance to a group."""

from __future__ import annotations

from math import dist

from causeway.berlinmod.judge.city import City, Ranked, nearest

__all__ = ["REFERENCE", "WHO", "static"]

REFERENCE = ("Group",)
WHO = ("Id",)


def static(city: City, t: float) -> dict[tuple[object, ...], Ranked]:
    """For each group of ten licences: the points of QueryPoints that are nearest to all of it."""
    where = city.positions(t)
    points = [((row["Pos"]["x"], row["Pos"]["y"]), (row["Id"],)) for row in city.rows("QueryPoints")]
    found: dict[tuple[object, ...], Ranked] = {}
    for number, group in enumerate(city.groups("QueryLicences"), 1):
        there = [where[v] for v in group & where.keys()]
        if there:
            metres = ((city.aggregated([dist(one, place) for one in there]), who) for place, who in points)
            found[(number,)] = nearest(metres, 1)
    return found
