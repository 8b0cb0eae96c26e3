"""Every kernel under every rule set, against a plain reading of the rule, on crowded streams out of order."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.nexmark.judge.batch.literal_reading import reading
from tests.nexmark.judge.batch.test_random_streams import SPAN, START, crowded_stream
from tests.nexmark.operators.kernels.harness import final, stepwise

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
@given(seed=st.integers(0, 50), cuts=st.lists(st.integers(0, 987), max_size=12), shards=st.integers(1, 3))
@example(seed=38, cuts=[], shards=1)  # of equal bids, the lower bidder's is not the first to arrive
def test_any_cut_gives_the_literal_answer(
    name: str, rules: str, seed: int, cuts: list[int], shards: int
) -> None:
    query = find_query("modern", name, rules)
    events = crowded_stream(seed)
    answers, states = stepwise(query, events, cuts, shards, DISORDER)
    assert final(query, answers) == reading(name, rules, events)
    assert not any(state.late for state in states)


@pytest.mark.parametrize("name", ["q4", "q5", "q6", "q7", "q8", "q9"])
def test_state_is_empty_when_all_has_closed(name: str) -> None:
    """What is kept then is not about what is open: sums, the last ten prices."""
    _, states = stepwise(find_query("modern", name), crowded_stream(1), range(0, 988, 50), 2, DISORDER)
    kept = {cell.split(" ")[0] for state in states for cell in state.cells}
    assert kept <= {"categories", "sellers"}


@pytest.mark.parametrize("name", ["q5", "q7", "q8"])
def test_late_events_are_set_aside_not_lost(name: str) -> None:
    query = find_query("modern", name)
    events = sorted(crowded_stream(2), key=lambda event: event[1]["dateTime"])
    late = [event for event in events if event[1]["dateTime"] < START + 5_000]
    rest = [event for event in events if event[1]["dateTime"] >= START + 5_000]
    assert late
    _, states = stepwise(query, [*rest, *late], range(0, 988, 50), 1, 0)
    assert SPAN > 60_000
    streams = {"q8": ("person", "auction")}.get(name, ("bid",))
    expected = sum(stream in streams for stream, _ in late)
    if name == "q5":
        # They are counted by hop and auction before they are found late.
        assert sum(row["num"] for state in states for row in state.late) == expected
    elif name == "q8":
        assert sum(len(state.late) for state in states) == expected
    else:
        assert any(state.late for state in states)
