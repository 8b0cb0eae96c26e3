"""The area between two outputs: the paper's example, and a plain integral on a fine grid of times."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causeway.nexmark.judge.output_matching.areas import (
    Emissions,
    Span,
    Steps,
    match_answers,
    match_counts,
    match_sets,
    match_values,
)

Row = tuple[int, int, int]
"""Time in ticks of a quarter second, key, value."""

TICK = 0.25
TICKS = 40
rows = st.lists(
    st.tuples(st.integers(0, TICKS + 4), st.integers(0, 3), st.integers(-5, 20)), max_size=25
).map(lambda found: sorted({(time, key): (time, key, value) for time, key, value in found}.values()))
spans = st.tuples(st.integers(0, TICKS - 1), st.integers(1, TICKS)).map(
    lambda ends: (ends[0], min(TICKS, ends[0] + ends[1]))
)


def told(found: list[Row]) -> Emissions:
    times, keys, values = (np.array([row[at] for row in found]) for at in range(3))
    return Emissions(TICK * times.astype(np.float64), keys.astype(np.int64), values.astype(np.float64))


def counts(found: list[Row]) -> tuple[np.ndarray, np.ndarray]:
    """The values, made positive, are how many rows came at once."""
    return told(found).times, np.abs(told(found).values)


def members(found: list[Row]) -> tuple[np.ndarray, np.ndarray]:
    return told(found).times, told(found).keys


def on_a_grid(distance: Callable[[int], float], span: tuple[int, int]) -> float:
    """Nothing changes between ticks."""
    return sum(distance(tick) for tick in range(*span)) / (span[1] - span[0])


def seconds(span: tuple[int, int]) -> Span:
    return Span(TICK * span[0], TICK * span[1])


def current(found: list[Row], tick: int) -> dict[int, int]:
    return {key: value for time, key, value in found if time <= tick}


@given(rows, rows, spans)
def test_counts(ideal: list[Row], ours: list[Row], span: tuple[int, int]) -> None:
    def behind(tick: int) -> float:
        sums = [sum(abs(value) for time, _, value in found if time <= tick) for found in (ideal, ours)]
        return abs(sums[0] - sums[1])

    matching = match_counts(counts(ideal), counts(ours), seconds(span))
    assert matching.metric == pytest.approx(on_a_grid(behind, span))


@given(rows, rows, spans)
def test_values(ideal: list[Row], ours: list[Row], span: tuple[int, int]) -> None:
    def off(tick: int) -> float:
        now, then = current(ideal, tick), current(ours, tick)
        known = now.keys() | then.keys()
        return sum(abs(now.get(key, 0) - then.get(key, 0)) for key in known) / max(len(known), 1)

    assert match_values(told(ideal), told(ours), seconds(span)).metric == pytest.approx(on_a_grid(off, span))


@given(rows, rows, spans)
def test_answers(ideal: list[Row], ours: list[Row], span: tuple[int, int]) -> None:
    def others(tick: int) -> float:
        now, then = current(ideal, tick), current(ours, tick)
        return sum(now.get(key) != then.get(key) for key in now.keys() | then.keys())

    matching = match_answers(told(ideal), told(ours), seconds(span))
    assert matching.metric == pytest.approx(on_a_grid(others, span))


@given(rows, rows, spans)
def test_sets(ideal: list[Row], ours: list[Row], span: tuple[int, int]) -> None:
    def last(found: list[Row], tick: int) -> set[int]:
        newest = max((time for time, *_ in found if time <= tick), default=None)
        return {key for time, key, _ in found if time == newest}

    def apart(tick: int) -> float:
        now, then = last(ideal, tick), last(ours, tick)
        return len(now ^ then) / len(now | then) if now | then else 0

    matching = match_sets(members(ideal), members(ours), seconds(span))
    assert matching.metric == pytest.approx(on_a_grid(apart, span))


def test_the_papers_example() -> None:
    """Bids b at times t with delays d: every rise is missing for as long as it is delayed."""
    bids, times, delays = np.array([10.0, 12, 17, 30]), np.array([1.0, 2, 4, 7]), np.array([0.5, 1.5, 2, 1])
    item = np.zeros(4, np.int64)
    matching = match_values(Emissions(times, item, bids), Emissions(times + delays, item, bids), Span(0, 10))
    rises = np.diff(bids, prepend=0)
    assert matching.metric == pytest.approx((rises * delays).sum() / 10)
    assert matching.ideal.at(np.array([0.5, 1, 3.9, 9])).tolist() == [0, 10, 12, 30]
    assert matching.ours.at(np.array([1.4, 1.5, 3.9, 9])).tolist() == [0, 10, 12, 30]


def test_the_warm_up_does_not_count() -> None:
    """The first answer is 3 s late, but only one of these lies in the span."""
    matching = match_counts(
        (np.array([0.0]), np.array([5.0])), (np.array([3.0]), np.array([5.0])), Span(2, 7)
    )
    assert matching.metric == pytest.approx(5 * 1 / 5)


@given(rows, spans)
def test_no_area_between_the_same(found: list[Row], span: tuple[int, int]) -> None:
    assert match_counts(counts(found), counts(found), seconds(span)).metric == 0
    assert match_values(told(found), told(found), seconds(span)).metric == 0
    assert match_answers(told(found), told(found), seconds(span)).metric == 0
    assert match_sets(members(found), members(found), seconds(span)).metric == 0


@given(rows, st.floats(0, 5), st.floats(0, 5))
def test_more_delay_is_more_area_where_answers_only_add_up(
    found: list[Row], delay: float, more: float
) -> None:
    def metric(late: float) -> float:
        times, numbers = counts(found)
        return match_counts((times, numbers), (times + late, numbers), Span(0, TICK * TICKS)).metric

    assert metric(delay + more) >= metric(delay) - 1e-9


@given(rows, rows, spans, st.sampled_from([match_values, match_answers]))
def test_the_distance_is_what_the_metric_is_the_mean_of(
    ideal: list[Row], ours: list[Row], span: tuple[int, int], match: Callable[..., object]
) -> None:
    matching = match(told(ideal), told(ours), seconds(span))
    assert matching.distance.mean(seconds(span)) == matching.metric
    if match is match_answers:
        between = matching.ideal.mean(seconds(span)) - matching.ours.mean(seconds(span))
        assert between == pytest.approx(matching.metric)


def test_a_figure_has_few_points_at_even_times_or_the_steps_themselves() -> None:
    steps = Steps(np.arange(1000) / 10, np.arange(1000.0))
    thinned = steps.thinned(Span(50, 90), 101)
    assert thinned.times[[0, -1]].tolist() == [50, 90]
    assert np.abs(thinned.values - 10 * thinned.times).max() <= 1
    few = steps.thinned(Span(50.05, 50.45), 101)
    assert few.times.tolist() == [50.05, 50.1, 50.2, 50.3, 50.4]
    assert few.values.tolist() == [500, 501, 502, 503, 504]


def test_many_rows_take_no_time() -> None:
    dice = np.random.default_rng(1)
    many = 400_000
    times, keys = np.sort(dice.random(many)) * 60, dice.integers(0, 20_000, many)
    values = np.cumsum(dice.random(many))
    matching = match_values(Emissions(times, keys, values), Emissions(times + 0.5, keys, values), Span(5, 60))
    assert matching.metric > 0
    assert len(matching.ideal.thinned(Span(5, 60), 500).times) <= 500
