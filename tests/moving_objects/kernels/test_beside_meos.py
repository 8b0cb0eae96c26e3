"""Operators beside PyMEOS, with open and closed ends, gaps and single instants."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pymeos
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.moving_objects.movements import Movement, columns, is_in, movement, movements, spans_of

from causeway.moving_objects.kernels.distances import compare, distance
from causeway.moving_objects.kernels.lines import length
from causeway.moving_objects.kernels.spans import at_value, restrict, united

pymeos.pymeos_initialize("UTC")


def _time(ms: float) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def _text(ms: float) -> str:
    return f"{_time(ms):%Y-%m-%d %H:%M:%S.%f+00}"


def _meos(one: Movement) -> pymeos.TGeomPointSeqSet:
    parts = []
    for piece in one:
        instants = [f"Point({x} {y})@{_text(t)}" for t, x, y in piece.instants]
        ends = ("[" if piece.begin_closed else "(", "]" if piece.end_closed else ")")
        parts.append(f"{ends[0]}{', '.join(instants)}{ends[1]}")
    return pymeos.TGeomPointSeqSet(f"{{{', '.join(parts)}}}")


@settings(max_examples=100)
@given(movements().filter(bool))
def test_length(one: Movement) -> None:
    assert length(columns([one]))[0] == pytest.approx(_meos(one).length(), abs=1e-9)


@settings(max_examples=100)
@given(movements().filter(bool), st.integers(0, 20), st.integers(0, 8), st.booleans(), st.booleans())
def test_atperiods(one: Movement, begin: int, lasts: int, begin_closed: bool, end_closed: bool) -> None:
    first = one[0].instants[0][0] + 500 * begin
    last = first + 500 * lasts
    closed = (begin_closed or lasts == 0, end_closed or lasts == 0)
    brackets = ("[" if closed[0] else "(", "]" if closed[1] else ")")
    span = pymeos.TsTzSpan(f"{brackets[0]}{_text(first)}, {_text(last)}{brackets[1]}")
    found = movement(restrict(columns([one]), united(spans_of([[(first, last, *closed)]]))), 0)
    theirs = _meos(one).at(span)
    assert (theirs is None) == (not found)
    if theirs is not None:
        # The last digits of a position between two instants may differ.
        assert theirs.to_sequenceset(pymeos.TInterpolation.LINEAR).round(6) == _meos(found).round(6)


@settings(max_examples=100)
@given(movements().filter(bool), movements().filter(bool), st.sampled_from([1.5, 2.5]))
def test_distance_and_when_it_is_small(one: Movement, other: Movement, metres: float) -> None:
    """MEOS interpolates distances evenly between turning points, so only values at instants compare."""
    apart = distance(columns([one]), columns([other]))
    near = at_value(compare(apart, "le", np.array([metres])), np.array([True])).spans
    theirs = _meos(one).distance(_meos(other))
    assert (theirs is None) == (apart.spans.row[-1] == 0)
    if theirs is None:
        return
    for k in range(apart.spans.row[-1]):
        begin, end = apart.spans.begin[k], apart.spans.end[k]
        if apart.spans.begin_closed[k] and begin == int(begin):
            assert np.sqrt(apart.c[k]) == pytest.approx(theirs.value_at_timestamp(_time(begin)), abs=1e-6)
            assert is_in(near, 0, begin) == (np.sqrt(apart.c[k]) <= metres)
        assert begin <= end
