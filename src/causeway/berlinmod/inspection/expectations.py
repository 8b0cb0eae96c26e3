"""What the paper and a data set's own parameters promise, and whether what was measured keeps it.

Where chance alone may miss a share, four standard deviations pass. Figures that were published for Berlin's
map are judged for that map only; for another, the lengths of drives are its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from causeway.berlinmod.inspection.measured import Measured
from causeway.berlinmod.model import rules
from causeway.berlinmod.model.calendar import HOUR_MS
from causeway.berlinmod.model.parameters import Mode, Parameters
from causeway.report.figures import Figure, Ledger, count_text

__all__ = ["District", "People", "Published", "judge", "published_for"]

TRIPS_TOLERANCE: Final = 0.05
UNITS_TOLERANCE: Final = 0.07
_STANDARD_DEVIATIONS: Final = 4
DROPPED_SHARE: Final = 0.000138
"""Section 4.2: fewer days of vehicles than this are left out."""
LONGEST_DRIVE_MS: Final = 90 * 60_000
"""Section 4.2: no drive through Berlin was seen to take longer."""
UNITS_A_KILOMETRE: Final = 36.0
"""Table 11: 26,963 units on 748.5 km."""


@dataclass(frozen=True)
class Published:
    """What was published of a data set on Berlin's map."""

    trips: int
    units: float
    kilometres: float | None = None
    """A vehicle's, from Table 11."""


# Network-based: Table 11. Region-based: the authors' downloads for their corrected map.
_PUBLISHED: Final[dict[tuple[Mode, float], Published]] = {
    ("network", 0.05): Published(15_049, 6_138.857 * 447, 170.645),
    ("network", 0.2): Published(62_893, 13_040.283 * 894, 361.661),
    ("network", 1.0): Published(292_693, 26_963.197 * 2000, 748.496),
    ("region", 0.005): Published(1_797, 346_657),
    ("region", 0.05): Published(15_045, 2_998_674),
    ("region", 0.2): Published(62_510, 12_091_785),
    ("region", 1.0): Published(292_940, 56_129_943),
}


@dataclass(frozen=True)
class District:
    """A region of the map, with the homes and work places in it."""

    name: str
    homes: int
    works: int
    home_share: float
    """Share of the homes that are expected in it."""
    work_share: float


@dataclass(frozen=True)
class People:
    """What dataMcar and the query relations say."""

    vehicles: int
    types: dict[str, int]
    licences: int
    """Different ones."""
    sample_sizes: dict[str, int]
    districts: Sequence[District]


def published_for(parameters: Parameters, on_berlin: bool) -> Published | None:
    """What was published for this map, mode and scale; None if nothing was."""
    ordinary = parameters.distance == "fastest" and not parameters.disturb
    defaults = parameters.gps_interval_ms == 2000 and parameters.min_pause_ms == 300_000
    for (mode, scale), figures in _PUBLISHED.items():
        same = parameters.mode == mode and parameters.cars == round(2000 * math.sqrt(scale))
        if same and parameters.days == math.floor(28 * math.sqrt(scale) + 0.5):
            return figures if on_berlin and ordinary and defaults else None
    return None


def judge(parameters: Parameters, measured: Measured, people: People, on_berlin: bool) -> tuple[Figure, ...]:
    """Hold every promise against what was measured."""
    ledger = _Ledger(parameters, measured, people, on_berlin)
    for enter_group in (
        ledger.volume,
        ledger.form,
        ledger.streets,
        ledger.days,
        ledger.drives,
        ledger.people,
    ):
        enter_group()
    return tuple(ledger.figures)


def expected_legs(parameters: Parameters) -> float:
    """Drives of a vehicle by section 4.2 and Algorithm 2, those to where one is included."""
    days = [(parameters.start_day + day) % 7 for day in range(parameters.days)]
    weekends = sum(day >= 5 for day in days)
    weekdays = len(days) - weekends
    one, two = rules.STOPS_CUMULATED
    legs_a_block = 2 * one + 3 * (two - one) + 4 * (1 - two)
    return 2 * weekdays + rules.SPARE_TIME_SHARE * (weekdays + 2 * weekends) * legs_a_block


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"


def _tenths(number: float) -> str:
    return f"{number:,.1f}"


def _by_chance(share: float, draws: int) -> float:
    """How far a share of so many draws may be from its expectation without anything being wrong."""
    return _STANDARD_DEVIATIONS * math.sqrt(share * (1 - share) / draws) if draws else math.inf


