"""One big file of movements, written by Spark tasks: each writes a part, and the parts are put together."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from causeway.berlinmod.exchange.export.source import Rows, Source
from causeway.runtime.progress import watched
from causeway.spark.tasks import run_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["write_movements"]


def write_movements(
    spark: SparkSession,
    source: Source,
    path: Path,
    relation: str,
    columns: tuple[str, ...],
    encode: Callable[[Rows], Any],
    *,
    head: Callable[[int], bytes] | bytes = b"",
    tail: bytes = b"",
    between: bytes = b"",
) -> int:
    """Write all rows of dataScar or dataMtrip to `path`; returns the number of units.

    `encode` makes the bytes of a row group, for which it gets `columns`; `between` goes between two of them.
    `head` may depend on the number of units. A part is removed as soon as it is in the file, so that the disk
    holds no more than one part twice.
    """
    parts = path.parent / f".{path.name}-parts"
    parts.mkdir()
    count = source.dataset.cut.files

    def task(number: int) -> int:
        written = 0
        with (parts / f"{number:05d}").open("wb") as file:
            for rows in source.groups(relation, number, columns):
                if written:
                    file.write(between)
                file.write(encode(rows))
                written += rows.movements.t.size - rows.number.size
        return written

    with watched(f"writing {path.name}", count, "files", lambda: len(list(parts.iterdir()))):
        units = sum(run_tasks(spark, count, task))
    with path.open("wb") as whole:
        whole.write(head(units) if callable(head) else head)
        for number in range(count):
            part = parts / f"{number:05d}"
            if number:
                whole.write(between)
            with part.open("rb") as file:
                shutil.copyfileobj(file, whole, 1 << 20)
            part.unlink()
        whole.write(tail)
    parts.rmdir()
    return units
