# ruff: noqa: N802, N803, SIM300 - predicates, variables and fields have the paper's names
"""Every answer of the 2004 rules by the paper's predicates (Tables 1 to 6), said slowly.

A third opinion beside the pipeline and the validator: it knows neither, shares not even a constant with
them, has no state and no order of arrival. Each predicate is a loop over all reports or all seconds,
remembered once it is known; means are fractions. Where the spec page changes the paper, a comment quotes it.

What the words were taken to mean:

- *The report before* is the same vehicle's exactly 30 s earlier from the same expressway and direction: a
  trip is on one of them, so that a report from another one starts a trip, and expressways know nothing of
  each other. A new segment is a `Seg` that differs from its.
- *Quoted* is a toll only where there was a notification. Who enters a segment in the exit lane gets none, so
  that nothing is assessed for that segment, even if he reports from another lane of it later.
- *Leaves by its exit ramp*: the last report from the segment was in the exit lane. Then it is not charged,
  even if the vehicle's next report, 30 s later, is from another segment ("never"). That next report being in
  the exit lane itself says nothing about the segment before, which is charged.
- *Crosses into the next segment*: any other segment; one that was jumped over was never quoted.
- *Stopped until 30 s after* does not include that second: by `Last_1`, a report is the vehicle's position
  while t - Time < 30, thus on [Time, Time + 30). An accident whose last second is 119 stands in minute 2 and
  not in minute 3.
- *First report from elsewhere* is any later one of the vehicle, also of another trip, from another Lane or
  Pos of the same expressway and direction; one from another expressway or direction says nothing about this
  one. It comes sooner than 30 s only if a trip begins less than 30 s after another's last report.
- *Fourth consecutive report*: each is the report before of the next; after a gap, counting starts again.
- *Stood in minute m*: in at least one whole second of it. `Pos div 5280` is the accident's segment.
- *Balance at τ* counts tolls assessed at or before τ, on all expressways. A τ below 0 is valid and gives 0.
- *Minute reached*: a journey begins with the first second of minute TOD, so TOD + elapsed div 60, at most
  1440.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import floor
from typing import NamedTuple

__all__ = [
    "AccidentAlert",
    "AccountBalance",
    "Assessment",
    "DailyExpenditure",
    "Expected",
    "Reading",
    "TollNotification",
    "TravelTime",
    "expected_answers",
]

EXIT = 4
TRAVEL = (1, 2, 3)

TollHistory = Mapping[tuple[int, int, int], int]
"""(VID, Day, XWay) to Tolls."""

SegmentRow = tuple[int, int, int]
"""(Lav, Cnt, Toll)"""

SegmentHistory = (
    Mapping[tuple[int, int, int, int, int], SegmentRow] | Callable[[int, int, int, int, int], SegmentRow]
)
"""(Day, Min, XWay, Dir, Seg) to its row."""


class Tuple(NamedTuple):
    """An input tuple, field by field as in section 3.1.2."""

    Type: int
    Time: int
    VID: int
    Spd: int
    XWay: int
    Lane: int
    Dir: int
    Seg: int
    Pos: int
    QID: int
    Sinit: int
    Send: int
    DOW: int
    TOD: int
    Day: int


class Place(NamedTuple):
    """Where a vehicle is, as far as stopping there goes."""

    XWay: int
    Lane: int
    Pos: int
    Dir: int


class TollNotification(NamedTuple):
    """Type 0; exactly this one."""

    vid: int
    time: int
    lav: int
    toll: int


class AccidentAlert(NamedTuple):
    """Type 1; exactly one, for the nearest segment, though any of `segments` is valid."""

    time: int
    vid: int
    nearest: int
    segments: frozenset[int]


class AccountBalance(NamedTuple):
    """Type 2; any ResultTime in `balances` is valid, with the balance it has there."""

    time: int
    qid: int
    vid: int
    balances: dict[int, int]


class DailyExpenditure(NamedTuple):
    """Type 3."""

    time: int
    qid: int
    bal: int


class TravelTime(NamedTuple):
    """Type 4; `seconds` is exact, `travel_time` its floor."""

    time: int
    qid: int
    seconds: Fraction
    travel_time: int
    toll: int


class Assessment(NamedTuple):
    """A toll charged to an account: no answer by itself, but what balances are made of."""

    vid: int
    time: int
    toll: int


@dataclass(frozen=True)
class Expected:
    """All answers to an input, each list in the order of the tuples that triggered them."""

    toll_notifications: list[TollNotification]
    accident_alerts: list[AccidentAlert]
    account_balances: list[AccountBalance]
    daily_expenditures: list[DailyExpenditure]
    travel_times: list[TravelTime]
    assessments: list[Assessment]


def expected_answers(
    tuples: Sequence[Sequence[int]], toll_history: TollHistory, segment_history: SegmentHistory
) -> Expected:
    """Answer `tuples` (fifteen integers each); their order does not matter but for the lists' order.

    A journey over segments without history is a `KeyError` of a mapping, and the callable's own affair.
    """
    inputs = [Tuple(*fields) for fields in tuples]
    reading = Reading([z for z in inputs if z.Type == 0])
    notified = [q for q in reading.P if reading.triggers_notification(q)]
    return Expected(
        toll_notifications=[reading.toll_notification(q) for q in notified],
        accident_alerts=[alert for q in notified if (alert := reading.accident_alert(q)) is not None],
        account_balances=[reading.account_balance(a) for a in inputs if a.Type == 2],
        daily_expenditures=[daily_expenditure(d, toll_history) for d in inputs if d.Type == 3],
        travel_times=[travel_time(z, segment_history) for z in inputs if z.Type == 4],
        assessments=[
            Assessment(p.VID, p.Time, toll)
            for p in reading.P
            if (toll := reading.assessed_toll(p)) is not None
        ],
    )


def M(t: int) -> int:
    """The minute number in which t falls."""
    return t // 60 + 1


def Dn(s: int, d: int, i: int) -> int:
    """The segment i segments downstream of s (footnote 7)."""
    return min(s + i, 99) if d == 0 else max(s - i, 0)


_REMEMBERED = (
    *("reports_of", "reports_from", "before", "cars", "Avgsv", "Avgs", "Lav", "Toll"),
    *("Stop", "Acc", "Acc_in_Seg", "assessed_toll"),
)


class Reading:
    """The predicates over one set P of position reports; each remembers what it has been asked."""

    def __init__(self, P: Sequence[Tuple]) -> None:
        if len({(p.VID, p.Time) for p in P}) < len(P):
            raise ValueError("a vehicle has two position reports in the same second")
        self.P = P
        for name in _REMEMBERED:
            setattr(self, name, cache(getattr(self, name)))

    def reports_of(self, v: int) -> list[Tuple]:
        """{p ∈ P | p.VID = v}"""
        return [p for p in self.P if p.VID == v]

    def reports_from(self, m: int, x: int, s: int, d: int) -> list[Tuple]:
        """{p ∈ P | m = M(p.Time), p.(XWay; Seg; Dir) = (x; s; d)}

        "Entry and exit lanes count", so no lane is asked for.
        """
        return [p for p in self.P if m == M(p.Time) and (p.XWay, p.Seg, p.Dir) == (x, s, d)]

    def before(self, p: Tuple) -> Tuple | None:
        """The report with an arrow to the left over it, or None where p starts a trip.

        "The report before p is the same vehicle's report exactly 30 s earlier; without one, p starts a trip."
        """
        for q in self.reports_of(p.VID):
            if p.Time - q.Time == 30 and (p.XWay, p.Dir) == (q.XWay, q.Dir):
                return q
        return None

    # Tables 1 and 2: toll notifications.

    def cars(self, m: int, x: int, s: int, d: int) -> set[int]:
        return {p.VID for p in self.reports_from(m, x, s, d)}

    def Avgsv(self, v: int, m: int, x: int, s: int, d: int) -> Fraction:
        return AVG([Fraction(p.Spd) for p in self.reports_from(m, x, s, d) if p.VID == v])

    def Avgs(self, m: int, x: int, s: int, d: int) -> Fraction | None:
        """None in a minute without vehicles."""
        vehicles = self.cars(m, x, s, d)
        return AVG([self.Avgsv(v, m, x, s, d) for v in vehicles]) if vehicles else None

    def Lav(self, m: int, x: int, s: int, d: int) -> int:
        # "then the floor of the mean over those of the five minutes m-1..m-5 in which the segment had
        # vehicles; -1 where none had"
        minutes = [self.Avgs(m - i, x, s, d) for i in (1, 2, 3, 4, 5)]
        had_vehicles = [mean for mean in minutes if mean is not None]
        return floor(AVG(had_vehicles)) if had_vehicles else -1

    def Toll(self, m: int, x: int, s: int, d: int) -> int:
        # "if 0 ≤ Lav(m) < 40 and cars(m-1) > 50 and no accident stood in minute m-1 in any of the segments
        # Dn(s,d,0..4); otherwise 0"
        if (
            0 <= self.Lav(m, x, s, d) < 40
            and len(self.cars(m - 1, x, s, d)) > 50
            and all(not self.Acc_in_Seg(m - 1, x, Dn(s, d, i), d) for i in (0, 1, 2, 3, 4))
        ):
            return 2 * (len(self.cars(m - 1, x, s, d)) - 50) ** 2
        return 0

    def triggers_notification(self, q: Tuple) -> bool:
        # "for every report not in the exit lane (4) that starts a trip or whose segment differs from the
        # report before it"
        before = self.before(q)
        return q.Lane != EXIT and (before is None or q.Seg != before.Seg)

    def toll_notification(self, q: Tuple) -> TollNotification:
        road = (q.XWay, q.Seg, q.Dir)
        return TollNotification(q.VID, q.Time, self.Lav(M(q.Time), *road), self.Toll(M(q.Time), *road))

    # Table 3: accidents. The predicates of a second are given as the set of all that they hold for.

    def Last(self, i: int, v: int, t: int) -> list[Tuple]:
        """Last_i(v, t) by the paper's formula; more than one where a trip follows another within 30 s."""
        return [p for p in self.reports_of(v) if 30 * (i - 1) <= t - p.Time < 30 * i]

    def Stop(self, v: int) -> list[tuple[Place, range]]:
        """Where and in which seconds the predicate holds for v, for each report that made it so."""
        # "a vehicle is stopped from its fourth consecutive report at the same (XWay, Lane, Pos, Dir) until
        # 30 s after its last report there, or its first report from elsewhere, whichever is sooner"
        seconds = []
        for fourth in self.reports_of(v):
            third = self.before(fourth)
            second = self.before(third) if third is not None else None
            first = self.before(second) if second is not None else None
            if first is None or len({place(p) for p in (first, second, third, fourth)}) > 1:
                continue
            until = fourth.Time + 30
            for p in self.reports_of(v):
                same_road = (p.XWay, p.Dir) == (fourth.XWay, fourth.Dir)
                if p.Time > fourth.Time and same_road and place(p) != place(fourth):
                    until = min(until, p.Time)
            seconds.append((place(fourth), range(fourth.Time, until)))
        return seconds

    def Acc(self, t: int) -> set[tuple[int, int, int]]:
        """All (x, p, d) for which the predicate holds at t."""
        # "two or more vehicles stopped at the same time at the same (XWay, Lane 1..3, Pos, Dir)"
        stopped = [
            (v, where) for v in {p.VID for p in self.P} for where, seconds in self.Stop(v) if t in seconds
        ]
        return {
            (where1.XWay, where1.Pos, where1.Dir)
            for v1, where1 in stopped
            for v2, where2 in stopped
            if v1 != v2 and where1 == where2 and where1.Lane in TRAVEL
        }

    def Acc_in_Seg(self, m: int, x: int, s: int, d: int) -> bool:
        # "it stands in every minute that its interval touches"
        for t in range(60 * (m - 1), 60 * m):
            for x1, p, d1 in self.Acc(t):
                if (x1, d1) == (x, d) and p // 5280 == s:
                    return True
        return False

    # Table 4: accident alerts.

    def accident_alert(self, q: Tuple) -> AccidentAlert | None:
        """The alert of a report that triggers a toll notification, if there is one."""
        # "if an accident stood in minute M(t)-1 in any of Dn(s,d,0..4): one alert, naming the nearest such
        # segment"
        downstream = [Dn(q.Seg, q.Dir, i) for i in (0, 1, 2, 3, 4)]
        with_accident = [s for s in downstream if self.Acc_in_Seg(M(q.Time) - 1, q.XWay, s, q.Dir)]
        if not with_accident:
            return None
        return AccidentAlert(q.Time, q.VID, with_accident[0], frozenset(with_accident))

    # Table 5: account balances.

    def entered(self, p: Tuple) -> Tuple:
        """The first report of p's trip from the segment that p is in, without having left it since."""
        before = self.before(p)
        while before is not None and before.Seg == p.Seg:
            p, before = before, self.before(before)
        return p

    def quoted_toll(self, p: Tuple) -> int | None:
        """The toll of the notification given on entering the segment that p is in; None without one."""
        entry = self.entered(p)
        return self.toll_notification(entry).toll if self.triggers_notification(entry) else None

    def assessed_toll(self, crossing: Tuple) -> int | None:
        """What `crossing` charges; None if it charges nothing, 0 if it charges a quoted toll of 0.

        The last report before it is the member of the paper's tollset.
        """
        # "when a report crosses into the next segment (same trip), the toll that was quoted on entering the
        # segment now left is assessed, at the crossing report's time; also when the crossing report is
        # itself in the exit lane."
        left = self.before(crossing)
        if left is None or left.Seg == crossing.Seg:
            return None
        # "A segment the vehicle leaves by its exit ramp is never charged."
        if left.Lane == EXIT:
            return None
        return self.quoted_toll(left)

    def balance(self, v: int, tau: int) -> int:
        # "the sum of tolls assessed up to τ"; "A vehicle never charged has balance 0"
        return sum(self.assessed_toll(p) or 0 for p in self.reports_of(v) if p.Time <= tau)

    def account_balance(self, a: Tuple) -> AccountBalance:
        # "for a τ = ResultTime with t-60 ≤ τ ≤ t"; "Every τ in that interval is a valid answer."
        interval = range(a.Time - 60, a.Time + 1)
        return AccountBalance(a.Time, a.QID, a.VID, {tau: self.balance(a.VID, tau) for tau in interval})


