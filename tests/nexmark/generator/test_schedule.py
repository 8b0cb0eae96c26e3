"""Numbers and times of events, against counting them one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causeway.nexmark.generator.clock import Clock, first_event_at, time_of, times_of
from causeway.nexmark.generator.schedule import (
    AUCTION,
    FIRST_BID_STREAM,
    PERSON,
    PRELOADED,
    auctions_before,
    event_of_auction,
    event_of_person,
    kinds_of,
    longest_between_auctions,
    persons_before,
)


def kinds_one_by_one(bid_streams: int, cycles: int) -> list[int]:
    kinds = [PERSON] * 50 + [AUCTION] * 50
    for _ in range(cycles):
        kinds.append(PERSON)
        for _ in range(10):
            kinds.append(AUCTION)
            kinds += [FIRST_BID_STREAM + stream for _ in range(10) for stream in range(bid_streams)]
    return kinds


@pytest.mark.parametrize("bid_streams", [1, 2, 7])
def test_schedule_is_what_counting_gives(bid_streams: int) -> None:
    kinds = kinds_one_by_one(bid_streams, 3)
    assert kinds_of(bid_streams, np.arange(len(kinds))).tolist() == kinds
    persons = auctions = 0
    opened = []
    for event, kind in enumerate(kinds):
        assert persons_before(bid_streams, event) == persons
        assert auctions_before(bid_streams, event) == auctions
        if kind == PERSON:
            assert event_of_person(bid_streams, persons) == event
            persons += 1
        elif kind == AUCTION:
            assert event_of_auction(bid_streams, auctions) == event
            opened.append(event)
            auctions += 1
    assert np.diff(opened[49:]).max() == longest_between_auctions(bid_streams)


def test_bids_items_and_persons_are_100_to_10_to_1_for_each_bid_stream() -> None:
    cycle = 11 + 4 * 100
    counts = np.bincount(kinds_of(4, np.arange(PRELOADED, PRELOADED + 5 * cycle)))
    assert counts.tolist() == [5, 50, 500, 500, 500, 500]


@given(
    rate=st.sampled_from([0.0123, 0.111, 1.0, 3.0, 7.77, 1000.0, 10_000.0, 12_345.6, 1e7]),
    event=st.integers(0, 10**11),
    preloaded=st.sampled_from([0, 100]),
)
def test_the_first_event_at_a_time(rate: float, event: int, preloaded: int) -> None:
    clock = Clock(1_436_918_400_000, rate, preloaded)
    time = time_of(clock, event)
    assert time >= clock.start
    assert time_of(clock, event + 1) >= time
    for asked in (time - 1, time, time + 1):
        first = first_event_at(clock, asked)
        assert time_of(clock, first) >= asked
        assert first == 0 or time_of(clock, first - 1) < asked


def test_times_are_exact_where_the_rate_divides() -> None:
    clock = Clock(0, 3000.0, 0)
    assert times_of(clock, np.array([0, 1, 2, 3, 3000, 3_000_000_000])).tolist() == [0, 0, 0, 1, 1000, 10**9]
    assert time_of(Clock(5, 10.0, 100), 99) == time_of(Clock(5, 10.0, 100), 100) == 5
