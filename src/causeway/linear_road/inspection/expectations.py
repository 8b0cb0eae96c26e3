"""What the paper and its tools promise of Linear Road's traffic, and whether measured traffic keeps it.

A promise for one expressway holds for L when their total is within L times its bounds. What only a full run
can show is not judged in a shorter one; where chance alone may miss a share, four standard deviations pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from causeway.linear_road.model import expressway as road

__all__ = ["Accident", "Figure", "Traffic", "TravelLaw", "Verdict", "judge", "travel_law"]

FULL_MINUTES: Final = 180
"""Section 3.1.2, footnote 3: a run is 10,800 seconds."""

# Per expressway and full run: what the original simulator's files hold.
TOLERANCE: Final = 0.1
REPORTS: Final = 12_000_000
FIRST_MINUTE: Final = 1_100
FIRST_MINUTE_TOLERANCE: Final = 200
LAST_MINUTE: Final = 100_000
LAST_MINUTES: Final = 10
VEHICLES: Final = 150_000
TOLL_NOTIFICATIONS: Final = 2_000_000
ACCIDENT_ALERTS: Final = 28_000
ANSWERS_FACTOR: Final = 1.5

# Section 3.1.1.
REQUEST_SHARE: Final = 0.01
REQUEST_TYPE_SHARES: Final = {2: 0.5, 3: 0.1, 4: 0.4}
MINUTES_PER_ACCIDENT: Final = 20
ACCIDENT_MINUTES: Final = (10, 20)
RAMP_SPEED: Final = 40
# Long trips are the ones still under way when the run ends, so that finished ones spread less.
DEVIATION_TOLERANCE: Final = 0.15
ENTRY_BINS: Final = 10

# More vehicles than this in a segment and minute make it dense; fewer than that, sparse.
DENSE, SPARSE = 150, 50

_STANDARD_DEVIATIONS = 4

_Show = Callable[[float], str]


class Verdict(StrEnum):
    """What became of a promise."""

    HOLDS = "holds"
    OUT = "out"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    group: str
    name: str
    measured: str
    expected: str
    verdict: Verdict
    value: float | None
    """The measured number, where there is one."""


@dataclass(frozen=True)
class Accident:
    """Two or more vehicles stopped at one place, by the 2004 rules; times are seconds."""

    expressway: int
    direction: int
    lane: int
    segment: int
    position: int
    detected: int
    cleared: int
    """First second without it; where `standing`, only the second up to which its reports vouch for it."""
    standing: bool
    """Not yet cleared when the stream ends."""


@dataclass(frozen=True)
class Traffic:
    """What was measured, over all expressways together; sequences by minute begin with minute 1."""

    reports: int
    reports_per_minute: Sequence[int]
    reports_per_phase: Sequence[int]
    """Reports at each second modulo 30."""
    last_second: int
    directions: int
    """Directions of expressways that were reported from."""
    vehicles: int
    trips: int
    vehicles_with_several_trips: int
    vehicles_on_several_expressways: int
    two_at_once: int
    too_soon: int
    """Reports less than 30 s after the same vehicle's one before."""
    vanished: int
    """Reports more than 30 s after the same vehicle's one before, though that was not from the exit lane."""
    outside_domain: int
    wrong_segment: int
    out_of_sequence: int
    backwards: int
    wrong_ramp: int
    top_speed: int
    lowest_speed: int
    top_ramp_speed: int
    trips_to_enter: int
    """Trips that begin inside the stream; those cut by the start of a slice are none."""
    trips_entered: int
    trips_to_exit: int
    """Trips that end before the stream does."""
    trips_exited: int
    entries_per_segment: Sequence[int]
    exits_per_segment: Sequence[int]
    requests_per_type: dict[int, int]
    requests_unanswerable: int
    requests_sharing_a_number: int
    requests_without_report: int
    accidents: Sequence[Accident]
    toll_notifications: int
    accident_alerts: int
    mean_speed: float | None
    dense_speed: float | None
    """Mean speed in the travel lanes of segments and minutes with more than 150 vehicles."""
    sparse_speed: float | None
    """The same with fewer than 50."""
    accident_speed: float | None
    """Mean speed in the segments of accidents while they stand."""
    congested: int
    """Segments and minutes with Lav below 40 and more than 50 vehicles in the minute before."""


