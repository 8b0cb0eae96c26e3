"""The source without Spark: which files a batch has, and which it takes away."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest
from pyspark.sql.datasource import DataSourceStreamReader
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes
from tests.linear_road.pipeline.tuple_tables import table
from tests.linear_road.random_traffic import InputTuple, make_traffic

from causeway.linear_road.driver.spool import SpoolGapError, spool_file_name, spool_files
from causeway.linear_road.pipeline.spool_source import SPOOL_DDL, SpoolSource
from causeway.linear_road.pipeline.tuples_by_shard import deal
from causeway.streaming.cells import concatenate, unpack

KEYS = [3, 8]
NO_LIMIT = ReadMaxBytes(1 << 40)

Seconds = dict[int, list[InputTuple]]


@pytest.fixture
def seconds() -> Seconds:
    by_second: Seconds = {}
    for fields in make_traffic(Random(4), crowded=True):
        by_second.setdefault(fields[1], []).append(fields)
    return by_second


@pytest.fixture
def reader(tmp_path: Path) -> DataSourceStreamReader:
    source = SpoolSource({"path": str(tmp_path), "keys": json.dumps(KEYS)})
    assert source.schema() == SPOOL_DDL
    return source.streamReader(source.schema())


def deliver(spool: Path, seconds: Seconds, first: int, last: int) -> None:
    """A file with the seconds from `first` to `last`, of which some have no tuples."""
    tuples = [fields for second in range(first, last + 1) for fields in seconds.get(second, [])]
    pq.write_table(table(tuples), spool / spool_file_name(first, last))


def test_it_starts_at_the_first_second(reader: DataSourceStreamReader) -> None:
    assert reader.initialOffset() == {"second": 0}
    assert reader.latestOffset({"second": 0}, NO_LIMIT) == {"second": 0}


def test_a_batch_is_all_there_is_up_to_a_limit(
    reader: DataSourceStreamReader, seconds: Seconds, tmp_path: Path
) -> None:
    for first in (0, 60, 120, 180):
        deliver(tmp_path, seconds, first, first + 59)
    sizes = [file.path.stat().st_size for file in spool_files(tmp_path)]
    assert reader.latestOffset({"second": 0}, NO_LIMIT) == {"second": 240}
    assert reader.latestOffset({"second": 120}, NO_LIMIT) == {"second": 240}
    assert reader.latestOffset({"second": 0}, ReadAllAvailable()) == {"second": 240}
    assert reader.latestOffset({"second": 0}, ReadMaxBytes(sum(sizes[:2]))) == {"second": 120}
    assert reader.latestOffset({"second": 120}, ReadMaxBytes(sum(sizes[2:]) - 1)) == {"second": 180}
    # One file at least, or it would never go on.
    assert reader.latestOffset({"second": 60}, ReadMaxBytes(1)) == {"second": 120}
    assert reader.getDefaultReadLimit().max_bytes == 32 << 20  # type: ignore[attr-defined]


def read_cells(reader: DataSourceStreamReader, start: int, end: int) -> dict[int, list[tuple[int, bytes]]]:
    """The cells of each shard's key, as (first second, cell)."""
    cells: dict[int, list[tuple[int, bytes]]] = {key: [] for key in KEYS}
    tasks = reader.partitions({"second": start}, {"second": end})
    assert len(tasks) <= len(KEYS)
    for task in tasks:
        for batch in reader.read(task):
            for row in batch.to_pylist():  # type: ignore[union-attr]
                cells[row["shard"]].append((row["first"], row["tuples"]))
    return cells


@pytest.mark.parametrize(("start", "end"), [(0, 240), (60, 180), (120, 180), (180, 240)])
def test_a_batch_has_all_tuples_of_its_seconds(
    reader: DataSourceStreamReader, seconds: Seconds, tmp_path: Path, start: int, end: int
) -> None:
    for first in (0, 60, 120, 180):
        deliver(tmp_path, seconds, first, first + 59)
    cells = read_cells(reader, start, end)
    expected = deal(table([f for second in range(start, end) for f in seconds.get(second, [])]), len(KEYS))
    for key, arrays in zip(KEYS, expected, strict=True):
        found = concatenate([unpack(cell) for _, cell in sorted(cells[key])])
        assert found.pop("spent_reading").sum() > 0
        assert {name: values.tolist() for name, values in found.items()} == {
            name: values.tolist() for name, values in arrays.items()
        }


