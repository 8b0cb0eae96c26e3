"""The rules of 2004 against worked examples and exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, prod

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from causeway.linear_road.model.rules import RULES, Vldb2004

SCALE = 720_720
VLDB2004 = RULES["vldb2004"]


def test_a_dialect_is_found_by_its_name() -> None:
    assert [rules.name for rules in RULES.values()] == list(RULES)
    assert isinstance(VLDB2004, Vldb2004)
    assert (VLDB2004.stopped_after, VLDB2004.minutes_averaged, VLDB2004.accident_reach) == (4, 5, 4)


@pytest.mark.parametrize(
    ("lav", "cars", "accident", "toll"),
    [
        (39, 51, False, 2),
        (39, 52, False, 8),
        (39, 60, False, 200),
        (0, 150, False, 20_000),
        (39, 50, False, 0),
        (39, 0, False, 0),
        (40, 51, False, 0),
        (100, 300, False, 0),
        (-1, 51, False, 0),
        (39, 51, True, 0),
        (0, 150, True, 0),
    ],
)
def test_toll(lav: int, cars: int, accident: bool, toll: int) -> None:
    """Table 2: 2 · (cars - 50)² if Lav < 40, more than 50 cars and no accident, otherwise 0."""
    found = VLDB2004.toll(np.array([lav], np.int32), np.array([cars], np.int32), np.array([accident]))
    assert (found.tolist(), found.dtype) == ([toll], np.int32)


def test_a_toll_of_history_knows_no_accident() -> None:
    found = VLDB2004.toll(np.array([39, 40], np.int32), np.array([60, 60], np.int32))
    assert found.tolist() == [200, 0]


def lav(minutes: list[tuple[int, Fraction]]) -> int:
    """Lav of one segment; a minute is its cars and the sum of their mean speeds."""
    speeds = np.array([[int(total * SCALE)] for _, total in minutes], np.int64)
    cars = np.array([[count] for count, _ in minutes], np.int64)
    found = VLDB2004.lav(speeds, cars, SCALE)
    assert found.dtype == np.int32
    return int(found[0])


EMPTY = (0, Fraction(0))


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        ([EMPTY] * 5, -1),
        ([(1, Fraction(0))] + [EMPTY] * 4, 0),
        ([(1, Fraction(40))] + [EMPTY] * 4, 40),
        ([(2, Fraction(79))] + [EMPTY] * 4, 39),
        # Only minutes with vehicles count, and each as much as any other, however many vehicles it had.
        ([EMPTY, (1, Fraction(30)), EMPTY, EMPTY, (100, Fraction(5000))], 40),
        # 40 exactly, of means that are not: 39 2/3 + 40 1/3.
        ([(3, Fraction(119)), (3, Fraction(121)), EMPTY, EMPTY, EMPTY], 40),
        ([(3, Fraction(119)), (3, Fraction(241, 2)), EMPTY, EMPTY, EMPTY], 39),
        # Means over thirds, sevenths, elevenths and thirteenths.
        ([(3, Fraction(120)), (7, Fraction(280)), (11, Fraction(440)), (13, Fraction(520)), EMPTY], 40),
    ],
)
def test_lav(minutes: list[tuple[int, Fraction]], expected: int) -> None:
    assert lav(minutes) == expected


def sum_of_means(count: int, reports: list[list[int]]) -> Fraction:
    """The sum of `count` vehicles' mean speeds; vehicle i has as many reports as `reports[i]`, in turn."""
    means = [Fraction(sum(speeds), len(speeds)) for speeds in reports]
    turns, rest = divmod(count, len(means))
    return turns * sum(means, Fraction(0)) + sum(means[:rest], Fraction(0))


def exact_lav(minutes: list[tuple[int, Fraction]]) -> int:
    means = [total / count for count, total in minutes if count]
    return floor(sum(means, Fraction(0)) / len(means)) if means else -1


MINUTE = st.just(EMPTY) | st.builds(
    lambda count, reports: (count, sum_of_means(count, reports)),
    st.integers(1, 400) | st.integers(1, 3000),
    st.lists(st.lists(st.integers(0, 100), min_size=1, max_size=2), min_size=1, max_size=6),
)


