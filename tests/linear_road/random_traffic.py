"""Small random traffic: valid input tuples, rich in whatever the rules turn on.

    @given(traffic())
    def test_…(tuples): expected_answers(tuples, toll_history(tuples), segment_history)

`traffic()` is hypothesis' (it shrinks what fails, but many of its examples resemble one another);
`make_traffic(Random(seed))` is the same generator for tests that can afford few examples.

Most happens around one segment, so that vehicles meet. Wanderers move, stay, change lanes, break off and
start again; wrecks bring two or three vehicles to (almost) the same place at (almost) the same time, and
witnesses past them; a crowd of about 50 slow vehicles with followers driving through it makes tolls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from random import Random

from hypothesis import strategies as st

__all__ = ["InputTuple", "make_traffic", "segment_history", "segment_history_row", "toll_history", "traffic"]

InputTuple = tuple[int, ...]
"""Type, Time, VID, Spd, XWay, Lane, Dir, Seg, Pos, QID, Sinit, Send, DOW, TOD, Day"""

_FEET = 5280
_LAST_FOOT = 100 * _FEET - 1
_END = 15 * 60

_UNKNOWN_VEHICLE = 987_654
_UNKNOWN_EXPRESSWAY = 5

_ANCHORS = (50, 0, 1, 2, 4, 17, 95, 97, 98, 99)
_OFFSETS = (0, 1, 1000, 2640, 5279)
_SPEEDS = (0, 1, 20, 38, 39, 40, 41, 60, 100)


def traffic(orderly: bool = True, crowded: bool | None = None) -> st.SearchStrategy[list[InputTuple]]:
    """`make_traffic` with hypothesis' randomness."""
    randomness = st.randoms(use_true_random=False)
    return randomness.map(lambda random: make_traffic(random, orderly=orderly, crowded=crowded))


def make_traffic(random: Random, orderly: bool = True, crowded: bool | None = None) -> list[InputTuple]:
    """Tuples of up to 15 minutes on one or two expressways, in time order; at least one is a report.

    Orderly vehicles rest for more than 30 s between trips. Without that, trips may also follow one another
    after 1 to 30 s, somewhere else (after exactly 30 s the rules take both for one trip, if it is on the same
    expressway and direction). `crowded` asks for the crowd, which is there every other time otherwise.
    """
    xways = random.choice([(0,), (0, 1)])
    scene = _Scene(random, xways)
    vehicles = [scene.wanderer(orderly) for _ in range(random.randint(1, 8))]
    for _ in range(random.randint(0, 2)):
        vehicles += scene.wreck()
    if crowded or (crowded is None and random.randint(0, 1) == 1):
        vehicles += scene.crowd()
    reports = [report for vehicle in vehicles for report in vehicle.reports if report[1] < _END]
    tuples = reports + _requests(random, reports, xways)
    # Within a second, tuples come in any order.
    Random(random.randint(0, 99)).shuffle(tuples)
    return sorted(tuples, key=lambda fields: fields[1])


@dataclass
class _Vehicle:
    """Writes its reports while it is driven about; the next one is always 30 s after the last."""

    vid: int
    time: int
    xway: int
    direction: int
    pos: int
    lane: int = 0
    reports: list[InputTuple] = field(default_factory=list)

    def report(self, speed: int) -> None:
        seg = self.pos // _FEET
        self.reports.append(
            (0, self.time, self.vid, speed, self.xway, self.lane, self.direction, seg, self.pos, *[-1] * 6)
        )
        self.time += 30

    def drive(self, feet: int) -> None:
        """Downstream; the expressway's end is a wall."""
        self.pos = min(max(self.pos + (feet if self.direction == 0 else -feet), 0), _LAST_FOOT)


