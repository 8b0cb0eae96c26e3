"""What the paper and its tools promise of Linear Road's traffic, and whether measured traffic keeps it.

A promise for one expressway holds for L when their total is within L times its bounds. What only a full run
can show is not judged in a shorter one; where chance alone may miss a share, four standard deviations pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from causeway.linear_road.inspection.traffic import Traffic
from causeway.linear_road.model import expressway as road
from causeway.report.figures import Figure, Ledger, count_text

__all__ = ["TravelLaw", "judge", "travel_law"]

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


class _Ledger(Ledger):
    """The figures of a workload."""

    def __init__(self, traffic: Traffic, expressways: float, minutes: int) -> None:
        super().__init__()
        self._traffic = traffic
        self._expressways = expressways
        self._minutes = minutes
        self._full = minutes == FULL_MINUTES

    def _when_full(
        self, name: str, value: float, expected: str, holds: bool, show: _Show = count_text
    ) -> None:
        """Judge only a run of three hours; of another, show what it has."""
        self.enter(name, value, expected if self._full else "—", holds if self._full else None, show)

    def _near(self, name: str, each: float, *values: int, judged: bool, allowed: float | None = None) -> None:
        """Every value within `allowed` (a tenth where not given) of `each` for every expressway."""
        target, margin = each * self._expressways, (allowed or TOLERANCE * each) * self._expressways
        holds = all(abs(value - target) <= margin for value in values)
        measured = " to ".join(count_text(value) for value in sorted({min(values), max(values)}))
        shown = count_text(margin) if allowed else f"{TOLERANCE:.0%}"
        expected = f"{count_text(target)} ± {shown}" if judged else "—"
        self.enter(name, min(values), expected, holds if judged else None, lambda _: measured)

    def volume(self) -> None:
        self.group = "Volume"
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
        self.enter("second of the last report", traffic.last_second, f"< {end:,}", traffic.last_second < end)
        directions = math.ceil(2 * self._expressways)
        self.enter(
            "directions in use", traffic.directions, count_text(directions), traffic.directions == directions
        )

    def vehicles(self) -> None:
        self.group = "Vehicles"
        traffic = self._traffic
        self._near("vehicles", VEHICLES, traffic.vehicles, judged=self._full)
        self.enter("trips", traffic.trips, "—", None)
        trips, roads = traffic.vehicles_with_several_trips, traffic.vehicles_on_several_expressways
        self._when_full("vehicles on several trips", trips, "some", trips > 0)
        if self._expressways > 1:
            self._when_full("vehicles on several roads", roads, "some", roads > 0)
        self.enter_none("in two places at once", traffic.two_at_once)

    def reports(self) -> None:
        self.group = "Reports"
        traffic = self._traffic
        self.enter_none("tuples out of domain", traffic.outside_domain)
        self.enter_none("Seg is not Pos div 5280", traffic.wrong_segment)
        self.enter_none(f"reports under {road.REPORT_INTERVAL} s apart", traffic.too_soon)
        self.enter_none("vehicles lost on the road", traffic.vanished)
        # A vehicle keeps its phase, so that the draws are trips; as they differ in length, half as much more.
        self._spread(
            "stagger: largest deviation",
            _largest_deviation(traffic.reports_per_phase, [1 / road.REPORT_INTERVAL] * road.REPORT_INTERVAL),
            1.5 * _by_chance(1 / road.REPORT_INTERVAL, traffic.trips),
        )

    def _spread(self, name: str, deviation: float | None, by_chance: float) -> None:
        allowed = max(TOLERANCE, by_chance)
        holds = None if deviation is None or allowed >= 1 else deviation <= allowed
        self.enter(name, deviation, "—" if holds is None else f"≤ {allowed:.0%}", holds, _percent)

    def journeys(self) -> None:
        self.group = "Journeys"
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
        self.enter("finished trips", finished, "—", None)
        self.enter_none("moves that skip a segment", traffic.out_of_sequence)
        self.enter_none("moves the wrong way", traffic.backwards)
        self.enter_none("moves back over a ramp", traffic.wrong_ramp)

    def _moment(self, name: str, value: float, target: float, tolerance: float) -> None:
        name = f"exit segments: {name}"
        holds = abs(value - target) <= tolerance * target
        self._when_full(name, value, f"{target:.1f} ± {tolerance:.0%}", holds, _tenths)

    def _all(self, name: str, those: int, of: int) -> None:
        share = those / of if of else None
        # Cut, not rounded: 99.999 % is not all.
        cut = math.floor(share * 10_000) / 10_000 if share else 0
        self.enter(name, share, "100 %", None if share is None else those == of, lambda _: _percent(cut))

    def road(self) -> None:
        self.group = "Speed and congestion"
        traffic = self._traffic
        top, lowest, ramp = traffic.top_speed, traffic.lowest_speed, traffic.top_ramp_speed
        self.enter("top speed", top, f"≤ {road.MAX_SPEED} mph", top <= road.MAX_SPEED)
        self.enter("lowest speed", lowest, "≥ 0 mph", lowest >= 0)
        self.enter("top speed on ramps", ramp, f"≤ {RAMP_SPEED} mph", ramp <= RAMP_SPEED)
        self._slower("mean speed where dense", traffic.dense_speed, traffic.sparse_speed)
        self._slower("mean speed at accidents", traffic.accident_speed, traffic.mean_speed)
        self._when_full("congested segment-minutes", traffic.congested, "some", traffic.congested > 0)

    def _slower(self, name: str, speed: float | None, than: float | None) -> None:
        if speed is None or than is None:
            self.enter(name, speed, "—", None, _tenths)
        else:
            self.enter(name, speed, f"< {than:.1f} mph", speed < than, _tenths)

    def accidents(self) -> None:
        self.group = "Accidents"
        found = self._traffic.accidents
        target = self._expressways * self._minutes / MINUTES_PER_ACCIDENT
        # The last one of each expressway may come too late to be detected.
        fewest = max(0, math.floor(target) - math.ceil(max(1, self._expressways)))
        limit = math.ceil(target) + math.ceil(max(1, TOLERANCE * target))
        judged = self._minutes >= MINUTES_PER_ACCIDENT
        expected = f"{target:g} ({fewest} to {limit})" if judged else "—"
        self.enter("accidents", len(found), expected, fewest <= len(found) <= limit if judged else None)
        lengths = [a.cleared - a.detected for a in found if not a.standing]
        shortest, longest = (m * 60 for m in ACCIDENT_MINUTES)
        # Where a vehicle is, is known only every 30 s.
        holds = all(shortest - road.REPORT_INTERVAL <= n <= longest + road.REPORT_INTERVAL for n in lengths)
        self.enter(
            "minutes until cleared",
            min(lengths) / 60 if lengths else None,
            "10 to 20 (± 30 s)",
            holds if lengths else None,
            lambda least: f"{least:.1f} to {max(lengths) / 60:.1f}",
        )
        self.enter("still standing at the end", len(found) - len(lengths), "—", None)

    def requests(self) -> None:
        self.group = "Requests"
        traffic = self._traffic
        requests = sum(traffic.requests_per_type.values())
        self._share("requests per report", requests, traffic.reports, REQUEST_SHARE)
        for number, share in REQUEST_TYPE_SHARES.items():
            self._share(f"type {number}", traffic.requests_per_type.get(number, 0), requests, share)
        self.enter_none("unanswerable requests", traffic.requests_unanswerable)
        self.enter_none("requests that share a QID", traffic.requests_sharing_a_number)
        self.enter_none("requests without a report", traffic.requests_without_report)

    def _share(self, name: str, those: int, of: int, target: float) -> None:
        share = those / of if of else None
        allowed = max(TOLERANCE, _by_chance(target, of))
        expected = f"{target:.0%} ± {allowed:.0%} of it" if allowed < 1 else f"{target:.0%}"
        holds = None if share is None else abs(share - target) <= allowed * target
        if holds and allowed >= 1:
            # Too few to tell.
            holds = None
        self.enter(name, share, expected, holds, _percent)

    def answers(self) -> None:
        self.group = "Answers to come"
        for name, value, each in (
            ("toll notifications", self._traffic.toll_notifications, TOLL_NOTIFICATIONS),
            ("accident alerts", self._traffic.accident_alerts, ACCIDENT_ALERTS),
        ):
            target = each * self._expressways
            holds = target / ANSWERS_FACTOR <= value <= target * ANSWERS_FACTOR
            self._when_full(name, value, f"{count_text(target)} factor {ANSWERS_FACTOR}", holds)


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
