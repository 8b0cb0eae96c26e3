from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from causeway.linear_road.pipeline.segments import STOP
from causeway.linear_road.pipeline.vehicles import VEHICLE
from causeway.streaming.cells import Arrays, concatenate, pack, pack_table, unpack, unpack_table

NUMBERS = hnp.integer_dtypes(endianness="<") | hnp.floating_dtypes(endianness="<") | hnp.boolean_dtypes()
DTYPES = NUMBERS | st.sampled_from([VEHICLE, STOP])
SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5)


@given(st.dictionaries(st.text(), hnp.arrays(DTYPES, SHAPES), max_size=5))
def test_what_is_packed_comes_out_again(arrays: dict[str, NDArray[Any]]) -> None:
    found = unpack(pack(arrays))
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()
        assert found[name].flags.writeable and found[name].flags.aligned


def test_a_view_is_packed_as_what_it_shows() -> None:
    numbers = np.arange(20, dtype=np.int32).reshape(4, 5)
    found = unpack(pack({"backwards": numbers[::-1], "column": numbers[:, 2], "turned": numbers.T}))
    assert found["backwards"].tolist() == numbers[::-1].tolist()
    assert found["column"].tolist() == [2, 7, 12, 17]
    assert found["turned"].tolist() == numbers.T.tolist()


def test_unpacked_arrays_are_nobody_elses() -> None:
    cell = pack({"a": np.zeros(3, np.int32)})
    unpack(cell)["a"][:] = 7
    assert unpack(cell)["a"].tolist() == [0, 0, 0]


def test_a_cell_that_was_cut_short_is_refused() -> None:
    cell = pack({"a": np.arange(100)})
    with pytest.raises(ValueError):
        unpack(cell[:-8])


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=1, max_size=4))
def test_concatenation_keeps_the_order(parts: list[list[int]]) -> None:
    cells: list[Arrays] = [{"a": np.array(part, np.int32), "b": -np.array(part, np.int32)} for part in parts]
    together = concatenate(cells)
    flat = [number for part in parts for number in part]
    assert together["a"].tolist() == flat
    assert together["b"].tolist() == [-number for number in flat]


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_a_table_is_the_same_whether_or_not_it_is_compressed(compression: str | None) -> None:
    table = pa.table({"name": ["a" * 100, None, "b"], "number": [1, 2, None]})
    cell = pack_table(table, compression=compression)
    assert unpack_table(cell).equals(table)
