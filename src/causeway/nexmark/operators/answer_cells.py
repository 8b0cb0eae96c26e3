"""Answers travel through Spark as cells, Arrow tables in binary columns, until they are written as Parquet.

No row is made on the way.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from causeway.spark.collection import leave_little_to_collect
from causeway.streaming.cells import pack_table, unpack_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["ANSWER_CELLS", "ANSWER_CELLS_DDL", "cells_of", "write_answer_cells"]

ANSWER_CELLS: Final = ["part", "answer_cell"]
"""The columns of a batch whose answers are still in cells. A part is one task's, in the order of answers."""
ANSWER_CELLS_DDL: Final = "part INT, answer_cell BINARY"

_CELL_ROWS: Final = 20_000
"""A cell can have two gigabytes at most, and a kernel may answer millions of rows at once."""


def cells_of(answers: pa.Table) -> Iterator[bytes]:
    """The answers in cells, one at least: without a row, it still says which columns there are."""
    for begin in range(0, max(answers.num_rows, 1), _CELL_ROWS):
        yield pack_table(answers.slice(begin, _CELL_ROWS))


def write_answer_cells(batch: DataFrame, folder: Path) -> None:
    """Write the answers of a batch of cells to `folder`, a Parquet file for each part."""
    folder.mkdir(parents=True, exist_ok=True)
    place = str(folder.resolve())

    def write(cells: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow.parquet as pq

        rows = (
            (part.as_py(), cell.as_buffer())
            for some in cells
            for part, cell in zip(*(some.column(name) for name in ANSWER_CELLS), strict=True)
        )
        for part, of_part in groupby(rows, key=itemgetter(0)):
            path = Path(place) / f"part-{part:06d}.parquet"
            # A name for this task alone: Spark may run it twice.
            unfinished = path.with_name(f".{path.name}.{os.getpid()}")
            answers = pa.concat_tables([unpack_table(cell) for _, cell in of_part])
            pq.write_table(answers, unfinished, use_dictionary=False)
            unfinished.replace(path)
        leave_little_to_collect()
        yield from ()

    batch.mapInArrow(write, "part INT").write.format("noop").mode("overwrite").save()