class TravelLaw(NamedTuple):
    """How entries and exits spread over the segments."""

    entries: tuple[float, ...]
    exits: tuple[float, ...]


def travel_law(expressways: float) -> TravelLaw:
    """Shares of entry and exit segments by section 3.1.1, for the directions that L expressways have.

    The entry is uniform, the exit N(50, 20) cut to the expressway and another segment than the entry. A
    half expressway keeps the trips that go east, so that its exits lie further east and its entries west;
    beside whole ones, as in L = 1.5, its trips weigh half as much as those of one.
    """
    density = [
        math.exp(-(((x - road.DOWNTOWN_SEGMENT) / road.EXIT_SEGMENT_DEVIATION) ** 2) / 2)
        for x in range(road.SEGMENTS)
    ]
    eastern, western = math.ceil(expressways), math.floor(expressways)
    entries, exits = [0.0] * road.SEGMENTS, [0.0] * road.SEGMENTS
    for entry in range(road.SEGMENTS):
        elsewhere = sum(density) - density[entry]
        for exit in range(road.SEGMENTS):
            if exit != entry:
                share = density[exit] / elsewhere * (eastern if exit > entry else western)
                entries[entry] += share
                exits[exit] += share
    total = sum(entries)
    return TravelLaw(tuple(e / total for e in entries), tuple(x / total for x in exits))


def judge(traffic: Traffic, expressways: float, minutes: int) -> tuple[Figure, ...]:
    """Hold every promise against the traffic of a workload that claims to be L expressways and so long."""
    ledger = _Ledger(traffic, expressways, minutes)
    for enter_group in (ledger.volume, ledger.vehicles, ledger.reports, ledger.journeys, ledger.road):
        enter_group()
    for enter_group in (ledger.accidents, ledger.requests, ledger.answers):
        enter_group()
    return tuple(ledger.figures)


def _count(number: float) -> str:
    return f"{number:,.0f}"


def _percent(share: float) -> str:
    return f"{share * 100:.2f} %"


def _tenths(number: float) -> str:
    return f"{number:.1f}"


def _by_chance(share: float, draws: int) -> float:
    """Relative error of a share that so many independent draws may show without anything being wrong."""
    return _STANDARD_DEVIATIONS * math.sqrt((1 - share) / (share * draws)) if draws else math.inf


def _moments(counts: Sequence[float]) -> tuple[float, float]:
    total = sum(counts)
    mean = sum(i * n for i, n in enumerate(counts)) / total
    return mean, math.sqrt(sum((i - mean) ** 2 * n for i, n in enumerate(counts)) / total)


