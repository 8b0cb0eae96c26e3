"""Query 26: the vehicles of one group with the smallest aggregate distance to another."""

from __future__ import annotations

from math import dist

from causeway.berlinmod.judge.city import City, Ranked, nearest

__all__ = ["REFERENCE", "WHO", "static"]

REFERENCE = ("Group1", "Group2")
WHO = ("Licence",)


def static(city: City, t: float) -> dict[tuple[object, ...], Ranked]:
    """For each two groups: the vehicles of the first that are nearest to all of the second."""
    where = city.positions(t)
    groups = [group & where.keys() for group in city.groups("QueryLicences")]
    found: dict[tuple[object, ...], Ranked] = {}
    for number, group in enumerate(groups, 1):
        for other_number, other in enumerate(groups, 1):
            if not other:
                continue
            metres = (
                (city.aggregated([dist(where[v], where[m]) for m in other]), (city.licences[v],))
                for v in group
            )
            found[(number, other_number)] = nearest(metres, 1)
    return found
