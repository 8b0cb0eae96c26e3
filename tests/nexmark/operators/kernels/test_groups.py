"""Groups of rows by a number, against NumPy's own."""

from __future__ import annotations

import numpy as np
import pytest

from causeway.nexmark.operators.kernels.groups import groups_of, numbered, sums_of


@pytest.mark.parametrize("rows", [0, 1, 2, 1000])
@pytest.mark.parametrize("spread", [1, 3, 5_000, 1 << 61])
def test_groups_are_those_of_equal_numbers(rows: int, spread: int) -> None:
    """Close together they are counted, far apart they are sorted."""
    values = np.random.default_rng(rows + spread % 97).integers(-spread, spread, rows)
    found, place = groups_of(values)
    assert found.tolist() == sorted(set(values.tolist()))
    assert found[place].tolist() == values.tolist()
    number, count = numbered(values)
    assert count == len(found)
    pairs = set(zip(values.tolist(), number.tolist(), strict=True))
    assert len(pairs) == count
    assert sorted(second for _, second in pairs) == list(range(count))


def test_sums_are_exact() -> None:
    sums = sums_of(np.array([0, 1, 0]), np.array([1 << 53, 7, 1]), 2)
    assert sums.tolist() == [(1 << 53) + 1, 7]
