"""Queries that answer each event by itself: a function from an Arrow table of events to one of answers.

The task that reads a slice answers it. Its answers travel through Spark as one cell a slice, an Arrow table,
and the sink's tasks write them as Parquet from there: no row is made on the way.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from causeway.nexmark.operators.kernels import Longs
from causeway.nexmark.operators.slice_reader import SliceReader
from causeway.spark.collection import leave_little_to_collect
from causeway.streaming.cells import pack_table, unpack_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["ANSWER_CELLS", "Answers", "ColumnSource", "answers_named", "write_answer_cells"]

Answers = Callable[[pa.Table], pa.Table]
"""From events of one stream to the answers; it also gets tables without a row."""

ANSWER_CELLS: Final = ["slice", "answer_cell"]
"""The columns of a batch whose answers are still in cells."""

_CELLS: Final = pa.schema([("slice", pa.int32()), ("answer_cell", pa.binary())])


class ColumnSource(DataSource):
    """The answers to the events of one stream, a cell for each slice.

    Options: those of `SliceReader`, `stream`, `columns` (with commas between them) and `answers`, the
    function as `module:name`.
    """

    @classmethod
    def name(cls) -> str:
        return "nexmark-columns"

    def schema(self) -> str:
        return "slice INT, answer_cell BINARY"

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        return _ColumnReader(dict(self.options))


class _ColumnReader(SliceReader):
    @cached_property
    def _columns(self) -> Mapping[str, Sequence[str]]:
        return {self._options["stream"]: self._options["columns"].split(",")}

    def _late_from(self, stream: str, events: pa.Table) -> Longs | None:
        return None

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        answers = answers_named(self._options["answers"])
        ((stream, names),) = self._columns.items()
        streams = self._model.streams[stream]
        nothing = pa.schema([streams.field(name) for name in names]).empty_table()
        for number, tables, _ in self._read_slices(*partition.value):
            # The end has no events; its cell still says which columns an answer has.
            answered = answers(nothing if tables is None else tables[stream])
            yield pa.record_batch([[number], [pack_table(answered)]], schema=_CELLS)


def answers_named(name: str) -> Answers:
    """The function `module:name` of this package, for tasks that get its name only."""
    module, _, made = name.partition(":")
    if not module.startswith("causeway.nexmark."):
        raise ValueError(f"{name} is no function of this program")
    answers: Answers = getattr(import_module(module), made)
    return answers


def write_answer_cells(batch: DataFrame, folder: Path) -> None:
    """Write the answers of a batch of cells to `folder`, a Parquet file for each slice."""
    folder.mkdir(parents=True, exist_ok=True)
    place = str(folder.resolve())

    def write(cells: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for some in cells:
            for number, cell in zip(*(some.column(name) for name in ANSWER_CELLS), strict=True):
                path = Path(place) / f"slice-{number.as_py():06d}.parquet"
                # A name for this task alone: Spark may run it twice.
                unfinished = path.with_name(f".{path.name}.{os.getpid()}")
                pq.write_table(unpack_table(cell.as_buffer()), unfinished, use_dictionary=False)
                unfinished.replace(path)
        leave_little_to_collect()
        yield from ()

    batch.mapInArrow(write, "slice INT").write.format("noop").mode("overwrite").save()
