"""Query 19: the three points closest to a vehicle."""

from __future__ import annotations

from math import dist

from causeway.berlinmod.judge.city import City, Ranked, nearest

__all__ = ["REFERENCE", "WHO", "static"]

REFERENCE = ("Licence",)
WHO = ("Id",)


def static(city: City, t: float) -> dict[tuple[object, ...], Ranked]:
    """For each vehicle of QueryLicences1: the three points of QueryPoints that are closest."""
    where = city.positions(t)
    points = [((row["Pos"]["x"], row["Pos"]["y"]), (row["Id"],)) for row in city.rows("QueryPoints")]
    return {
        (city.licences[one],): nearest(((dist(where[one], place), who) for place, who in points), 3)
        for one in city.vehicles("QueryLicences1") & where.keys()
    }
