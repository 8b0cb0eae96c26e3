"""Sources as streams of Spark: types, order, checkpoints."""

from __future__ import annotations

import socket
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from tests.streaming_tables.sources.feeding import REPORTS, csv_text, opened
from tests.streaming_tables.sources.test_linear_road import _expected, _random_parts, _workload

from causeway.streaming_tables.sources import Source, TargetColumns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ALL_TYPES = pa.schema(
    [
        ("tiny", pa.int8()),
        ("small", pa.int16()),
        ("plain", pa.int32()),
        ("big", pa.int64()),
        ("single", pa.float32()),
        ("double", pa.float64()),
        ("price", pa.decimal128(10, 2)),
        ("flag", pa.bool_()),
        ("day", pa.date32()),
        ("moment", pa.timestamp("us", tz="UTC")),
        ("name", pa.string()),
        ("bytes", pa.binary()),
        ("T", pa.int64()),
    ]
)


def _run(
    spark: SparkSession, source: Source, checkpoint: Path
) -> tuple[list[pa.Table], dict[str, int] | None]:
    """The batches that there are now, and the offset after them."""
    import json

    batches: dict[int, pa.Table] = {}

    def keep(batch: DataFrame, number: int) -> None:
        batches[number] = batch.toArrow()

    query = (
        source.load(spark, tasks=2)
        .writeStream.foreachBatch(keep)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    try:
        query.awaitTermination()
        progress = query.lastProgress
        offset = None if progress is None else json.loads(progress["sources"][0]["endOffset"])
    finally:
        query.stop()
    return [batches[number] for number in sorted(batches)], offset


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def _vehicles(batches: list[pa.Table]) -> list[int | None]:
    return [value for batch in batches for value in batch.column("VID").to_pylist()]


def test_every_type_arrives_as_the_table_has_it(spark: SparkSession, tmp_path: Path, state: Path) -> None:
    row = (
        -1, 2, -3, 2**40, 1.5, -2.25, Decimal("12.50"), True, date(2024, 2, 29),
        datetime(2024, 2, 29, 12, 0, 0, 5, tzinfo=UTC), "é", b"x", 7,
    )  # fmt: skip
    table = pa.table(
        [pa.array([value, None], field.type) for value, field in zip(row[:-1], _ALL_TYPES, strict=False)],
        names=_ALL_TYPES.names[:-1],
    ).append_column("T", pa.array([7, None], pa.int64()))
    (tmp_path / "in").mkdir()
    pq.write_table(table, tmp_path / "in" / "a.parquet")
    pa_csv.write_csv(table.set_column(11, "bytes", pa.array(["x", None])), tmp_path / "in" / "b.csv")
    source = opened(tmp_path / "in", state, TargetColumns(_ALL_TYPES, "seconds"))
    batches, offset = _run(spark, source, tmp_path / "checkpoint")
    together = pa.concat_tables(batches)
    assert together.schema.types[: len(_ALL_TYPES)] == _ALL_TYPES.types
    rows = list(zip(*(column.to_pylist() for column in together.columns), strict=True))
    assert [one[:-4] for one in rows if one[-2] is None] == [row, row]
    assert sorted((one[-4], one[-3]) for one in rows if one[-2] is not None) == [
        ("a.parquet", 2),
        ("b.csv", 3),
    ]
    assert source.reached(offset, source.available())


def test_a_folder_goes_on_at_its_checkpoint(spark: SparkSession, tmp_path: Path, state: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.csv").write_text(csv_text([(number, 1, 1, number) for number in range(50_000)]))
    batches, _ = _run(spark, opened(folder, state, batch_rows="20000"), tmp_path / "checkpoint")
    assert len(batches) == 3
    assert _vehicles(batches) == list(range(50_000))
    (folder / "b.jsonl").write_text('{"vid": 7, "spd": 1, "xway": 1, "time": 50001}\n')
    source = opened(folder, state)
    batches, offset = _run(spark, source, tmp_path / "checkpoint")
    assert _vehicles(batches) == [7]
    assert offset == source.available()


def test_a_workload_in_time_order(spark: SparkSession, tmp_path: Path, state: Path) -> None:
    parts = _random_parts(1, 30_000)
    source = opened(_workload(tmp_path / "workload", parts, "parquet"), state, batch_rows="60000")
    batches, offset = _run(spark, source, tmp_path / "checkpoint")
    assert len(batches) == 2
    assert _vehicles(batches) == [row[0] for row in _expected(parts)]
    assert source.finished(offset)


def test_a_socket(spark: SparkSession, tmp_path: Path, state: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        source = opened(f"socket://127.0.0.1:{server.getsockname()[1]}", state, REPORTS, format="csv")
        connection, _ = server.accept()
        connection.sendall(b"1,1,1,1\n2,2,2,2\n")
        connection.close()
        source._receiver._thread.join()  # type: ignore[attr-defined]
        batches, offset = _run(spark, source, tmp_path / "checkpoint")
        assert _vehicles(batches) == [1, 2]
        assert source.finished(offset)
        source.stop()
