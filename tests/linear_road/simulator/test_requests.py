"""Historical query requests, against section 3.1.1 and 3.1.2."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causeway.linear_road.simulator.requests import RequestStream


@pytest.fixture(scope="module")
def drawn() -> dict[str, np.ndarray]:
    stream = RequestStream(1, 3, 0)
    stretches = [stream.draw(50_000) for _ in range(40)]
    return {
        name: np.concatenate([getattr(stretch, name) for stretch in stretches])
        for name in stretches[0]._fields
    }


def test_shares_are_the_papers(drawn: dict[str, np.ndarray]) -> None:
    kind = drawn["type"]
    assert kind.size == pytest.approx(20_000, rel=0.04)
    for number, share in ((2, 0.5), (3, 0.1), (4, 0.4)):
        assert (kind == number).mean() == pytest.approx(share, abs=0.015)


def test_every_request_can_be_answered(drawn: dict[str, np.ndarray]) -> None:
    kind = drawn["type"]
    daily, travel, balance = kind == 3, kind == 4, kind == 2
    assert (drawn["expressway"][daily | travel] == 3).all()
    assert drawn["day"][daily].min() == 1
    assert drawn["day"][daily].max() == 69
    for field, low, high in (
        ("initial_segment", 0, 99),
        ("end_segment", 0, 99),
        ("weekday", 1, 7),
        ("minute_of_day", 1, 1440),
    ):
        values = drawn[field][travel]
        assert values.min() >= low
        assert values.max() <= high
        assert np.unique(values).size > 0.9 * min(high - low + 1, values.size)
        assert (drawn[field][~travel] == -1).all()
    assert (drawn["day"][~daily] == -1).all()
    assert (drawn["expressway"][balance] == -1).all()


def test_journeys_go_the_way_of_the_traffic() -> None:
    for direction in (0, 1):
        drawn = RequestStream(2, 0, direction).draw(100_000)
        onward = (drawn.end_segment - drawn.initial_segment)[drawn.type == 4] * (1 - 2 * direction)
        assert onward.min() >= 0
        assert onward.max() > 80


def test_identifiers_are_unique_over_directions_and_expressways() -> None:
    identifiers = np.concatenate(
        [
            RequestStream(1, xway, direction).draw(100_000).identifier
            for xway in (0, 1)
            for direction in (0, 1)
        ]
    )
    assert np.unique(identifiers).size == identifiers.size


@given(st.lists(st.integers(0, 400), min_size=1, max_size=30), st.integers(0, 100))
def test_requests_come_with_reports_of_their_stretch(lengths: list[int], seed: int) -> None:
    stream = RequestStream(seed, 0, 1)
    for length in lengths:
        report = stream.draw(length).report
        assert (np.diff(report) > 0).all()
        assert report.size == 0 or (report[0] >= 0 and report[-1] < length)
