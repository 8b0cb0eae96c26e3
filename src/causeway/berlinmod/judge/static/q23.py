"""Query 23: the vehicles that have a point as their nearest node."""

from __future__ import annotations

from math import dist
from typing import Final

from causeway.berlinmod.judge.city import City, Ranked, nearest

__all__ = ["REFERENCE", "WHO", "static"]

_SAME_PLACE: Final = 0.01
"""Metres between a point and the node that it is."""
REFERENCE = ("Pos",)
WHO = ("Licence",)


def static(city: City, t: float) -> dict[tuple[object, ...], Ranked]:
    """For each point of QueryPoints1: the vehicles whose nearest node it is."""
    nodes = [(row["Pos"]["x"], row["Pos"]["y"]) for row in city.rows("Nodes")]
    points = {(row["Pos"]["x"], row["Pos"]["y"]) for row in city.rows("QueryPoints1")}
    found: dict[tuple[object, ...], Ranked] = {(point,): Ranked(set(), set()) for point in points}
    node_of = {point: node for point in points for node in nodes if dist(point, node) <= _SAME_PLACE}
    for vehicle, place in city.positions(t).items():
        one = nearest(((dist(place, node), node) for node in nodes), 1)
        for point, node in node_of.items():
            if node in one.possible:
                found[(point,)].possible.add((city.licences[vehicle],))
            if node in one.certain:
                found[(point,)].certain.add((city.licences[vehicle],))
    return found
