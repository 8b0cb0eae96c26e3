"""Every kernel under every rule set, against a plain reading of the rule, on crowded streams out of order."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.nexmark.judge.batch.literal_reading import reading
from tests.nexmark.judge.batch.tables import Event, Row
from tests.nexmark.judge.batch.test_random_streams import START, crowded_stream
from tests.nexmark.operators.kernels.harness import final, stepwise

from causeway.nexmark.model import ARRIVAL
from causeway.nexmark.queries import RULE_SETS, find_query, query_names

DISORDER = 3000
KERNELS = [
    (name, rules)
    for name in query_names("modern")
    for rules in RULE_SETS
    if (query := find_query("modern", name, rules)).kernel is not None
    and (
        rules == "ours"
        or (query.arguments, query.final)
        != ((ours := find_query("modern", name, "ours")).arguments, ours.final)
    )
]


@pytest.mark.parametrize(("name", "rules"), KERNELS)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 50),
    cuts=st.lists(st.integers(0, 987), max_size=12),
    shards=st.integers(1, 3),
    end_apart=st.booleans(),
)
@example(seed=38, cuts=[], shards=1, end_apart=True)  # of equals, the lower bidder's is not first to arrive
@example(seed=1, cuts=[500], shards=2, end_apart=False)
def test_any_cut_gives_the_literal_answer(
    name: str, rules: str, seed: int, cuts: list[int], shards: int, end_apart: bool
) -> None:
    query = find_query("modern", name, rules)
    events = crowded_stream(seed)
    answers, states = stepwise(query, events, cuts, shards, DISORDER, end_apart=end_apart)
    found = final(query, answers)
    assert (by_bidder(found) if name == "q12" else found) == reading(name, rules, events)
    assert not any(state.late for state in states)


def by_bidder(answers: Counter[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Answers of q12, whose windows are the clock's: the bids of each bidder in all."""
    bids = Counter[int]()
    for (bidder, count, start, end), times in answers.items():
        assert (times, end - start, start % 10_000) == (1, 10_000, 0)
        bids[bidder] += count
    return Counter(bids.items())


@pytest.mark.parametrize("name", ["q4", "q5", "q6", "q7", "q8", "q9", "q11"])
def test_state_is_empty_when_all_has_closed(name: str) -> None:
    """What is kept then is not about what is open: sums, the last ten prices."""
    _, states = stepwise(find_query("modern", name), crowded_stream(1), range(0, 988, 50), 2, DISORDER)
    kept = {cell.split(" ")[0] for state in states for cell in state.cells}
    assert kept <= {"categories", "sellers"}


LATE = {
    "q3": {"person", "auction"},
    "q4": {"auction", "bid"},
    "q5": {"bid"},
    "q6": {"auction", "bid"},
    "q7": {"bid"},
    "q8": {"person", "auction"},
    "q9": {"auction", "bid"},
    "q11": {"bid"},
    "q15": {"bid"},
    "q16": {"bid"},
    "q17": {"bid"},
    "q18": {"bid"},
    "q19": {"bid"},
    "q20": {"auction", "bid"},
}
"""The streams of each kernel whose events can be late."""
NEVER = {"q12"}
"""Kernels that no time of an event concerns."""
TWO_DAYS = 2 * 86_400_000


def test_every_kernel_is_in_the_list_of_late_streams() -> None:
    assert {name for name, _ in KERNELS} == set(LATE) | NEVER
    assert all(set(find_query("modern", name).streams) == streams for name, streams in LATE.items())


@pytest.mark.parametrize(("name", "rules"), [one for one in KERNELS if one[0] not in NEVER])
def test_late_events_are_counted_and_kept_and_change_no_answer(name: str, rules: str) -> None:
    """A day of other auctions, then events of two days before: all of them are late, event by event."""
    query = find_query("modern", name, rules)
    events = crowded_stream(2)
    early = [(stream, _earlier(stream, row)) for stream, row in events]
    on_time, _ = stepwise(query, events, range(0, len(events), 50), 2, DISORDER)
    cuts = range(0, 2 * len(events), 50)
    answers, states = stepwise(query, [*events, *early], [*cuts, len(events)], 2, DISORDER)
    kept = Counter((stream, row[ARRIVAL]) for state in states for stream, row in state.late)
    never_late = {"person", "auction"} if (name, rules) in NEVER_LATE else set()
    expected = {
        (stream, arrival)
        for arrival, (stream, _) in enumerate(early, len(events))
        if stream in LATE[name] - never_late
    }
    assert set(kept) == expected
    assert set(kept.values()) <= {1}
    if not never_late:
        assert final(query, answers) == final(query, on_time)
    assert expected or never_late


NEVER_LATE = {("q3", "beam"), ("q3", "flink")}
"""Plain joins, which keep both sides for good."""


def _earlier(stream: str, row: Row) -> Row:
    """The same two days before, about other persons and auctions."""
    times = {name: row[name] - TWO_DAYS for name in ("dateTime", "expires") if name in row}
    ids = {name: row[name] + 10_000 for name in ("id", "auction", "bidder", "seller") if name in row}
    return row | times | ids


@pytest.mark.parametrize("name", ["q4", "q6", "q9"])
def test_a_bid_behind_the_watermark_counts_while_its_auction_is_open(name: str) -> None:
    """The watermark is behind nothing here, so every bid that is not in order is behind it."""
    events: list[Event] = [
        ("auction", AUCTION | {"id": 1, "dateTime": START, "expires": START + 60_000}),
        ("auction", AUCTION | {"id": 2, "dateTime": START + 30_000, "expires": START + 90_000}),
        ("bid", BID | {"auction": 1, "price": 700, "dateTime": START + 10_000}),
        ("auction", AUCTION | {"id": 3, "dateTime": START + 70_000, "expires": START + 95_000}),
        ("bid", BID | {"auction": 1, "price": 900, "dateTime": START + 20_000}),
    ]
    query = find_query("modern", name)
    answers, states = stepwise(query, events, range(len(events)), 1, 0)
    assert [answer.get("bid_price", answer.get("price")) for answer in answers] == [700]
    assert [(stream, row["price"]) for state in states for stream, row in state.late] == [("bid", 900)]


AUCTION = {"itemName": "i", "description": "d", "initialBid": 1, "reserve": 1, "seller": 5, "category": 10}
BID = {"bidder": 3, "channel": "c", "url": "u"}
