"""A data set in plain Python, for brute force: where each vehicle is at an instant."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow.parquet as pq

from causeway.berlinmod.dataset import HISTORIES, Dataset

__all__ = ["City", "Point", "Ranked", "nearest"]

Point = tuple[float, float]

_SAME: Final = 1e-6
"""Metres: what differs by less may be equal."""


@dataclass(frozen=True)
class Ranked:
    """Who is nearest: those who are for certain, and those who may be, if rounding is taken into account."""

    certain: set[Any]
    possible: set[Any]


def nearest(metres: Iterable[tuple[float, Any]], k: int) -> Ranked:
    """Those that fewer than k others are nearer than."""
    order = sorted(metres, key=lambda one: one[0])
    if not order:
        return Ranked(set(), set())
    limit = order[min(k, len(order)) - 1][0]
    above = order[k][0] if len(order) > k else float("inf")
    # The k-th is certain only if the next one is farther away, or equal.
    certain = {
        who for value, who in order if value < limit - _SAME or (value <= limit and above > limit + _SAME)
    }
    return Ranked(certain, {who for value, who in order if value <= limit + _SAME})


@dataclass
class City:
    """All histories, read once."""

    dataset: Dataset
    aggregate: str = "sum"
    histories: dict[int, tuple[list[int], list[float], list[float]]] = field(default_factory=dict)
    licences: dict[int, str] = field(default_factory=dict)

    @classmethod
    def load(cls, dataset: Dataset, aggregate: str = "sum") -> City:
        """Read dataScar."""
        city = cls(dataset, aggregate)
        for path in dataset.parts(HISTORIES):
            for row in pq.read_table(path, columns=["vehicle", "Licence", "Trip"]).to_pylist():
                trip = row["Trip"]
                city.histories[row["vehicle"]] = (trip["t"], trip["x"], trip["y"])
                city.licences[row["vehicle"]] = row["Licence"]
        return city

    def rows(self, relation: str) -> list[dict[str, Any]]:
        """The rows of a relation."""
        found: list[dict[str, Any]] = pq.read_table(self.dataset.relation(relation)).to_pylist()
        return found

    def positions(self, t: float) -> dict[int, Point]:
        """Where the vehicles are that are observed at an instant."""
        found = {}
        for vehicle, (times, x, y) in self.histories.items():
            if times[0] <= t < times[-1]:
                u = bisect_right(times, t) - 1
                part = (t - times[u]) / (times[u + 1] - times[u])
                found[vehicle] = (x[u] + part * (x[u + 1] - x[u]), y[u] + part * (y[u + 1] - y[u]))
        return found

    def vehicles(self, relation: str) -> set[int]:
        """The vehicles of a relation of licences."""
        return {row["vehicle"] for row in self.rows(relation)} & self.histories.keys()

    def groups(self, relation: str) -> list[set[int]]:
        """Its groups of ten consecutive licences, as sets of vehicles."""
        vehicles = [row["vehicle"] for row in sorted(self.rows(relation), key=lambda row: row["Id"])]
        return [set(vehicles[k : k + 10]) & self.histories.keys() for k in range(0, len(vehicles), 10)]

    def aggregated(self, metres: list[float]) -> float:
        """Distances to a group as one."""
        if self.aggregate == "sum":
            return sum(metres)
        return min(metres) if self.aggregate == "min" else max(metres)
