"""Query 21: the ten vehicles closest to a vehicle, over time."""

from __future__ import annotations

from math import dist

from causeway.berlinmod.judge.city import City, Ranked, nearest

__all__ = ["REFERENCE", "WHO", "static"]

REFERENCE = ("Licence",)
WHO = ("Neighbour",)


def static(city: City, t: float) -> dict[tuple[object, ...], Ranked]:
    """For each vehicle of QueryLicences1: the ten others that are closest."""
    where = city.positions(t)
    found: dict[tuple[object, ...], Ranked] = {}
    for one in city.vehicles("QueryLicences1") & where.keys():
        others = ((dist(where[one], where[v]), (city.licences[v],)) for v in where if v != one)
        found[(city.licences[one],)] = nearest(others, 10)
    return found
