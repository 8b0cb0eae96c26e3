from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.linear_road import literal_reading

from causeway.linear_road.history import travel_time
from causeway.linear_road.history.travel_time import travel_times
from causeway.linear_road.history.weekday_sums import WEEKDAY_SUMS_SHAPE, WeekdaySums

DAYS = 10

# A minute at 60 mph and two at 30. Seven segments at 7, 35, 63 or 70 mph make whole minutes or seconds, of
# terms that are none; so do mixtures of them and of means like 62.5.
LAV_SUMS = np.array([600, 300, 70, 350, 630, 700, 625, 450, 210, 657, 1])
CNT_SUMS = np.array([0, 499, 509, 510, 519, 800, 1234])


class Journey(NamedTuple):
    xway: int
    sinit: int
    send: int
    dow: int
    tod: int


def toll(lav: np.ndarray, cars: np.ndarray) -> np.ndarray:
    return np.where((lav >= 0) & (lav < 40) & (cars > 50), 2 * (cars - 50) ** 2, 0)


def history(lav: np.ndarray | int, cnt: np.ndarray | int = 0, days: np.ndarray | int = DAYS) -> WeekdaySums:
    """Sums over a weekday's days, each for all cells or for each."""
    sums = np.empty(WEEKDAY_SUMS_SHAPE, np.int16)
    for i, values in enumerate((lav, cnt, days)):
        sums[..., i] = values
    # As a file mapped for reading only is.
    sums.flags.writeable = False
    return sums


def random_history(seed: int, lav_sums: np.ndarray, silent: float = 0) -> WeekdaySums:
    luck = np.random.default_rng(seed)
    known = luck.random(WEEKDAY_SUMS_SHAPE[:-1], np.float32) >= silent
    return history(
        luck.choice(lav_sums, known.shape) * known, luck.choice(CNT_SUMS, known.shape) * known, known * DAYS
    )


def walk(histories: dict[int, WeekdaySums], journeys: list[Journey]) -> list[tuple[int, int]]:
    columns = np.array(journeys, np.int64).reshape(-1, 5).T
    seconds, tolls = travel_times(histories.get, *columns, toll)
    return list(zip(seconds.tolist(), tolls.tolist(), strict=True))


