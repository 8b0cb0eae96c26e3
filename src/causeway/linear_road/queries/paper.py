"""Tables III to VI of the Streaming Tables paper (Carafoli et al., 2017): four cores of 2009, seconds."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["PROFILE", "QUERY_TIMES", "RESPONSES", "STATE_OF_THE_ART", "Profile", "Response", "Times"]


class Response(NamedTuple):
    """A line of Table III."""

    least: float
    worst: float
    mean: float
    late_share: float
    late: int


class Profile(NamedTuple):
    """A line of Table IV."""

    least: float
    largest: float
    mean: float


class Times(NamedTuple):
    """A cell of Table V."""

    least: float
    worst: float
    mean: float


RESPONSES: Final[dict[str, dict[int, Response]]] = {
    "L1+": {
        0: Response(0, 3.802, 0.635, 0, 0),
        1: Response(0, 3.519, 0.619, 0, 0),
        2: Response(0.013, 3.786, 0.635, 0, 0),
        3: Response(0.003, 3.697, 0.666, 0, 0),
    },
    "L2+": {
        0: Response(0, 6.64, 0.752, 0.00250, 22_095),
        1: Response(0.006, 6.506, 0.737, 0.00310, 978),
        2: Response(0.005, 6.527, 0.76, 0.00311, 376),
        3: Response(0.027, 6.575, 0.803, 0, 0),
    },
}
"""Table III, by load and type of answer. It has no travel times."""

PROFILE: Final[dict[str, dict[str, Profile]]] = {
    "L1+": {"memory": Profile(110.55, 1768.15, 1015.84), "cpu": Profile(0, 67.60, 21.78)},
    "L2+": {"memory": Profile(110.81, 2187.96, 1502.30), "cpu": Profile(0, 94.54, 40.47)},
}
"""Table IV: megabytes, and percent of four cores."""

QUERY_TIMES: Final[dict[str, dict[int, dict[str, Times]]]] = {
    "L1++": {
        20: {
            "high": Times(0.035, 0.112, 0.056),
            "medium": Times(0.108, 0.266, 0.132),
            "low": Times(0.219, 0.672, 0.268),
        },
        100: {
            "high": Times(0.041, 0.082, 0.053),
            "medium": Times(0.125, 0.160, 0.133),
            "low": Times(0.254, 0.358, 0.283),
        },
        200: {
            "high": Times(0.040, 0.118, 0.056),
            "medium": Times(0.124, 0.281, 0.173),
            "low": Times(0.258, 0.472, 0.322),
        },
    },
    "L2++": {
        20: {
            "high": Times(0.038, 0.566, 0.060),
            "medium": Times(0.117, 0.376, 0.154),
            "low": Times(0.248, 0.832, 0.287),
        },
        100: {
            "high": Times(0.035, 0.551, 0.056),
            "medium": Times(0.126, 0.753, 0.149),
            "low": Times(0.226, 1.042, 0.302),
        },
        200: {
            "high": Times(0.037, 0.471, 0.060),
            "medium": Times(0.132, 0.967, 0.185),
            "low": Times(0.262, 1.373, 0.338),
        },
    },
    "L1++, no index": {
        20: {
            "high": Times(3.755, 6.051, 4.439),
            "medium": Times(3.821, 5.502, 4.491),
            "low": Times(3.571, 7.823, 4.641),
        },
    },
}
"""Table V, by load, queries a minute and selectivity."""

STATE_OF_THE_ART: Final[dict[str, tuple[tuple[float, ...], Times]]] = {
    "streaming tables (paper)": ((0, 0, 0), Times(0.093, 0.156, 0.105)),
    "PostgreSQL 9.0 (paper)": ((2, 4, 41), Times(0.124, 0.156, 0.129)),
    "Cassandra 1.1.1 (paper)": ((0, 0, 0), Times(0.084, 0.153, 0.108)),
}
"""Table VI: delays of just-arrived rows at minutes 60, 90 and 120, and times for older rows."""