@given(st.lists(MINUTE, min_size=5, max_size=5))
@settings(max_examples=200)
def test_lav_is_the_floor_of_an_exact_mean(minutes: list[tuple[int, Fraction]]) -> None:
    assert lav(minutes) == exact_lav(minutes)


@given(
    st.lists(st.integers(2, 400) | st.integers(2, 3000), min_size=2, max_size=5),
    st.integers(0, 100),
    st.sampled_from([Fraction(-1, 2), Fraction(0), Fraction(1, 2)]),
    st.randoms(use_true_random=False),
)
@example([397, 389, 383, 379, 373], 40, Fraction(0), None)
@settings(max_examples=200)
def test_lav_at_whole_numbers(counts: list[int], whole: int, off: Fraction, random: object) -> None:
    """Means that miss a whole number one by one and hit it, or half a mph of one vehicle less, together."""
    count = len(counts)
    # Minute i is above by share[i] / counts[i], minute i + 1 below by about the same.
    totals = [Fraction(whole * cars) for cars in counts]
    for i in range(0, count - 1, 2):
        step = 1 if random is None else random.randint(0, 3)  # type: ignore[attr-defined]
        # A half of a mph is the least that one vehicle's mean of two reports can differ by.
        totals[i] += Fraction(step * counts[i], 2)
        totals[i + 1] -= Fraction(step * counts[i + 1], 2)
    totals[0] += off
    minutes = [(cars, max(total, Fraction(0))) for cars, total in zip(counts, totals, strict=True)] + [
        EMPTY
    ] * (5 - count)
    assert lav(minutes) == exact_lav(minutes)


MINUTE_OF_MANY_REPORTS = st.builds(
    lambda count, reports: (count, sum_of_means(count, reports)),
    st.integers(1, 300) | st.integers(1000, 30_000),
    st.lists(st.lists(st.integers(0, 100), min_size=1, max_size=16), min_size=1, max_size=4),
)


@given(st.lists(st.just(EMPTY) | MINUTE_OF_MANY_REPORTS, min_size=5, max_size=5))
@settings(max_examples=200)
def test_lav_of_vehicles_with_any_number_of_reports(minutes: list[tuple[int, Fraction]]) -> None:
    """Means of 3, 5, 6, 7 … reports are no multiples of a sixteenth."""
    assert lav(minutes) == exact_lav(minutes)


@given(
    st.lists(st.integers(2, 400) | st.integers(1000, 30_000), min_size=5, max_size=5),
    st.integers(1, 99),
    st.lists(st.integers(0, SCALE), min_size=4, max_size=4),
    st.sampled_from([-1, 0, 1]),
)
@example([2999, 2971, 2969, 2963, 2957], 40, [1, 1, 1, 1], 0)
@settings(max_examples=200)
def test_lav_one_unit_around_a_whole_number(
    counts: list[int], whole: int, above: list[int], units: int
) -> None:
    """One unit of 1 / SCALE is the least by which sums can differ; means of many reports bring it about."""
    totals = [whole * SCALE * cars for cars in counts]
    for i, step in enumerate(above):
        # As much above in this minute as below in the last one, rounded down.
        totals[i] += step
        totals[4] -= -(-step * counts[4] // counts[i])
    totals[4] += units
    minutes = [(cars, Fraction(total, SCALE)) for cars, total in zip(counts, totals, strict=True)]
    assert lav(minutes) == exact_lav(minutes)


def test_lav_is_exact_where_floats_are_not() -> None:
    """Five fractions that miss 40 by less than a float of their size can tell."""
    counts = [29_989, 29_983, 29_959, 29_947, 29_927]
    product = prod(counts)
    # By the Chinese remainder theorem, numerators can be chosen such that the fractions add up to any
    # multiple of 1 / product: here to one less than a whole number.
    rests = [(-pow(product // cars, -1, cars)) % cars for cars in counts]
    short = sum(Fraction(rest, cars) for rest, cars in zip(rests, counts, strict=True))
    missing = ceil(short) - short
    assert missing == Fraction(1, product)
    totals = [40 * SCALE * cars + rest for cars, rest in zip(counts, rests, strict=True)]
    totals[0] -= ceil(short) * counts[0]
    minutes = [(cars, Fraction(total, SCALE)) for cars, total in zip(counts, totals, strict=True)]
    assert lav(minutes) == exact_lav(minutes) == 39