def daily_expenditure(d: Tuple, toll_history: TollHistory) -> DailyExpenditure:
    """Table 6, from history alone."""
    # "the TollHistory value; 0 where the history has no row"
    return DailyExpenditure(d.Time, d.QID, toll_history.get((d.VID, d.Day, d.XWay), 0))


def travel_time(z: Tuple, segment_history: SegmentHistory) -> TravelTime:
    """Section 3.2.3, "Travel Time Estimation Queries"."""
    # "direction from Sinit to Send (east when Send ≥ Sinit). Segments Sinit up to, not including, Send."
    direction = 0 if z.Send >= z.Sinit else 1
    journey = range(z.Sinit, z.Send, 1 if direction == 0 else -1)
    # "Day n falls on DOW = 1 + (70 - n) mod 7, so each weekday has ten days."
    days = [n for n in range(1, 71) if 1 + (70 - n) % 7 == z.DOW]
    seconds, toll = Fraction(0), 0
    for s in journey:
        # "at the minute reached (the clock stays at 1440 past midnight)"
        minute = min(z.TOD + floor(seconds / 60), 1440)
        rows = [_row(segment_history, (n, minute, z.XWay, direction, s)) for n in days]
        lav = AVG([Fraction(row[0]) for row in rows])
        cnt = AVG([Fraction(row[1]) for row in rows])
        # "each segment takes 3600 / mean Lav seconds"; "its toll is Toll's formula on the floors of the mean
        # Lav and the mean Cnt"
        seconds += 3600 / lav
        if 0 <= floor(lav) < 40 and floor(cnt) > 50:
            toll += 2 * (floor(cnt) - 50) ** 2
    # "TravelTime is the floor of the total in seconds."
    return TravelTime(z.Time, z.QID, seconds, floor(seconds), toll)


def _row(segment_history: SegmentHistory, key: tuple[int, int, int, int, int]) -> SegmentRow:
    return segment_history(*key) if callable(segment_history) else segment_history[key]


def place(p: Tuple) -> Place:
    """The four fields of Table 3's Stop."""
    return Place(p.XWay, p.Lane, p.Pos, p.Dir)


def AVG(bag: Sequence[Fraction]) -> Fraction:
    """The mean of a bag that is not empty."""
    return sum(bag, Fraction(0)) / len(bag)
