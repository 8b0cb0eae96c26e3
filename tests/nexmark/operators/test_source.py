"""How slices become batches, and how events are dealt to shards."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql.streaming.datasource import ReadMaxRows

from causeway.nexmark.events.slices import release_slices
from causeway.nexmark.operators.source import RowSource, deal, kernel_named
from causeway.streaming.cells import unpack_table
from causeway.streaming.delivery import SpoolControl


@pytest.mark.parametrize("shards", [2, 3, 8])
@pytest.mark.parametrize("step", [1, 2, 100, 1024])
def test_shards_get_equal_shares_whatever_the_identifiers_have_in_common(shards: int, step: int) -> None:
    """Hot auctions are multiples of a hundred: dealt in turn, they would all be in one of two shards."""
    identifiers = pa.table({"auction": 1000 + step * np.arange(10_000)})
    sizes = [unpack_table(cell).num_rows for cell in deal(identifiers, "auction", shards)]
    assert sum(sizes) == 10_000
    assert min(sizes) > 0.8 * 10_000 / shards


def test_an_identifier_is_always_in_the_same_shard_and_rows_keep_their_order() -> None:
    rows = pa.table({"auction": np.arange(1000) % 37, "at": np.arange(1000)})
    parts = [unpack_table(cell) for cell in deal(rows, "auction", 3)]
    owners = [set(part.column("auction").to_pylist()) for part in parts]
    assert sum(map(len, owners)) == len(set().union(*owners)) == 37
    assert all(part.column("at").to_pylist() == sorted(part.column("at").to_pylist()) for part in parts)


def test_only_kernels_of_this_program_are_made() -> None:
    with pytest.raises(ValueError, match="is no kernel of this program"):
        kernel_named("os:system", {})


def batches(folder: Path, slices: int) -> list[int]:
    """Where the batches of a folder end, of at most `slices` each."""
    options = {"folder": str(folder), "model": "modern", "limit": str(slices), "tasks": "2"}
    reader = RowSource(options).streamReader(None)
    ends = [reader.initialOffset()["slice"]]
    while (end := reader.latestOffset({"slice": ends[-1]}, ReadMaxRows(slices))["slice"]) != ends[-1]:
        ends.append(end)
    return ends[1:]


def test_the_end_comes_with_the_last_slice(tmp_path: Path) -> None:
    (tmp_path / "nexmark.json").write_text(json.dumps({"model": "modern", "slices": 10}))
    assert batches(tmp_path, 4) == [4, 8, 11]
    assert batches(tmp_path, 5) == [5, 11]


def test_a_firehose_tells_its_end_when_it_has_one(tmp_path: Path) -> None:
    control = SpoolControl(tmp_path)
    control.state_file.write_text(json.dumps({"state": "running"}))
    release_slices(tmp_path, 3)
    assert batches(tmp_path, 100) == [3]
    control.state_file.write_text(json.dumps({"state": "finished", "slices": 3}))
    assert batches(tmp_path, 100) == [4]
