"""Query 22: the points whose nearest vehicle a vehicle is."""

from __future__ import annotations

from math import dist

from causeway.berlinmod.judge.city import City, Ranked, nearest

__all__ = ["REFERENCE", "WHO", "static"]

REFERENCE = ("Id",)
WHO = ("Licence",)


def static(city: City, t: float) -> dict[tuple[object, ...], Ranked]:
    """For each point of QueryPoints: its nearest vehicles, as far as they are of QueryLicences."""
    where = city.positions(t)
    wanted = {(city.licences[vehicle],) for vehicle in city.vehicles("QueryLicences")}
    found: dict[tuple[object, ...], Ranked] = {}
    for row in city.rows("QueryPoints"):
        place = (row["Pos"]["x"], row["Pos"]["y"])
        one = nearest(((dist(where[v], place), (city.licences[v],)) for v in where), 1)
        found[(row["Id"],)] = Ranked(one.certain & wanted, one.possible & wanted)
    return found