class _Ledger(Ledger):
    """The figures of a data set."""

    def __init__(self, parameters: Parameters, measured: Measured, people: People, on_berlin: bool) -> None:
        super().__init__()
        self._parameters = parameters
        self._measured = measured
        self._people = people
        self._berlin = on_berlin
        self._published = published_for(parameters, on_berlin)

    def _equal(self, name: str, value: int, expected: int) -> None:
        self.enter(name, value, count_text(expected), value == expected)

    def _near(
        self,
        name: str,
        value: float,
        expected: float,
        tolerance: float,
        show: Callable[[float], str] = count_text,
    ) -> None:
        """A value within a share of what is expected."""
        holds = abs(value - expected) <= tolerance * expected if tolerance < 0.5 else None
        self.enter(name, value, f"{show(expected)} ± {100 * tolerance:.0f} %", holds, show)

    def _range(self, name: str, values: Sequence[int]) -> None:
        self.enter(name, min(values), show=lambda low: f"{low:,.0f} to {max(values):,}")

    def _share(self, name: str, count: int, of: int, expected: float) -> None:
        """A share of independent draws."""
        allowed = _by_chance(expected, of)
        value = count / of if of else None
        if value is None or allowed >= expected:  # too few to say
            self.enter(name, value, show=_percent)
            return
        self.enter(
            name,
            value,
            f"{_percent(expected)} ± {100 * allowed:.1f}",
            abs(value - expected) <= allowed,
            _percent,
        )

    def _chance(self, tolerance: float, share: float = 0.5) -> float:
        """The tolerance, or what few vehicles and days may miss: each drives some `share` more or less."""
        spread = _STANDARD_DEVIATIONS * share / math.sqrt(max(1, len(self._measured.units)))
        return max(tolerance, spread / math.sqrt(self._parameters.days))

    def volume(self) -> None:
        self.group = "Volume (Table 11)"
        parameters, measured, published = self._parameters, self._measured, self._published
        self._equal("vehicles", len(measured.units), parameters.cars)
        self.enter("days", parameters.days)
        trips, units = sum(measured.trips), sum(measured.units)
        vehicles = max(1, len(measured.units))
        if published:
            self._near("trips", trips, published.trips, TRIPS_TOLERANCE)
            self._near("units", units, published.units, UNITS_TOLERANCE)
        else:
            expected = vehicles * (2 * expected_legs(parameters) + 1)
            self._near("trips", trips, expected, self._chance(TRIPS_TOLERANCE))
            self.enter("units", units)
        self.enter("trips of a vehicle", trips / vehicles, show=_tenths)
        self._range("  least and most", measured.trips)
        self.enter("units of a vehicle", units / vehicles, show=_tenths)
        self._range("  least and most", measured.units)
        kilometres = sum(measured.metres) / 1000
        if published and published.kilometres:
            tolerance = self._chance(UNITS_TOLERANCE)
            self._near("km of a vehicle", kilometres / vehicles, published.kilometres, tolerance, _tenths)
        else:
            self.enter("km of a vehicle", kilometres / vehicles, show=_tenths)
        ordinary = not parameters.disturb and parameters.gps_interval_ms == 2000
        if kilometres:
            rate = units / kilometres
            if self._berlin and ordinary:
                self._near("units a km", rate, UNITS_A_KILOMETRE, UNITS_TOLERANCE, _tenths)
            else:
                self.enter("units a km", rate, show=_tenths)
        mean = 1000 * kilometres / max(1, trips)
        self.enter("mean length of a trip, m", mean, "5,068 to 5,554")

    def form(self) -> None:
        self.group = "Histories"
        measured = self._measured
        self.enter_none("not padded by a day", measured.not_padded)
        self.enter_none("instants that do not rise", measured.not_rising)
        self.enter_none("standing that is not one unit", measured.not_merged)
        self.enter_none("moving units over the interval", measured.slow_samples)
        self.enter_none("vehicles whose trips differ", measured.not_equal)
        self.enter_none("trips cut in a wrong place", measured.split_wrong)
        self.enter_none("rows with a wrong box", measured.wrong_box)
        self.enter_none("rows with wrong lengths", measured.wrong_length)

    def streets(self) -> None:
        self.group = "Streets (Algorithm 1)"
        measured, disturbed = self._measured, self._parameters.disturb
        if disturbed:
            self.enter("instants off the streets", None, "disturbed")
            self.enter("units over the limit", None, "disturbed")
        else:
            self.enter_none("instants off the streets", measured.off_street)
            self.enter_none("units over the limit", measured.too_fast)
        self.enter("top speed, km/h", measured.top_speed, show=_tenths)
        kilometres = sum(measured.metres) / 1000
        moving = (measured.observed_ms - measured.standing_ms + measured.stop_ms) / HOUR_MS
        self.enter("mean speed of trips, km/h", kilometres / moving if moving else None, show=_tenths)
        self.enter(
            "stops a km", measured.stops / kilometres if kilometres else None, show=lambda n: f"{n:.2f}"
        )
        if measured.stops:
            mean = measured.stop_ms / measured.stops / 1000
            # Two waits at one place are one standstill, so that the mean is a little above 15 s.
            allowed = max(0.03, _STANDARD_DEVIATIONS / math.sqrt(measured.stops))
            self._near("mean stop, s", mean, rules.MEAN_WAIT_MS / 1000, allowed, _tenths)
        share = measured.standing_ms / max(1, measured.observed_ms)
        self.enter(
            "share of time standing",
            share,
            "about 97 %",
            0.93 <= share <= 0.995 if self._berlin else None,
            _percent,
        )

    def days(self) -> None:
        self.group = "Days (section 4.2)"
        measured, parameters = self._measured, self._parameters
        vehicle_days = parameters.cars * parameters.days
        limit = vehicle_days * DROPPED_SHARE
        allowed = math.ceil(limit + _STANDARD_DEVIATIONS * math.sqrt(limit))
        planned = bool(np.any(measured.drives))
        judged = planned and self._berlin
        self.enter(
            "days left out",
            measured.dropped_days if planned else None,
            f"≤ {allowed}" if judged else "—",
            measured.dropped_days <= allowed if judged else None,
        )
        for kind, name, hour in ((0, "departure to work", 8), (1, "departure from work", 16)):
            legs = int(measured.labour_legs[kind])
            if legs:
                mean = float(measured.departure_ms[kind]) / legs / HOUR_MS
                allowed_hours = _STANDARD_DEVIATIONS / math.sqrt(legs)
                self.enter(
                    f"mean {name}, hour",
                    mean,
                    f"{hour:.2f} ± {allowed_hours:.2f}",
                    abs(mean - hour) <= allowed_hours,
                    lambda number: f"{number:.2f}",
                )
        days = [(parameters.start_day + day) % 7 for day in range(parameters.days)]
        blocks = sum(2 if day >= 5 else 1 for day in days) * parameters.cars
        trips = int(np.sum(measured.blocks))
        # Imported data does not tell which trips belong together.
        blocks = blocks if measured.legs else 0
        self._share("spare-time blocks with a trip", trips, blocks, rules.SPARE_TIME_SHARE)
        one, two = rules.STOPS_CUMULATED
        for number, expected in ((1, one), (2, two - one), (3, 1 - two)):
            self._share(
                f"with {number} destination{'s' * (number > 1)}",
                int(measured.blocks[number - 1]),
                trips,
                expected,
            )
        nearby = measured.nearby / measured.destinations if measured.destinations else None
        by_chance = _by_chance(rules.NEIGHBOURHOOD_SHARE, measured.destinations)
        self.enter(
            "destinations near home",
            nearby,
            "—" if nearby is None else f"≥ {_percent(rules.NEIGHBOURHOOD_SHARE)} - {100 * by_chance:.1f}",
            None if nearby is None else nearby >= rules.NEIGHBOURHOOD_SHARE - by_chance,
            _percent,
        )

    def drives(self) -> None:
        self.group = "Drives (Figure 2)"
        measured = self._measured
        minutes = [
            float(measured.duration_ms[kind]) / 60_000 / int(measured.drives[kind])
            if measured.drives[kind]
            else None
            for kind in range(3)
        ]
        for kind, name in enumerate(("to work", "to home", "in spare time")):
            self.enter(f"mean {name}, min", minutes[kind], show=_tenths)
        labour, spare = minutes[0], minutes[2]
        if labour is not None and spare is not None and self._berlin:
            self.enter("spare time against work", spare / labour, "< 100 %", spare < labour, _percent)
        longest = measured.longest_ms
        holds = (
            longest <= LONGEST_DRIVE_MS
            if self._berlin and self._parameters.distance == "fastest" and np.any(measured.drives)
            else None
        )
        minutes_of_longest = longest / 60_000 if np.any(measured.drives) else None
        self.enter("longest, min", minutes_of_longest, "≤ 90" if holds is not None else "—", holds, _tenths)

    def people(self) -> None:
        self.group = "Vehicles and queries (section 5)"
        people = self._people
        for name, share in zip(rules.TYPES, rules.TYPE_SHARES, strict=True):
            self._share(f"type {name}", people.types.get(name, 0), people.vehicles, share)
        self._equal("different licences", people.licences, people.vehicles)
        wrong = [n for n, rows in people.sample_sizes.items() if rows != self._parameters.sample_size]
        self.enter_none("query relations of another size", len(wrong))
        if not people.districts:
            return
        self.group = "Homes and work places by district (Figure 4)"
        for district in people.districts:
            self._share(f"{district.name}: homes", district.homes, people.vehicles, district.home_share)
        for district in people.districts:
            self._share(f"{district.name}: work", district.works, people.vehicles, district.work_share)
