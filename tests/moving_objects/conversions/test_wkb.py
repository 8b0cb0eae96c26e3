"""Well-known binary of points, lines and regions against shapely, there and back."""

from __future__ import annotations

import pyarrow as pa
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.moving_objects.movements import points_of, region_of

from causeway.moving_objects.conversions.wkb import (
    decode_points,
    decode_shapes,
    encode_lines,
    encode_points,
    encode_regions,
)
from causeway.moving_objects.kernels.values import Shapes
from causeway.runtime.errors import UserError

Corner = tuple[float, float]

number = st.floats(-1e7, 1e7, allow_nan=False)
corner = st.tuples(number, number)
part = st.lists(corner, min_size=2, max_size=5, unique=True)


def _parts(shapes: Shapes, r: int) -> list[list[Corner]]:
    """The parts of a row."""
    found = []
    for p in range(shapes.row[r], shapes.row[r + 1]):
        places = slice(shapes.part[p], shapes.part[p + 1])
        found.append(list(zip(shapes.x[places].tolist(), shapes.y[places].tolist(), strict=True)))
    return found


def _square(x: float, y: float, half: float) -> list[Corner]:
    return [(x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half)]


@settings(max_examples=50)
@given(st.lists(corner, max_size=5))
def test_points_are_read_by_shapely_and_by_us(places: list[Corner]) -> None:
    binary = encode_points(points_of(*places))
    assert [(one.x, one.y) for one in shapely.from_wkb(binary.to_pylist())] == places
    again = decode_points(binary)
    assert list(zip(again.x.tolist(), again.y.tolist(), strict=True)) == places


@settings(max_examples=80)
@given(st.lists(part, min_size=1, max_size=3))
def test_lines_are_read_by_shapely_and_by_us(parts: list[list[Corner]]) -> None:
    binary = encode_lines(region_of(*parts))
    theirs = shapely.from_wkb(binary[0].as_py())
    lines = list(theirs.geoms) if len(parts) > 1 else [theirs]
    assert [list(line.coords) for line in lines] == parts
    assert _parts(decode_shapes(binary, regions=False), 0) == parts
    assert _parts(decode_shapes(pa.array([shapely.to_wkb(theirs)]), regions=False), 0) == parts


def test_a_line_of_one_point_comes_back_as_one_point() -> None:
    binary = encode_lines(region_of([(3.0, 4.0)]))
    assert list(shapely.from_wkb(binary[0].as_py()).coords) == [(3.0, 4.0), (3.0, 4.0)]
    assert _parts(decode_shapes(binary, regions=False), 0) == [[(3.0, 4.0)]]


@settings(max_examples=80)
@given(
    st.integers(1, 3),
    st.lists(st.booleans(), min_size=3, max_size=3),
    st.permutations(range(7)),
    st.booleans(),
)
def test_regions_with_holes_keep_their_rings(
    count: int, has_hole: list[bool], order: list[int], has_island: bool
) -> None:
    """Squares beside each other, some with a hole, one with a square in the hole; the rings in any order."""
    rings, area = [], 0.0
    for k in range(count):
        rings.append(_square(100.0 * k, 0.0, 40.0))
        area += 6400.0
        if has_hole[k]:
            rings.append(_square(100.0 * k, 0.0, 20.0))
            area -= 1600.0
    if has_island and has_hole[0]:
        rings.append(_square(0.0, 0.0, 5.0))
        area += 100.0
    rings = [rings[k] for k in order if k < len(rings)]
    binary = encode_regions(region_of(*rings))
    theirs = shapely.from_wkb(binary[0].as_py())
    assert theirs.is_valid
    assert theirs.area == area
    assert sorted(_parts(decode_shapes(binary, regions=True), 0)) == sorted(rings)
    # Their rings may go the other way round.
    again = decode_shapes(pa.array([shapely.to_wkb(theirs.normalize())]), regions=True)
    assert sorted(map(sorted, _parts(again, 0))) == sorted(map(sorted, rings))


@pytest.mark.parametrize("cut", [0, 8, 20, 40])
def test_binary_that_is_cut_short_is_refused(cut: int) -> None:
    whole = encode_regions(region_of(_square(0.0, 0.0, 1.0)))[0].as_py()
    with pytest.raises(UserError, match="value 1 is not a Polygon or MultiPolygon"):
        decode_shapes(pa.array([whole, whole[:cut]]), regions=True)
    with pytest.raises(UserError, match="expected a two-dimensional Point"):
        decode_points(pa.array([whole]))
