"""The value index of a data file against a plain dictionary of rows."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.streaming_tables.storage.oracle import VALUES, sort_key

from causeway.streaming_tables.storage.column_types import arrow_type
from causeway.streaming_tables.storage.past.value_index import ValueIndex, write_index
from causeway.streaming_tables.storage.predicate import Comparison, CompiledComparison
from causeway.streaming_tables.storage.reads.scan import slots_for


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("rows", [0, 1, 300])
def test_values_and_ranges(tmp_path: Path, kind: str, rows: int) -> None:
    chance = random.Random(rows)
    values = [chance.choice([*VALUES[kind], None]) for _ in range(rows)]
    write_index(tmp_path / "i.postings", pa.array(values, arrow_type(kind)))
    index = ValueIndex(tmp_path / "i.postings")
    assert index.distinct == len({sort_key(value) for value in values if value is not None})
    for op in ("=", "in", "<", "<=", ">", ">="):
        for constant in VALUES[kind]:
            wanted = [constant, VALUES[kind][0]] if op == "in" else constant
            comparison = CompiledComparison(Comparison("x", op, wanted), arrow_type(kind))
            slots = slots_for(index, comparison)
            assert slots is not None
            matching = np.flatnonzero(comparison.mask(pa.array(values, arrow_type(kind))))
            begin, end = rows // 5, rows - rows // 5
            assert index.rows(slots, 0, rows).tolist() == matching.tolist()
            assert index.count(slots) == len(matching)
            inside = [row for row in matching.tolist() if begin <= row < end]
            assert index.rows(slots, begin, end).tolist() == inside
    assert slots_for(index, CompiledComparison(Comparison("x", "is null"), arrow_type(kind))) is None