class _Ledger:
    """The figures, group by group; a check without a verdict yet is `None`, and is not judged."""

    def __init__(self, traffic: Traffic, expressways: float, minutes: int) -> None:
        self.figures: list[Figure] = []
        self._traffic = traffic
        self._expressways = expressways
        self._minutes = minutes
        self._full = minutes == FULL_MINUTES
        self._group = ""

    def _enter(
        self, name: str, value: float | None, expected: str, holds: bool | None, show: _Show = _count
    ) -> None:
        verdict = Verdict.NOT_JUDGED if holds is None else Verdict.HOLDS if holds else Verdict.OUT
        measured = "—" if value is None else show(value)
        self.figures.append(Figure(self._group, name, measured, expected, verdict, value))

    def _when_full(self, name: str, value: float, expected: str, holds: bool, show: _Show = _count) -> None:
        """Judge only a run of three hours; of another, show what it has."""
        self._enter(name, value, expected if self._full else "—", holds if self._full else None, show)

    def _near(self, name: str, each: float, *values: int, judged: bool, allowed: float | None = None) -> None:
        """Every value within `allowed` (a tenth where not given) of `each` for every expressway."""
        target, margin = each * self._expressways, (allowed or TOLERANCE * each) * self._expressways
        holds = all(abs(value - target) <= margin for value in values)
        measured = " to ".join(_count(value) for value in sorted({min(values), max(values)}))
        shown = _count(margin) if allowed else f"{TOLERANCE:.0%}"
        expected = f"{_count(target)} ± {shown}" if judged else "—"
        self._enter(name, min(values), expected, holds if judged else None, lambda _: measured)

    def _none(self, name: str, value: int) -> None:
        self._enter(name, value, "0", value == 0)

    def volume(self) -> None:
        self._group = "Volume"
        traffic = self._traffic
        minutes = traffic.reports_per_minute or [0]
        last = minutes[-LAST_MINUTES:]
        self._near("position reports", REPORTS, traffic.reports, judged=self._full)
        # A slice of some seconds has no whole minute.
        whole = traffic.last_second >= 59
        self._near(
            "in the first minute", FIRST_MINUTE, minutes[0], judged=whole, allowed=FIRST_MINUTE_TOLERANCE
        )
        self._near(f"in each of last {LAST_MINUTES} minutes", LAST_MINUTE, *last, judged=self._full)
        end = self._minutes * 60
        self._enter("second of the last report", traffic.last_second, f"< {end:,}", traffic.last_second < end)
        directions = math.ceil(2 * self._expressways)
        self._enter(
            "directions in use", traffic.directions, _count(directions), traffic.directions == directions
        )

    def vehicles(self) -> None:
        self._group = "Vehicles"
        traffic = self._traffic
        self._near("vehicles", VEHICLES, traffic.vehicles, judged=self._full)
        self._enter("trips", traffic.trips, "—", None)
        trips, roads = traffic.vehicles_with_several_trips, traffic.vehicles_on_several_expressways
        self._when_full("vehicles on several trips", trips, "some", trips > 0)
        if self._expressways > 1:
            self._when_full("vehicles on several roads", roads, "some", roads > 0)
        self._none("in two places at once", traffic.two_at_once)

    def reports(self) -> None:
        self._group = "Reports"
        traffic = self._traffic
        self._none("tuples out of domain", traffic.outside_domain)
        self._none("Seg is not Pos div 5280", traffic.wrong_segment)
        self._none(f"reports under {road.REPORT_INTERVAL} s apart", traffic.too_soon)
        self._none("vehicles lost on the road", traffic.vanished)
        # A vehicle keeps its phase, so that the draws are trips; as they differ in length, half as much more.
        self._spread(
            "stagger: largest deviation",
            _largest_deviation(traffic.reports_per_phase, [1 / road.REPORT_INTERVAL] * road.REPORT_INTERVAL),
            1.5 * _by_chance(1 / road.REPORT_INTERVAL, traffic.trips),
        )

    def _spread(self, name: str, deviation: float | None, by_chance: float) -> None:
        allowed = max(TOLERANCE, by_chance)
        holds = None if deviation is None or allowed >= 1 else deviation <= allowed
        self._enter(name, deviation, "—" if holds is None else f"≤ {allowed:.0%}", holds, _percent)

    def journeys(self) -> None:
        self._group = "Journeys"
        traffic = self._traffic
        law = travel_law(self._expressways)
        self._all("trips begun in entry lane", traffic.trips_entered, traffic.trips_to_enter)
        self._all("trips ended in exit lane", traffic.trips_exited, traffic.trips_to_exit)
        entries = _binned(traffic.entries_per_segment)
        self._spread(
            "entries: largest deviation",
            _largest_deviation(entries, _binned(law.entries)),
            _by_chance(1 / ENTRY_BINS, int(sum(entries))),
        )
        if finished := sum(traffic.exits_per_segment):
            mean, deviation = _moments(traffic.exits_per_segment)
            mean_by_law, deviation_by_law = _moments(law.exits)
            self._moment("mean", mean, mean_by_law, TOLERANCE)
            self._moment("deviation", deviation, deviation_by_law, DEVIATION_TOLERANCE)
        self._enter("finished trips", finished, "—", None)
        self._none("moves that skip a segment", traffic.out_of_sequence)
        self._none("moves the wrong way", traffic.backwards)
        self._none("moves back over a ramp", traffic.wrong_ramp)

    def _moment(self, name: str, value: float, target: float, tolerance: float) -> None:
        name = f"exit segments: {name}"
        holds = abs(value - target) <= tolerance * target
        self._when_full(name, value, f"{target:.1f} ± {tolerance:.0%}", holds, _tenths)

    def _all(self, name: str, those: int, of: int) -> None:
        share = those / of if of else None
        # Cut, not rounded: 99.999 % is not all.
        cut = math.floor(share * 10_000) / 10_000 if share else 0
        self._enter(name, share, "100 %", None if share is None else those == of, lambda _: _percent(cut))

    def road(self) -> None:
        self._group = "Speed and congestion"
        traffic = self._traffic
        top, lowest, ramp = traffic.top_speed, traffic.lowest_speed, traffic.top_ramp_speed
        self._enter("top speed", top, f"≤ {road.MAX_SPEED} mph", top <= road.MAX_SPEED)
        self._enter("lowest speed", lowest, "≥ 0 mph", lowest >= 0)
        self._enter("top speed on ramps", ramp, f"≤ {RAMP_SPEED} mph", ramp <= RAMP_SPEED)
        self._slower("mean speed where dense", traffic.dense_speed, traffic.sparse_speed)
        self._slower("mean speed at accidents", traffic.accident_speed, traffic.mean_speed)
        self._when_full("congested segment-minutes", traffic.congested, "some", traffic.congested > 0)

    def _slower(self, name: str, speed: float | None, than: float | None) -> None:
        if speed is None or than is None:
            self._enter(name, speed, "—", None, _tenths)
        else:
            self._enter(name, speed, f"< {than:.1f} mph", speed < than, _tenths)

    def accidents(self) -> None:
        self._group = "Accidents"
        found = self._traffic.accidents
        target = self._expressways * self._minutes / MINUTES_PER_ACCIDENT
        # The last one of each expressway may come too late to be detected.
        fewest = max(0, math.floor(target) - math.ceil(max(1, self._expressways)))
        limit = math.ceil(target) + math.ceil(max(1, TOLERANCE * target))
        judged = self._minutes >= MINUTES_PER_ACCIDENT
        expected = f"{target:g} ({fewest} to {limit})" if judged else "—"
        self._enter("accidents", len(found), expected, fewest <= len(found) <= limit if judged else None)
        lengths = [a.cleared - a.detected for a in found if not a.standing]
        shortest, longest = (m * 60 for m in ACCIDENT_MINUTES)
        # Where a vehicle is, is known only every 30 s.
        holds = all(shortest - road.REPORT_INTERVAL <= n <= longest + road.REPORT_INTERVAL for n in lengths)
        self._enter(
            "minutes until cleared",
            min(lengths) / 60 if lengths else None,
            "10 to 20 (± 30 s)",
            holds if lengths else None,
            lambda least: f"{least:.1f} to {max(lengths) / 60:.1f}",
        )
        self._enter("still standing at the end", len(found) - len(lengths), "—", None)

    def requests(self) -> None:
        self._group = "Requests"
        traffic = self._traffic
        requests = sum(traffic.requests_per_type.values())
        self._share("requests per report", requests, traffic.reports, REQUEST_SHARE)
        for number, share in REQUEST_TYPE_SHARES.items():
            self._share(f"type {number}", traffic.requests_per_type.get(number, 0), requests, share)
        self._none("unanswerable requests", traffic.requests_unanswerable)
        self._none("requests that share a QID", traffic.requests_sharing_a_number)
        self._none("requests without a report", traffic.requests_without_report)

    def _share(self, name: str, those: int, of: int, target: float) -> None:
        share = those / of if of else None
        allowed = max(TOLERANCE, _by_chance(target, of))
        expected = f"{target:.0%} ± {allowed:.0%} of it" if allowed < 1 else f"{target:.0%}"
        holds = None if share is None else abs(share - target) <= allowed * target
        if holds and allowed >= 1:
            # Too few to tell.
            holds = None
        self._enter(name, share, expected, holds, _percent)

    def answers(self) -> None:
        self._group = "Answers to come"
        for name, value, each in (
            ("toll notifications", self._traffic.toll_notifications, TOLL_NOTIFICATIONS),
            ("accident alerts", self._traffic.accident_alerts, ACCIDENT_ALERTS),
        ):
            target = each * self._expressways
            holds = target / ANSWERS_FACTOR <= value <= target * ANSWERS_FACTOR
            self._when_full(name, value, f"{_count(target)} factor {ANSWERS_FACTOR}", holds)


def _binned(segments: Sequence[float]) -> list[float]:
    width = road.SEGMENTS // ENTRY_BINS
    return [sum(segments[i : i + width]) for i in range(0, road.SEGMENTS, width)]


def _largest_deviation(counts: Sequence[float], law: Sequence[float]) -> float | None:
    """Largest distance of a bin's share from the law, as a part of an even share.

    Against the even share, since a half expressway's last bin is nearly empty and its own share no measure.
    """
    total = sum(counts)
    if not total:
        return None
    return max(abs(n / total - share) for n, share in zip(counts, law, strict=True)) * len(law)
