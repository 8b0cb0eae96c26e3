"""Deliveries: any cutting gives the same rows, late ones within their bound, each exactly once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.nexmark.generator.clock import time_of
from causeway.nexmark.generator.firehose import Firehose, ModelName
from causeway.nexmark.model import MODELS
from causeway.runtime.errors import UserError

EVENTS = 4000

firehoses = st.builds(
    Firehose,
    model=st.sampled_from(["modern", "paper"]),
    events=st.just(EVENTS),
    rate=st.sampled_from([0.111, 7.7, 1000.0]),
    seed=st.integers(0, 2**63 - 1),
    disorder=st.sampled_from([0.0, 0.8, 40.0, 9000.0]),
)


def time_column(firehose: Firehose, stream: str) -> str:
    return MODELS[firehose.model].time[stream.partition("-")[0]]


def times(firehose: Firehose, stream: str, table: pa.Table) -> np.ndarray:
    return table[time_column(firehose, stream)].cast(pa.int64()).to_numpy()


@settings(max_examples=40)
@given(firehose=firehoses, cuts=st.lists(st.integers(0, EVENTS), max_size=5))
def test_the_rows_are_the_same_however_they_are_cut(firehose: Firehose, cuts: list[int]) -> None:
    whole = firehose.deliver(0, EVENTS)
    parts = [firehose.deliver(first, last) for first, last in pairwise(sorted([0, *cuts, EVENTS]))]
    assert list(whole) == list(firehose.streams)
    for name, table in whole.items():
        assert pa.concat_tables([part[name] for part in parts]).equals(table)
        assert table.schema.equals(firehose.streams[name])


@settings(max_examples=25)
@given(firehose=firehoses)
def test_disorder_only_changes_the_order(firehose: Firehose) -> None:
    ordered = Firehose(firehose.model, EVENTS, firehose.rate, seed=firehose.seed)
    for name, table in firehose.deliver(0, EVENTS).items():
        in_order = ordered.deliver(0, EVENTS)[name]
        keys = [(column, "ascending") for column in table.column_names]
        assert table.sort_by(keys).equals(in_order.sort_by(keys))
        by_time = times(ordered, name, in_order)
        assert (np.diff(by_time) >= 0).all()


@settings(max_examples=25)
@given(firehose=firehoses, first=st.integers(0, EVENTS - 2), length=st.integers(1, 60))
def test_nothing_is_early_or_later_than_the_bound(firehose: Firehose, first: int, length: int) -> None:
    last = min(first + length, EVENTS - 1)
    begin, end = (time_of(firehose._clock, event) for event in (max(first - 1, 0), last - 1))
    for name, table in firehose.deliver(first, last).items():
        happened = times(firehose, name, table)
        assert (happened <= end).all()
        assert (happened >= begin - 1000 * firehose.disorder).all()


def test_events_are_late_by_all_that_is_allowed_and_no_more() -> None:
    firehose = Firehose("modern", 20_000, 1000.0, disorder=2.0)
    delays = []
    for number in range(5000, 5200):
        for name, table in firehose.deliver(number, number + 1).items():
            delays += list(time_of(firehose._clock, number) - times(firehose, name, table))
    assert min(delays) >= 0
    assert 1900 < max(delays) <= 2000
    assert np.mean(delays) == pytest.approx(1000, rel=0.2)


@pytest.mark.parametrize("model", ["modern", "paper"])
def test_more_events_begin_with_the_same_ones(model: ModelName) -> None:
    few, many = (Firehose(model, events, 10.0, seed=5) for events in (1000, 5000))
    begun = many.deliver(0, 1000)
    for name, table in few.deliver(0, 1000).items():
        assert begun[name].equals(table)


def test_an_empty_delivery_has_every_stream() -> None:
    firehose = Firehose("paper", 1000, 1.0, bid_streams=2, disorder=100.0)
    empty = firehose.deliver(1000, 1000)
    assert list(empty) == ["person", "item", "open_auction", "closed_auction", "bid-1", "bid-2"]
    assert all(table.num_rows == 0 for table in empty.values())


@pytest.mark.parametrize(("first", "last"), [(-1, 5), (5, 4), (0, 1001)])
def test_a_range_outside_is_a_mistake(first: int, last: int) -> None:
    with pytest.raises(ValueError, match="not within"):
        Firehose("modern", 1000, 1.0).deliver(first, last)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"model": "ancient"}, "the model is paper or modern"),
        ({"events": 0}, "the number of events is"),
        ({"rate": 0.0}, "the rate is"),
        ({"seed": -1}, "the seed is"),
        ({"disorder": -1.0}, "the disorder is"),
        ({"disorder": 1e9}, "the disorder is"),
        ({"disorder": float("nan")}, "the disorder is"),
        ({"disorder": 100.0, "rate": 1e6}, "the disorder is"),
        ({"rate": 1e-9}, "a thousand years"),
        ({"bid_streams": 2}, "several bid streams"),
    ],
)
def test_impossible_settings_are_told(settings_: dict, message: str) -> None:
    with pytest.raises(UserError, match=message):
        Firehose(**({"model": "modern", "events": 100, "rate": 1.0} | settings_))
