"""Times that others published, in seconds, for all instances of a query (or for all of R)."""

from __future__ import annotations

from typing import Final

__all__ = ["BEST", "PUBLISHED_TOTALS", "TABLE_12", "best_published", "table_12"]

_TABLE_12_TEXT: Final = """
1 0.406 0.335 0.476 0.451 0.460 0.407 0.362 0.341
2 0.099 0.055 0.050 0.140 0.113 0.099 0.028 0.021
3 2.290 0.616 6.303 0.993 12.080 1.092 7.407 0.963
4 76.664 49.516 625.431 273.426 6232.560 966.393 640.642 284.292
5 16.737 20.059 45.535 34.710 121.885 61.015 38.160 26.666
6 71.396 189.435 333.341 1942.071 7032.000 53910.502 193.308 430.185
7 92.666 35.654 2325.340 241.182 23324.700 135.724 564.038 194.097
8 1.209 1.214 5.854 3.521 13.989 4.308 2.110 1.403
9 392.336 784.329 1102.580 3241.180 4791.730 21730.800 1078.710 2020.960
10 681.937 221.276 3170.480 1189.130 23951.800 16410.200 3011.840 627.194
11 0.956 0.580 1.862 0.849 11.602 1.411 0.820 0.669
12 2.188 0.553 144.466 0.510 964.456 0.625 97.807 0.564
13 50.376 45.189 426.079 128.682 2015.680 261.572 139.375 90.711
14 2.129 2.020 6.444 3.083 138.305 13.075 4.909 2.873
15 3.662 4.530 121.011 30.562 322.635 36.343 51.973 40.674
16 144.565 58.967 102.139 49.206 132.165 74.842 118.154 51.944
17 5.129 27.393 467.125 242.219 5374.080 1097.145 69.109 194.322
"""
_COLUMNS: Final = [
    (mode, scale, representation)
    for mode, scale in (("network", 0.05), ("network", 0.2), ("network", 1.0), ("region", 0.2))
    for representation in ("oba", "tba")
]

TABLE_12: Final = {
    (f"q{numbers[0]}", *column): float(numbers[1 + place])
    for numbers in (line.split() for line in _TABLE_12_TEXT.strip().splitlines())
    for place, column in enumerate(_COLUMNS)
}
"""Table 12, SECONDO in 2009, by query, mode, scale and representation."""

BEST: Final = {"q4": 25.0, "q6": 24.0, "q7": 45.0, "q9": 2175.0, "q10": 708.0, "q13": 77.0, "q17": 34.0}
"""SECONDO, the best of seven layouts for each query, at scale 1.0."""

PUBLISHED_TOTALS: Final = {
    0.005: {"MobilityDB, 8 cores": 173.0, "MobilityDuck, 8 cores": 125.0},
    0.05: {
        "SECONDO 2009, OBA": 1545.0,
        "SECONDO 2009, TBA": 1442.0,
        "SECONDO, best of seven layouts": 245.0,
        "SECONDO 3.0, OBA": 105.0,
        "SECONDO 3.0, TBA": 122.0,
    },
    0.2: {"SECONDO 2009, OBA": 8885.0, "SECONDO 2009, TBA": 7382.0, "MobilityDuck, 8 cores": 4115.0},
    1.0: {
        "SECONDO 2009, OBA": 74440.0,
        "SECONDO 2009, TBA": 94706.0,
        "SECONDO, best of seven layouts": 3133.0,
        "SECONDO 3.0, OBA": 2943.0,
        "SECONDO 3.0, TBA": 2296.0,
    },
}
"""All of R, by scale."""


def table_12(query: str, mode: str, scale: float | None, representation: str) -> float | None:
    """What Table 12 has for a query; of a scale that it has for the network-based mode only, that."""
    if scale is None:
        return None
    for one in (mode, "network"):
        if (found := TABLE_12.get((query, one, scale, representation))) is not None:
            return found
    return None


def best_published(query: str, scale: float | None) -> float | None:
    """The best published time of a query: of seven layouts at 1.0, else the better one of Table 12."""
    if scale is None:
        return None
    if scale == 1.0 and query in BEST:
        return BEST[query]
    both = [TABLE_12.get((query, "network", scale, one)) for one in ("oba", "tba")]
    return min((one for one in both if one is not None), default=None)
