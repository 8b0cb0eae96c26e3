"""Answers as they come, batch by batch, and what they amount to in the end.

    RUN/q5/answers/batch-000000012/*.parquet   a batch's answers
    RUN/q5/answers/batch-000000012.json        how many slices were answered, and when it was readable

A batch that is done again after a crash replaces its folder: nothing is lost, nothing doubled. A folder
without its note is not finished, and nobody reads it.
"""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from causeway.nexmark.queries import Query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["AnswerSink", "BatchNote", "batch_notes", "discard", "final_answer"]


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
        self._folder = folder
        self._checkpoint = checkpoint

    def __call__(self, batch: DataFrame, number: int) -> None:
        began = time.time()
        folder = _folder(self._folder, number)
        # What a crash left of the same batch.
        shutil.rmtree(folder, ignore_errors=True)
        batch.write.mode("overwrite").parquet(str(folder.resolve()))
        note = folder.with_suffix(".json")
        aside = note.with_name(f".{note.name}")
        noted = BatchNote(number, began, time.time(), _answered(self._checkpoint, number))
        aside.write_text(json.dumps(asdict(noted)))
        aside.replace(note)


def _answered(checkpoint: Path, batch: int) -> int:
    """The slices that are answered when a batch is done, by Spark's log, which it writes before the batch."""
    lines = (checkpoint / "offsets" / str(batch)).read_text().splitlines()[2:]
    ends = [json.loads(line) for line in lines if line.startswith("{")]
    return min(int(end["slice"]) for end in ends if "slice" in end)


def discard(batch: DataFrame, number: int) -> None:
    """A sink that lets everything be computed, and keeps nothing."""
    batch.write.format("noop").mode("overwrite").save()


def batch_notes(folder: Path) -> list[BatchNote]:
    """The notes of all batches that are done, in their order."""
    return [BatchNote(**json.loads(path.read_text())) for path in sorted(folder.glob("batch-*.json"))]


def final_answer(spark: SparkSession, query: Query, folder: Path) -> DataFrame | None:
    """What the answers amount to: all rows, or the last one of each key. `None` before the first batch."""
    done = [str(_folder(folder, note.batch).resolve()) for note in batch_notes(folder)]
    if not done:
        return None
    rows = spark.read.option("basePath", str(folder.resolve())).parquet(*done)
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


def _folder(folder: Path, number: int) -> Path:
    return folder / f"batch-{number:09d}"
