"""Query 23: the vehicles that have a point as their nearest node."""

from __future__ import annotations

from math import dist

from causeway.berlinmod.judge.city import City, Ranked, nearest

__all__ = ["REFERENCE", "WHO", "static"]

REFERENCE = ("Pos",)
WHO = ("Licence",)


def static(city: City, t: float) -> dict[tuple[object, ...], Ranked]:
    """For each point of QueryPoints1: the vehicles whose nearest node it is."""
    nodes = [(row["Pos"]["x"], row["Pos"]["y"]) for row in city.rows("Nodes")]
    points = {(row["Pos"]["x"], row["Pos"]["y"]) for row in city.rows("QueryPoints1")}
    found: dict[tuple[object, ...], Ranked] = {(point,): Ranked(set(), set()) for point in points}
    for vehicle, place in city.positions(t).items():
        one = nearest(((dist(place, node), node) for node in nodes), 1)
        for point in points & one.possible:
            found[(point,)].possible.add((city.licences[vehicle],))
            if point in one.certain:
                found[(point,)].certain.add((city.licences[vehicle],))
    return found
