"""Self-tests of what leans on Spark's internals: a failure here says what a new Spark changed."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest
from pyspark import SparkContext

from causeway.spark import internals
from causeway.spark.internals import (
    committed_batch,
    committed_offsets,
    planned_files,
    planned_offsets,
    without_patterns,
)
from causeway.spark.shards import shard_keys

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _run_over(spark: SparkSession, sources: list[Path], checkpoint: Path) -> None:
    frames = [spark.readStream.text(str(source)) for source in sources]
    query = (
        frames[0]
        .unionAll(frames[1])
        .writeStream.format("noop")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def test_checkpoint_log(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint, sources = tmp_path / "checkpoint", [tmp_path / "first", tmp_path / "second"]
    for source in sources:
        source.mkdir()
    assert committed_batch(checkpoint) is None
    assert committed_offsets(checkpoint) == []
    for number in range(2):
        (sources[0] / f"{number}.txt").write_text("a line\n")
        _run_over(spark, sources, checkpoint)
    (sources[1] / "0.txt").write_text("a line\n")
    _run_over(spark, sources, checkpoint)
    changed = "Spark changed the layout of CHECKPOINT/offsets or /commits; see spark/internals.py"
    assert committed_batch(checkpoint) == 2, changed
    assert planned_offsets(checkpoint, 0) == [{"logOffset": 0}, None], changed
    assert planned_offsets(checkpoint, 1) == [{"logOffset": 1}, None], changed
    assert committed_offsets(checkpoint) == [{"logOffset": 1}, {"logOffset": 0}], changed


def test_files_of_a_file_source(spark: SparkSession, tmp_path: Path) -> None:
    """Spark puts its log of files together every ten batches."""
    checkpoint, source = tmp_path / "checkpoint", tmp_path / "lines"
    source.mkdir()
    names = [f"{number:02d}.txt" for number in range(12)]
    for number, name in enumerate(names):
        (source / name).write_text("a line\n")
        os.utime(source / name, (1_000_000_000 + number, 1_000_000_000 + number))
    lines = spark.readStream.option("maxFilesPerTrigger", 1).text(str(source))
    query = (
        lines.unionAll(lines)
        .writeStream.format("noop")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    changed = "Spark changed the layout of CHECKPOINT/sources, or its order of files; see spark/internals.py"
    assert committed_batch(checkpoint) == len(names) - 1, changed
    for batch in (0, 5, 9, 11):
        (files,) = planned_files(checkpoint, batch)
        assert sorted(Path(file).name for file in files) == names[: batch + 1], changed


def test_a_log_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "0").write_text("v9\n{}\n{}\n")
    with pytest.raises(RuntimeError, match="version v9"):
        planned_offsets(tmp_path, 0)


@pytest.mark.parametrize(
    "name", [internals.CHECKPOINT_FILE_MANAGER, internals.ROCKSDB_STATE_STORE, internals.HEAP_STATE_STORE]
)
def test_class_names(spark: SparkSession, name: str) -> None:
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    jvm.java.lang.Class.forName(name)  # raises if Spark renamed it


@pytest.mark.parametrize("shards", [1, 2, 3, 8])
def test_task_of_a_key(spark: SparkSession, shards: int) -> None:
    """Spark's shuffle puts keys where `task_of_key` says: each shard has a task of its own."""
    keys = shard_keys(spark, shards)
    frame = spark.createDataFrame([(key,) for key in keys], "key INT").repartition(shards, "key")
    rows = frame.selectExpr(
        "key", "spark_partition_id() AS task", f"{internals.task_of_key('key', shards)} AS computed"
    ).collect()
    assert len({row.task for row in rows}) == shards, "Spark's shuffle hashes keys in another way"
    assert all(row.task == row.computed for row in rows)


def test_home_layout() -> None:
    package = Path(pyspark.__file__).parent
    for folder in internals.HOME_FOLDERS:
        assert (package / folder).is_dir(), f"Spark's home has no {folder} any more"
    assert (package / "bin" / "spark-submit").is_file()
    assert list((package / "jars").glob("spark-core_*.jar"))


def test_one_java_for_a_process(spark: SparkSession) -> None:
    """`launch_java` relies on these two: the gateway is kept in the class, and a given one is taken."""
    assert SparkContext._gateway is not None
    assert callable(SparkContext._ensure_initialized)
    assert internals.launch_java(spark.sparkContext.getConf(), 2) is False


