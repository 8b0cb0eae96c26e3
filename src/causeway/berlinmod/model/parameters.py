"""The parameters of the generator (Table 8), by readable names."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, get_args

from causeway.berlinmod.model.calendar import DAY_MS, day_start
from causeway.runtime.errors import UserError

__all__ = ["CAR_LIMIT", "DAY_LIMIT", "Distance", "Mode", "Parameters", "make_parameters"]

Mode = Literal["network", "region"]
Distance = Literal["fastest", "shortest"]

_CARS: Final = 2000
_DAYS: Final = 28
"""At scale 1 (section 5)."""
CAR_LIMIT: Final = 6_000_000
"""So many licences there are."""
DAY_LIMIT: Final = 3650
"""A history is held in memory: so many days of one vehicle are 120 MB."""
_FARTHEST_DAY: Final = 1_000_000


@dataclass(frozen=True)
class Parameters:
    """What determines a data set, beside its map; the defaults are the paper's."""

    cars: int
    """P_NUMCARS: number of vehicles."""
    days: int
    """P_NUMDAYS: number of days."""
    scale: float | None = 1.0
    """SCALEFACTOR, from which the numbers of vehicles and days follow where they are not given."""
    sample_size: int = 100
    """P_SAMPLESIZE: rows of each query relation."""
    mode: Mode = "network"
    """P_TRIP_MODE: homes and work places evenly over the nodes, or by regions and their weights."""
    distance: Distance = "fastest"
    """P_TRIP_DISTANCE: vehicles take the fastest way, or the shortest."""
    disturb: bool = False
    """P_DISTURB_DATA: positions have errors, as those of a GPS device."""
    gps_total_error: float = 100.0
    """P_GPS_TOTALMAXERR: largest error of a position along each axis, in metres."""
    gps_step_error: float = 1.0
    """P_GPS_STEPMAXERR: largest change of the error from sample to sample, in metres."""
    start_day: int = 2702
    """P_STARTDAY: first day of observation, counted from Monday 2000-01-03."""
    neighbourhood_radius: float = 3000.0
    """P_NEIGHBOURHOOD_RADIUS: metres around a home in which most destinations are."""
    gps_interval_ms: int = 2000
    """P_GPSINTERVAL_MS: longest time between two samples of a moving vehicle."""
    min_pause_ms: int = 300_000
    """P_MINPAUSE_MS: standing for so long ends a trip."""
    min_velocity: float = 0.041667
    """P_MINVELOCITY: a vehicle that is slower (metres an hour) stands."""
    seed: int = 1
    """Determines the query relations, and the two seeds below where they are not given."""
    home_seed: int = 1
    """P_HOMERANDSEED: determines homes, work places, licences, types and models."""
    trip_seed: int = 1
    """P_TRIPRANDSEED: determines the trips, and the errors of disturbed positions."""

    @property
    def begin_ms(self) -> int:
        """First moment of the observation, in milliseconds since 1970."""
        return day_start(self.start_day)

    @property
    def end_ms(self) -> int:
        """First moment after the observation."""
        return day_start(self.start_day + self.days)

    @property
    def first_ms(self) -> int:
        """First moment of every history: a day before the observation."""
        return self.begin_ms - DAY_MS

    @property
    def last_ms(self) -> int:
        """Last moment of every history: a day after the observation."""
        return self.end_ms + DAY_MS

    def facts(self) -> dict[str, Any]:
        """All parameters, for `berlinmod.json`."""
        return asdict(self)


def make_parameters(
    *,
    scale: float = 1.0,
    scale_cars: float | None = None,
    scale_days: float | None = None,
    cars: int | None = None,
    days: int | None = None,
    seed: int = 1,
    home_seed: int | None = None,
    trip_seed: int | None = None,
    **others: Any,
) -> Parameters:
    """Parameters by the rules of Table 8: a wrong one is the user's mistake.

    `scale_cars` (SCALEFCARS) and `scale_days` (SCALEFDAYS) are the square root of `scale` unless they are
    given; `cars` and `days` are 2000 and 28 times those.
    """
    for name, value in (("scale", scale), ("scale_cars", scale_cars), ("scale_days", scale_days)):
        if value is not None and not (0 < value < math.inf):
            raise UserError(f"{_words(name)} is a number above 0; got {value:g}")
    if cars is None:
        cars = _rounded(_CARS * (math.sqrt(scale) if scale_cars is None else scale_cars))
    if days is None:
        days = _rounded(_DAYS * (math.sqrt(scale) if scale_days is None else scale_days))
    parameters = Parameters(
        cars=cars,
        days=days,
        scale=scale,
        seed=seed,
        home_seed=seed if home_seed is None else home_seed,
        trip_seed=seed if trip_seed is None else trip_seed,
        **others,
    )
    _check(parameters)
    return parameters


def _check(parameters: Parameters) -> None:
    _between("cars", parameters.cars, 1, CAR_LIMIT)
    _between("days", parameters.days, 1, DAY_LIMIT)
    _between("sample_size", parameters.sample_size, 1, 10_000_000)
    _between("start_day", parameters.start_day, -_FARTHEST_DAY, _FARTHEST_DAY)
    _between("gps_interval_ms", parameters.gps_interval_ms, 1, DAY_MS)
    _between("min_pause_ms", parameters.min_pause_ms, 1, 365 * DAY_MS)
    for name in ("seed", "home_seed", "trip_seed"):
        _between(name, getattr(parameters, name), 0, 2**63 - 1)
    for name in ("gps_total_error", "gps_step_error", "min_velocity"):
        if not 0 <= getattr(parameters, name) < math.inf:
            raise UserError(f"{_words(name)} is a number from 0 on; got {getattr(parameters, name):g}")
    if not 0 < parameters.neighbourhood_radius < math.inf:
        raise UserError(f"neighbourhood radius is a number above 0; got {parameters.neighbourhood_radius:g}")
    for name, choices in (("mode", get_args(Mode)), ("distance", get_args(Distance))):
        if getattr(parameters, name) not in choices:
            raise UserError(f"{name} is one of {', '.join(choices)}; got {getattr(parameters, name)}")


def _between(name: str, value: int, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise UserError(f"{_words(name)} is a whole number from {low:,} to {high:,}; got {value}")


def _words(name: str) -> str:
    return name.replace("_ms", " (milliseconds)").replace("_", " ")


def _rounded(number: float) -> int:
    """The nearest whole number, and at least 1: 0.2 gives 894 vehicles and 13 days, as in Table 11."""
    return max(1, math.floor(min(number, 1e15) + 0.5))
