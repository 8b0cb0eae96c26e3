"""Algorithm 1: what holds for every drive, on random routes, and its distributions."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from tests.berlinmod.small_city import line_city

from causeway.berlinmod.trips.driving import Streets, begin_track, drive, stand

START = 1_180_310_400_000
Corners = list[list[tuple[float, float]]]


class Drive(NamedTuple):
    t: np.ndarray
    x: np.ndarray
    y: np.ndarray
    length: float
    stops: int
    stood: int


def driven(corners: Corners, limits: list[float], key: int = 1, interval: int = 2000) -> Drive:
    city = line_city(corners, limits)
    streets = Streets(city.edge_offsets, city.edge_x, city.edge_y, city.edge_vmax)
    begin = begin_track(START, *corners[0][0])
    route = np.arange(len(corners), dtype=np.int32)
    track, length, stops, stood = drive(streets, route, np.uint64(key), interval, begin)
    return Drive(track.t[: track.size], track.x[: track.size], track.y[: track.size], length, stops, stood)


@st.composite
def routes(draw: st.DrawFn) -> tuple[Corners, list[float]]:
    """Streets of random steps, each beginning where the one before it ends."""
    place = (0.0, 0.0)
    corners, limits = [], []
    for _ in range(draw(st.integers(1, 4))):
        line = [place]
        for _ in range(draw(st.integers(1, 4))):
            angle = draw(st.floats(0, 2 * math.pi))
            length = draw(st.floats(0.01, 400))
            place = (place[0] + length * math.cos(angle), place[1] + length * math.sin(angle))
            line.append(place)
        corners.append(line)
        limits.append(draw(st.sampled_from([30.0, 50.0, 70.0])))
    return corners, limits


def whole_line(corners: Corners) -> shapely.LineString:
    return shapely.LineString([corners[0][0], *(point for line in corners for point in line[1:])])


def progress(corners: Corners, seen: Drive) -> list[float]:
    """Metres along the route of every instant, found by following the line: it may cross itself."""
    line = np.array(whole_line(corners).coords)
    lengths = np.hypot(*np.diff(line, axis=0).T)
    at = np.concatenate(([0], np.cumsum(lengths)))
    segment, places = 0, []
    for x, y in zip(seen.x, seen.y, strict=True):
        while True:
            dx, dy = line[segment + 1] - line[segment]
            along = ((x - line[segment][0]) * dx + (y - line[segment][1]) * dy) / lengths[segment]
            off = abs((x - line[segment][0]) * dy - (y - line[segment][1]) * dx) / lengths[segment]
            back = not places or at[segment] + along >= places[-1] - 1e-6
            if off < 1e-6 and -1e-6 <= along <= lengths[segment] + 1e-6 and back:
                break
            segment += 1
            assert segment < len(lengths), f"({x}, {y}) is not on the route"
        places.append(at[segment] + along)
    return places


@given(routes(), st.integers(0, 2**63), st.sampled_from([500, 2000, 7000]))
def test_every_drive_stays_on_its_route_in_order_and_within_limits(
    route: tuple[Corners, list[float]], key: int, interval: int
) -> None:
    corners, limits = route
    seen = driven(corners, limits, key, interval)
    line = whole_line(corners)
    assert (seen.x[0], seen.y[0]) == corners[0][0]
    assert (seen.x[-1], seen.y[-1]) == pytest.approx(corners[-1][-1])
    assert seen.length == pytest.approx(line.length)
    assert seen.t[0] == START
    assert np.all(np.diff(seen.t) > 0)

    places = progress(corners, seen)
    metres, milliseconds = np.diff(places), np.diff(seen.t)
    assert np.all(metres > -1e-6)
    ends = np.cumsum([shapely.LineString(line).length for line in corners])
    for begin, end, duration in zip(places, places[1:], milliseconds, strict=False):
        first = min(int(np.searchsorted(ends, begin + 1e-6, side="right")), len(limits) - 1)
        last = min(int(np.searchsorted(ends, end - 1e-6)), len(limits) - 1)
        fastest = max(limits[first : max(first, last) + 1])
        assert (end - begin) / duration * 3600 <= fastest * (1 + 1e-9) + 1e-6

    # The line between two instants is the way driven: no corner is cut, and a moving unit is short.
    assert np.hypot(np.diff(seen.x), np.diff(seen.y)) == pytest.approx(metres, abs=1e-6)
    moving = metres > 1e-9
    assert np.all(milliseconds[moving] <= interval)
    standing = ~((np.diff(seen.x) != 0) | (np.diff(seen.y) != 0))
    assert not np.any(standing[1:] & standing[:-1]), "standing that follows standing is one unit"
    assert milliseconds[standing].sum() == seen.stood
    assert seen.stops >= np.count_nonzero(standing)


@given(routes(), st.integers(0, 2**63))
def test_the_same_key_gives_the_same_drive(route: tuple[Corners, list[float]], key: int) -> None:
    first, second = driven(*route, key), driven(*route, key)
    assert all(np.array_equal(a, b) for a, b in zip(first[:3], second[:3], strict=True))


def test_the_clock_runs_on_through_straight_vertices_and_starts_anew_at_corners() -> None:
    straight = [[(0.0, 0.0), (300.0, 0.0), (700.0, 0.0), (1000.0, 0.0)]]
    for key in range(20):
        seen = driven(straight, [70.0], key)
        moving = np.diff(seen.x) > 0
        full = np.diff(seen.t) == 2000
        # Only the unit before a stop, and the last, is shorter than the clock's interval.
        short = np.flatnonzero(moving & ~full)
        assert all(unit == moving.size - 1 or not moving[unit + 1] for unit in short)
    bent = [[(0.0, 0.0), (300.0, 0.0), (300.0, 400.0)]]
    for key in range(20):
        seen = driven(bent, [70.0], key)
        assert np.any((seen.x == 300.0) & (seen.y == 0.0))


def test_a_corner_is_approached_slowly_also_across_edges() -> None:
    # The corner is 20 m after the crossing: a right angle leaves half of the limit, from 50 m before on.
    corners = [[(0.0, 0.0), (500.0, 0.0)], [(500.0, 0.0), (520.0, 0.0), (520.0, 500.0)]]
    for key in range(50):
        seen = driven(corners, [70.0, 70.0], key)
        speed = np.hypot(np.diff(seen.x), np.diff(seen.y)) / np.diff(seen.t) * 3600
        near = (seen.x[:-1] >= 475) & (seen.x[:-1] < 520)  # a piece may begin before the 50 m
        assert near.any()
        assert np.all(speed[near] <= 35.0 + 1e-6)


def test_a_drive_starts_slowly_and_gains_12_km_h_with_every_5_metres() -> None:
    # 0.1 s samples on a straight freeway: without an event, the speeds are 12, 24, 36, 48, 60, 70.
    for key in range(30):
        seen = driven([[(0.0, 0.0), (60.0, 0.0)]], [70.0], key, interval=100)
        speed = np.diff(seen.x) / np.diff(seen.t) * 3600
        if seen.stops == 0 and np.all(np.diff(speed[:-1]) >= -1e-6):
            assert speed[0] == pytest.approx(12.0)
            assert speed.max() == pytest.approx(70.0)
            return
    raise AssertionError("no drive of thirty went undisturbed")


STREETS = {"side street": 30.0, "main street": 50.0, "freeway": 70.0}
TABLE_6 = {
    ("side street", "side street"): 0.33,
    ("side street", "main street"): 0.66,
    ("side street", "freeway"): 1.0,
    ("main street", "side street"): 0.33,
    ("main street", "main street"): 0.5,
    ("main street", "freeway"): 0.66,
    ("freeway", "side street"): 0.1,
    ("freeway", "main street"): 0.33,
    ("freeway", "freeway"): 0.05,
}


@pytest.mark.parametrize(("before", "after"), TABLE_6)
def test_stops_at_crossings_are_as_often_as_table_6_says(before: str, after: str) -> None:
    drives = 1500
    corners = [[(0.0, 0.0), (5.0, 0.0)], [(5.0, 0.0), (10.0, 0.0)]]
    city = line_city(corners, [STREETS[before], STREETS[after]])
    streets = Streets(city.edge_offsets, city.edge_x, city.edge_y, city.edge_vmax)
    stops = 0
    for key in range(drives):
        begin = begin_track(START, 0.0, 0.0)
        track, *_ = drive(streets, np.arange(2, dtype=np.int32), np.uint64(key * 7919), 2000, begin)
        # Where the standing is tells a stop at the crossing from one by an event.
        stops += bool(np.any((track.x[1 : track.size] == 5.0) & (track.x[: track.size - 1] == 5.0)))
    share = TABLE_6[before, after]
    event = 0.1 / STREETS[after]  # a stop by an event at the start of the second edge is at the crossing too
    expected = share + (1 - share) * event
    assert abs(stops / drives - expected) <= 4 * math.sqrt(expected * (1 - expected) / drives) + 1e-9


def test_waits_are_exponential_with_a_mean_of_15_seconds() -> None:
    corners = [[(5.0 * edge, 0.0), (5.0 * edge + 5, 0.0)] for edge in range(2000)]
    limits = [30.0 if edge % 2 == 0 else 70.0 for edge in range(2000)]
    waits: list[int] = []
    for key in range(3):
        seen = driven(corners, limits, key)
        waits += np.diff(seen.t)[np.diff(seen.x) == 0].tolist()
    assert len(waits) > 2500
    assert np.mean(waits) == pytest.approx(15_000, rel=0.1)
    assert np.median(waits) == pytest.approx(15_000 * math.log(2), rel=0.12)


def test_events_are_as_rare_as_their_rule() -> None:
    # On a straight side street an event comes with p = 1/30 for each of 2000 pieces; a tenth are stops.
    stops = [driven([[(0.0, 0.0), (10_000.0, 0.0)]], [30.0], key).stops for key in range(40)]
    expected = 2000 / 30 * 0.1
    assert abs(np.mean(stops) - expected) <= 4 * math.sqrt(expected / 40)


def test_standing_extends_standing() -> None:
    track = stand(stand(begin_track(0, 1.0, 2.0), 500), 900)
    assert track.size == 2
    assert track.t[:2].tolist() == [0, 900]
    assert stand(track, 900).size == 2