def test_java_can_be_told_to_answer_at_once(spark: SparkSession) -> None:
    assert internals.answer_at_once(spark), "Py4J or Java's threads have changed: answers come late"
    thread = spark._jvm.java.lang.Thread.currentThread()  # type: ignore[union-attr]
    names = [field.getName() for field in thread.getClass().getDeclaredFields()]
    holder = thread if "target" in names else internals._field(thread, "holder")
    task = internals._field(holder, "target" if "target" in names else "task")
    assert task.getSocket().getTcpNoDelay()


def test_a_frame_of_arrow_is_what_pyspark_makes(spark: SparkSession) -> None:
    moment = datetime(2024, 2, 29, 12, 30, 1, 5, tzinfo=UTC)
    rows = pa.table(
        {
            "number": pa.array([1, None, -3], pa.int32()),
            "big": pa.array([2**62, 0, None], pa.int64()),
            "real": pa.array([0.5, None, float("inf")], pa.float64()),
            "flag": pa.array([True, None, False]),
            "text": pa.array(["a", "", None]),
            "bytes": pa.array([b"\0", None, b""], pa.binary()),
            "day": pa.array([moment.date(), None, moment.date()], pa.date32()),
            "moment": pa.array([moment, None, moment], pa.timestamp("us", "UTC")),
            "amount": pa.array([Decimal("1.25"), None, Decimal("-0.01")], pa.decimal128(10, 2)),
            "list": pa.array([[1, None], [], None], pa.list_(pa.int64())),
        }
    )
    folder = Path(str(spark.sparkContext._temp_dir))
    before = set(folder.iterdir())
    ours, theirs = internals.frame_of_arrow(spark, rows), spark.createDataFrame(rows)
    changed = "Spark takes Arrow in another way; see frame_of_arrow in spark/internals.py"
    assert ours.schema == theirs.schema, changed
    assert ours.collect() == theirs.collect(), changed
    assert ours.toArrow() == theirs.toArrow(), changed
    assert set(folder.iterdir()) == before


def test_paths_are_no_patterns(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "a [1] {b,c}*?"
    folder.mkdir()
    pq.write_table(pa.table({"x": [1, 2]}), folder / "file.parquet")
    changed = "Spark has another option for paths that are no patterns; see spark/internals.py"
    assert without_patterns(spark.read).parquet(str(folder / "file.parquet")).count() == 2, changed


def test_settings_of_a_session(spark: SparkSession) -> None:
    changed = "Spark keeps a session's settings elsewhere; see SessionSettings in spark/internals.py"
    settings = internals.SessionSettings(spark)
    before = settings.text()
    spark.sql("SET causeway.of.a.test = one")
    assert "causeway.of.a.test=one" in settings.text(), changed
    spark.conf.set("causeway.of.a.test", "two")
    assert "causeway.of.a.test=two" in settings.text(), changed
    spark.conf.unset("causeway.of.a.test")
    assert settings.text() == before, changed


def test_rows_and_bytes_that_jobs_read(spark: SparkSession, tmp_path: Path) -> None:
    changed = "Spark's status store has changed; see input_of_jobs in spark/internals.py"
    folder = str(tmp_path / "rows")
    spark.range(0, 1000, 1, 2).write.parquet(folder)
    context = spark.sparkContext
    context.setJobGroup("read by a test", "")
    try:
        assert spark.read.parquet(folder).agg({"id": "sum"}).collect()[0][0] == 499_500
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    rows, size = internals.input_of_jobs(spark, "read by a test")
    # Spark counts a row twice where it does not compile the query.
    assert rows in (1000, 2000), changed
    assert 0 < size <= sum(file.stat().st_size for file in Path(folder).iterdir()), changed
    assert internals.input_of_jobs(spark, "no such group") == (0, 0)


def test_jobs_of_a_group_are_cancelled_before_they_begin(spark: SparkSession) -> None:
    context = spark.sparkContext
    context.setJobGroup("ends early", "")
    try:
        internals.cancel_job_group(spark, "ends early")
        with pytest.raises(Exception, match="cancelled"):
            spark.range(10).toArrow()
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    assert spark.range(10).toArrow().num_rows == 10
