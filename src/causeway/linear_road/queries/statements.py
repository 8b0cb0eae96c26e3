"""Random one-time queries: position reports of a past time range and of a range of vehicles (§VII-A).

A query asks for about as many rows as its selectivity says. Its time range is half a minute, in which every
vehicle on the road reports once; or longer, so that the answer is a quarter of the reports at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from causeway.linear_road.queries.workload_truth import TrafficSample
from causeway.runtime.errors import UserError

__all__ = ["ROWS", "SELECTIVITIES", "HistoryQuery", "QueryMaker", "Selectivity"]

Selectivity = Literal["high", "medium", "low"]
SELECTIVITIES: Final[tuple[Selectivity, ...]] = ("high", "medium", "low")
ROWS: Final[dict[str, int]] = {"high": 10_000, "medium": 30_000, "low": 70_000}
"""The rows of an answer, about: "from 10000 to over 60000"."""

_SPAN: Final = 30
_LARGEST_SHARE: Final = 0.25


@dataclass(frozen=True)
class HistoryQuery:
    """Reports of `vehicles` in `seconds`, both ends included."""

    selectivity: Selectivity
    seconds: tuple[int, int]
    vehicles: tuple[int, int]

    def sql(self, table: str, *, index: bool = True) -> str:
        """The statement. Without `index` its conditions are on expressions, which no index can answer."""
        time, vehicle = ("T", "VID") if index else ("T + 0", "VID + 0")
        return (
            f"SELECT * FROM {table} WHERE {time} BETWEEN {self.seconds[0]} AND {self.seconds[1]} "
            f"AND {vehicle} BETWEEN {self.vehicles[0]} AND {self.vehicles[1]}"
        )


class QueryMaker:
    """Draws queries over the traffic that `samples` describe."""

    def __init__(self, samples: Sequence[TrafficSample], seed: int) -> None:
        self._samples = [sample for sample in samples if sample.reports]
        if not self._samples:
            raise UserError("the workload has no position reports to ask for")
        self._random = np.random.default_rng(seed)
        self._minutes = np.array([sample.minute for sample in self._samples], float)
        self._rates = np.array([sample.reports / 60 for sample in self._samples])

    def pause(self, rate: float) -> float:
        """Seconds until the next of `rate` queries a minute, which come at random."""
        return float(self._random.exponential(60 / rate))

    def selectivity(self, among: Sequence[Selectivity]) -> Selectivity:
        """One of them."""
        return among[int(self._random.integers(len(among)))]

    def query(self, selectivity: Selectivity, newest: int) -> HistoryQuery:
        """A query over the past of second `newest`."""
        wanted = ROWS[selectivity]
        first = int(self._random.integers(0, max(1, newest - _SPAN + 1)))
        last = min(first + _SPAN - 1, newest)
        while self._expected(first, last) * _LARGEST_SHARE < wanted and (first > 0 or last < newest):
            # The past of an early time is short of traffic: the time range grows on both sides.
            last = min(last + _SPAN, newest)
            if last == newest:
                first = max(first - _SPAN, 0)
        share = min(1.0, wanted / max(self._expected(first, last), 1.0))
        vehicles = self._vehicles((first + last) / 120)
        begin = float(self._random.uniform(0, 1 - share))
        low = vehicles[int(begin * (len(vehicles) - 1))]
        high = vehicles[min(len(vehicles) - 1, int(np.ceil((begin + share) * (len(vehicles) - 1))))]
        return HistoryQuery(selectivity, (first, last), (int(low), int(high)))

    def _expected(self, first: int, last: int) -> float:
        """About how many reports the seconds have."""
        middle = np.interp([first / 60, (first + last) / 120, last / 60], self._minutes, self._rates)
        return float(middle.mean() * (last - first + 1))

    def _vehicles(self, minute: float) -> np.ndarray:
        nearest = int(np.abs(self._minutes - minute).argmin())
        return self._samples[nearest].vehicles
