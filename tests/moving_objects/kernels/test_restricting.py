"""Restricting a movement to times, points and regions, against one instant at a time in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.moving_objects.movements import (
    Movement,
    columns,
    in_region,
    interesting,
    is_in,
    movement,
    movements,
    points_of,
    position,
    region_of,
    spans_of,
)

from causeway.moving_objects.kernels import places, positions
from causeway.moving_objects.kernels.spans import deftime, restrict, united
from causeway.moving_objects.kernels.values import Shapes

# Times are milliseconds since 1970 as floating point numbers, 0.0002 apart; at 9 m/s this is some 2e-6 m.
NEAR = Fraction(1, 10**5)

intervals = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 6), st.booleans(), st.booleans()).map(
        lambda one: (1000 * one[0], 1000 * (one[0] + one[1]), one[2] or one[1] == 0, one[3] or one[1] == 0)
    ),
    max_size=4,
)


@settings(max_examples=150)
@given(st.lists(st.tuples(movements(), intervals), min_size=1, max_size=3))
def test_atperiods_is_the_movement_at_exactly_those_instants(rows: list[tuple[Movement, list]]) -> None:
    starts = [one[0].instants[0][0] // 10**6 * 10**6 if one else 0 for one, _ in rows]
    given_spans = spans_of(
        [
            [(b + s, e + s, bc, ec) for b, e, bc, ec in spans]
            for (_, spans), s in zip(rows, starts, strict=True)
        ]
    )
    points = columns([one for one, _ in rows])
    spans = united(given_spans)
    found = restrict(points, spans)
    when = deftime(found)
    present = positions.present_during(points, spans)
    for r, (one, _) in enumerate(rows):
        result = movement(found, r)
        assert present[r] == bool(result)
        times = interesting(one, result, given_spans)
        for t in times:
            expected = position(one, t) if is_in(given_spans, r, t) else None
            assert is_in(spans, r, t) == is_in(given_spans, r, t)
            assert is_in(when, r, t) == (expected is not None)
            assert _same(position(result, t), expected)
        if times:
            instant = np.array([float(times[len(times) // 2])])
            here, x, y = positions.at_instant(columns([one]), instant)
            expected = position(one, Fraction(instant[0]))
            assert _same((Fraction(x[0]), Fraction(y[0])) if here[0] else None, expected)


def _same(one: tuple[Fraction, Fraction] | None, other: tuple[Fraction, Fraction] | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one[0] - other[0]) < NEAR and abs(one[1] - other[1]) < NEAR


@settings(max_examples=150)
@given(
    st.lists(movements(), min_size=1, max_size=3),
    st.tuples(st.integers(-3, 3), st.integers(-3, 3)),
    st.sampled_from([0.01, 0.5, 1.0, 2.0]),
)
def test_at_a_point_is_when_it_is_within_the_tolerance(
    rows: list[Movement], place: tuple[int, int], metres: float
) -> None:
    points = columns(rows)
    spots, limit = points_of(*[place] * len(rows)), np.full(len(rows), metres)
    spans = places.at_point(points, spots, limit)
    passes = places.passes_point(points, spots, limit)
    for r, one in enumerate(rows):
        assert passes[r] == (spans.row[r + 1] > spans.row[r])
        for t in interesting(one, spans):
            here = position(one, t)
            if here is None:
                assert not is_in(spans, r, t)
                continue
            square = (here[0] - place[0]) ** 2 + (here[1] - place[1]) ** 2
            at_an_instant = any(t == instant for piece in one for instant, _, _ in piece.instants)
            if at_an_instant or abs(square - Fraction(metres) ** 2) > NEAR:
                assert is_in(spans, r, t) == (square <= Fraction(metres) ** 2)


RINGS = [
    [[(-2, -2), (2, -2), (2, 2), (-2, 2)]],
    [[(0, -2), (2, 0), (0, 2), (-2, 0)]],
    [[(-3, -3), (3, -3), (3, 3), (0, 0), (-3, 3)]],
    [[(-3, -3), (3, -3), (3, 3), (-3, 3)], [(-1, -1), (1, -1), (1, 1), (-1, 1)]],
    [[(-3, -3), (-1, -3), (-1, -1)], [(1, 1), (3, 1), (3, 3), (2, 2)]],
]


@settings(max_examples=200)
@given(st.lists(movements(), min_size=1, max_size=3), st.sampled_from(RINGS))
def test_at_a_region_is_when_it_is_in_it_or_on_its_border(
    rows: list[Movement], rings: list[list[tuple[int, int]]]
) -> None:
    points = columns(rows)
    one_region = region_of(*[[(float(x), float(y)) for x, y in ring] for ring in rings])
    count = len(rings)
    corners = np.diff(one_region.part)
    regions = Shapes(
        np.arange(len(rows) + 1) * count,
        np.concatenate([[0], np.cumsum(np.tile(corners, len(rows)))]),
        np.tile(one_region.x, len(rows)),
        np.tile(one_region.y, len(rows)),
    )
    spans = places.at_region(points, regions)
    passes = places.passes_region(points, regions)
    for r, one in enumerate(rows):
        assert passes[r] == (spans.row[r + 1] > spans.row[r])
        times = interesting(one, spans)
        for k, t in enumerate(times):
            here = position(one, t)
            boundary = any(abs(t - Fraction(edge)) < NEAR * 1000 for edge in (*spans.begin, *spans.end))
            at_an_instant = any(t == instant for piece in one for instant, _, _ in piece.instants)
            if here is None:
                assert not is_in(spans, r, t)
            elif at_an_instant or not boundary:
                assert is_in(spans, r, t) == in_region(rings, *here), (k, t, here)


def _piece(*instants: tuple[int, float, float], closed: tuple[bool, bool] = (True, False)):
    from tests.moving_objects.movements import Piece

    return Piece(instants, *closed)  # type: ignore[arg-type]


def test_touching_a_corner_is_one_instant() -> None:
    points = columns([(_piece((0, -1, 1), (2000, 1, 1)),)])
    spans = places.at_region(points, region_of([(-1, -1), (1, -1), (0, 1)]))
    assert (spans.begin.tolist(), spans.end.tolist()) == ([1000], [1000])
    assert spans.begin_closed.all() and spans.end_closed.all()


def test_driving_along_a_side_is_in_the_region() -> None:
    points = columns([(_piece((0, -5, 1), (10_000, 5, 1)),)])
    spans = places.at_region(points, region_of([(-1, -1), (1, -1), (1, 1), (-1, 1)]))
    assert (spans.begin.tolist(), spans.end.tolist()) == ([4000], [6000])


def test_an_open_end_at_a_place_is_not_there() -> None:
    coming = columns([(_piece((0, -5, 0), (5000, 0, 0)),)])
    region = region_of([(0, -1), (1, -1), (1, 1), (0, 1)])
    assert not places.passes_region(coming, region)[0]
    arrived = columns([(_piece((0, -5, 0), (5000, 0, 0), closed=(True, True)),)])
    assert places.passes_region(arrived, region)[0]


def test_within_one_centimetre_of_a_point_is_an_interval() -> None:
    points = columns([(_piece((0, -10, 0.005), (2000, 10, 0.005)),)])
    spans = places.at_point(points, points_of((0, 0)), np.array([0.01]))
    half = 100 * np.sqrt(0.01**2 - 0.005**2)
    assert np.allclose([spans.begin[0], spans.end[0]], [1000 - half, 1000 + half], atol=1e-6)
    farther = columns([(_piece((0, -10, 0.011), (2000, 10, 0.011)),)])
    assert not places.passes_point(farther, points_of((0, 0)), np.array([0.01]))[0]


def test_a_closed_period_that_ends_where_a_movement_begins_gives_one_instant() -> None:
    points = columns([(_piece((5000, 1, 2), (9000, 3, 4)),)])
    found = restrict(points, spans_of([[(1000, 5000, True, True)]]))
    assert movement(found, 0) == (_piece((5000, 1, 2), closed=(True, True)),)
    none = restrict(points, spans_of([[(9000, 10_000, True, True)]]))
    assert movement(none, 0) == ()


def test_inside_counts_the_border() -> None:
    square = region_of([(0, 0), (2, 0), (2, 2), (0, 2)])
    found = [places.inside(points_of(one), square)[0] for one in ((1, 1), (0, 1), (2, 2), (3, 1), (1, -1))]
    assert found == [True, True, True, False, False]