class _Scene:
    """Where most things happen and from when on; makes the vehicles, each with its own number."""

    def __init__(self, random: Random, xways: Sequence[int]) -> None:
        self.random = random
        self.xways = xways
        self.road = (random.choice(xways), random.randint(0, 1))
        self.anchor = random.choice(_ANCHORS)
        self.start = random.randint(0, 240)
        self.numbers = count()

    def choose_road(self) -> tuple[int, int]:
        if self.random.randint(0, 3) < 3:
            return self.road
        return self.random.choice(self.xways), self.random.randint(0, 1)

    def choose_position(self, reach: int) -> int:
        segment = min(max(self.anchor + self.random.randint(-reach, reach), 0), 99)
        return segment * _FEET + self.random.choice(_OFFSETS)

    def wanderer(self, orderly: bool) -> _Vehicle:
        """Anything goes: moves up to two segments, stays, any lane, up to three trips."""
        random = self.random
        phase = random.choice([0, 29, random.randint(0, 29)])
        start = 30 * random.randint(0, 13) + phase
        vehicle = _Vehicle(next(self.numbers), start, *self.choose_road(), self.choose_position(4))
        for trip in range(random.choice([1, 1, 2, 3])):
            if trip > 0:
                self.break_off(vehicle, orderly)
            vehicle.lane = random.randint(0, 4)
            for _ in range(random.randint(1, 6)):
                vehicle.drive(random.choice([0, 0, 1, 1500, 2640, 5279, 5280, 5281, 8000, 10_560]))
                if random.randint(0, 1):
                    vehicle.lane = random.randint(0, 4)
                speed = random.choice(_SPEEDS)
                for _ in range(random.choice([1, 1, 1, 2, 3, 4, 5, 9])):
                    vehicle.report(speed)
        return vehicle

    def break_off(self, vehicle: _Vehicle, orderly: bool) -> None:
        """End the trip; the next begins after some time, where it ended or elsewhere."""
        random = self.random
        pause = random.choice([60, 31, 59, 61, 90, 120, 300, random.randint(31, 200)])
        if not orderly and random.randint(0, 1):
            pause = random.choice([30, random.randint(1, 29)])
        vehicle.time += pause - 30
        # Whoever comes back to the very place within 30 s is a riddle that the rules do not answer.
        if pause <= 30 or random.randint(0, 1):
            before = (vehicle.xway, vehicle.direction, vehicle.pos)
            vehicle.xway, vehicle.direction = self.choose_road()
            vehicle.pos = self.choose_position(4)
            if (vehicle.xway, vehicle.direction, vehicle.pos) == before:
                vehicle.pos ^= 1

    def wreck(self) -> list[_Vehicle]:
        """Vehicles that stop together, or miss one another by a lane, a foot, a direction or some seconds."""
        random = self.random
        xway, direction = self.choose_road()
        lane = random.choice([1, 2, 3, 1, 2, 3, 0, 4])
        pos = self.choose_position(3)
        start = self.start + random.choice([0, 1, 30, 61, 150])
        vehicles = []
        for _ in range(random.choice([2, 2, 2, 3, 1])):
            delay = random.choice([0, 1, 29, 30, 60, random.randint(0, 120)])
            vehicle = _Vehicle(next(self.numbers), start + delay, xway, direction, pos, lane)
            miss = random.randint(0, 14)
            if miss == 12:
                vehicle.lane = (lane + 1) % 5
            elif miss == 13:
                vehicle.pos ^= 1
            elif miss == 14:
                vehicle.direction = 1 - direction
            there = vehicle.pos
            if comes := random.choice([0, 1, 3000, 6000]):
                vehicle.drive(-comes)
                vehicle.report(40)
                vehicle.pos = there
            for _ in range(random.choice([8, 4, 5, 6, 7, 10, 14, 3])):
                vehicle.report(0)
            if goes := random.choice([0, 0, 1, 3000, 12_000]):
                vehicle.drive(goes)
                vehicle.report(20)
            vehicles.append(vehicle)
        for _ in range(random.randint(1, 4)):
            witness = _Vehicle(next(self.numbers), start + random.randint(120, 420), xway, direction, pos)
            witness.drive(-random.randint(-1, 6) * _FEET)
            for _ in range(random.randint(0, 6)):
                witness.report(45)
                witness.drive(random.choice([5280, 2640, 10_560]))
                witness.lane = 2
            witness.lane = random.choice([2, 4])
            witness.report(30)
            vehicles.append(witness)
        return vehicles

    def crowd(self) -> list[_Vehicle]:
        """Many slow vehicles in one segment for some minutes, and a few that drive through it."""
        random = self.random
        xway, direction = self.choose_road()
        segment = min(max(self.anchor + random.randint(-1, 1), 0), 99)
        start = self.start // 60 * 60 + random.choice([0, 0, 60, 150])
        reports = random.randint(3, 12)
        speed = random.choice([20, 39, 0, 38, 30, 39, 40, 41])
        wobble = random.randint(0, 2)
        stray = random.randint(2, 9)
        vehicles = []
        for number in range(random.choice([51, 52, 53, 55, 57, 60, 51, 50, 49])):
            pos = segment * _FEET + 600 + 40 * number
            vehicle = _Vehicle(next(self.numbers), start + 7 * number % 30, xway, direction, pos, number % 4)
            for turn in range(reports):
                vehicle.report(min(max(speed + (number * turn) % (2 * wobble + 1) - wobble, 0), 100))
                # Each creeps on, since one that stood still would be half an accident.
                vehicle.drive(number % 11 + 1)
                vehicle.lane = vehicle.lane or 3
            if number % stray == 0:
                vehicle.drive(_FEET)
                vehicle.report(45)
            elif number % stray == 1:
                vehicle.lane = 4
                vehicle.report(30)
            vehicles.append(vehicle)
        for _ in range(random.randint(2, 8)):
            enters = start + random.choice([60, 90, 119, 120, random.randint(30, 60 + 30 * reports)])
            vehicles.append(self.follower(enters, xway, direction, segment * _FEET + 2640))
        return vehicles

    def follower(self, enters: int, xway: int, direction: int, pos: int) -> _Vehicle:
        """One that drives into a segment, through it and on, from some lanes."""
        approach, through, beyond = self.random.choice(_LANES_OF_A_TRIP)
        approach = approach[: self.random.randint(0, 2)]
        through = through[: self.random.randint(1, 3)]
        beyond = beyond[: self.random.choice([1, 2, 0])]
        vehicle = _Vehicle(next(self.numbers), max(enters - 30 * len(approach), 0), xway, direction, pos)
        vehicle.drive(-_FEET * len(approach))
        for lane in approach:
            vehicle.lane = lane
            vehicle.report(35)
            vehicle.drive(_FEET)
        for lane in through:
            vehicle.lane = lane
            vehicle.report(25)
            vehicle.drive(1)
        for lane in beyond:
            vehicle.drive(_FEET)
            vehicle.lane = lane
            vehicle.report(45)
        return vehicle


