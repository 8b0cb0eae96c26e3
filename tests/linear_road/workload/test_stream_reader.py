from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.linear_road.model.tuples import INPUT_SCHEMA
from causeway.linear_road.workload import stream_reader
from causeway.linear_road.workload.stream_reader import read_seconds
from causeway.linear_road.workload.workload import StreamFormat
from causeway.runtime.errors import UserError


def part_table(times: Sequence[int], part: int) -> pa.Table:
    """Tuples whose VID and Pos tell from which part and row they come."""
    columns = {name: np.full(len(times), -1, np.int32) for name in INPUT_SCHEMA.names}
    columns["Time"] = np.asarray(times, np.int32)
    columns["VID"] = np.full(len(times), part, np.int32)
    columns["Pos"] = np.arange(len(times), dtype=np.int32)
    return pa.table(columns, schema=INPUT_SCHEMA)


def write_parts(
    folder: Path, tables: Sequence[pa.Table], stream_format: StreamFormat = "parquet"
) -> list[Path]:
    paths = [folder / f"part-{number:05d}.{stream_format}" for number in range(len(tables))]
    for path, table in zip(paths, tables, strict=True):
        if stream_format == "csv":
            pa.csv.write_csv(table, path, pa.csv.WriteOptions(include_header=False))
        else:
            pq.write_table(table, path, row_group_size=7)
    return paths


parts_of_times = st.lists(st.lists(st.integers(0, 12), max_size=40).map(sorted), min_size=1, max_size=5)


@pytest.mark.parametrize("stream_format", ["parquet", "csv"])
@settings(deadline=None, max_examples=60)
@given(parts=parts_of_times)
def test_merge_is_a_stable_sort_of_all_parts(stream_format: StreamFormat, parts: list[list[int]]) -> None:
    tables = [part_table(times, part) for part, times in enumerate(parts)]
    whole = pa.concat_tables(tables)
    expected = whole.take(np.argsort(whole["Time"].to_numpy(), kind="stable"))
    # Batches of a few rows, so that a second goes on over several of them.
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream_reader, "_FEWEST_ROWS", 3)
        patch.setattr(stream_reader, "_ROW_LIMIT", 3)
        seconds = list(read_seconds(write_parts(Path(folder), tables, stream_format), stream_format))
    merged = pa.Table.from_batches([batch for second in seconds for batch in second.batches], INPUT_SCHEMA)
    assert merged.equals(expected)
    assert [second.time for second in seconds] == sorted(set(whole["Time"].to_pylist()))
    for second in seconds:
        assert all(set(batch["Time"].to_pylist()) == {second.time} for batch in second.batches)


@pytest.mark.parametrize("stream_format", ["parquet", "csv"])
@settings(deadline=None, max_examples=60)
@given(parts=parts_of_times, first=st.integers(0, 14))
def test_from_a_later_second_the_rest_is_the_same(
    stream_format: StreamFormat, parts: list[list[int]], first: int
) -> None:
    tables = [part_table(times, part) for part, times in enumerate(parts)]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream_reader, "_FEWEST_ROWS", 3)
        patch.setattr(stream_reader, "_ROW_LIMIT", 3)
        paths = write_parts(Path(folder), tables, stream_format)
        everything = list(read_seconds(paths, stream_format))
        rest = list(read_seconds(paths, stream_format, first))

    def rows(seconds: list[stream_reader.StreamSecond]) -> list[tuple[int, list[dict[str, int]]]]:
        return [(one.time, pa.Table.from_batches(one.batches).to_pylist()) for one in seconds]

    assert rows(rest) == [second for second in rows(everything) if second[0] >= first]


@pytest.mark.parametrize("statistics", [True, False])
def test_earlier_row_groups_are_not_read(tmp_path: Path, statistics: bool) -> None:
    """Shown by damage to the first row group, which only a reader of it notices."""
    path = tmp_path / "part-00000.parquet"
    with pq.ParquetWriter(path, INPUT_SCHEMA, compression="zstd", write_statistics=statistics) as writer:
        for minute in range(3):
            writer.write_table(part_table(range(60 * minute, 60 * minute + 60), minute))
    assert [second.time for second in read_seconds([path], "parquet", 70)] == list(range(70, 180))
    content = bytearray(path.read_bytes())
    column = pq.read_metadata(path).row_group(0).column(0)
    start = column.dictionary_page_offset or column.data_page_offset
    content[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(content)
    with pytest.raises(UserError, match="cannot be read"):
        list(read_seconds([path], "parquet", 0 if statistics else 70))
    if statistics:
        assert [second.time for second in read_seconds([path], "parquet", 70)] == list(range(70, 180))


def test_part_out_of_time_order_is_refused(tmp_path: Path) -> None:
    paths = write_parts(tmp_path, [part_table([0, 1, 2], 0), part_table([3, 5, 4], 1)])
    with pytest.raises(UserError, match=r"part-00001.*time order"):
        list(read_seconds(paths, "parquet"))


def test_order_is_checked_across_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_reader, "_ROW_LIMIT", 2)
    paths = write_parts(tmp_path, [part_table([3, 4, 1, 2], 0)])
    with pytest.raises(UserError, match="time order"):
        list(read_seconds(paths, "parquet"))


def test_other_columns_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "part-00000.parquet"
    pq.write_table(pa.table({"Time": [1]}), path)
    with pytest.raises(UserError, match="expected the columns Type, Time"):
        list(read_seconds([path], "parquet"))


def test_damaged_parts_are_named(tmp_path: Path) -> None:
    parquet, csv = tmp_path / "part-00000.parquet", tmp_path / "part-00000.csv"
    parquet.write_bytes(b"PAR1 no more")
    csv.write_text("0,1,2,3\n")
    with pytest.raises(UserError, match=r"part-00000\.parquet cannot be read"):
        list(read_seconds([parquet], "parquet"))
    with pytest.raises(UserError, match=r"part-00000\.csv cannot be read"):
        list(read_seconds([csv], "csv"))


def test_missing_fields_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "part-00000.csv"
    path.write_text("0,1,2,3,4,5,6,7,8,9,10,11,12,13,\n")
    with pytest.raises(UserError, match="lacks a field"):
        list(read_seconds([path], "csv"))
