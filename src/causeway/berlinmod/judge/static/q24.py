"""Query 24: the vehicles that have a vehicle as their nearest one."""

from __future__ import annotations

from math import dist

from causeway.berlinmod.judge.city import City, Ranked, nearest

__all__ = ["REFERENCE", "WHO", "static"]

REFERENCE = ("Licence",)
WHO = ("Neighbour",)


def static(city: City, t: float) -> dict[tuple[object, ...], Ranked]:
    """For each vehicle of QueryLicences1: those whose nearest other vehicle it is."""
    where = city.positions(t)
    wanted = city.vehicles("QueryLicences1")
    found: dict[tuple[object, ...], Ranked] = {(city.licences[v],): Ranked(set(), set()) for v in wanted}
    for one in where:
        others = nearest(((dist(where[one], where[v]), v) for v in where if v != one), 1)
        for vehicle in wanted & others.possible:
            found[(city.licences[vehicle],)].possible.add((city.licences[one],))
            if vehicle in others.certain:
                found[(city.licences[vehicle],)].certain.add((city.licences[one],))
    return found
