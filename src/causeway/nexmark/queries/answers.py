"""A query's answers on disk, batch by batch, and what they amount to in the end.

    RUN/q5/answers/batch-000000012.parquet/   a batch's answers
    RUN/q5/answers/batch-000000012.json       how many slices were answered, and when it was readable

`streaming.sink` says why nothing is lost or doubled when a batch is repeated after a crash.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from causeway.nexmark.operators.answer_cells import ANSWER_CELLS, write_answer_cells
from causeway.nexmark.queries.query import Query
from causeway.spark.internals import planned_files, planned_offsets
from causeway.streaming.sink import BatchFolder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["AnswerSink", "BatchNote", "batch_notes", "final_answer", "planned_slices"]


@dataclass(frozen=True)
class BatchNote:
    """What is known of a batch when its answers are readable."""

    batch: int
    began: float
    """When the sink got the batch, in seconds since 1970: Spark computes it from then on."""
    readable: float
    slices: int
    """Slices that are answered with it, of all that there are."""


class AnswerSink:
    """Writes batches; to be given to `foreachBatch`."""

    def __init__(self, folder: Path, checkpoint: Path) -> None:
        self._batches = BatchFolder(folder)
        self._checkpoint = checkpoint

    def __call__(self, batch: DataFrame, number: int) -> None:
        began = time.time()
        output = self._batches.begin(number)
        if batch.columns == ANSWER_CELLS:
            write_answer_cells(batch, output)
        else:
            _write_rows(batch, output)
        slices = planned_slices(self._checkpoint, number)
        self._batches.finish(number, asdict(BatchNote(number, began, time.time(), slices)))


def _write_rows(batch: DataFrame, output: Path) -> None:
    # Most columns have about as many values as rows: dictionaries of them are a fifth of the CPU time.
    writer = batch.write.mode("overwrite").option("parquet.enable.dictionary", "false")
    writer.parquet(str(output.resolve()))


def planned_slices(checkpoint: Path, batch: int) -> int:
    """The slices that all sources of a query have read when `batch` is done; the end of a stream is one."""
    offsets = planned_offsets(checkpoint, batch)
    if any(offset is None for offset in offsets):
        return 0
    read = [int(offset["slice"]) for offset in offsets if offset and "slice" in offset]
    for files in planned_files(checkpoint, batch):
        # Spark's file source: a stream has a file a slice, and each of several bid streams a folder.
        read += Counter(Path(name).parent.name for name in files).values() or [0]
    return min(read, default=0)


def batch_notes(folder: Path) -> list[BatchNote]:
    """The notes of all batches that are readable, in their order."""
    return [BatchNote(**note) for note in BatchFolder(folder).notes()]


def final_answer(spark: SparkSession, query: Query, folder: Path) -> DataFrame | None:
    """What the answers amount to: all rows, or the last one of each key. `None` before the first batch."""
    batches = BatchFolder(folder)
    outputs = [str(batches.output(number).resolve()) for number in batches.numbers()]
    if not outputs:
        return None
    rows = spark.read.option("basePath", str(folder.resolve())).parquet(*outputs)
    if not query.keys:
        return rows
    keys = ", ".join(f"`{key}`" for key in query.keys)
    # All answers of a key are one task's, so that a later one stands further down in the batch's file.
    ranked = rows.selectExpr(
        "*",
        f"row_number() OVER (PARTITION BY {keys} "
        "ORDER BY regexp_extract(_metadata.file_path, 'batch-([0-9]+)', 1) DESC, "
        "_metadata.row_index DESC) AS newest_first",
    )
    return ranked.where("newest_first = 1").drop("newest_first")