def read_literally(histories: dict[int, WeekdaySums], journey: Journey) -> tuple[int, int]:
    def row(day: int, minute: int, xway: int, direction: int, segment: int) -> tuple[int, int, int]:
        dow = 1 + (70 - day) % 7
        lav, cnt, days = histories[xway][direction, dow - 1, minute - 1, segment].tolist()
        assert days == DAYS
        # Ten whole numbers that are as equal as can be, with the sum that is wanted.
        return (lav + (day - 1) // 7) // DAYS, (cnt + (day - 1) // 7) // DAYS, 0

    fields = dict.fromkeys(literal_reading.Tuple._fields, -1)
    fields |= {"Type": 4, "XWay": journey.xway, "Sinit": journey.sinit, "Send": journey.send}
    fields |= {"DOW": journey.dow, "TOD": journey.tod}
    answer = literal_reading.travel_time(literal_reading.Tuple(**fields), row)
    return answer.travel_time, answer.toll


@pytest.fixture
def in_fractions(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Has an entry for each journey that was walked in fractions."""
    walked: list[int] = []
    exactly: Callable[..., tuple[int, int]] = travel_time._walk_in_fractions

    def noted(*arguments: object) -> tuple[int, int]:
        walked.append(1)
        return exactly(*arguments)

    monkeypatch.setattr(travel_time, "_walk_in_fractions", noted)
    yield walked


segments = st.integers(0, 99)
minutes = st.integers(1, 1440) | st.integers(1400, 1440)
possible_journeys = st.lists(
    st.builds(Journey, st.integers(0, 1), segments, segments, st.integers(1, 7), minutes), max_size=20
)


@settings(max_examples=40)
@given(
    st.integers(0, 2**32), st.lists(st.sampled_from(LAV_SUMS.tolist()), min_size=1), possible_journeys
)  # fmt: skip
def test_journeys_are_as_the_paper_says(seed: int, lav_sums: list[int], journeys: list[Journey]) -> None:
    histories = {xway: random_history(seed + xway, np.array(lav_sums)) for xway in (0, 1)}
    assert walk(histories, journeys) == [read_literally(histories, journey) for journey in journeys]


@pytest.mark.parametrize("lav_sum", LAV_SUMS.tolist())
def test_every_distance_at_one_speed(in_fractions: list[int], lav_sum: int) -> None:
    """Whole minutes and seconds come out as such, whatever they are made of."""
    journeys = [Journey(0, *ends, 3, 1) for n in range(100) for ends in ((0, n), (n, 0))]
    expected = [(n * 36000 // lav_sum, 0) for n in range(100) for _ in range(2)]
    assert walk({0: history(lav_sum)}, journeys) == expected
    whole = [n for n in range(1, 100) if n * 36000 % lav_sum == 0]
    rounded = 36000 % lav_sum > 0
    assert bool(in_fractions) == (rounded and bool(whole))


def test_a_minute_is_reached_when_it_is_full() -> None:
    # Seven segments at 70 mph take six minutes, not a hair less: the eighth is in minute 7.
    lav = np.full(WEEKDAY_SUMS_SHAPE[:-1], 700)
    lav[:, :, 6:] = 100
    assert walk({0: history(lav)}, [Journey(0, 10, 18, 1, 1), Journey(0, 18, 10, 7, 1)]) == [(720, 0)] * 2
    # A bit faster, and it is still in minute 6.
    lav[0, 0, 2, 13] = 701
    assert walk({0: history(lav)}, [Journey(0, 10, 18, 1, 1)]) == [(411, 0)]


@pytest.mark.parametrize(
    ("lav_sums", "minute", "seconds"),
    [([718, 748, 753, 676, 677, 758], 5, 299), ([742, 748, 756, 650, 686, 752], 6, 300)],
)
def test_a_hair_beside_the_minute(lav_sums: list[int], minute: int, seconds: int) -> None:
    """Six segments that take four billionths of a second less than five minutes, or two more."""
    hair = sum(Fraction(36000, lav) for lav in lav_sums) - 300
    assert 0 < abs(hair) < Fraction(4, 10**9)
    lav = np.full(WEEKDAY_SUMS_SHAPE[:-1], 600)
    lav[..., :6] = lav_sums
    lav[:, :, minute - 1, 6] = 300
    assert walk({0: history(lav)}, [Journey(0, 0, 6, 1, 1)]) == [(seconds, 0)]
    assert walk({0: history(lav)}, [Journey(0, 0, 7, 1, 1)]) == [(seconds + 120, 0)]


def test_the_clock_stays_at_midnight() -> None:
    lav = np.full(WEEKDAY_SUMS_SHAPE[:-1], 300)
    lav[:, :, -1] = 200
    journeys = [Journey(0, 0, 4, 7, 1437), Journey(0, 0, 4, 7, 1440), Journey(0, 99, 0, 7, 1440)]
    assert walk({0: history(lav)}, journeys) == [
        (120 + 120 + 180 + 180, 0),
        (4 * 180, 0),
        (99 * 180, 0),
    ]


def test_tolls_are_those_of_the_floors_of_means() -> None:
    seen = []

    def spied(lav: np.ndarray, cars: np.ndarray) -> np.ndarray:
        seen.append((lav.tolist(), cars.tolist()))
        return lav * 1000 + cars

    sums = history(399, 519)
    seconds, tolls = travel_times(
        {0: sums, 7: sums}.get, [0, 7, 0], [0, 5, 3], [1, 3, 3], [1] * 3, [1] * 3, spied
    )
    assert seen == [([39] * 3, [51] * 3)]
    assert tolls.tolist() == [39051, 2 * 39051, 0]
    assert seconds.tolist() == [90, 180, 0]


def test_days_that_are_missing_do_not_count() -> None:
    days = np.full(WEEKDAY_SUMS_SHAPE[:-1], 3)
    sums = history(3 * 30, 3 * 60 + 2, days)
    assert walk({0: sums}, [Journey(0, 4, 6, 2, 100)]) == [(240, 2 * 2 * 10**2)]


@pytest.mark.parametrize("lav_sum", [0, -1, -10])
def test_a_segment_without_speed_leaves_no_answer(lav_sum: int) -> None:
    lav = np.full(WEEKDAY_SUMS_SHAPE[:-1], 600)
    lav[0, :, :, 50] = lav_sum
    journeys = [Journey(0, 40, 60, 1, 1), Journey(0, 50, 51, 1, 1), Journey(0, 40, 50, 1, 1)]
    journeys += [Journey(0, 51, 99, 1, 1), Journey(0, 60, 40, 1, 1), Journey(0, 50, 50, 1, 1)]
    nothing = (0, 0)
    assert walk({0: history(lav, 800)}, journeys) == [
        nothing,
        nothing,
        (600, 0),
        (2880, 0),
        (1200, 0),
        nothing,
    ]


def test_a_silence_that_only_fractions_reach(in_fractions: list[int]) -> None:
    lav = np.full(WEEKDAY_SUMS_SHAPE[:-1], 700)
    lav[:, :, :, 7] = 0
    assert walk({0: history(lav, 800)}, [Journey(0, 0, 8, 1, 1)]) == [(0, 0)]
    assert len(in_fractions) == 1


@pytest.mark.parametrize(
    "impossible",
    [
        *({"sinit": -1}, {"sinit": 100}, {"send": -1}, {"send": 100}, {"send": 2**31 - 1}),
        *({"dow": 0}, {"dow": 8}, {"tod": 0}, {"tod": 1441}, {"tod": -1}, {"xway": 1}, {"xway": -1}),
    ],
)
def test_an_impossible_journey_takes_no_time_and_disturbs_no_other(impossible: dict[str, int]) -> None:
    journey = Journey(0, 5, 8, 3, 700)
    wrong = journey._replace(**impossible)
    assert walk({0: history(300)}, [journey, wrong, journey]) == [(360, 0), (0, 0), (360, 0)]


def test_nobody_asks() -> None:
    assert walk({0: history(600)}, []) == []


def test_columns_as_arrow_gives_them() -> None:
    columns = [np.array([value, value], np.int32) for value in (0, 1, 3, 2, 5)]
    for column in columns:
        column.flags.writeable = False
    seconds, tolls = travel_times({0: history(600)}.get, *columns, toll)
    assert (seconds.dtype, tolls.dtype) == (np.int64, np.int64)
    assert seconds.tolist() == [120, 120]


@settings(max_examples=10)
@given(st.integers(0, 2**32), possible_journeys)
def test_journeys_do_not_depend_on_their_company(seed: int, journeys: list[Journey]) -> None:
    histories = {0: random_history(seed, LAV_SUMS, silent=0.01)}
    assert walk(histories, journeys) == [walk(histories, [journey])[0] for journey in journeys]
