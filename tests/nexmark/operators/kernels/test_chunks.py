"""State in chunks: the same as rows that are looked for one by one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.nexmark.operators.kernels.harness import KeptState

from causeway.nexmark.operators.kernels import Watermark, place_of
from causeway.nexmark.operators.kernels.chunks import Chunks, chunks_of, runs_of

NUMBERS = st.lists(st.integers(-50, 50), max_size=40)


@given(NUMBERS)
def test_runs_are_the_places_of_each_value(numbers: list[int]) -> None:
    values = np.array(numbers, np.int64)
    found = {value: places.tolist() for value, places in runs_of(values)}
    assert found == {value: [at for at, one in enumerate(numbers) if one == value] for value in set(numbers)}
    assert list(found) == sorted(found)


@given(NUMBERS, st.integers(1, 20))
def test_chunks_are_rows_of_neighbours_in_their_order(numbers: list[int], size: int) -> None:
    rows = pa.table({"id": pa.array(numbers, pa.int64()), "at": np.arange(len(numbers))})
    chunks = chunks_of(rows, np.array(numbers, np.int64), size)
    for number in {one // size for one in numbers}:
        assert chunks.pop(number).column("at").to_pylist() == [
            at for at, one in enumerate(numbers) if one // size == number
        ]
    assert chunks == {}


@given(st.sets(st.integers(-50, 50), max_size=20), NUMBERS)
def test_a_place_is_only_that_of_a_key_that_is_there(keys: set[int], sought: list[int]) -> None:
    known = np.array(list(keys), np.int64)
    places, found = place_of(known, np.array(sought, np.int64))
    assert found.tolist() == [one in keys for one in sought]
    assert [known[at] for at, is_there in zip(places, found, strict=True) if is_there] == [
        one for one in sought if one in keys
    ]


def test_chunks_are_kept_until_the_watermark_and_only_those_that_exist_are_read() -> None:
    state = KeptState()
    row = pa.table({"id": [1]})
    chunks = Chunks(state)
    chunks.put("a", row, until=10)
    chunks.put("b", row, until=20)
    chunks.put("c", row, until=30)
    chunks.put("c", None, until=0)
    chunks.finish(Watermark(0, 5))
    assert set(state.cells) == {"a", "b", "chunks"}
    chunks = Chunks(state)
    assert chunks.get("a") == row
    assert chunks.get("nothing") is None
    chunks.finish(Watermark(5, 10))
    assert set(state.cells) == {"b", "chunks"}
    Chunks(state).finish(Watermark(10, 20))
    assert state.cells == {}