# Before, in and after the segment.
_LANES_OF_A_TRIP = (
    ((0, 1), (2, 2, 2), (2, 1)),
    ((0, 1), (1, 3, 1), (3, 3)),
    ((0, 1), (0, 1, 2), (4, 4)),
    ((1, 3), (3, 4, 4), (4, 0)),
    ((4, 4), (4, 2, 2), (1, 4)),
    ((3, 3), (3, 3, 4), (2, 2)),
)


def _requests(random: Random, reports: Sequence[InputTuple], xways: Sequence[int]) -> list[InputTuple]:
    """Requests of all types, most by vehicles that have been about, around a report of theirs."""
    # Who leaves the busiest segment has most likely been charged, above all the last vehicles, the followers.
    (busiest, _), *_ = Counter((p[4], p[6], p[7]) for p in reports).most_common()
    leaving = [
        q for p, q in pairwise(reports) if (p[4], p[6], p[7]) == busiest and p[2] == q[2] and p[7] != q[7]
    ]
    requests: list[InputTuple] = []
    for qid in range(1, random.randint(1, 12)):
        kind = random.choice([2, 2, 3, 4])
        report = random.choice(reports)
        if kind == 2 and leaving and random.randint(0, 2):
            report = random.choice(leaving[-5:])
        late = random.choice([0, 1, 29, 30, 59, 60, 61, 90, random.randint(-60, 120)])
        time = max(report[1] + late, 0)
        vid = _UNKNOWN_VEHICLE if random.randint(0, 7) == 7 else report[2]
        if kind == 2:
            requests.append((2, time, vid, *[-1] * 6, qid, *[-1] * 5))
        elif kind == 3:
            xway = random.choice([*xways, report[4], _UNKNOWN_EXPRESSWAY])
            requests.append((3, time, vid, -1, xway, *[-1] * 4, qid, *[-1] * 4, random.randint(1, 70)))
        else:
            sinit, send = (random.choice([0, 99, random.randint(0, 99)]) for _ in range(2))
            tod = random.choice([1, 1438, 1440, random.randint(1, 1440), random.randint(1, 1440)])
            journey = (sinit, send, random.randint(1, 7), tod)
            requests.append((4, time, vid, -1, random.choice(xways), *[-1] * 4, qid, *journey, -1))
    return requests


def toll_history(tuples: Iterable[InputTuple]) -> dict[tuple[int, int, int], int]:
    """TollHistory of the vehicles that report, on the expressways they report from; some rows are missing."""
    used = {(fields[2], fields[4]) for fields in tuples if fields[0] == 0}
    rows = {(vid, day, xway): _scatter(vid, day, xway) % 1000 for vid, xway in used for day in range(1, 71)}
    return {key: tolls for key, tolls in rows.items() if tolls % 5 != 0}


def segment_history(day: int, minute: int, xway: int, direction: int, segment: int) -> tuple[int, int, int]:
    """SegmentHistory as a function: Lav 1..100, Cnt 0..120 and the Toll that follows from them."""
    lav, cnt = segment_history_row(day, minute, xway, direction, segment)
    return lav, cnt, 2 * (cnt - 50) ** 2 if lav < 40 and cnt > 50 else 0


def segment_history_row(day: int, minute: int, xway: int, direction: int, segment: int) -> tuple[int, int]:
    """Lav and Cnt; of NumPy's 64-bit arrays as well as of integers, to fill whole tables.

    Weekdays differ much and the ten days of one little, so that means are spread as widely as the values.
    """
    weekday = _scatter(day % 7, minute, xway, direction, segment)
    single = _scatter(day, minute, xway, direction, segment + 100)
    return 1 + weekday % 90 + single % 11, weekday // 90 % 111 + single // 11 % 11


def _scatter(*key: int) -> int:
    """A hash of small numbers that stays below 2^48 throughout."""
    mixed = 1
    for part in key:
        mixed = (mixed * 48_271 + part * 16_807 + 11) % 2_147_483_647
        mixed = mixed * 69_621 % 2_147_483_647
    return mixed