def test_a_batch_without_seconds_has_a_row_of_each_shard(reader: DataSourceStreamReader) -> None:
    """Spark may plan its first batch before anything is delivered."""
    cells = read_cells(reader, 0, 0)
    assert set(cells) == set(KEYS)
    for rows in cells.values():
        ((_, cell),) = rows
        assert len(unpack(cell)["time"]) == len(unpack(cell)["balance_time"]) == 0


def test_what_is_answered_is_taken_away_but_for_the_newest(
    reader: DataSourceStreamReader, seconds: Seconds, tmp_path: Path
) -> None:
    for first in (0, 60, 120):
        deliver(tmp_path, seconds, first, first + 59)
    (tmp_path / "_delivery.json").touch()
    reader.commit({"second": 60})
    assert [file.first for file in spool_files(tmp_path)] == [60, 120]
    reader.commit({"second": 180})
    assert [file.first for file in spool_files(tmp_path)] == [120]
    assert (tmp_path / "_delivery.json").exists()
    # A batch is done again from the files that it had, whatever has been committed before it.
    deliver(tmp_path, seconds, 180, 239)
    assert [first for first, _ in read_cells(reader, 180, 240)[KEYS[0]]] == [
        min(s for s in seconds if s >= 180)
    ]


def test_files_that_come_meanwhile_are_of_the_next_batch(
    reader: DataSourceStreamReader, seconds: Seconds, tmp_path: Path
) -> None:
    deliver(tmp_path, seconds, 0, 59)
    end = reader.latestOffset({"second": 0}, NO_LIMIT)
    deliver(tmp_path, seconds, 60, 119)
    for key in KEYS:
        ((_, cell),) = read_cells(reader, 0, end["second"])[key]
        assert all(time < 60 for time in unpack(cell)["time"].tolist())


def test_a_missing_file_is_noticed_before_a_batch_is_planned(
    reader: DataSourceStreamReader, seconds: Seconds, tmp_path: Path
) -> None:
    for first in (0, 60, 120):
        deliver(tmp_path, seconds, first, first + 59)
    (tmp_path / spool_file_name(60, 119)).unlink()
    with pytest.raises(SpoolGapError, match="lacks the seconds 60 to 119"):
        reader.latestOffset({"second": 0}, NO_LIMIT)
    with pytest.raises(SpoolGapError, match="lacks the seconds 60 to 119"):
        reader.latestOffset({"second": 60}, NO_LIMIT)


@pytest.mark.parametrize(("missing", "message"), [(0, "0 to 59"), (60, "60 to 119"), (120, "120 to 179")])
def test_a_planned_batch_needs_all_its_files(
    reader: DataSourceStreamReader, seconds: Seconds, tmp_path: Path, missing: int, message: str
) -> None:
    for first in (0, 60, 120):
        deliver(tmp_path, seconds, first, first + 59)
    (tmp_path / spool_file_name(missing, missing + 59)).unlink()
    with pytest.raises(SpoolGapError, match=f"lacks the seconds {message}"):
        reader.partitions({"second": 0}, {"second": 180})


def test_a_file_that_is_gone_or_damaged_when_it_is_read_is_named(
    reader: DataSourceStreamReader, seconds: Seconds, tmp_path: Path
) -> None:
    deliver(tmp_path, seconds, 0, 59)
    (task,) = reader.partitions({"second": 0}, {"second": 60})
    file = tmp_path / spool_file_name(0, 59)
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(SpoolGapError, match=f"{file.name} cannot be read"):
        list(reader.read(task))
    file.unlink()
    with pytest.raises(SpoolGapError, match=f"{file.name} was removed before it was answered"):
        list(reader.read(task))


def test_a_batch_planned_again_has_the_same_files_whatever_came_since(
    reader: DataSourceStreamReader, seconds: Seconds, tmp_path: Path
) -> None:
    for first in (0, 60, 120):
        deliver(tmp_path, seconds, first, first + 59)
    reader.commit({"second": 60})
    planned = [task.value for task in reader.partitions({"second": 60}, {"second": 180})]
    for first in (180, 240):
        deliver(tmp_path, seconds, first, first + 59)
    # After a restart, Spark commits the batch before it again.
    reader.commit({"second": 60})
    assert [task.value for task in reader.partitions({"second": 60}, {"second": 180})] == planned
